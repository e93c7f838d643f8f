// SPDX-License-Identifier: Apache-2.0
// Folding changes no result: random graphs of quantized and float ops compute the same reals before and
// after.
#include "eval/evaluator.h"
#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed) {}

  Graph build() {
    for (int64_t i = random_.integer(1, 2); i > 0; --i) {
      const ValueId x = graph_.add_input("x", {.dtype = DType::float32, .shape = {1, 2, 4, 4}});
      if (random_.one_in(4)) reals_.push_back(x);
      for (int64_t k = random_.one_in(5) ? 2 : 1; k > 0; --k) through_integers(x);
    }
    for (int64_t i = random_.integer(2, 9); i > 0; --i) add_op();
    graph_.outputs = {reals_.back()};
    for (const ValueId id : reals_)
      if (random_.one_in(4)) graph_.outputs.push_back(id);
    for (const ValueId id : integers_)
      if (random_.one_in(6)) graph_.outputs.push_back(id);
    return std::move(graph_);
  }

 private:
  ValueId node(Op op, std::vector<ValueId> operands, NamedAttributes attributes = {}) {
    Result<Node> made = graph_.make_node(op, "n", std::move(operands), std::move(attributes));
    require(made.has_value(), made ? "" : made.error().text());
    graph_.nodes.push_back(*std::move(made));
    return graph_.nodes.back().result();
  }
  ValueId operand() {
    return reals_[static_cast<size_t>(random_.integer(0, static_cast<int64_t>(reals_.size()) - 1))];
  }
  // Few enough for equal ones to meet.
  NamedAttributes parameters() {
    const double scales[] = {0.5, 0.25, 0.1};
    const bool is_unsigned = random_.one_in(5);
    const int64_t lo = random_.one_in(6) ? -100 : -128;
    const int64_t shift = is_unsigned ? 128 : 0;
    return {{"scale", scales[random_.integer(0, 2)]},
            {"zero_point", random_.integer(0, 1) * 30 - 20 + shift},
            {"quant_min", lo + shift},
            {"quant_max", 127 + shift},
            {"dtype", std::string(is_unsigned ? "u8" : "i8")}};
  }
  void through_integers(ValueId x) {
    const NamedAttributes p = parameters();
    ValueId q = node("quantize_per_tensor"_op, {x}, p);
    integers_.push_back(q);
    if (random_.one_in(5)) q = moved(q);
    for (int64_t i = random_.one_in(4) ? 2 : 1; i > 0; --i)
      reals_.push_back(node("dequantize_per_tensor"_op, {q}, p));
  }
  ValueId moved(ValueId x) {
    const Shape shape = graph_.type(x).shape;
    if (graph_.type(x).elements() % 8 != 0 || random_.one_in(2))
      return node("aten.flatten"_op, {x}, {{"start_dim", shape.size() > 1 ? random_.integer(0, 1) : 0}});
    if (shape.size() == 4 && random_.one_in(2))
      return node("aten.permute"_op, {x}, {{"dims", Integers{0, 1, 3, 2}}});
    return node("aten.view"_op, {x}, {{"size", Integers{1, 2, 4, -1}}});
  }
  ValueId weights(int64_t outputs, Shape shape) {
    const ValueId w = graph_.add_constant("w", random_.integers(DType::int8, std::move(shape), -127, 127));
    const ValueId scales = graph_.add_constant("s", random_.floats({outputs}, 0.001, 0.1));
    return node("dequantize_per_channel"_op, {w, scales},
                {{"axis", int64_t{0}},
                 {"quant_min", int64_t{-127}},
                 {"quant_max", int64_t{127}},
                 {"dtype", std::string("i8")}});
  }
  ValueId computed(ValueId a) {
    const Shape shape = graph_.type(a).shape;
    switch (random_.integer(0, 6)) {
      case 0:
        if (shape.size() != 4) return moved(a);
        return node("aten.conv2d"_op, {a, weights(2, {2, shape[1], 1, 1})});
      case 1:
        return node("aten.linear"_op, {a, weights(3, {3, shape.back()})});
      case 2: {
        const ValueId b = operand();
        return node("aten.sub"_op, {a, graph_.type(b).shape == shape ? b : a});
      }
      case 3: {
        const ValueId b = operand();
        return node("aten.cat"_op, {a, graph_.type(b).shape == shape ? b : a}, {{"dim", int64_t{0}}});
      }
      case 4: {
        const ValueId c = graph_.add_constant("c", random_.floats({}, -2, 2));
        return node("aten.add"_op, {a, c});
      }
      case 5:
        return node("requantize"_op, {a});
      default:
        return moved(a);
    }
  }
  void add_op() {
    const ValueId y = computed(operand());
    if (graph_.nodes.back().row().clamps && random_.one_in(2)) graph_.nodes.back().clamp = {0, 6};
    // Batches grow by concatenation, which is all that such a value is good for.
    if (graph_.type(y).shape[0] != 1 || random_.one_in(5)) reals_.push_back(y);
    if (graph_.type(y).shape[0] == 1)
      for (int64_t i = random_.one_in(4) ? 2 : 1; i > 0; --i) through_integers(y);
  }

  Random random_;
  Graph graph_;
  std::vector<ValueId> reals_;
  std::vector<ValueId> integers_;
};

// The reals that an integer port takes.
Tensor as_input(const Tensor& reals, const TensorType& type) {
  if (!type.quantized()) return reals;
  Tensor out = reals;
  for (float& x : out.as<float>())
    x = static_cast<float>(type.quant.scale() * (quantize(x, type.quant) - type.quant.zero_point()));
  return out;
}

// Results as reals, whatever form the graph gives them: integers before, quantized types after.
Tensor as_output(const Tensor& value, const TensorType& before, const TensorType& after) {
  if (is_float(value.dtype())) return value;
  Tensor integers(DType::int8, value.shape());
  const int shift = before.dtype == DType::uint8 && value.dtype() == DType::uint8 ? 128 : 0;
  for (int64_t i = 0; i < value.elements(); ++i) integers.set(i, value.at(i) - shift);
  return dequantized(integers, after.quant);
}

TEST(FoldQdqRandom, ResultsAreEqual) {
  int folded = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph before = RandomGraph(seed).build();
    ASSERT_TRUE(verify(before)) << verify(before).error().text();
    Graph after = before;
    const Status done = fold_qdq(after);
    ASSERT_TRUE(done) << done.error().text() << print(before);
    ASSERT_TRUE(verify(after)) << verify(after).error().text() << print(before) << print(after);
    for (const Node& node : after.nodes) folded += after.type(node.result()).quantized() ? 1 : 0;

    Random random(seed + 1000);
    std::vector<Tensor> inputs;
    std::vector<Tensor> inputs_after;
    for (size_t i = 0; i < before.inputs.size(); ++i) {
      inputs.push_back(random.floats(before.type(before.inputs[i]).shape, -20, 20));
      inputs_after.push_back(as_input(inputs.back(), after.type(after.inputs[i])));
    }
    const auto expected = Evaluator(before).run(inputs);
    const auto found = Evaluator(after).run(inputs_after);
    ASSERT_TRUE(expected && found);
    for (size_t i = 0; i < expected->size(); ++i) {
      const TensorType& type = after.type(after.outputs[i]);
      const Tensor want = as_output((*expected)[i], before.type(before.outputs[i]), type);
      const Tensor have = as_output((*found)[i], type, type);
      // The same sums of the same floats in the same order: equal, not close.
      ASSERT_EQ(want, have) << "output " << i << "\n"
                            << print(before, {.max_constant_elements = 8})
                            << print(after, {.max_constant_elements = 8});
    }
  }
  EXPECT_GT(folded, 500);
}

}  // namespace
}  // namespace rushlight
