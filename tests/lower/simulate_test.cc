// SPDX-License-Identifier: Apache-2.0
// Layout passes, lowering, plan and kernels together against evaluation in reals. Scales are powers of two
// and no result is coarser than its operands, so that nothing rounds and the two must be equal.
#include <cmath>

#include "cortex_m/lower.h"
#include "eval/evaluator.h"
#include "passes/passes.h"
#include "plan/plan.h"
#include "sim/simulator.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

class RandomNet {
 public:
  explicit RandomNet(uint64_t seed) : random_(seed) {}

  Graph build() {
    for (int64_t i = random_.integer(1, 2); i > 0; --i)
      values_.push_back(graph_.add_input(
          "x", {.dtype = DType::int8,
                .shape = {random_.integer(1, 2), random_.integer(1, 3), 4, random_.integer(2, 4)},
                .quant = quantization(1)}));
    for (int64_t i = random_.integer(2, 10); i > 0; --i) add_op(any());
    graph_.outputs = {values_.back(), any()};
    graph_.remove_dead();
    return std::move(graph_);
  }

 private:
  Quantization quantization(double scale) {
    return Quantization::per_tensor(scale, static_cast<int32_t>(random_.integer(-20, 20)));
  }
  ValueId any() {
    if (random_.one_in(2)) return values_.back();
    return values_[static_cast<size_t>(random_.integer(0, static_cast<int64_t>(values_.size()) - 1))];
  }
  double scale(ValueId id) const { return graph_.type(id).quant.scale(); }
  void add(Op op, std::vector<ValueId> operands, const NamedAttributes& attributes,
           const Quantization& quant) {
    Result<Node> made = graph_.make_node(op, "n", std::move(operands), attributes);
    require(made.has_value(), made ? "" : made.error().text());
    TensorType& type = graph_.value(made->result()).type;
    type.dtype = DType::int8;
    type.quant = quant;
    if (made->row().clamps && random_.one_in(3)) made->clamp = {-8 * quant.scale(), 40 * quant.scale()};
    values_.push_back(made->result());
    graph_.nodes.push_back(*std::move(made));
  }
  ValueId weights(Shape shape) {
    Quantization quant = Quantization::per_tensor(1, 0);
    return graph_.add_constant("w", {.dtype = DType::int8, .shape = shape, .quant = quant},
                               std::make_shared<const Tensor>(random_.integers(DType::int8, shape, -2, 2)));
  }
  ValueId bias(int64_t channels, double bias_scale) {
    if (random_.one_in(3)) return ValueId::none;
    return graph_.add_constant(
        "b",
        {.dtype = DType::int32,
         .shape = {channels},
         .quant = Quantization::per_tensor(bias_scale, 0, DType::int32)},
        std::make_shared<const Tensor>(random_.integers(DType::int32, {channels}, -50, 50)));
  }
  void add_conv(ValueId x) {
    const Shape& in = graph_.type(x).shape;
    const int64_t groups = random_.one_in(2) ? in[1] : 1;
    const int64_t outputs = groups * random_.integer(1, 2);
    const int64_t kernel = random_.integer(1, std::min<int64_t>({in[2], in[3], 3}));
    const ValueId w = weights({outputs, in[1] / groups, kernel, kernel});
    NamedAttributes attributes = {{"groups", groups}, {"stride", random_.integer(1, 2)}};
    if (kernel > 1) attributes["padding"] = Integers{random_.integer(0, 1), 1, 0, random_.integer(0, 1)};
    add("aten.conv2d"_op, {x, w, bias(outputs, scale(x))}, attributes, quantization(scale(x)));
  }
  void add_op(ValueId x) {
    const Shape shape = graph_.type(x).shape;
    const Quantization quant = graph_.type(x).quant;
    if (shape.size() == 4 && shape[2] * shape[3] > 1 && random_.one_in(2)) return add_conv(x);
    switch (random_.integer(0, 7)) {
      case 0: {
        const ValueId y = any();
        const bool fits = broadcast(shape, graph_.type(y).shape).has_value();
        const ValueId other = fits ? y : x;
        const Op op = random_.one_in(2) ? "aten.add"_op : "aten.sub"_op;
        return add(op, {x, other}, {}, quantization(std::min(scale(x), scale(other))));
      }
      case 1:
        if (shape.size() != 4 || shape[2] < 2 || shape[3] < 2) break;
        return add("aten.avg_pool2d"_op, {x},
                   {{"kernel_size", int64_t{2}}, {"stride", random_.integer(1, 2)}},
                   quantization(scale(x) / 4));
      case 2:
        if (shape.size() != 4 || shape[2] != 4) break;
        return add("aten.mean"_op, {x}, {{"dim", Integers{2}}, {"keepdim", random_.one_in(2)}},
                   quantization(scale(x) / 4));
      case 3:
        if (shape.size() != 4) break;
        return add("aten.permute"_op, {x},
                   {{"dims", random_.one_in(2) ? Integers{0, 3, 2, 1} : Integers{0, 2, 1, -1}}}, quant);
      case 4:
        return add("aten.linear"_op, {x, weights({3, shape.back()}), bias(3, scale(x))}, {},
                   quantization(scale(x)));
      case 5:
        return add("aten.flatten"_op, {x}, {{"start_dim", shape.size() > 1 ? int64_t{1} : 0}}, quant);
      case 6:
        return add("aten.cat"_op, {x, x},
                   {{"dim", random_.integer(0, static_cast<int64_t>(shape.size()) - 1)}}, quant);
      default:
        break;
    }
    add("requantize"_op, {x}, {}, quantization(scale(x) / (random_.one_in(2) ? 2 : 1)));
  }

  Random random_;
  Graph graph_;
  std::vector<ValueId> values_;
};

TEST(SimulateRandom, LoweredGraphsComputeWhatTheGraphSays) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Graph graph = RandomNet(seed).build();
    ASSERT_TRUE(verify(graph)) << verify(graph).error().text() << print(graph);
    Graph laid_out = graph;
    for (const PassFunction pass : {assign_layouts, absorb_layouts}) {
      ASSERT_TRUE(pass(laid_out));
      ASSERT_TRUE(verify(laid_out)) << verify(laid_out).error().text() << print(laid_out);
    }
    const Result<Program> program = lower(laid_out, {});
    ASSERT_TRUE(program) << program.error().text() << print(laid_out);
    const Plan planned = plan(*program);
    ASSERT_TRUE(check(*program, planned)) << check(*program, planned).error().text();

    Random random(seed);
    std::vector<Tensor> integers;
    std::vector<Tensor> reals;
    for (const ValueId id : graph.inputs) {
      integers.push_back(random.integers(DType::int8, graph.type(id).shape, -40, 40));
      reals.push_back(dequantized(integers.back(), graph.type(id).quant));
    }
    const auto found = Simulator(*program, planned).run(integers);
    const auto expected = Evaluator(graph).run(reals);
    ASSERT_TRUE(found && expected);
    for (size_t i = 0; i < expected->size(); ++i)
      ASSERT_EQ(dequantized((*found)[i], graph.type(graph.outputs[i]).quant), (*expected)[i])
          << "output " << i << "\n"
          << print(laid_out) << print(*program);
  }
}

std::vector<std::vector<int>> run_states(std::string_view text, std::vector<int> steps) {
  const Graph graph = parsed(text);
  const Result<Program> program = lower(graph, {});
  EXPECT_TRUE(program) << program.error().text();
  const Plan planned = plan(*program);
  const Status good = check(*program, planned);
  EXPECT_TRUE(good) << good.error().text() << print(*program);
  Simulator simulator(*program, planned);
  std::vector<std::vector<int>> all;
  for (const int x : steps) {
    const auto outputs = simulator.run(std::vector{Tensor::of<int8_t>({1}, {static_cast<int8_t>(x)})});
    std::vector<int>& row = all.emplace_back();
    for (const Tensor& output : outputs.value()) row.push_back(static_cast<int>(output.at(0)));
  }
  return all;
}

// Each state becomes what another was before the run, and outputs are the states of before it.
TEST(SimulateStates, DelayLinesMoveByOne) {
  using Rows = std::vector<std::vector<int>>;
  const std::string head =
      "graph @g(%x: i8[1]<1.0:0>, %a: i8[1]<1.0:0>, %b: i8[1]<1.0:0>, %c: i8[1]<1.0:0>) {";
  const Rows expected = {{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {3, 2, 1}};
  EXPECT_EQ(
      run_states(head + "state %a -> %x state %b -> %a state %c -> %b return %a, %b, %c }", {1, 2, 3, 4}),
      expected);
  EXPECT_EQ(
      run_states(head + "state %c -> %b state %b -> %a state %a -> %x return %a, %b, %c }", {1, 2, 3, 4}),
      expected);
}

TEST(SimulateStates, AnUnchangedStateStays) {
  using Rows = std::vector<std::vector<int>>;
  EXPECT_EQ(
      run_states("graph @g(%x: i8[1]<1.0:0>, %a: i8[1]<1.0:0>) { state %a -> %a return %x, %a }", {5, 6}),
      (Rows{{5, 0}, {6, 0}}));
}

}  // namespace
}  // namespace rushlight
