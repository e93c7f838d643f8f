// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "passes/passes.h"

namespace rushlight {
namespace {

bool does_nothing(const Graph& graph, const Node& node) {
  switch (node.op) {
    case "aten.dropout"_op:
      return !node.attrs().boolean("train");
    case "aten.alias"_op:
    case "aten.contiguous"_op:
      return true;
    case "aten.view"_op:
    case "aten.flatten"_op:
    case "to_layout"_op:
      return graph.type(node.operands[0]) == graph.type(node.result());
    case "requantize"_op:
      return !node.clamp.is_set() && graph.type(node.operands[0]) == graph.type(node.result());
    default:
      return false;
  }
}

}  // namespace

Status remove_identities(Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op == "aten.dropout"_op && node.attrs().boolean("train"))
      return input_error(graph.describe(node), "is in training mode; export the model after model.eval()");
    if (does_nothing(graph, node)) graph.replace_uses(node.result(), node.operands[0]);
  }
  graph.remove_dead();
  return {};
}

}  // namespace rushlight
