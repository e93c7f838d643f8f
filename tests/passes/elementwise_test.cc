// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor: as expressions in float, as tables of 256 integers.
#include "ops/expression.h"
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

TEST(FuseElementwise, SiluAndAffineFromTheirParts) {
  expect_becomes(fuse_elementwise, R"graph(graph @g(%x: f32[2]) {
    %two: f32[] = constant splat 2.0
    %s: f32[2] = aten.sigmoid(%x)
    %m: f32[2] = aten.mul(%x, %s)
    %y: f32[2] = aten.sub(%m, %two) {alpha=0.5}
    return %y })graph",
                 R"graph(graph @g(%x: f32[2]) {
    %y: f32[2] = elementwise(%x) {expression="aten.sub(aten.mul(x, aten.sigmoid(x)), 2.0; alpha=0.5)"}
    return %y })graph");
}

TEST(FuseElementwise, ClampsAreCalls) {
  expect_becomes(fuse_elementwise, R"graph(graph @g(%x: f32[2]) {
    %three: f32[] = constant splat 3.0
    %a: f32[2] = aten.add(%x, %three) clamp=[0.0, 6.0]
    %y: f32[2] = aten.mul(%x, %a)
    return %y })graph",
                 R"graph(graph @g(%x: f32[2]) {
    %y: f32[2] = elementwise(%x) {expression="aten.mul(x, aten.clamp(aten.add(x, 3.0; alpha=1.0); min=0.0, max=6.0))"}
    return %y })graph");
}

// One function alone, two tensors, a constant a channel, a result of another shape.
TEST(FuseElementwise, WhatStays) {
  expect_stays(fuse_elementwise, R"(graph @g(%x: f32[2,2], %z: f32[2,2], %r: f32[2]) {
    %c: f32[2] = constant [1.0, 2.0]
    %s: f32[2,2] = aten.sigmoid(%x)
    %a: f32[2,2] = aten.mul(%s, %z)
    %b: f32[2,2] = aten.mul(%x, %c)
    %d: f32[2,2] = aten.mul(%r, %x)
    return %a, %b, %d })");
}

TEST(Expression, RoundTripsAndEvaluates) {
  const auto e = Expression::parse("aten.div(aten.leaky_relu(x; negative_slope=0.25), 2.0)");
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_EQ((*e)(4.0), 2.0);
  EXPECT_EQ((*e)(-4.0), -0.5);
}

TEST(Expression, RefusalsSayWhatWasFound) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "must be x, a real number or an op"}, {"aten.mul(x)", "2 arguments of aten.mul"},
      {"aten.conv2d(x)", "aten.conv2d is not"},  {"aten.exp(x", "must be ')'"},
      {"aten.exp(x) y", "must be the end"},      {"aten.leaky_relu(x; slope=1.0)", "slope"},
      {"nonsense(x)", "found 'nonsense(x)'"},
  };
  for (const auto& [text, error] : wrong) {
    const auto parsed = Expression::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().text(), testing::HasSubstr(error)) << text;
  }
  std::string deep = "x";
  for (int i = 0; i < 100; ++i) deep = "aten.exp(" + deep + ")";
  EXPECT_THAT(Expression::parse(deep).error().text(), testing::HasSubstr("at most 64 calls deep"));
}

std::vector<int> table_of(const Graph& graph, const Node& node) {
  const auto values = graph.constant(node.operands[1]).as<int8_t>();
  return {values.begin(), values.end()};
}

// Two functions with a rounding between them become one table that keeps it.
TEST(BuildLookups, ChainsKeepTheRoundingBetween) {
  const Graph g = after(build_lookups, R"(graph @g(%x: i8[4]<0.5:0>) {
    %a: i8[4]<1.0:0> = aten.abs(%x)
    %n: i8[4]<1.0:0> = aten.neg(%a)
    return %n })");
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.nodes[0].op, "lookup"_op);
  const std::vector<int> table = table_of(g, g.nodes[0]);
  // 3 stands for 1.5, which rounds to 2 before it is negated; 127 for 63.5, half to even.
  EXPECT_EQ(table[128 + 3], -2);
  EXPECT_EQ(table[128 - 3], -2);
  EXPECT_EQ(table[128 + 1], 0);
  EXPECT_EQ(table[255], -64);
}

TEST(BuildLookups, ProductsOfFunctionsOfOneTensor) {
  const Graph g = after(build_lookups, R"(graph @g(%x: i8[4]<0.5:0>) {
    %a: i8[4]<0.5:0> = aten.abs(%x)
    %y: i8[4]<1.0:-10> = aten.mul(%a, %x)
    return %y })");
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(table_of(g, g.nodes[0])[128 - 4], -4 - 10);
  EXPECT_EQ(table_of(g, g.nodes[0])[0], -128);  // saturates
}

TEST(BuildLookups, UndefinedResultsAreTheZeroPoint) {
  const Graph g = after(build_lookups, R"(graph @g(%x: i8[4]<0.5:0>) {
    %y: i8[4]<0.25:7> = aten.log(%x)
    return %y })");
  const std::vector<int> table = table_of(g, g.nodes[0]);
  EXPECT_EQ(table[128 - 1], 7);  // log of a negative number
  EXPECT_EQ(table[128], -128);   // log of 0 is minus infinity
  EXPECT_EQ(table[128 + 2], 7);  // log(1) = 0
}

TEST(BuildLookups, RequantizationsAndTensorsOfTheirOwnStay) {
  expect_stays(build_lookups, R"(graph @g(%x: i8[4]<0.5:0>, %z: i8[4]<0.5:0>) {
    %r: i8[4]<0.25:0> = requantize(%x)
    %y: i8[4]<1.0:0> = aten.mul(%x, %z)
    return %r, %y })");
}

TEST(FoldHardsigmoid, IntoWeightsBiasAndClamp) {
  const Graph g = after(fold_hardsigmoid, R"(graph @g(%x: f32[1,2]) {
    %w: f32[1,2] = constant [6.0, 12.0]
    %b: f32[1] = constant [3.0]
    %l: f32[1,1] = aten.linear(%x, %w, %b)
    %y: f32[1,1] = aten.hardsigmoid(%l)
    return %y })");
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.nodes[0].clamp, (ClampRange{0, 1}));
  EXPECT_EQ(g.constant(g.nodes[0].operands[1]).at(1), 2);
  EXPECT_EQ(g.constant(g.nodes[0].operands[2]).at(0), 1);
}

TEST(FoldHardsigmoid, QuantizedWeightsKeepTheirIntegers) {
  const Graph g = after(fold_hardsigmoid, R"(graph @g(%x: f32[1,2]) {
    %w: f32[1,2] = constant [6.0, 12.0]
    %l: f32[1,1] = aten.linear(%x, %w, none)
    %y: f32[1,1] = aten.hardsigmoid(%l)
    return %l, %y })");
  EXPECT_EQ(op_names(g), "aten.linear aten.hardsigmoid") << "read twice: stays";
}

}  // namespace
}  // namespace rushlight
