// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ir/sample_graphs.h"

namespace rushlight {
namespace {

Graph parsed(std::string_view text) {
  Result<Graph> graph = parse_graph(text);
  if (!graph) ADD_FAILURE() << graph.error().text() << "\n" << text;
  return graph ? *std::move(graph) : Graph{};
}

TEST(Text, SamplesPrintAsTheyWereWritten) {
  for (const std::string_view text : kSampleGraphs) EXPECT_EQ(print(parsed(text)), text);
}

TEST(Text, EquivalenceIgnoresIdsNodeNamesAndSources) {
  Graph a = parsed(kFloatConvGraph);
  Graph b = a;
  b.nodes.front().name = "another";
  b.nodes.front().source = "net.py:3";
  b.add_result("unused", {});
  EXPECT_TRUE(equivalent(a, b));
  b.nodes.front().clamp = {};
  EXPECT_FALSE(equivalent(a, b));
}

TEST(Text, ValuesKeepEveryBit) {
  const Graph g = parsed(kMovementGraph);
  const auto data = [&](std::string_view name) {
    for (const ValueId id : g.value_ids())
      if (g.value(id).name == name) return g.constant(id);
    return Tensor();
  };
  EXPECT_EQ(data("longs").as<int64_t>()[2], (int64_t{1} << 53) + 1);
  EXPECT_EQ(data("doubles").as<double>()[2], 5e-324);
  EXPECT_TRUE(std::signbit(data("halves").at(3)));
  EXPECT_TRUE(std::isnan(data("scalar").at(0)));
  EXPECT_EQ(data("flags").at(1), 0);
}

TEST(Text, ReaderIsLenientWhereTheMeaningIsPlain) {
  const Graph g = parsed(R"(// a graph
    graph @g(%x:f32[1,2,3,3]){ %w:f32[1,2,1,1]=constant[1,2] // integers as reals
      %t: bool[2] = constant [1, 0]
      %y: f32[1,1,3,3] = aten.conv2d(%x, %w) {stride=1, groups=1}
      %z: f32[1,1,3,3] = aten.add(%y,%y){alpha=2}
      return %z,%t })");
  EXPECT_EQ(print(g), R"(graph @g(%x: f32[1,2,3,3]) {
  %w: f32[1,2,1,1] = constant [1.0, 2.0]
  %t: bool[2] = constant [true, false]
  %y: f32[1,1,3,3] = aten.conv2d(%x, %w, none) {stride=[1]}
  %z: f32[1,1,3,3] = aten.add(%y, %y) {alpha=2.0}
  return %z, %t
}
)");
  EXPECT_EQ(g.nodes.front().name, "y");
  EXPECT_EQ(g.describe(g.nodes.front()), "node 'y' (aten.conv2d) at line 4");
}

TEST(Text, LongConstantsCanBeCut) {
  const Graph g = parsed(kMovementGraph);
  const std::string cut = print(g, {.max_constant_elements = 2});
  EXPECT_THAT(cut, testing::HasSubstr("%bytes: u8[3] = constant ...\n"));
  EXPECT_THAT(cut, testing::HasSubstr("%flags: bool[2] = constant [true, false]\n"));
  const Result<Graph> again = parse_graph(cut);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().text(), testing::HasSubstr("was cut when it was printed"));
}

TEST(Text, NamesBecomeIdentifiers) {
  Graph g;
  g.name = "my-model v1";
  g.outputs = {g.add_input("p%x\n", {.dtype = DType::float32, .shape = {1}})};
  EXPECT_EQ(print(g), "graph @my_model_v1(%p_x_: f32[1]) {\n  return %p_x_\n}\n");
  EXPECT_EQ(print(parsed(print(g))), print(g));
}

struct BadText {
  std::string_view text;
  std::string_view error;
};

TEST(Text, ErrorsNameLineAndColumn) {
  const std::vector<BadText> cases = {
      {"", "line 1, column 1: expected 'graph', found the end of the text"},
      {"graphs @g() {\n return }", "line 1, column 1: expected 'graph', found 'graphs'"},
      {"graph g() { return }", "line 1, column 7: expected '@', found 'g'"},
      {"graph @g(x: f32[1]) { return }", "line 1, column 10: expected '%', found 'x'"},
      {"graph @g(%x: f33[1]) { return }", "line 1, column 14: unknown dtype 'f33', must be one of bool, u8"},
      {"graph @g(%x: f32[-1]) { return }",
       "line 1, column 18: expected an extent within 0..268435456, found '-1'"},
      {"graph @g(%x: f32[99999999999999999999]) { return }", "line 1, column 18: expected an extent within"},
      {"graph @g(%x: f32[1,1,1,1,1,1,1,1,1]) { return }", "column 34: a tensor has at most 8 axes"},
      {"graph @g(%x: f32[1]{row}) { return }", "expected 'channels_last', found 'row'"},
      {"graph @g(%x: i8[1]<0.5>) { return }", "column 23: expected ':', found '>'"},
      {"graph @g(%x: i8[1]<half:0>) { return }", "column 20: expected a scale, found 'half'"},
      {"graph @g(%x: i8[1]<0.5:9999999999>) { return }",
       "expected a zero point within -2147483648..2147483647"},
      {"graph @g(%x: f32[1], %x: f32[1]) { return }", "line 1, column 23: %x is defined above"},
      {"graph @g(%x: f32[1]) {\n  return %y\n}", "line 2, column 11: %y is not defined above"},
      {"graph @g(%x: f32[1]) {\n  %y: f32[1] = aten.rely(%x)\n return %y }",
       "line 2, column 16: unknown op 'aten.rely'"},
      {"graph @g(%x: f32[1]) {\n  %y: f32[1] = aten.relu(%y)\n return %y }",
       "line 2, column 27: %y is not defined"},
      {"graph @g(%x: f32[1]) {\n  %x: f32[1] = aten.relu(%x)\n return %x }",
       "line 2, column 4: %x is defined above"},
      {"graph @g(%x: f32[1]) {\n %y: f32[1], %y: f32[1] = aten.relu(%x)\n return }",
       "column 15: %y is defined twice"},
      {"graph @g(%x: f32[1]) { %y: f32[1] = aten.relu(%x) {foo=1} return %y }",
       "column 51: attribute foo: the op has no such attribute; it has: none"},
      {"graph @g(%x: f32[1]) { %y: f32[1] = aten.add(%x, %x) {beta=1} return %y }", "it has: alpha"},
      {"graph @g(%x: f32[1]) { %y: f32[1] = aten.add(%x, %x) {alpha=\"1\"} return %y }",
       "attribute alpha: found \"1\", must be a real"},
      {"graph @g(%x: f32[1]) { %y: f32[1] = aten.add(%x, %x) {alpha=1, alpha=1} return %y }",
       "alpha is given twice"},
      {"graph @g(%x: f32[1]) { %y: f32[1] = aten.view(%x) return %y }",
       "attribute size: missing; it has no default"},
      {"graph @g(%x: f32[1]) { %y: f32[1] = aten.view(%x) {size=[1,} return %y }",
       "that starts with [ does not end"},
      {"graph @g(%x: f32[1]) { %y: f32[1] = aten.view(%x) {size=[1,]} return %y }",
       "attribute value '[1,]': expected"},
      {"graph @g() { %c: f32[2] = constant [1.0] return }", "column 40: found 1 elements, the type says 2"},
      {"graph @g() { %c: f32[2] = constant [1.0, 2.0, 3.0] return }", "expected ']' after the 2 elements"},
      {"graph @g() { %c: f32[2] = constant [1.0, x] return }", "column 42: expected a real, found 'x'"},
      {"graph @g() { %c: u8[1] = constant [256] return }",
       "column 36: expected an integer within 0..255, found '256'"},
      {"graph @g() { %c: i8[1] = constant [1.5] return }", "column 37: expected ']' after the 1 elements"},
      {"graph @g() { %c: bool[1] = constant [2] return }", "expected true, false, 0 or 1"},
      {"graph @g() { %c: f32[0] = constant [] return }", "a constant has 1 to 268435456 elements"},
      {"graph @g() { %c: f32[268435456] = constant [0.0] return }", "expected 268435456 elements"},
      {"graph @g() { %c: f32[268435456] = constant splat 0.0 return }",
       "splat constants may have 16777216 elements"},
      {"graph @g() { %c: f32[1], %d: f32[1] = constant [0.0] return }", "a constant is one value"},
      {"graph @g(%x: f32[1]) { return %x } graph", "expected the end of the text after '}'"},
      {"graph @g(%x: f32[1]) { state %x %x return }", "column 33: expected '->', found '%x'"},
      {"graph @g(%x: f32[1]) { return %x", "expected '}', found the end of the text"},
      {"graph @g(%x: f32[1]) {", "expected '%', found the end of the text"},
      {"graph @g(%x: f32[1,2]) {\n\n  %y: f32[2,2] = aten.view(%x) {size=[2,2]}\n  return %y\n}",
       "node 'y' (aten.view) at line 3, attribute size: found [2,2], which can't hold the 2 elements of "
       "[1,2]"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Graph> graph = parse_graph(text);
    ASSERT_FALSE(graph) << text;
    EXPECT_THAT(graph.error().text(), testing::HasSubstr(std::string(expected))) << text;
    EXPECT_EQ(graph.error().fault, Fault::input);
  }
}

}  // namespace
}  // namespace rushlight
