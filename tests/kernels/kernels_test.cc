// SPDX-License-Identifier: Apache-2.0
// Every row of the kernel table against the exact references. RUSHLIGHT_TEST_SEED repeats a failure, and
// RUSHLIGHT_LONG=1 takes minutes.
#include <cctype>

#include "tests/kernels/random.h"
#include "tests/kernels/run_case.h"

namespace rushlight {
namespace {

uint64_t seed() {
  if (const char* text = std::getenv("RUSHLIGHT_TEST_SEED")) return std::strtoull(text, nullptr, 10);
  return 20260101;
}

// Cases a row of the table; RUSHLIGHT_LONG=1 asks for twenty times as many.
int cases_wanted() { return std::getenv("RUSHLIGHT_LONG") != nullptr ? 40000 : 2000; }

class KernelRowTest : public testing::TestWithParam<int> {};

// A few at a time, so that they need little memory. The first are those of all_cases.
TEST_P(KernelRowTest, EqualsReference) {
  const uint64_t used_seed = seed();
  const int wanted = cases_wanted();
  RecordProperty("seed", std::to_string(used_seed));
  int count = 0;
  for (const auto add : kCaseFamilies) {
    Random random{used_seed};
    bool has_row = true;
    while (has_row && count < wanted) {
      has_row = false;
      std::vector<KernelCase> cases;
      add(cases, random, 4);
      for (const KernelCase& c : cases) {
        if (c.kernel != GetParam()) continue;
        has_row = true;
        ++count;
        check_case(c);
        if (HasFailure()) FAIL() << "RUSHLIGHT_TEST_SEED=" << used_seed << " repeats this; case " << count;
      }
    }
  }
  RecordProperty("cases", count);
  EXPECT_GE(count, wanted) << "too few cases";
}

// "quantized_add_s8<Single>" as a test's name.
std::string test_name(const testing::TestParamInfo<int>& info) {
  std::string name;
  for (const char* c = kernels::kKernels[info.param].expression; *c != 0; ++c)
    if (std::isalnum(static_cast<unsigned char>(*c)) || *c == '_' || *c == '<') name += *c == '<' ? '_' : *c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(Rows, KernelRowTest, testing::Range(0, kernels::kKernelCount), test_name);

}  // namespace
}  // namespace rushlight
