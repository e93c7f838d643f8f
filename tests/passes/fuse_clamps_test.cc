// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

TEST(FuseClamps, IntoAFloatProducer) {
  expect_becomes(fuse_clamps, R"(graph @g(%x: f32[1,1,2,2]) {
    %w: f32[1,1,1,1] = constant [2]
    %c: f32[1,1,2,2] = aten.conv2d(%x, %w)
    %y: f32[1,1,2,2] = requantize(%c) clamp=[0.0, inf]
    return %y })",
                 R"(graph @g(%x: f32[1,1,2,2]) {
    %w: f32[1,1,1,1] = constant [2]
    %c: f32[1,1,2,2] = aten.conv2d(%x, %w) clamp=[0.0, inf]
    return %c })");
}

// Also where they don't overlap: everything then is the bound of the later one that lies nearer.
TEST(FuseClamps, FusedClampsCompose) {
  const auto composed = [](std::string_view first, std::string_view second) {
    const Graph g = after(fuse_clamps, fmt::format(R"(graph @g(%x: f32[4]) {{
      %a: f32[4] = aten.add(%x, %x)
      %b: f32[4] = requantize(%a) clamp=[{}]
      %y: f32[4] = requantize(%b) clamp=[{}]
      return %y }})",
                                                   first, second));
    EXPECT_EQ(op_names(g), "aten.add");
    return g.nodes.front().clamp;
  };
  EXPECT_EQ(composed("0.0, inf", "-1.0, 6.0"), (ClampRange{0, 6}));
  EXPECT_EQ(composed("-1.0, 6.0", "0.0, inf"), (ClampRange{0, 6}));
  EXPECT_EQ(composed("0.0, 1.0", "2.0, 3.0"), (ClampRange{2, 2}));
  EXPECT_EQ(composed("2.0, 3.0", "0.0, 1.0"), (ClampRange{1, 1}));
}

TEST(FuseClamps, IntegersOfOneQuantization) {
  expect_becomes(fuse_clamps, R"(graph @g(%x: i8[4]<0.5:0>) {
    %a: i8[4]<0.25:3> = aten.add(%x, %x)
    %y: i8[4]<0.25:3> = requantize(%a) clamp=[0.0, 6.0]
    return %y })",
                 R"(graph @g(%x: i8[4]<0.5:0>) {
    %a: i8[4]<0.25:3> = aten.add(%x, %x) clamp=[0.0, 6.0]
    return %a })");
}

TEST(FuseClamps, WhatMustNotMatch) {
  for (const auto* text :
       {// The rounding between the two is part of the model.
        "graph @g(%x: i8[4]<0.5:0>) { %a: i8[4]<0.25:3> = aten.add(%x, %x) "
        "%y: i8[4]<0.25:-128> = requantize(%a) clamp=[0.0, inf] return %y }",
        // A range of integers of its own counts as other parameters.
        "graph @g(%x: i8[4]<0.5:0>) { %a: i8[4]<0.25:3; -127..127> = aten.add(%x, %x) "
        "%y: i8[4]<0.25:3> = requantize(%a) clamp=[0.0, inf] return %y }",
        // Somebody else reads the value before the clamp: a node, ...
        "graph @g(%x: f32[4]) { %a: f32[4] = aten.add(%x, %x) %y: f32[4] = requantize(%a) clamp=[0.0, inf] "
        "%z: f32[4] = aten.sub(%a, %y) return %z }",
        // ... the caller ...
        "graph @g(%x: f32[4]) { %a: f32[4] = aten.add(%x, %x) %y: f32[4] = requantize(%a) clamp=[0.0, inf] "
        "return %y, %a }",
        // ... or the next run.
        "graph @g(%x: f32[4], %s: f32[4]) { %a: f32[4] = aten.add(%x, %s) "
        "%y: f32[4] = requantize(%a) clamp=[0.0, inf] state %s -> %a return %y }",
        // Movements can't clamp, inputs have no producer.
        "graph @g(%x: f32[4]) { %a: f32[2,2] = aten.view(%x) {size=[2,2]} "
        "%y: f32[2,2] = requantize(%a) clamp=[0.0, inf] return %y }",
        "graph @g(%x: f32[4]) { %y: f32[4] = requantize(%x) clamp=[0.0, inf] return %y }"})
    expect_stays(fuse_clamps, text);
}

}  // namespace
}  // namespace rushlight
