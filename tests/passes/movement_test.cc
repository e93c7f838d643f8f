// SPDX-License-Identifier: Apache-2.0
// Views, permutations, padding and norms that stand alone.
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

TEST(SimplifyMovement, ViewsOfViewsAndPermutationsOfPermutations) {
  expect_becomes(simplify_movement, R"(graph @g(%x: f32[2,3,4]) {
    %a: f32[6,4] = aten.view(%x) {size=[6,4]}
    %b: f32[24] = aten.view(%a) {size=[24]}
    %p: f32[4,2,3] = aten.permute(%x) {dims=[2,0,1]}
    %q: f32[3,4,2] = aten.permute(%p) {dims=[2,0,1]}
    return %b, %q })",
                 R"(graph @g(%x: f32[2,3,4]) {
    %b: f32[24] = aten.view(%x) {size=[24]}
    %q: f32[3,4,2] = aten.permute(%x) {dims=[1,2,0]}
    return %b, %q })");
}

TEST(SimplifyMovement, WhatChangesNothingDisappears) {
  expect_becomes(simplify_movement, R"(graph @g(%x: f32[2,3]) {
    %p: f32[3,2] = aten.permute(%x) {dims=[1,0]}
    %q: f32[2,3] = aten.permute(%p) {dims=[1,0]}
    %s: f32[2,3] = aten.slice(%q) {dim=1, start=0, end=9}
    %e: f32[2,3] = aten.expand(%s) {size=[2,-1]}
    %z: f32[2,3] = aten.pad(%e) {pad=[0,0]}
    %c: f32[2,3] = aten.cat(%z)
    %y: f32[2,3] = aten.neg(%c)
    return %y })",
                 R"(graph @g(%x: f32[2,3]) {
    %y: f32[2,3] = aten.neg(%x)
    return %y })");
}

TEST(SimplifyMovement, ElementwiseOpsMoveAboveViews) {
  expect_becomes(simplify_movement, R"(graph @g(%x: f32[2,6], %z: f32[2,6]) {
    %c: f32[1,1,1] = constant splat 2.0
    %a: f32[2,2,3] = aten.view(%x) {size=[2,2,3]}
    %b: f32[2,2,3] = aten.view(%z) {size=[2,2,3]}
    %r: f32[2,2,3] = aten.relu(%a)
    %s: f32[2,2,3] = aten.add(%r, %b)
    %y: f32[2,2,3] = aten.mul(%s, %c)
    return %y })",
                 R"(graph @g(%x: f32[2,6], %z: f32[2,6]) {
    %c_1: f32[] = constant splat 2.0
    %r_1: f32[2,6] = aten.relu(%x)
    %s_1: f32[2,6] = aten.add(%r_1, %z)
    %y_1: f32[2,6] = aten.mul(%s_1, %c_1)
    %y: f32[2,2,3] = aten.view(%y_1) {size=[2,2,3]}
    return %y })");
}

// Batch-norm moves only where the channels stay channels; a broadcast needs the shape it sees.
TEST(SimplifyMovement, WhatStaysBelowItsView) {
  expect_stays(simplify_movement, R"(graph @g(%x: f32[2,6], %z: f32[3]) {
    %v: f32[3] = constant splat 1.0
    %a: f32[4,3] = aten.view(%x) {size=[4,3]}
    %n: f32[4,3] = aten.batch_norm(%a, none, none, %v, %v)
    %y: f32[4,3] = aten.add(%a, %z)
    return %n, %y })");
}

TEST(SimplifyMovement, BroadcastingNeedsNoExpansion) {
  expect_becomes(simplify_movement, R"(graph @g(%x: f32[2,3], %z: f32[2,1]) {
    %e: f32[2,3] = aten.expand(%z) {size=[2,3]}
    %y: f32[2,3] = aten.mul(%x, %e)
    return %y })",
                 R"(graph @g(%x: f32[2,3], %z: f32[2,1]) {
    %y: f32[2,3] = aten.mul(%x, %z)
    return %y })");
  // Both sides expanded: one of them must be.
  const Graph g = after(simplify_movement, R"(graph @g(%z: f32[2,1]) {
    %e: f32[2,3] = aten.expand(%z) {size=[2,3]}
    %y: f32[2,3] = aten.mul(%e, %e)
    return %y })");
  EXPECT_EQ(g.type(g.outputs[0]).shape, (Shape{2, 3}));
}

TEST(FusePadding, ZerosBecomePaddingOfTheConvolution) {
  expect_becomes(fuse_padding, R"(graph @g(%x: f32[1,1,4,4]) {
    %w: f32[1,1,2,2] = constant splat 1.0
    %p: f32[1,1,7,7] = aten.pad(%x) {pad=[1,2,3,0]}
    %y: f32[1,1,8,6] = aten.conv2d(%p, %w, none) {padding=[1,0]}
    return %y })",
                 R"(graph @g(%x: f32[1,1,4,4]) {
    %w: f32[1,1,2,2] = constant splat 1.0
    %p: f32[1,1,8,6] = aten.conv2d(%x, %w, none) {padding=[4,1,1,2]}
    return %p })");
}

TEST(FusePadding, OtherPaddingStays) {
  for (const char* attributes : {"pad=[1,1], value=1.0", "pad=[1,1], mode=\"reflect\""})
    expect_stays(fuse_padding, std::string(R"(graph @g(%x: f32[1,1,4,4]) {
    %w: f32[1,1,2,2] = constant splat 1.0
    %p: f32[1,1,4,6] = aten.pad(%x) {)") +
                                   attributes + R"(}
    %y: f32[1,1,3,5] = aten.conv2d(%p, %w, none)
    return %y })");
  // More images, not a frame around one.
  expect_stays(fuse_padding, R"(graph @g(%x: f32[1,1,4,4]) {
    %w: f32[1,1,2,2] = constant splat 1.0
    %p: f32[2,1,4,4] = aten.pad(%x) {pad=[0,0,0,0,0,0,1,0]}
    %y: f32[2,1,3,3] = aten.conv2d(%p, %w, none)
    return %y })");
}

TEST(ExpandBatchNorm, IsADepthwiseConvolution) {
  const Graph g = after(expand_batch_norm, R"(graph @g(%x: f32[2,3]) {
    %m: f32[3] = constant [1.0, 2.0, 3.0]
    %v: f32[3] = constant splat 4.0
    %y: f32[2,3] = aten.batch_norm(%x, none, none, %m, %v) {eps=0.0}
    return %y })");
  EXPECT_EQ(op_names(g), "aten.view aten.conv2d aten.view");
  const Node& conv = g.nodes[1];
  EXPECT_EQ(conv.attrs().integer("groups"), 3);
  EXPECT_EQ(g.constant(conv.operands[1]).at(1), 0.5);
  EXPECT_EQ(g.constant(conv.operands[2]).at(2), -1.5);
}

}  // namespace
}  // namespace rushlight
