// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/pt2/converter.h"
#include "ir/verify.h"

namespace rushlight::pt2 {

namespace {

// An integer attribute or element that a Quantization holds in 32 bits.
std::optional<int32_t> narrowed(int64_t value) {
  return value == static_cast<int32_t>(value) ? std::optional(static_cast<int32_t>(value)) : std::nullopt;
}

Status check(const TensorType& type) {
  const Quantization& q = type.quant;
  if (const auto wrong = invalid_quantization(type)) return input_error("quantization", *wrong);
  for (const int32_t zero_point : q.zero_points)
    if (zero_point < q.lo || zero_point > q.hi)
      return input_error(
          "quantization",
          fmt::format("zero point {} is outside of quant_min..quant_max, {}..{}", zero_point, q.lo, q.hi));
  return {};
}

// dtype and integer range as the node's attributes say; scales are still missing.
Result<TensorType> type_of(const Node& node, const Shape& shape) {
  const auto dtype = dtype_from_name(node.attrs().text("dtype"));
  const auto lo = narrowed(node.attrs().integer("quant_min"));
  const auto hi = narrowed(node.attrs().integer("quant_max"));
  if (!dtype) return input_error("attribute dtype", fmt::format("is '{}'", node.attrs().text("dtype")));
  if (!lo || !hi) return input_error("attributes quant_min and quant_max", "don't fit 32 bits");
  TensorType type{.dtype = *dtype, .shape = shape};
  type.quant.lo = *lo;
  type.quant.hi = *hi;
  return type;
}

Status check_per_tensor(const Graph& graph, const Node& node) {
  auto type = type_of(node, graph.type(node.result()).shape);
  if (!type) return forward(type);
  const auto zero_point = narrowed(node.attrs().integer("zero_point"));
  if (!zero_point) return input_error("attribute zero_point", "does not fit 32 bits");
  type->quant.scales = {node.attrs().real("scale")};
  type->quant.zero_points = {*zero_point};
  return check(*type);
}

Status check_per_channel(const Graph& graph, const Node& node) {
  auto type = type_of(node, graph.type(node.result()).shape);
  if (!type) return forward(type);
  const auto axis = shapes::normalized_axis(node.attrs().integer("axis"), type->shape.size());
  if (!axis) return tl::unexpected(axis.error());
  type->quant.axis = static_cast<int>(*axis);
  const ValueId scales = node.operands[1], zero_points = node.operands[2];
  if (!graph.is_constant(scales) || (zero_points != ValueId::none && !graph.is_constant(zero_points)))
    return unsupported("scales and zero points", "are computed while the model runs; they must be constants");
  const Tensor& scale_values = graph.constant(scales);
  for (int64_t i = 0; i < scale_values.elements(); ++i) {
    const double zero = zero_points == ValueId::none || i >= graph.constant(zero_points).elements()
                            ? 0
                            : graph.constant(zero_points).at(i);
    if (!(zero >= INT32_MIN && zero <= INT32_MAX))
      return input_error("zero points", fmt::format("entry {} does not fit 32 bits", i));
    type->quant.scales.push_back(scale_values.at(i));
    type->quant.zero_points.push_back(static_cast<int32_t>(zero));
  }
  return check(*type);
}

}  // namespace

Status check_quantization(const Graph& graph, const Node& node) {
  if (node.op == "quantize_per_tensor"_op || node.op == "dequantize_per_tensor"_op)
    return check_per_tensor(graph, node);
  if (node.op == "dequantize_per_channel"_op) return check_per_channel(graph, node);
  return {};
}

}  // namespace rushlight::pt2
