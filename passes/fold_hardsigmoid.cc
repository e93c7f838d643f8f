// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "passes/passes.h"
#include "passes/rules.h"

namespace rushlight {
namespace {

// hardsigmoid(x) = clamp(x / 6 + 1/2, 0, 1).
constexpr double kSlope = 1.0 / 6;
constexpr double kOffset = 0.5;

bool has_constant_weights(const Graph& graph, const Node& layer, const Node& function) {
  if (layer.clamp.is_set() || graph.type(layer.result()).quantized() ||
      graph.type(function.result()).quantized())
    return false;
  const ValueId bias = layer.operands[2];
  const bool known_bias = bias == ValueId::none || graph.is_constant(bias);
  return graph.is_constant(layer.operands[1]) && known_bias && !function.clamp.is_set();
}

// The same integers under smaller scales, or the reals themselves.
ValueId scaled(Graph& graph, ValueId id, double offset) {
  const Value value = graph.value(id);
  TensorType type = value.type;
  Tensor data = *value.data;
  for (double& scale : type.quant.scales) scale *= kSlope;
  for (int64_t i = 0; i < data.elements(); ++i) {
    if (!type.quantized())
      data.set(i, data.at(i) * kSlope + offset);
    else if (offset != 0)
      data.set(i, data.at(i) + std::nearbyint(offset / type.quant.scale(static_cast<size_t>(i))));
  }
  return graph.add_constant(value.name + ".sixth", std::move(type),
                            std::make_shared<const Tensor>(std::move(data)));
}

Status into_weights(Graph& graph, Node& layer, const Node& /*function*/) {
  const int64_t channels = graph.type(layer.operands[1]).shape[0];
  layer.operands[1] = scaled(graph, layer.operands[1], 0);
  if (layer.operands[2] != ValueId::none) {
    layer.operands[2] = scaled(graph, layer.operands[2], kOffset);
  } else {
    Tensor bias(DType::float32, {channels});
    for (int64_t c = 0; c < channels; ++c) bias.set(c, kOffset);
    layer.operands[2] = graph.add_constant(layer.name + ".bias", std::move(bias));
  }
  layer.clamp = {0, 1};
  return {};
}

constexpr ChainRule kRules[] = {
    {.name = "hardsigmoid into convolution or linear",
     .producer = is<"aten.conv2d"_op, "aten.conv_transpose2d"_op, "aten.linear"_op>,
     .consumer = is<"aten.hardsigmoid"_op>,
     .guard = has_constant_weights,
     .rewrite = into_weights},
};

}  // namespace

Status fold_hardsigmoid(Graph& graph) { return apply(graph, kRules); }

}  // namespace rushlight
