// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "passes/passes.h"

namespace rushlight {
namespace {

bool has_float_parameters(const Graph& graph, const Node& norm) {
  for (size_t i = 1; i < norm.operands.size(); ++i)
    if (norm.operands[i] != ValueId::none &&
        (!graph.is_constant(norm.operands[i]) || graph.type(norm.operands[i]).dtype != DType::float32))
      return false;
  return true;
}

struct Affine {
  Tensor factor;  // [C,1,1,1]: the weight of a depthwise convolution
  Tensor offset;  // [C]
};

Result<Affine> affine(const Graph& graph, const Node& norm) {
  const auto parameter = [&](size_t i, int64_t c, double missing) {
    return norm.operands[i] == ValueId::none ? missing : graph.constant(norm.operands[i]).at(c);
  };
  const double eps = norm.attrs().real("eps");
  const int64_t channels = graph.type(norm.operands[0]).shape[1];
  Affine result{Tensor(DType::float32, {channels, 1, 1, 1}), Tensor(DType::float32, {channels})};
  for (int64_t c = 0; c < channels; ++c) {
    const double variance = parameter(4, c, 1) + eps;
    if (!(variance > 0))
      return input_error(graph.describe(norm),
                         "has a running variance below -eps; the model's state is damaged");
    const double factor = parameter(1, c, 1) / std::sqrt(variance);
    result.factor.set(c, factor);
    result.offset.set(c, parameter(2, c, 0) - parameter(3, c, 0) * factor);
  }
  return result;
}

}  // namespace

Status expand_batch_norm(Graph& graph) {
  std::vector<Node> nodes;
  for (Node& norm : graph.nodes) {
    if (norm.op != "aten.batch_norm"_op || !has_float_parameters(graph, norm)) {
      nodes.push_back(std::move(norm));
      continue;
    }
    const Result<Affine> constants = affine(graph, norm);
    if (!constants) return tl::unexpected(constants.error());
    const Shape shape = graph.type(norm.operands[0]).shape;
    const auto add = [&](Op op, std::vector<ValueId> operands,
                         NamedAttributes attributes) -> Result<ValueId> {
      auto node = graph.make_node(op, norm.name, std::move(operands), std::move(attributes));
      if (!node) return forward(node);
      node->source = norm.source;
      nodes.push_back(std::move(*node));
      return nodes.back().result();
    };
    const int64_t positions = element_count(shape) / (shape[0] * shape[1]);
    const bool is_image = shape.size() == 4;
    Result<ValueId> value = norm.operands[0];
    if (!is_image)
      value = add("aten.view"_op, {*value}, {{"size", Integers{shape[0], shape[1], 1, positions}}});
    if (!value) return forward(value);
    value = add("aten.conv2d"_op,
                {*value, graph.add_constant(norm.name + ".factor", constants->factor),
                 graph.add_constant(norm.name + ".offset", constants->offset)},
                {{"groups", shape[1]}});
    if (!value) return forward(value);
    nodes.back().clamp = norm.clamp;
    if (!is_image) value = add("aten.view"_op, {*value}, {{"size", Integers(shape)}});
    if (!value) return forward(value);
    for (Node& later : graph.nodes)
      std::replace(later.operands.begin(), later.operands.end(), norm.result(), *value);
    std::replace(graph.outputs.begin(), graph.outputs.end(), norm.result(), *value);
    for (State& state : graph.states)
      if (state.update == norm.result()) state.update = *value;
  }
  graph.nodes = std::move(nodes);
  graph.remove_dead();
  return {};
}

}  // namespace rushlight
