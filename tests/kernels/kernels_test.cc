// SPDX-License-Identifier: Apache-2.0
// Every row of the kernel table against the exact references. RUSHLIGHT_TEST_SEED repeats a failure.
#include <cctype>

#include "tests/kernels/run_case.h"

namespace rushlight {
namespace {

uint64_t seed() {
  if (const char* text = std::getenv("RUSHLIGHT_TEST_SEED")) return std::strtoull(text, nullptr, 10);
  return 20260101;
}

// At least 2,000 cases a row; RUSHLIGHT_LONG runs twenty times as many.
constexpr int kScale = 80;

class KernelRowTest : public testing::TestWithParam<int> {};

TEST_P(KernelRowTest, EqualsReference) {
  static const uint64_t used_seed = seed();
  static const bool long_run = std::getenv("RUSHLIGHT_LONG") != nullptr;
  static const std::vector<KernelCase> cases = all_cases(used_seed, long_run ? 20 * kScale : kScale);
  RecordProperty("seed", std::to_string(used_seed));
  int count = 0;
  for (const KernelCase& c : cases) {
    if (c.kernel != GetParam()) continue;
    ++count;
    check_case(c);
    if (HasFailure()) FAIL() << "RUSHLIGHT_TEST_SEED=" << used_seed << " repeats this; case " << count;
  }
  RecordProperty("cases", count);
  EXPECT_GE(count, 2000) << "too few cases";
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
