// SPDX-License-Identifier: Apache-2.0
// The kernel cases of the host test on every emulated core: the exact references' integers, nothing else
// written.
#include <map>

#include "tests/e2e/exactness.h"
#include "tests/e2e/programs.h"
#include "tests/kernels/case.h"

namespace rushlight::e2e {
namespace {

class KernelsOn : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(AllCores, KernelsOn, testing::ValuesIn(kTargets), test_name);

TEST_P(KernelsOn, EqualTheReferences) {
  RUSHLIGHT_NEEDS_BOARDS();
  std::vector<RecordedCall> calls;
  for (KernelCase& item : all_cases(test_seed(), 8)) {
    RecordedCall call{
        {item.kernel, std::move(item.params), {}}, std::move(item.expected), std::move(item.description)};
    // On the board every argument has memory of its own; sharing is for the host test and for whole programs.
    for (KernelCase::Argument& argument : item.arguments)
      call.item.arguments.push_back({argument.output, std::move(argument.bytes)});
    calls.push_back(std::move(call));
  }
  RecordProperty("cases", static_cast<int>(calls.size()));
  std::map<int, int> cases_of;
  for (const RecordedCall& call : calls) ++cases_of[call.item.kernel];
  for (int kernel = 0; kernel < kernels::kKernelCount; ++kernel)
    EXPECT_GE(cases_of[kernel], 200) << kernels::kKernels[kernel].expression;
  expect_same_on(GetParam(), calls);
}

}  // namespace
}  // namespace rushlight::e2e
