// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

TEST(FoldConstants, FloatsAreComputed) {
  expect_becomes(fold_constants, R"(graph @g(%x: f32[2]) {
    %a: f32[2] = constant [1.0, 2.0]
    %s: f32[] = constant splat 10.0
    %b: f32[2] = aten.sub(%a, %s) {alpha=0.5} clamp=[-3.5, inf]
    %c: f32[2] = aten.relu(%b)
    %y: f32[2] = aten.add(%x, %b)
    return %y, %c })",
                 R"(graph @g(%x: f32[2]) {
    %b_1: f32[2] = constant [-3.5, -3.0]
    %c_1: f32[2] = constant splat 0.0
    %y: f32[2] = aten.add(%x, %b_1)
    return %y, %c_1 })");
}

TEST(FoldConstants, IntegersOfAnyWidthAreMovedAndAdded) {
  expect_becomes(fold_constants, R"(graph @g() {
    %a: i64[2] = constant [3, -4]
    %b: i64[2] = aten.add(%a, %a)
    %c: i64[2,1] = aten.view(%b) {size=[2,1]}
    return %c })",
                 "graph @g() { %c_1: i64[2,1] = constant [6, -8] return %c_1 }");
}

TEST(FoldConstants, QuantizedConstantsAreMovedAsIntegers) {
  expect_becomes(fold_constants, R"(graph @g() {
    %w: i8[2,2]<0.5:3> = constant [1, 2, 3, 4]
    %p: i8[2,2]<0.5:3> = aten.permute(%w) {dims=[1,0]}
    %c: i8[4,2]<0.5:3> = aten.cat(%p, %w)
    return %c })",
                 "graph @g() { %c_1: i8[4,2]<0.5:3> = constant [1, 3, 2, 4, 1, 2, 3, 4] return %c_1 }");
}

// The channel axis moves along; here the result's type says nothing yet, as behind a dequantize.
TEST(FoldConstants, ChannelsKeepTheirScales) {
  Graph g = parsed(R"(graph @g() {
    %w: i8[2,3]<axis=0; 0.5:0, 0.25:0> = constant [1, 2, 3, 4, 5, 6]
    %t: f32[2,3] = constant splat 0.0
    %p: f32[3,2] = aten.permute(%t) {dims=[-1,0]}
    %v: f32[1,3,1,2] = aten.view(%p) {size=[1,3,1,2]}
    %m: f32[6] = aten.view(%p) {size=[6]}
    return %v, %m })");
  g.nodes[0].operands[0] = find(g, "w");
  ASSERT_TRUE(fold_constants(g));
  EXPECT_EQ(print(g), print(parsed(R"(graph @g() {
    %v_1: i8[1,3,1,2]<axis=3; 0.5:0, 0.25:0> = constant [1, 4, 2, 5, 3, 6]
    %m_1: f32[6] = constant [0.5, 1.0, 1.0, 1.25, 1.5, 1.5]
    return %v_1, %m_1 })")));
}

TEST(FoldConstants, WhatMustStay) {
  for (const auto* text :
       {// Rounding is the quantizer's business.
        "graph @g() { %w: i8[2]<0.5:3> = constant [1, 2] %y: i8[2]<0.25:0> = aten.add(%w, %w) return %y }",
        "graph @g() { %w: i8[2]<0.5:3> = constant [1, 2] %y: i8[2]<0.25:0> = requantize(%w) return %y }",
        "graph @g(%x: f32[2]) { %w: f32[2] = constant [1, 2] %y: f32[2] = aten.add(%w, %x) return %y }"})
    expect_stays(fold_constants, text);
}

}  // namespace
}  // namespace rushlight
