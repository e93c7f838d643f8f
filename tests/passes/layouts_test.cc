// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

const std::string kWeights = R"(
    %w: i8[2,2,1,1]<0.5:0> = constant [1, 2, 3, 4]
    %b: i32[2]<0.25:0> = constant [1, 2]
)";

TEST(AssignLayouts, ConversionsOnlyAtThePorts) {
  expect_becomes(assign_layouts, "graph @g(%x: i8[1,2,3,4]<0.5:0>) {" + kWeights + R"(
    %c: i8[1,2,3,4]<0.5:0> = aten.conv2d(%x, %w, %b)
    %a: i8[1,2,3,4]<0.5:0> = aten.add(%c, %c)
    %r: i8[1,2,3,4]<0.5:0> = requantize(%a) clamp=[0.0, inf]
    %d: i8[1,2,3,4]<0.5:0> = aten.conv2d(%r, %w, %b)
    return %d })",
                 "graph @g(%x: i8[1,2,3,4]<0.5:0>) {" + kWeights + R"(
    %x.layout: i8[1,2,3,4]{channels_last}<0.5:0> = to_layout(%x)
    %c: i8[1,2,3,4]{channels_last}<0.5:0> = aten.conv2d(%x.layout, %w, %b)
    %a: i8[1,2,3,4]{channels_last}<0.5:0> = aten.add(%c, %c)
    %r: i8[1,2,3,4]{channels_last}<0.5:0> = requantize(%a) clamp=[0.0, inf]
    %d: i8[1,2,3,4]{channels_last}<0.5:0> = aten.conv2d(%r, %w, %b)
    %d.layout: i8[1,2,3,4]<0.5:0> = to_layout(%d)
    return %d.layout })");
}

TEST(AssignLayouts, ReadersShareAConversion) {
  const Graph g = after(assign_layouts, "graph @g(%x: i8[1,2,3,4]<0.5:0>) {" + kWeights + R"(
    %c: i8[1,2,3,4]<0.5:0> = aten.conv2d(%x, %w, %b)
    %d: i8[1,2,3,4]<0.5:0> = aten.conv2d(%x, %w, %b)
    %f: i8[24]<0.5:0> = aten.flatten(%c)
    return %c, %f, %d, %d })");
  EXPECT_EQ(op_names(g), "to_layout aten.conv2d aten.conv2d to_layout aten.flatten to_layout");
  EXPECT_EQ(g.outputs[2], g.outputs[3]);
  for (const ValueId id : g.outputs) EXPECT_EQ(g.type(id).layout, Layout::row_major);
}

// A residual addition joins two images in channels-last; one that joins an image with the row-major input
// reads either by strides.
TEST(AssignLayouts, ResidualAdditions) {
  const Graph g = after(assign_layouts, "graph @g(%x: i8[1,2,3,4]<0.5:0>) {" + kWeights + R"(
    %c: i8[1,2,3,4]<0.5:0> = aten.conv2d(%x, %w, %b)
    %d: i8[1,2,3,4]<0.5:0> = aten.conv2d(%c, %w, %b)
    %r: i8[1,2,3,4]<0.5:0> = aten.add(%c, %d)
    %s: i8[1,2,3,4]<0.5:0> = aten.add(%r, %x)
    %t: i8[1,4,3,4]<0.5:0> = aten.cat(%x, %s) {dim=1}
    %m: i8[1,4]<0.5:0> = aten.mean(%t) {dim=[2,3]}
    return %m })");
  EXPECT_EQ(op_names(g), "to_layout aten.conv2d aten.conv2d aten.add aten.add aten.cat aten.mean");
  for (const auto* name : {"r", "s", "t"}) EXPECT_EQ(g.type(find(g, name)).layout, Layout::channels_last);
  EXPECT_EQ(g.nodes[4].operands[1], g.inputs[0]);
}

TEST(AssignLayouts, RowMajorGraphsAreUntouched) {
  expect_stays(assign_layouts, R"(graph @g(%x: i8[2,3,4]<0.5:0>) {
    %w: i8[5,4]<0.5:0> = constant splat 1
    %l: i8[2,3,5]<0.5:0> = aten.linear(%x, %w)
    %p: i8[5,2,3]<0.5:0> = aten.permute(%l) {dims=[2,0,1]}
    %y: i8[5,2,3]<0.5:0> = aten.add(%p, %p)
    return %y })");
}

// A constant image is row-major as all constants are.
TEST(AssignLayouts, ConstantImagesAreConverted) {
  const Graph g = after(assign_layouts, "graph @g() {" + kWeights + R"(
    %x: i8[1,2,1,2]<0.5:0> = constant [1, 2, 3, 4]
    %c: i8[1,2,1,2]<0.5:0> = aten.conv2d(%x, %w, %b)
    return %c })");
  EXPECT_EQ(op_names(g), "to_layout aten.conv2d to_layout");
}

std::string flattened(std::string_view flatten, std::string_view flat = "i8[1,12]<0.5:0>") {
  return fmt::format(R"(graph @g(%x: i8[1,2,3,2]{{channels_last}}<0.5:0>) {{
    %w: i8[1,12]<0.5:0> = constant [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    %r: i8[1,2,3,2]<0.5:0> = to_layout(%x)
    %f: {} = {}
    %l: i8[1,1]<0.5:0> = aten.linear(%f, %w)
    return %l }})",
                     flat, flatten);
}

TEST(AbsorbLayouts, FlattenedImagesAreReadAsTheyLie) {
  for (const auto* flatten : {"aten.flatten(%r) {start_dim=1}", "aten.view(%r) {size=[1,-1]}"}) {
    const Graph g = after(absorb_layouts, flattened(flatten));
    ASSERT_EQ(g.nodes.size(), 3U) << print(g);
    EXPECT_EQ(print_node(g, g.nodes[0]), "%r: i8[1,3,2,2]<0.5:0> = aten.permute(%x) {dims=[0,2,3,1]}");
    EXPECT_EQ(g.constant(g.nodes[2].operands[1]),
              Tensor::of<int8_t>({1, 12}, {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
  }
}

TEST(AbsorbLayouts, WhatMustNotMatch) {
  // Somebody else reads the flat value, or the converted one.
  expect_stays(absorb_layouts, R"(graph @g(%x: i8[1,2,3,2]{channels_last}<0.5:0>) {
    %w: i8[1,12]<0.5:0> = constant splat 1
    %r: i8[1,2,3,2]<0.5:0> = to_layout(%x)
    %f: i8[1,12]<0.5:0> = aten.flatten(%r) {start_dim=1}
    %l: i8[1,1]<0.5:0> = aten.linear(%f, %w)
    return %l, %f })");
  expect_stays(absorb_layouts, R"(graph @g(%x: i8[1,2,3,2]{channels_last}<0.5:0>) {
    %w: i8[1,12]<0.5:0> = constant splat 1
    %r: i8[1,2,3,2]<0.5:0> = to_layout(%x)
    %f: i8[1,12]<0.5:0> = aten.flatten(%r) {start_dim=1}
    %l: i8[1,1]<0.5:0> = aten.linear(%f, %w)
    return %l, %r })");
  // The view splits the image in rows.
  expect_stays(absorb_layouts, R"(graph @g(%x: i8[1,2,3,2]{channels_last}<0.5:0>) {
    %w: i8[1,6]<0.5:0> = constant splat 1
    %r: i8[1,2,3,2]<0.5:0> = to_layout(%x)
    %f: i8[2,6]<0.5:0> = aten.view(%r) {size=[2,6]}
    %l: i8[2,1]<0.5:0> = aten.linear(%f, %w)
    return %l })");
}

}  // namespace
}  // namespace rushlight
