// SPDX-License-Identifier: Apache-2.0
// What the folding of quantize and dequantize nodes makes of each pattern. That it keeps results is tested
// beside this, with random graphs.
#include "eval/evaluator.h"
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

const std::string kLayer = R"(
    %w: i8[2,1,1,1] = constant [127, -64]
    %ws: f32[2] = constant [0.5, 0.25]
    %wz: i64[2] = constant splat 0
    %wf: f32[2,1,1,1] = dequantize_per_channel(%w, %ws, %wz) {axis=0, quant_min=-127, quant_max=127, dtype="i8"}
    %b: i32[2] = constant [1000, -2000]
    %bs: f32[2] = constant [0.25, 0.125]
    %bf: f32[2] = dequantize_per_channel(%b, %bs, none) {axis=0, quant_min=-2147483648, quant_max=2147483647, dtype="i32"}
)";

TEST(FoldQdq, ConvolutionWithChannelsAndBias) {
  expect_becomes(fold_qdq, "graph @g(%x: f32[1,1,2,2]) {" + kLayer + R"(
    %q: i8[1,1,2,2] = Q(%x, 0.5, -3)
    %d: f32[1,1,2,2] = DQ(%q, 0.5, -3)
    %c: f32[1,2,2,2] = aten.conv2d(%d, %wf, %bf) clamp=[0.0, inf]
    %r: i8[1,2,2,2] = Q(%c, 0.75, -128)
    %y: f32[1,2,2,2] = DQ(%r, 0.75, -128)
    return %y })",
                 R"(graph @g(%x: i8[1,1,2,2]<0.5:-3>) {
    %w_1: i8[2,1,1,1]<axis=0; 0.5:0, 0.25:0; -127..127> = constant [127, -64]
    %b_1: i32[2]<axis=0; 0.25:0, 0.125:0> = constant [1000, -2000]
    %c.q: i8[1,2,2,2]<0.75:-128> = aten.conv2d(%x, %w_1, %b_1) clamp=[0.0, inf]
    return %c.q })");
}

TEST(FoldQdq, Int16ActivationsAndAChangeToInt8) {
  const std::string i16 = R"({scale=0.001, zero_point=0, quant_min=-32768, quant_max=32767, dtype="i16"})";
  expect_becomes(fold_qdq,
                 "graph @g(%x: f32[1,1,2,2]) {" + kLayer + "%q: i16[1,1,2,2] = quantize_per_tensor(%x) " +
                     i16 + "%d: f32[1,1,2,2] = dequantize_per_tensor(%q) " + i16 + R"(
    %c: f32[1,2,2,2] = aten.conv2d(%d, %wf)
    %r: i16[1,2,2,2] = quantize_per_tensor(%c) )" +
                     i16 + "%y: f32[1,2,2,2] = dequantize_per_tensor(%r) " + i16 + R"(
    %e: i8[1,2,2,2] = Q(%y, 0.5, 3)
    return %e })",
                 R"(graph @g(%x: i16[1,1,2,2]<0.001:0>) {
    %w_1: i8[2,1,1,1]<axis=0; 0.5:0, 0.25:0; -127..127> = constant [127, -64]
    %c.q: i16[1,2,2,2]<0.001:0> = aten.conv2d(%x, %w_1, none)
    %e: i8[1,2,2,2]<0.5:3> = requantize(%c.q)
    return %e })");
}

// A reshaped weight is a constant again, its channels on the axis where they now are.
TEST(FoldQdq, WeightsThatAreMovedBehindTheirDequantize) {
  const Graph g = after(fold_qdq, "graph @g(%x: f32[1,1]) {" + kLayer + R"(
    %wt: f32[1,2] = aten.view(%wf) {size=[1,2]}
    %wl: f32[2,1] = aten.permute(%wt) {dims=[1,0]}
    %q: i8[1,1] = Q(%x, 0.5, -3)
    %d: f32[1,1] = DQ(%q, 0.5, -3)
    %c: f32[1,2] = aten.linear(%d, %wl, %bf)
    %r: i8[1,2] = Q(%c, 0.75, -128)
    return %r })");
  ASSERT_EQ(op_names(g), "aten.linear");
  EXPECT_EQ(to_string(g.type(g.nodes[0].operands[1])), "i8[2,1]<axis=0; 0.5:0, 0.25:0; -127..127>");
}

TEST(FoldQdq, MovementsBelowADequantize) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[1,2,2,2]) {
    %q: i8[1,2,2,2] = Q(%x, 0.5, -3)
    %d: f32[1,2,2,2] = DQ(%q, 0.5, -3)
    %p: f32[1,2,2,2] = aten.permute(%d) {dims=[0,2,3,1]}
    %f: f32[1,8] = aten.flatten(%p) {start_dim=1}
    %v: f32[8] = aten.view(%f) {size=[8]}
    return %v })");
  EXPECT_EQ(op_names(g), "aten.permute aten.flatten aten.view");
  for (const Node& node : g.nodes) EXPECT_EQ(g.type(node.result()).quant, Quantization::per_tensor(0.5, -3));
}

TEST(FoldQdq, MovementsAboveAQuantize) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[2,4]) {
    %q: i8[2,4] = Q(%x, 0.5, -3)
    %d: f32[2,4] = DQ(%q, 0.5, -3)
    %a: f32[2,4] = aten.add(%d, %d)
    %v: f32[8] = aten.view(%a) {size=[8]}
    %w: f32[4,2] = aten.view(%v) {size=[4,2]}
    %r: i8[4,2] = Q(%w, 0.25, 7)
    %y: f32[4,2] = DQ(%r, 0.25, 7)
    return %y })");
  EXPECT_EQ(op_names(g), "aten.add aten.view aten.view");
  for (const Node& node : g.nodes) EXPECT_EQ(g.type(node.result()).quant, Quantization::per_tensor(0.25, 7));
}

// Integers of one folded node that are moved as integers before the next one dequantizes them.
TEST(FoldQdq, MovementsBetweenQuantizeAndDequantize) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[2,4]) {
    %q: i8[2,4] = Q(%x, 0.5, -3)
    %d: f32[2,4] = DQ(%q, 0.5, -3)
    %a: f32[2,4] = aten.add(%d, %d)
    %r: i8[2,4] = Q(%a, 0.25, 7)
    %v: i8[8] = aten.view(%r) {size=[8]}
    %e: f32[8] = DQ(%v, 0.25, 7)
    %b: f32[8] = aten.add(%e, %e)
    %s: i8[8] = Q(%b, 0.5, 1)
    %y: f32[8] = DQ(%s, 0.5, 1)
    return %y })");
  EXPECT_EQ(op_names(g), "aten.add aten.view aten.add");
}

std::string cat_of_relu(std::string_view parameters_of_y) {
  return "graph @g(%x: f32[1,1,2,2], %y: f32[1,2,2,2]) {" + kLayer +
         fmt::format(R"(
    %q: i8[1,1,2,2] = Q(%x, 0.5, -3)
    %d: f32[1,1,2,2] = DQ(%q, 0.5, -3)
    %c: f32[1,2,2,2] = aten.conv2d(%d, %wf, %bf) clamp=[0.0, inf]
    %r: i8[1,2,2,2] = Q(%c, 0.75, 10)
    %e: f32[1,2,2,2] = DQ(%r, 0.75, 10)
    %yq: i8[1,2,2,2] = Q(%y, {0})
    %yd: f32[1,2,2,2] = DQ(%yq, {0})
    %k: f32[1,4,2,2] = aten.cat(%e, %yd) {{dim=1}}
    %kq: i8[1,4,2,2] = Q(%k, 0.75, 10)
    %z: f32[1,4,2,2] = DQ(%kq, 0.75, 10)
    return %z }})",
                     parameters_of_y);
}

// The activation's output shares its parameters with the other operand, so zero is not the least integer: the
// clamp must stay a clamp.
TEST(FoldQdq, CatWithAnActivationUnderSharedParameters) {
  const Graph g = after(fold_qdq, cat_of_relu("0.75, 10"));
  EXPECT_EQ(op_names(g), "aten.conv2d aten.cat");
  EXPECT_EQ(g.nodes[0].clamp, (ClampRange{0, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(g.type(g.nodes[0].result()).quant, Quantization::per_tensor(0.75, 10));
  EXPECT_EQ(g.type(find(g, "y")).quant, Quantization::per_tensor(0.75, 10));
}

TEST(FoldQdq, CatWithUnequalParameters) {
  const Graph g = after(fold_qdq, cat_of_relu("0.5, 0"));
  EXPECT_EQ(op_names(g), "aten.conv2d requantize aten.cat");
  EXPECT_EQ(g.type(find(g, "y")).quant, Quantization::per_tensor(0.5, 0));
  EXPECT_EQ(g.type(g.nodes[1].result()).quant, Quantization::per_tensor(0.75, 10));
}

TEST(FoldQdq, AResultUnderTwoParametersIsComputedTwice) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4]) {
    %q: i8[4] = Q(%x, 0.5, -3)
    %d: f32[4] = DQ(%q, 0.5, -3)
    %a: f32[4] = aten.add(%d, %d)
    %r: i8[4] = Q(%a, 0.25, 7)
    %s: i8[4] = Q(%a, 0.5, 1)
    %t: i8[4] = Q(%a, 0.25, 7)
    return %r, %s, %t })");
  EXPECT_EQ(op_names(g), "aten.add aten.add");
  EXPECT_EQ(g.outputs[0], g.outputs[2]);
  EXPECT_EQ(g.type(g.outputs[0]).quant, Quantization::per_tensor(0.25, 7));
  EXPECT_EQ(g.type(g.outputs[1]).quant, Quantization::per_tensor(0.5, 1));
}

TEST(FoldQdq, FloatReadersKeepTheirDequantize) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4]) {
    %q: i8[4] = Q(%x, 0.5, -3)
    %d: f32[4] = DQ(%q, 0.5, -3)
    %a: f32[4] = aten.add(%d, %d)
    %r: i8[4] = Q(%a, 0.25, 7)
    %f: f32[4] = aten.sub(%d, %d)
    return %r, %f })");
  EXPECT_EQ(op_names(g), "dequantize_per_tensor aten.add aten.sub");
  EXPECT_FALSE(g.type(g.outputs[1]).quantized());
}

TEST(FoldQdq, WithoutQuantizeBelowANodeStaysFloat) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4]) {
    %q: i8[4] = Q(%x, 0.5, -3)
    %d: f32[4] = DQ(%q, 0.5, -3)
    %c: i8[4] = constant [1, 2, 3, 4]
    %e: f32[4] = DQ(%c, 0.5, 1)
    %a: f32[4] = aten.add(%d, %e)
    return %a })");
  EXPECT_EQ(op_names(g), "dequantize_per_tensor aten.add");
  // Beside float activations the dequantized constant is float too.
  EXPECT_EQ(print_node(g, g.nodes[1]), "%a: f32[4] = aten.add(%d, %c_1.reals)");
  EXPECT_EQ(g.constant(g.nodes[1].operands[1]), Tensor::of<float>({4}, {0.0F, 0.5F, 1.0F, 1.5F}));
}

TEST(FoldQdq, InputUnderTwoParametersStaysFloat) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4]) {
    %q: i8[4] = Q(%x, 0.5, -3)
    %d: f32[4] = DQ(%q, 0.5, -3)
    %r: i8[4] = Q(%x, 0.25, 7)
    %e: f32[4] = DQ(%r, 0.25, 7)
    %a: f32[4] = aten.add(%d, %e)
    %s: i8[4] = Q(%a, 0.5, 1)
    return %s })");
  EXPECT_EQ(op_names(g), "quantize_per_tensor quantize_per_tensor aten.add");
  EXPECT_FALSE(g.type(g.inputs[0]).quantized());
}

TEST(FoldQdq, IntegerInputsTakeTheirReadersParameters) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: i8[2,2]) {
    %v: i8[4] = aten.view(%x) {size=[4]}
    %d: f32[4] = DQ(%v, 0.5, -3)
    %a: f32[4] = aten.add(%d, %d)
    %s: i8[4] = Q(%a, 0.5, 1)
    return %s, %v })");
  EXPECT_EQ(op_names(g), "aten.view aten.add");
  EXPECT_EQ(g.type(g.inputs[0]).quant, Quantization::per_tensor(0.5, -3));
}

// Also where the nodes stay: input read as float beside.
TEST(FoldQdq, UnsignedIntegersAreShifted) {
  const std::string u8 = R"(zero_point=100, quant_min=10, quant_max=255, dtype="u8"})";
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4], %i: u8[4]) {
    %q: u8[4] = quantize_per_tensor(%x) {scale=0.5, )" +
                                      u8 + R"(
    %d: f32[4] = dequantize_per_tensor(%q) {scale=0.5, )" +
                                      u8 + R"(
    %e: f32[4] = dequantize_per_tensor(%i) {scale=0.5, )" +
                                      u8 + R"(
    %a: f32[4] = aten.add(%d, %e)
    %s: u8[4] = quantize_per_tensor(%a) {scale=0.5, )" +
                                      u8 + R"(
    return %s, %x, %d })");
  EXPECT_EQ(op_names(g), "quantize_per_tensor aten.add");
  Quantization shifted = Quantization::per_tensor(0.5, -28);
  shifted.lo = -118;
  EXPECT_EQ(g.nodes[0].attrs().integer("zero_point"), -28);
  for (const ValueId id : {g.inputs[1], g.outputs[0], g.outputs[2], g.nodes[0].result()}) {
    EXPECT_EQ(g.type(id).dtype, DType::int8);
    EXPECT_EQ(g.type(id).quant, shifted);
  }
}

TEST(FoldQdq, RangesOfIntegersAreKeptAsClamps) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4]) {
    %q: i8[4] = quantize_per_tensor(%x) {scale=0.5, zero_point=0, quant_min=-127, quant_max=100, dtype="i8"}
    %d: f32[4] = DQ(%q, 0.5, 0)
    %r: i8[4] = Q(%d, 0.5, 0)
    %e: f32[4] = DQ(%r, 0.5, 0)
    return %e, %d })");
  // The same parameters but for the range: a clamp, which here is one of the whole dtype.
  EXPECT_EQ(g.type(g.inputs[0]).quant.lo, -127);
  EXPECT_EQ(g.type(g.inputs[0]).quant.hi, 100);
  EXPECT_EQ(g.type(g.outputs[0]).quant, Quantization::per_tensor(0.5, 0));
}

TEST(FoldQdq, OutputsMayBeIntermediates) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4]) {
    %q: i8[4] = Q(%x, 0.5, -3)
    %d: f32[4] = DQ(%q, 0.5, -3)
    %a: f32[4] = aten.add(%d, %d)
    %r: i8[4] = Q(%a, 0.25, 7)
    %e: f32[4] = DQ(%r, 0.25, 7)
    %b: f32[4] = aten.sub(%e, %d)
    %s: i8[4] = Q(%b, 0.5, 1)
    %f: f32[4] = DQ(%s, 0.5, 1)
    return %e, %f, %r })");
  EXPECT_EQ(op_names(g), "aten.add aten.sub");
  EXPECT_EQ(g.outputs[0], g.outputs[2]);
}

TEST(FoldQdq, ScalarBesideIntegersWaitsForTheQuantizer) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4]) {
    %c: f32[] = constant splat 2.5
    %q: i8[4] = Q(%x, 0.5, -3)
    %d: f32[4] = DQ(%q, 0.5, -3)
    %a: f32[4] = aten.add(%d, %c)
    %r: i8[4] = Q(%a, 0.25, 7)
    return %r })");
  EXPECT_EQ(op_names(g), "aten.add");
  EXPECT_FALSE(g.type(find(g, "c")).quantized());
}

TEST(FoldQdq, OnlyActivationsOfEightOrSixteenBitsFold) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[1,2], %w: f32[3,2]) {
    %q: i8[1,2] = Q(%x, 0.5, -3)
    %d: f32[1,2] = DQ(%q, 0.5, -3)
    %a: f32[1,2] = aten.add(%d, %d)
    %r: i32[1,2] = quantize_per_tensor(%a) {scale=0.5, zero_point=0, quant_min=-9, quant_max=9, dtype="i32"}
    %l: f32[1,3] = aten.linear(%d, %w)
    %s: i8[1,3] = Q(%l, 0.5, -3)
    return %r, %s })");
  EXPECT_EQ(op_names(g),
            "dequantize_per_tensor aten.add quantize_per_tensor aten.linear quantize_per_tensor");
}

TEST(FoldQdq, StatesStayWhatTheyAre) {
  const Graph g = after(fold_qdq, R"(graph @g(%x: f32[4], %h: f32[4]) {
    %q: i8[4] = Q(%x, 0.5, -3)
    %d: f32[4] = DQ(%q, 0.5, -3)
    %k: i8[4] = Q(%h, 0.25, 7)
    %j: f32[4] = DQ(%k, 0.25, 7)
    %a: f32[4] = aten.add(%d, %j)
    %r: i8[4] = Q(%a, 0.25, 7)
    %e: f32[4] = DQ(%r, 0.25, 7)
    state %h -> %e
    return %e })");
  EXPECT_EQ(op_names(g), "quantize_per_tensor aten.add dequantize_per_tensor");
}

TEST(FoldQdq, ContradictionsAreRefused) {
  expect_refused(fold_qdq, R"(graph @g(%x: f32[4]) {
    %q: i8[4] = Q(%x, 0.5, -3)
    %d: f32[4] = DQ(%q, 0.25, -3)
    return %d })",
                 "reads %q with other parameters than those it was quantized with (i8[4]<0.5:-3>)");
  expect_refused(fold_qdq, R"(graph @g(%x: i8[2]) {
    %s: f32[2] = constant [0.5, 0.25]
    %d: f32[2] = dequantize_per_channel(%x, %s, none) {axis=0, quant_min=-127, quant_max=127, dtype="i8"}
    return %d })",
                 "activations must be quantized per tensor");
}

}  // namespace
}  // namespace rushlight
