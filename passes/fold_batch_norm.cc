// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "passes/passes.h"
#include "passes/rules.h"

namespace rushlight {
namespace {

// The channel axis of batch-norm is 1; that is where conv2d puts its output channels, and linear only at
// rank 2.
bool constant_float_layer(const Graph& graph, const Node& layer, const Node& norm) {
  if (layer.op == "aten.linear"_op && graph.type(layer.result()).shape.size() != 2) return false;
  if (layer.clamp.is_set()) return false;
  const auto is_float_constant = [&](ValueId id) {
    return id == ValueId::none || (graph.is_constant(id) && graph.type(id).dtype == DType::float32);
  };
  for (size_t i = 1; i < layer.operands.size(); ++i)
    if (!is_float_constant(layer.operands[i])) return false;
  for (size_t i = 1; i < norm.operands.size(); ++i)
    if (!is_float_constant(norm.operands[i])) return false;
  return true;
}

// y = (x - mean) * factor + beta, so weight[c] *= factor[c], bias[c] = (bias[c] - mean[c]) * factor[c] +
// beta[c].
Status fold(Graph& graph, Node& layer, const Node& norm) {
  const auto parameter = [&](size_t i, int64_t c, double missing) {
    return norm.operands[i] == ValueId::none ? missing : graph.constant(norm.operands[i]).at(c);
  };
  const double eps = norm.attrs().real("eps");
  const Tensor& weight = graph.constant(layer.operands[1]);
  const int64_t channels = weight.shape()[0];
  const int64_t inner = weight.elements() / std::max<int64_t>(channels, 1);
  Tensor new_weight(DType::float32, weight.shape());
  Tensor new_bias(DType::float32, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    const double variance = parameter(4, c, 1) + eps;
    if (!(variance > 0))
      return input_error(graph.describe(norm),
                         "has a running variance below -eps; the model's state is damaged");
    const double factor = parameter(1, c, 1) / std::sqrt(variance);
    const double bias = layer.operands[2] == ValueId::none ? 0.0 : graph.constant(layer.operands[2]).at(c);
    new_bias.set(c, (bias - parameter(3, c, 0)) * factor + parameter(2, c, 0));
    for (int64_t i = c * inner; i < (c + 1) * inner; ++i) new_weight.set(i, weight.at(i) * factor);
  }
  const std::string name = graph.value(layer.operands[1]).name;
  layer.operands[1] = graph.add_constant(graph.unique_name(name + ".folded"), std::move(new_weight));
  layer.operands[2] = graph.add_constant(graph.unique_name(name + ".folded_bias"), std::move(new_bias));
  return {};
}

constexpr ChainRule kRules[] = {
    {.name = "batch-norm into convolution or linear",
     .producer = is<"aten.conv2d"_op, "aten.conv_transpose2d"_op, "aten.linear"_op>,
     .consumer = is<"aten.batch_norm"_op>,
     .guard = constant_float_layer,
     .rewrite = fold},
};

}  // namespace

Status fold_batch_norm(Graph& graph) { return apply(graph, kRules); }

}  // namespace rushlight
