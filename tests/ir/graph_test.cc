// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "tests/ir/sample_graphs.h"

namespace rushlight {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TensorType floats(Shape shape) { return {.dtype = DType::float32, .shape = std::move(shape)}; }

ValueId append(Graph& graph, Op op, std::string_view name, std::vector<ValueId> operands,
               NamedAttributes attributes = {}) {
  Result<Node> node = graph.make_node(op, name, std::move(operands), std::move(attributes));
  EXPECT_TRUE(node) << node.error().text();
  graph.nodes.push_back(*std::move(node));
  return graph.nodes.back().result();
}

TEST(ClampRanges, ComposeInOrder) {
  const ClampRange relu{0, kInfinity};
  EXPECT_EQ(relu.then({-1, 6}), (ClampRange{0, 6}));
  EXPECT_EQ((ClampRange{}.then(relu)), relu);
  EXPECT_EQ((ClampRange{0, 1}.then({2, 3})), (ClampRange{2, 2}));
  EXPECT_EQ((ClampRange{2, 3}.then({0, 1})), (ClampRange{1, 1}));
  EXPECT_FALSE(ClampRange{}.is_set());
}

TEST(Graphs, NamesAreUniqueIdentifiers) {
  Graph g;
  EXPECT_EQ(g.value(g.add_input("x", floats({1}))).name, "x");
  EXPECT_EQ(g.value(g.add_input("x", floats({1}))).name, "x_1");
  EXPECT_EQ(g.value(g.add_input("x_2", floats({1}))).name, "x_2");
  EXPECT_EQ(g.value(g.add_input("x", floats({1}))).name, "x_3");
  EXPECT_EQ(g.value(g.add_result("a/b:0", floats({1}))).name, "a_b_0");
  EXPECT_EQ(g.value(g.add_result("", floats({1}))).name, "_");
  EXPECT_EQ(g.unique_name("fresh"), "fresh");
  EXPECT_EQ(g.unique_name("fresh"), "fresh");
}

TEST(Graphs, MakeNodeInfersTypesAndFillsDefaults) {
  Graph g;
  const ValueId x = g.add_input("x", floats({1, 3, 8, 8}));
  const ValueId w = g.add_constant("w", Tensor(DType::float32, {4, 3, 3, 3}));
  g.outputs = {append(g, "aten.conv2d"_op, "x", {x, w}, {{"stride", int64_t{2}}})};
  const Node& node = g.nodes.front();
  EXPECT_EQ(node.operands, (std::vector<ValueId>{x, w, ValueId::none}));
  EXPECT_EQ(node.attrs().integers("stride"), (Integers{2}));
  EXPECT_EQ(node.attrs().integer("groups"), 1);
  EXPECT_EQ(g.value(node.result()).name, "x_1");
  EXPECT_EQ(g.type(node.result()), floats({1, 4, 3, 3}));
  EXPECT_TRUE(verify(g));
}

TEST(Graphs, MakeNodeErrorsNameTheNode) {
  Graph g;
  const ValueId x = g.add_input("x", floats({1, 3}));
  const auto error = [&](Op op, std::vector<ValueId> operands, NamedAttributes attributes) {
    const size_t values = g.value_count();
    const Result<Node> node = g.make_node(op, "n", std::move(operands), std::move(attributes));
    EXPECT_EQ(g.value_count(), values);
    return node ? "" : node.error().text();
  };
  EXPECT_EQ(error("aten.relu"_op, {}, {}), "node 'n' (aten.relu): operand 'input' is missing");
  EXPECT_EQ(error("aten.relu"_op, {x, x}, {}), "node 'n' (aten.relu): found 2 operands, takes at most 1");
  EXPECT_EQ(error("aten.permute"_op, {x}, {}),
            "node 'n' (aten.permute), attribute dims: missing; it has no default");
  EXPECT_EQ(error("aten.permute"_op, {x}, {{"dims", Integers{0, 0}}}),
            "node 'n' (aten.permute), attribute dims: axis 0 appears twice");
  EXPECT_THROW(error("aten.relu"_op, {static_cast<ValueId>(99)}, {}), InternalError);
}

TEST(Graphs, ReplaceUsesReachesOutputsAndStates) {
  Graph g;
  const ValueId x = g.add_input("x", floats({2}));
  const ValueId a = append(g, "aten.relu"_op, "a", {x});
  const ValueId b = append(g, "aten.relu6"_op, "b", {a});
  g.outputs = {a, b};
  g.states = {{x, a}};
  EXPECT_EQ(g.use_counts(), (std::vector<int>{1, 3, 1}));
  EXPECT_EQ(g.producers(), (std::vector<int>{-1, 0, 1}));
  g.replace_uses(a, x);
  EXPECT_EQ(g.nodes[1].operands.front(), x);
  EXPECT_EQ(g.outputs, (std::vector<ValueId>{x, b}));
  EXPECT_EQ(g.states, (std::vector<State>{{x, x}}));
}

TEST(Graphs, RemoveDeadKeepsInputsAndStateUpdates) {
  Graph g;
  const ValueId x = g.add_input("x", floats({2}));
  const ValueId unread = g.add_input("unread", floats({3}));
  const ValueId h = g.add_input("h", floats({2}));
  const ValueId used = g.add_constant("used", Tensor(DType::float32, {2}));
  const ValueId unused = g.add_constant("unused", Tensor(DType::float32, {2}));
  const ValueId dead = append(g, "aten.add"_op, "dead", {x, unused});
  const ValueId dead_user = append(g, "aten.relu"_op, "dead_user", {dead});
  const ValueId next = append(g, "aten.add"_op, "next", {h, used});
  g.outputs = {append(g, "aten.relu"_op, "y", {x})};
  g.states = {{h, next}};
  g.remove_dead();
  EXPECT_EQ(g.nodes.size(), 2U);
  EXPECT_EQ(g.value_ids(), (std::vector<ValueId>{x, unread, h, used, next, g.outputs.front()}));
  EXPECT_EQ(g.value(unused).kind, ValueKind::removed);
  EXPECT_EQ(g.value(dead).kind, ValueKind::removed);
  EXPECT_EQ(g.value(dead_user).kind, ValueKind::removed);
  EXPECT_EQ(g.unique_name("dead"), "dead");
  EXPECT_EQ(g.unique_name("next"), "next_1");
  EXPECT_TRUE(verify(g));
}

TEST(Graphs, RemoveDeadChangesNothingThatIsAlive) {
  for (const std::string_view text : kSampleGraphs) {
    Graph g = parse_graph(text).value();
    g.remove_dead();
    EXPECT_EQ(print(g), text);
  }
}

TEST(Graphs, AreValues) {
  const Graph a = parse_graph(kFloatConvGraph).value();
  Graph b = a;
  b.value(b.inputs.front()).type.shape = {7};
  b.nodes.clear();
  EXPECT_EQ(print(a), kFloatConvGraph);
}

TEST(Graphs, ConstantsMustFitTheirType) {
  Graph g;
  const auto data = std::make_shared<const Tensor>(DType::float32, Shape{2});
  EXPECT_THROW(g.add_constant("c", floats({3}), data), InternalError);
  EXPECT_THROW(g.add_constant("c", floats({2}), nullptr), InternalError);
  EXPECT_THROW(g.constant(g.add_input("x", floats({2}))), InternalError);
}

}  // namespace
}  // namespace rushlight
