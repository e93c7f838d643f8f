// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/kernels.h"

namespace rushlight {
namespace {

using Function = Tensor (*)(const eval::Call&);

struct FunctionRow {
  Op op;
  Function function;
};
// Elementwise ops have their function in the op table.
constexpr FunctionRow kFunctions[] = {
    {"aten.conv2d"_op, eval::conv2d},
    {"aten.linear"_op, eval::linear},
    {"aten.batch_norm"_op, eval::batch_norm},
    {"aten.conv_transpose2d"_op, eval::conv_transpose2d},
    {"aten.matmul"_op, eval::matmul},
    {"aten.embedding"_op, eval::embedding},
    {"aten.prelu"_op, eval::prelu},
    {"aten.mean"_op, eval::reduce},
    {"aten.sum"_op, eval::reduce},
    {"aten.amax"_op, eval::reduce},
    {"aten.amin"_op, eval::reduce},
    {"aten.argmax"_op, eval::position},
    {"aten.argmin"_op, eval::position},
    {"aten.softmax"_op, eval::softmax},
    {"aten.log_softmax"_op, eval::softmax},
    {"aten.avg_pool2d"_op, eval::average_pool},
    {"aten.adaptive_avg_pool2d"_op, eval::average_pool},
    {"aten.max_pool2d"_op, eval::max_pool},
    {"aten.adaptive_max_pool2d"_op, eval::max_pool},
    {"aten.upsample_bilinear2d"_op, eval::upsample_bilinear2d},
    {"aten.upsample_nearest2d"_op, eval::axis_mapped},
    {"aten.slice"_op, eval::axis_mapped},
    {"aten.expand"_op, eval::axis_mapped},
    {"aten.flip"_op, eval::axis_mapped},
    {"aten.pad"_op, eval::axis_mapped},
    {"elementwise"_op, eval::elementwise},
    {"aten.view"_op, eval::reshape},
    {"aten.flatten"_op, eval::reshape},
    {"aten.permute"_op, eval::permute},
    {"aten.cat"_op, eval::concat},
    {"to_layout"_op, eval::reshape},
    {"aten.dropout"_op, eval::reshape},
    {"aten.alias"_op, eval::reshape},
    {"aten.contiguous"_op, eval::reshape},
    {"quantize_per_tensor"_op, eval::quantize},
    {"dequantize_per_tensor"_op, eval::dequantize},
    {"dequantize_per_channel"_op, eval::dequantize},
};

Tensor unary(const Tensor& input, UnaryFunction function, const Attributes& attributes) {
  Tensor out(input.dtype(), input.shape());
  if (input.dtype() == DType::float32) {
    const auto x = input.as<float>();
    const auto y = out.as<float>();
    for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<float>(function(x[i], attributes));
  } else {
    for (int64_t i = 0; i < input.elements(); ++i) out.set(i, function(input.at(i), attributes));
  }
  return out;
}

// Strides of an operand over the axes of the result, 0 where it is stretched.
std::vector<int64_t> broadcast_strides(const Shape& operand, const Shape& result) {
  const std::vector<int64_t> own = row_major_strides(operand);
  std::vector<int64_t> strides(result.size(), 0);
  const size_t lead = result.size() - operand.size();
  for (size_t d = 0; d < operand.size(); ++d) strides[lead + d] = operand[d] == 1 ? 0 : own[d];
  return strides;
}

Tensor binary(const Tensor& a, const Tensor& b, BinaryFunction function, const Attributes& attributes,
              const Shape& shape) {
  Tensor out(a.dtype(), shape);
  const auto stride_a = broadcast_strides(a.shape(), shape);
  const auto stride_b = broadcast_strides(b.shape(), shape);
  Shape index(shape.size(), 0);
  int64_t at_a = 0;
  int64_t at_b = 0;
  for (int64_t i = 0; i < out.elements(); ++i) {
    out.set(i, function(a.at(at_a), b.at(at_b), attributes));
    for (size_t d = shape.size(); d-- > 0;) {
      at_a += stride_a[d];
      at_b += stride_b[d];
      if (++index[d] < shape[d]) break;
      at_a -= stride_a[d] * shape[d];
      at_b -= stride_b[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

void clamp(Tensor& tensor, ClampRange range) {
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.set(i, std::min(std::max(tensor.at(i), range.lo), range.hi));
}

void fake_quantize(Tensor& tensor, const Quantization& quant) {
  for (float& x : tensor.as<float>())
    x = static_cast<float>(quant.scale() * (quantize(x, quant) - quant.zero_point()));
}

// A quantize node whose result has a quantized type, or a dequantize node that reads one: reals on both
// sides.
bool stays_real(const eval::Call& call, const TensorType& result) {
  switch (call.node.op) {
    case "quantize_per_tensor"_op:
      return result.quantized();
    case "dequantize_per_tensor"_op:
    case "dequantize_per_channel"_op:
      return is_float(call.operand(0).dtype());
    default:
      return false;
  }
}

Tensor compute(const eval::Call& call, const TensorType& result) {
  const OpRow& op = call.node.row();
  if (stays_real(call, result)) return call.operand(0).converted(DType::float32);
  if (op.unary) return unary(call.operand(0), op.unary, call.node.attrs());
  if (op.binary)
    return binary(call.operand(0), call.operand(1), op.binary, call.node.attrs(), call.result_shape);
  for (const FunctionRow& row : kFunctions)
    if (row.op == call.node.op) return row.function(call);
  throw InternalError(fmt::format("no float evaluation for {}", op.name));
}

}  // namespace

Tensor dequantized(const Tensor& integers, const Quantization& quant) {
  Tensor out(DType::float32, integers.shape());
  const auto y = out.as<float>();
  const size_t axis = quant.per_channel() ? static_cast<size_t>(quant.axis) : 0;
  const int64_t inner = quant.per_channel() ? row_major_strides(integers.shape())[axis] : 1;
  const int64_t channels = quant.per_channel() ? integers.shape()[axis] : 1;
  for (int64_t i = 0; i < integers.elements(); ++i) {
    const auto c = static_cast<size_t>(i / inner % channels);
    const int32_t zero_point = quant.zero_points[quant.zero_points.size() == 1 ? 0 : c];
    y[static_cast<size_t>(i)] = static_cast<float>(quant.scale(c) * (integers.at(i) - zero_point));
  }
  return out;
}

Result<Tensor> evaluate_unclamped(const Graph& graph, const Node& node,
                                  std::span<const Tensor* const> operands) {
  if (node.results.size() != 1)
    return input_error(graph.describe(node),
                       "has several results, which the float evaluator can't compute yet");
  const TensorType& type = graph.type(node.result());
  return compute({node, operands, type.shape}, type);
}

void clamp_and_round(const Graph& graph, const Node& node, Tensor& result) {
  const TensorType& type = graph.type(node.result());
  if (node.clamp.is_set()) clamp(result, node.clamp);
  if (type.quantized() && result.dtype() == DType::float32) fake_quantize(result, type.quant);
}

Result<std::vector<Tensor>> evaluate_node(const Graph& graph, const Node& node,
                                          std::span<const Tensor* const> operands) {
  auto result = evaluate_unclamped(graph, node, operands);
  if (!result) return forward(result);
  clamp_and_round(graph, node, *result);
  std::vector<Tensor> results;
  results.push_back(std::move(*result));
  return results;
}

Evaluator::Evaluator(const Graph& graph) : graph_(graph), values_(graph.value_count()) {
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(static_cast<ValueId>(i));
    if (value.kind == ValueKind::constant && value.type.quantized())
      values_[i] = dequantized(*value.data, value.type.quant);
  }
}

Result<std::vector<Tensor>> Evaluator::run(std::span<const Tensor> inputs, const ValueObserver& observe,
                                           const UnclampedObserver& observe_unclamped) {
  require(inputs.size() == graph_.inputs.size(), "one tensor for each input of the graph");
  std::vector<const Tensor*> at(graph_.value_count(), nullptr);
  for (size_t i = 0; i < graph_.value_count(); ++i) {
    const Value& value = graph_.value(static_cast<ValueId>(i));
    if (value.kind == ValueKind::constant) at[i] = value.type.quantized() ? &values_[i] : value.data.get();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    at[static_cast<size_t>(graph_.inputs[i])] = &inputs[i];
    if (observe) observe(graph_.inputs[i], inputs[i]);
  }
  for (const Node& node : graph_.nodes) {
    std::vector<const Tensor*> operands;
    for (ValueId id : node.operands)
      operands.push_back(id == ValueId::none ? nullptr : at[static_cast<size_t>(id)]);
    auto result = evaluate_unclamped(graph_, node, operands);
    if (!result) return forward(result);
    if (observe_unclamped) observe_unclamped(node, *result);
    clamp_and_round(graph_, node, *result);
    const auto slot = static_cast<size_t>(node.result());
    values_[slot] = std::move(*result);
    at[slot] = &values_[slot];
    if (observe) observe(node.result(), values_[slot]);
  }
  std::vector<Tensor> outputs;
  for (ValueId id : graph_.outputs) outputs.push_back(*at[static_cast<size_t>(id)]);
  return outputs;
}

}  // namespace rushlight
