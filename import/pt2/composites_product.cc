// SPDX-License-Identifier: Apache-2.0
// Matrix products: a linear layer where the right side is known when the model is compiled, a product of two
// tensors otherwise; and activations with weights.
#include <fmt/format.h>

#include <algorithm>

#include "import/pt2/composites.h"

namespace rushlight::pt2 {
namespace {

using Values = Result<std::vector<ValueId>>;

const Node* producer(const Graph& graph, ValueId id) {
  const auto makes = [id](const Node& node) {
    return std::ranges::find(node.results, id) != node.results.end();
  };
  const auto found = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(), makes);
  return found == graph.nodes.rend() ? nullptr : &*found;
}

// Computed from constants alone, as dequantized or transposed weights are.
bool is_fixed(const Graph& graph, ValueId id) {
  if (graph.is_constant(id)) return true;
  const Node* node = producer(graph, id);
  return node != nullptr && std::ranges::all_of(node->operands, [&](ValueId operand) {
           return operand == ValueId::none || is_fixed(graph, operand);
         });
}

// The matrix with its axes swapped: what was transposed only for the product is taken as it was.
ValueId transposed(Steps& steps, ValueId matrix) {
  const Node* node = producer(steps.call().graph, matrix);
  if (node != nullptr && node->op == "aten.permute"_op && node->attrs().integers("dims") == Integers{1, 0})
    return node->operands.front();
  return steps.permute(matrix, {1, 0});
}

ValueId product(Steps& steps, ValueId left, ValueId right, ValueId bias) {
  if (steps.failed()) return ValueId::none;
  const Graph& graph = steps.call().graph;
  const bool vector = bias == ValueId::none || (is_fixed(graph, bias) && steps.shape(bias).size() == 1);
  if (steps.shape(right).size() == 2 && is_fixed(graph, right) && vector)
    return steps.add("aten.linear"_op, {left, transposed(steps, right), bias});
  const ValueId result = steps.add("aten.matmul"_op, {left, right});
  return bias == ValueId::none ? result : steps.add("aten.add"_op, {result, bias});
}

Values matmul(Call& call) {
  Steps steps(call);
  const ValueId left = steps.tensor("self");
  const ValueId right = steps.tensor(call.target == "aten.matmul.default" ? "other" : "mat2");
  if (steps.failed()) return steps.done(ValueId::none);
  // A vector is a matrix of one row or column, whose axis disappears from the result.
  const Shape a = steps.shape(left);
  const Shape b = steps.shape(right);
  if (a.size() > 1 && b.size() > 1) return steps.done(product(steps, left, right, ValueId::none));
  if (a.empty() || b.empty()) return input_error("", "multiplies a scalar; matmul needs vectors or matrices");
  const ValueId rows = a.size() == 1 ? steps.view(left, {1, a[0]}) : left;
  const ValueId columns = b.size() == 1 ? steps.view(right, {b[0], 1}) : right;
  return steps.done(steps.view(product(steps, rows, columns, ValueId::none), call.result.shape));
}

// alpha and beta of addmm and baddbmm other than 1 are scaled in.
ValueId scaled(Steps& steps, ValueId value, std::string_view factor) {
  const auto number = steps.call().real(factor, 1);
  steps.call().drop(factor);
  if (!number) {
    steps.fail(number.error());
    return ValueId::none;
  }
  if (*number == 1 || steps.failed()) return value;
  const ValueId constant = steps.call().graph.add_constant(
      fmt::format("{}.{}", steps.call().name, factor), Tensor::of<float>({}, {static_cast<float>(*number)}));
  return steps.add("aten.mul"_op, {value, constant});
}

Values addmm(Call& call) {
  Steps steps(call);
  const bool batched = call.target == "aten.baddbmm.default";
  const ValueId bias = scaled(steps, steps.tensor("self"), "beta");
  const ValueId left = scaled(steps, steps.tensor(batched ? "batch1" : "mat1"), "alpha");
  const ValueId right = steps.tensor(batched ? "batch2" : "mat2");
  return steps.done(product(steps, left, right, bias));
}

// One slope for all is leaky_relu.
Values prelu(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const ValueId weight = steps.tensor("weight");
  if (steps.failed()) return steps.done(ValueId::none);
  const Graph& graph = call.graph;
  if (graph.is_constant(weight) && graph.type(weight).elements() == 1 && is_float(graph.type(weight).dtype))
    return steps.done(
        steps.add("aten.leaky_relu"_op, {input}, {{"negative_slope", graph.constant(weight).at(0)}}));
  return steps.done(steps.add("aten.prelu"_op, {input, weight}));
}

Values selu(Call& call) {
  Steps steps(call);
  // torch.nn.SELU's constants.
  return steps.done(steps.add(
      "aten.elu"_op, {steps.tensor("self")},
      {{"alpha", 1.6732632423543772848170429916717}, {"scale", 1.0507009873554804934193349852946}}));
}

// silu, hardswish and their like have no weights; glu halves an axis.
Values glu(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const size_t axis = steps.axis(steps.integer("dim", -1), input);
  if (steps.failed()) return steps.done(ValueId::none);
  const int64_t half = steps.shape(input)[axis] / 2;
  const auto dim = static_cast<int64_t>(axis);
  const ValueId gate = steps.add("aten.sigmoid"_op, {steps.slice(input, dim, half, 2 * half)});
  return steps.done(steps.add("aten.mul"_op, {steps.slice(input, dim, 0, half), gate}));
}

constexpr Composite kComposites[] = {
    {"aten.matmul.default", matmul},       {"aten.mm.default", matmul},     {"aten.bmm.default", matmul},
    {"aten.addmm.default", addmm},         {"aten.baddbmm.default", addmm}, {"aten.prelu.default", prelu},
    {"aten._prelu_kernel.default", prelu}, {"aten.selu.default", selu},     {"aten.glu.default", glu},
};

}  // namespace

const std::span<const Composite> kProductComposites = kComposites;

}  // namespace rushlight::pt2
