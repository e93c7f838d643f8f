// SPDX-License-Identifier: Apache-2.0
// Every row of the kernel table against the exact references. RUSHLIGHT_TEST_SEED repeats a failure, and
// RUSHLIGHT_LONG=1 takes minutes.
#include <climits>
#include <map>
#include <ostream>
#include <set>

#include "tests/kernels/random.h"
#include "tests/kernels/run_case.h"

namespace rushlight {
namespace {

uint64_t seed() {
  if (const char* text = std::getenv("RUSHLIGHT_TEST_SEED")) return std::strtoull(text, nullptr, 10);
  return 20260101;
}

// Cases a row of the table; RUSHLIGHT_LONG=1 asks for twenty times as many. Sanitizers look at what a case
// touches, not at its integers: fewer do.
int cases_wanted() {
  if (std::getenv("RUSHLIGHT_LONG") != nullptr) return 40000;
#if defined(__SANITIZE_ADDRESS__)
  return 300;
#else
  return 2000;
#endif
}

struct Family {
  const char* name;
  void (*add)(std::vector<KernelCase>& cases, Random& random, int scale);
};
void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

class KernelFamily : public testing::TestWithParam<Family> {};

// A few at a time, so that they need little memory. The first are those of all_cases.
TEST_P(KernelFamily, EqualsTheReferences) {
  const uint64_t used_seed = seed();
  RecordProperty("seed", std::to_string(used_seed));
  Random random{used_seed};
  std::map<int, int> counts;  // by row
  int fewest = 0;
  while (fewest < cases_wanted()) {
    std::vector<KernelCase> cases;
    GetParam().add(cases, random, 4);
    ASSERT_FALSE(cases.empty());
    for (const KernelCase& c : cases) {
      check_case(c);
      const int count = ++counts[c.kernel];
      if (HasFailure()) FAIL() << "RUSHLIGHT_TEST_SEED=" << used_seed << " repeats this; case " << count;
    }
    fewest = INT_MAX;
    for (const auto& [row, count] : counts) fewest = std::min(fewest, count);
  }
  for (const auto& [row, count] : counts)
    RecordProperty(kernels::kKernels[row].name + std::string(" cases"), count);
}

INSTANTIATE_TEST_SUITE_P(
    All, KernelFamily,
    testing::Values(Family{"quantize", add_quantize_cases}, Family{"elementwise", add_elementwise_cases},
                    Family{"movement", add_movement_cases}, Family{"convolution", add_convolution_cases},
                    Family{"pooling", add_pooling_cases}, Family{"function", add_function_cases},
                    Family{"line", add_line_cases}),
    [](const auto& family) { return std::string(family.param.name); });

TEST(KernelFamilies, HoldEveryRow) {
  std::set<int> rows;
  for (const KernelCase& c : all_cases(seed(), 1)) rows.insert(c.kernel);
  for (int row = 0; row < kernels::kKernelCount; ++row)
    EXPECT_TRUE(rows.count(row)) << kernels::kKernels[row].expression << " has no cases";
}

}  // namespace
}  // namespace rushlight
