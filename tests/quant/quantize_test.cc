// SPDX-License-Identifier: Apache-2.0
#include "quant/quantize.h"

#include "eval/evaluator.h"
#include "quant/calibrate.h"
#include "quant/parameters.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

Tensor values(std::vector<float> v) {
  const auto n = static_cast<int64_t>(v.size());
  return Tensor::of<float>({n}, v);
}

Graph quantized_graph(std::string_view text, const std::vector<Sample>& samples) {
  Graph g = parsed(text);
  const Status done = quantize(g, samples);
  EXPECT_TRUE(done) << done.error().text();
  const Status valid = verify(g);
  EXPECT_TRUE(valid) << valid.error().text() << print(g);
  return g;
}

std::string refusal(std::string_view text, const std::vector<Sample>& samples) {
  Graph g = parsed(text);
  const Status done = quantize(g, samples);
  return done ? "accepted" : done.error().text();
}

TEST(Observer, RangesOverAllSamplesWithZero) {
  const Graph g = parsed("graph @g(%x: f32[2]) { %y: f32[2] = aten.add(%x, %x) return %y }");
  const auto calibration = calibrate(g, {{values({1, 2})}, {values({3, 1.5F})}});
  ASSERT_TRUE(calibration);
  const auto range = [&](std::string_view name) {
    return calibration->ranges[static_cast<size_t>(find(g, name))];
  };
  EXPECT_EQ(range("x").lo, 0);
  EXPECT_EQ(range("x").hi, 3);
  EXPECT_EQ(range("y").hi, 6);
}

TEST(Quantize, EveryValueGetsItsRange) {
  const Graph g = quantized_graph(R"(graph @g(%x: f32[2]) {
    %c: f32[] = constant splat 0.5
    %y: f32[2] = aten.add(%x, %c)
    return %y })",
                                  {{values({-1, 1.55F})}});
  EXPECT_EQ(g.type(g.inputs[0]).quant, asymmetric({-1, 1.55F}));
  EXPECT_EQ(g.type(g.outputs[0]).quant, asymmetric({-0.5, 1.55F + 0.5F}));
  EXPECT_EQ(g.type(g.nodes[0].operands[1]).quant, Quantization::per_tensor(0.5 / 127, 0));
  EXPECT_EQ(g.constant(g.nodes[0].operands[1]).at(0), 127);
}

// What is only moved keeps its parameters; all operands of a concatenation share one range, that of all of
// them.
TEST(Quantize, GroupsShareParameters) {
  const Graph g = quantized_graph(R"(graph @g(%x: f32[2], %y: f32[2]) {
    %c: f32[1,2] = constant [-7, 0.5]
    %a: f32[2] = aten.add(%x, %x)
    %v: f32[1,2] = aten.view(%a) {size=[1,2]}
    %w: f32[1,2] = aten.view(%y) {size=[1,2]}
    %k: f32[3,2] = aten.cat(%v, %w, %c)
    return %k, %a })",
                                  {{values({-1, 1}), values({-3, 20})}});
  const Quantization shared = asymmetric({-7, 20});
  for (const auto* name : {"y", "a", "v", "w", "k"}) EXPECT_EQ(g.type(find(g, name)).quant, shared) << name;
  EXPECT_EQ(g.type(find(g, "x")).quant, asymmetric({-1, 1}));
  EXPECT_EQ(g.type(g.nodes.back().operands[2]).quant, shared);
}

TEST(Quantize, StatesShareParametersWithTheirUpdates) {
  const Graph g = quantized_graph(R"(graph @g(%x: f32[2], %s: f32[2]) {
    %a: f32[2] = aten.add(%x, %s)
    state %s -> %a
    return %a })",
                                  {{values({-1, 1}), values({-3, 20})}});
  EXPECT_EQ(g.type(find(g, "s")).quant, asymmetric({-4, 21}));
}

TEST(Quantize, QuantizedGraphsAreUntouched) {
  constexpr std::string_view kText = R"(graph @g(%x: i8[1,2]<0.5:1>) {
    %w: i8[2,2]<axis=0; 0.5:0, 0.25:0> = constant [1, 2, 3, 4]
    %b: i32[2]<axis=0; 0.25:0, 0.125:0> = constant [5, 6]
    %l: i8[1,2]<0.123:-7; -100..100> = aten.linear(%x, %w, %b) clamp=[0.0, inf]
    %d: f32[1,2] = DQ(%l, 0.123, -7)
    return %d, %l })";
  const std::string before = print(parsed(kText));
  EXPECT_EQ(print(quantized_graph(kText, {})), before);
  EXPECT_EQ(print(quantized_graph(kText, {{Tensor(DType::float32, {1, 2})}})), before);
}

// A float part behind a quantized one: the latter keeps its parameters, the former gets some.
TEST(Quantize, PartlyQuantizedGraphs) {
  const Graph g = quantized_graph(R"(graph @g(%x: f32[2]) {
    %q: i8[2]<0.5:1> = Q(%x, 0.5, 1)
    %r: i8[2]<0.25:0> = Q(%x, 0.25, 0)
    %a: i8[2]<1.0:0> = aten.add(%q, %r)
    %d: f32[2] = DQ(%a, 1.0, 0)
    %b: f32[2] = aten.add(%d, %d)
    return %b })",
                                  {{values({-3, 10})}});
  EXPECT_EQ(op_names(g), "quantize_per_tensor quantize_per_tensor aten.add aten.add");
  EXPECT_EQ(g.type(find(g, "a")).quant, Quantization::per_tensor(1, 0));
  // The samples' reals as the integers before hold them: -3 - 3 = -6 and 10 + 10 = 20, doubled.
  EXPECT_EQ(g.type(find(g, "b")).quant, asymmetric({-12, 40}));
  EXPECT_EQ(g.nodes[3].operands[0], find(g, "a"));
}

TEST(Quantize, GroupsOfDifferentGivenParametersAreRequantized) {
  const Graph g = quantized_graph(R"(graph @g(%x: i8[2]<0.5:1>, %y: i8[2]<0.25:0>) {
    %d: f32[2] = DQ(%x, 0.5, 1)
    %e: f32[2] = DQ(%y, 0.25, 0)
    %k: f32[4] = aten.cat(%d, %e)
    return %k })",
                                  {{values({-3, 10}), values({1, 1})}});
  EXPECT_EQ(op_names(g), "requantize aten.cat");
  EXPECT_EQ(g.type(g.outputs[0]).quant, Quantization::per_tensor(0.5, 1));
}

TEST(Quantize, WithoutSamplesTheNodesAreNamed) {
  const std::string error = refusal(R"(graph @g(%x: f32[2]) {
    %a: f32[2] = aten.add(%x, %x)
    %b: f32[2] = aten.sub(%a, %x)
    return %b })",
                                    {});
  EXPECT_EQ(error,
            "node 'a' (aten.add) at line 2: computes in float: the model file gives its result no "
            "quantization. Pass "
            "--calibrate samples.npz to choose one from samples\n"
            "node 'b' (aten.sub) at line 3: computes in float: the model file gives its result no "
            "quantization. Pass "
            "--calibrate samples.npz to choose one from samples");
}

TEST(Quantize, NumbersThatAreNoneAreRefused) {
  constexpr std::string_view kText = "graph @g(%x: f32[2]) { %a: f32[2] = aten.add(%x, %x) return %a }";
  for (const float bad : {std::nanf(""), INFINITY, 3e38F})
    EXPECT_THAT(refusal(kText, {{values({1, 1})}, {values({1, bad})}}),
                testing::AllOf(testing::HasSubstr("calibration sample 1: makes %"),
                               testing::HasSubstr("infinite or not a number")));
  EXPECT_EQ(refusal(R"(graph @g(%x: i8[2]<0.5:1>) {
    %c: f32[2] = constant [1.0, inf]
    %a: i8[2]<0.5:1> = aten.add(%x, %c)
    return %a })",
                    {}),
            "node 'a' (aten.add) at line 3: reads %c, whose element 1 is inf; it must be finite");
}

TEST(Quantize, ABiasThatDoesNotFitQuantizedWeightsIsRefused) {
  EXPECT_THAT(refusal(R"(graph @g(%x: i8[1,1]<0.5:0>) {
    %w: i8[2,1]<axis=0; 0.5:0, 7.843e-10:0> = constant [1, 2]
    %b: f32[2] = constant [5.0, -4.5]
    %l: i8[1,2]<0.05:0> = aten.linear(%x, %w, %b)
    return %l })",
                      {}),
              testing::HasSubstr("has a bias of -4.5 in channel 1, which does not fit int32"));
}

}  // namespace
}  // namespace rushlight
