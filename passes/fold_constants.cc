// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "eval/evaluator.h"
#include "passes/passes.h"

namespace rushlight {
namespace {

bool foldable(const Graph& graph, const Node& node) {
  if (node.operands.empty() || node.results.size() != 1 || node.row().quant == QuantRule::none) return false;
  const bool moves = node.row().quant == QuantRule::same && node.row().unary == nullptr;
  return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId id) {
    return id == ValueId::none || (graph.is_constant(id) && (moves || !graph.type(id).quantized()));
  });
}

}  // namespace

Status fold_constants(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (!foldable(graph, node)) continue;
    std::vector<const Tensor*> operands;
    for (ValueId id : node.operands) operands.push_back(id == ValueId::none ? nullptr : &graph.constant(id));
    // Integers under a quantization are moved as integers; the evaluator must not round them again.
    const TensorType operand_type = graph.type(node.operands[0]);
    TensorType type = graph.type(node.result());
    graph.value(node.result()).type.quant = {};
    auto values = evaluate_node(graph, node, operands);
    if (!values) return forward(values);
    type.dtype = operand_type.dtype;
    if (operand_type.quantized()) type.quant = operand_type.quant;
    const std::string name = graph.value(node.result()).name;
    const ValueId folded = graph.add_constant(graph.unique_name(name), type,
                                              std::make_shared<const Tensor>(std::move(values->front())));
    graph.replace_uses(node.result(), folded);
  }
  graph.remove_dead();
  return {};
}

}  // namespace rushlight
