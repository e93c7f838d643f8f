// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "eval/evaluator.h"
#include "passes/passes.h"

namespace rushlight {
namespace {

bool moves(const Node& node) {
  return node.row().quant == QuantRule::same && node.row().unary == nullptr && node.row().binary == nullptr;
}

bool foldable(const Graph& graph, const Node& node) {
  if (node.operands.empty() || node.results.size() != 1 || node.row().quant == QuantRule::none) return false;
  const bool elementwise = node.row().unary != nullptr || node.row().binary != nullptr;
  return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId id) {
    if (id == ValueId::none) return true;
    if (!graph.is_constant(id)) return false;
    // Only elements that are moved or taken one by one can be of any dtype.
    const TensorType& type = graph.type(id);
    return moves(node) || (!type.quantized() && (elementwise || type.dtype == DType::float32));
  });
}

int64_t product(Shape::const_iterator first, Shape::const_iterator last) {
  return element_count(Shape(first, last));
}

// Where the channels of `axis` are after one tensor was moved; nothing if they are no longer along one axis.
std::optional<int> moved_axis(const Node& node, const Shape& from, const Shape& to, int axis) {
  if (node.op == "aten.permute"_op) {
    const Integers& dims = node.attrs().integers("dims");
    const auto rank = static_cast<int64_t>(from.size());
    const auto is_axis = [&](int64_t d) { return (d < 0 ? d + rank : d) == axis; };
    return static_cast<int>(std::find_if(dims.begin(), dims.end(), is_axis) - dims.begin());
  }
  if (node.op == "aten.cat"_op) return std::nullopt;
  const int64_t before = product(from.begin(), from.begin() + axis);
  for (size_t b = 0; b < to.size(); ++b)
    if (to[b] == from[static_cast<size_t>(axis)] &&
        product(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(b)) == before)
      return static_cast<int>(b);
  return std::nullopt;
}

// The quantization of a movement of quantized constants as integers; nothing where they must be read as
// reals.
std::optional<Quantization> moved_quantization(const Graph& graph, const Node& node) {
  if (!moves(node)) return Quantization{};
  const TensorType& first = graph.type(node.operands[0]);
  const bool alike = std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId id) {
    return graph.type(id).quant == first.quant && graph.type(id).dtype == first.dtype;
  });
  if (!alike) return std::nullopt;
  Quantization quant = first.quant;
  if (!quant.per_channel()) return quant;
  const std::optional<int> axis = moved_axis(node, first.shape, graph.type(node.result()).shape, quant.axis);
  if (!axis) return std::nullopt;
  quant.axis = *axis;
  return quant;
}

}  // namespace

Status fold_constants(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (!foldable(graph, node)) continue;
    const std::optional<Quantization> quant = moved_quantization(graph, node);
    std::vector<Tensor> reals(node.operands.size());
    std::vector<const Tensor*> operands;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId id = node.operands[i];
      operands.push_back(id == ValueId::none ? nullptr : &graph.constant(id));
      if (quant || id == ValueId::none || !graph.type(id).quantized()) continue;
      reals[i] = dequantized(graph.constant(id), graph.type(id).quant);
      operands.back() = &reals[i];
    }
    // Integers under a quantization are moved as integers; the evaluator must not round them again.
    TensorType type = graph.type(node.result());
    graph.value(node.result()).type.quant = {};
    auto values = evaluate_node(graph, node, operands);
    if (!values) return forward(values);
    type.dtype = values->front().dtype();
    type.quant = quant.value_or(Quantization{});
    const std::string name = graph.value(node.result()).name;
    const ValueId folded = graph.add_constant(graph.unique_name(name), type,
                                              std::make_shared<const Tensor>(std::move(values->front())));
    graph.replace_uses(node.result(), folded);
  }
  graph.remove_dead();
  return {};
}

}  // namespace rushlight
