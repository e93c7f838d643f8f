// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

void expect_clamp(std::string_view node, std::string_view clamp) {
  const std::string before = fmt::format("graph @g(%x: f32[3]) {{ %y: f32[3] = {} return %y }}", node);
  const std::string expected =
      fmt::format("graph @g(%x: f32[3]) {{ %y: f32[3] = requantize(%x) clamp=[{}] return %y }}", clamp);
  expect_becomes(canonicalize_clamps, before, expected);
}

TEST(CanonicalizeClamps, AllKindsBecomeOne) {
  expect_clamp("aten.relu(%x)", "0.0, inf");
  expect_clamp("aten.relu6(%x)", "0.0, 6.0");
  expect_clamp("aten.hardtanh(%x)", "-1.0, 1.0");
  expect_clamp("aten.hardtanh(%x) {min_val=-0.5, max_val=0.25}", "-0.5, 0.25");
  expect_clamp("aten.clamp(%x) {min=0.5}", "0.5, inf");
  expect_clamp("aten.clamp(%x) {max=2}", "-inf, 2.0");
  expect_clamp("aten.clamp(%x) {min=-3, max=2}", "-3.0, 2.0");
}

// torch.clamp: where the bounds cross, everything becomes the upper one.
TEST(CanonicalizeClamps, CrossingBounds) { expect_clamp("aten.clamp(%x) {min=3, max=2}", "2.0, 2.0"); }

TEST(CanonicalizeClamps, BoundsThatMeanNothingAreRefused) {
  expect_refused(canonicalize_clamps,
                 "graph @g(%x: f32[3]) { %y: f32[3] = aten.hardtanh(%x) {min_val=2, max_val=1} return %y }",
                 "clamps to [2, 1]; the lower bound must not be above the upper one");
  expect_refused(canonicalize_clamps,
                 "graph @g(%x: f32[3]) { %y: f32[3] = aten.clamp(%x) {min=nan} return %y }",
                 "clamps to [nan, inf]");
}

TEST(CanonicalizeClamps, OtherOpsStay) {
  expect_stays(canonicalize_clamps,
               "graph @g(%x: f32[3]) { %y: f32[3] = aten.add(%x, %x) clamp=[0.0, 1.0] return %y }");
}

}  // namespace
}  // namespace rushlight
