// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "eval/evaluator.h"
#include "eval/kernels.h"
#include "ops/expression.h"
#include "types/tensor_type.h"

namespace rushlight::eval {

Tensor batch_norm(const Call& call) {
  Tensor result(DType::float32, call.result_shape);
  const double eps = call.node.attrs().real("eps");
  const Shape& shape = call.result_shape;
  const int64_t channels = shape[1];
  const int64_t inner = row_major_strides(shape)[1];
  const auto x = call.operand(0).as<float>();
  const auto y = result.as<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const auto c = static_cast<int64_t>(i) / inner % channels;
    const double weight = call.has(1) ? call.operand(1).at(c) : 1.0;
    const double bias = call.has(2) ? call.operand(2).at(c) : 0.0;
    const double factor = weight / std::sqrt(call.operand(4).at(c) + eps);
    y[i] = static_cast<float>((x[i] - call.operand(3).at(c)) * factor + bias);
  }
  return result;
}

Tensor prelu(const Call& call) {
  Tensor result(DType::float32, call.result_shape);
  const int64_t inner = row_major_strides(call.result_shape)[1];
  const auto x = call.operand(0).as<float>();
  const auto y = result.as<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t c = static_cast<int64_t>(i) / inner % call.result_shape[1];
    y[i] = x[i] > 0 ? x[i] : static_cast<float>(x[i] * call.operand(1).at(c));
  }
  return result;
}

Tensor elementwise(const Call& call) {
  // The shape rule has parsed it once already.
  const Expression expression = *Expression::parse(call.node.attrs().text("expression"));
  Tensor result(DType::float32, call.result_shape);
  const auto x = call.operand(0).as<float>();
  const auto y = result.as<float>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<float>(expression(x[i]));
  return result;
}

Tensor reshape(const Call& call) { return call.operand(0).reshaped(call.result_shape); }

Tensor permute(const Call& call) {
  std::vector<int> order;
  const auto rank = static_cast<int64_t>(call.result_shape.size());
  for (int64_t d : call.node.attrs().integers("dims"))
    order.push_back(static_cast<int>(d < 0 ? d + rank : d));
  return call.operand(0).permuted(order);
}

Tensor concat(const Call& call) {
  const auto rank = static_cast<int64_t>(call.result_shape.size());
  const int64_t dim = call.node.attrs().integer("dim");
  const auto axis = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  Tensor result(call.operand(0).dtype(), call.result_shape);
  const int64_t inner = row_major_strides(call.result_shape)[axis];
  const int64_t row = call.result_shape[axis] * inner;
  int64_t offset = 0;
  for (const Tensor* operand : call.operands) {
    const int64_t length = operand->shape()[axis] * inner;
    for (int64_t i = 0; i < operand->elements(); ++i)
      result.set(i / length * row + offset + i % length, operand->at(i));
    offset += length;
  }
  return result;
}

// The PT2E pair keeps integers as such, in the dtype of the attribute.
Tensor quantize(const Call& call) {
  const Attributes attrs = call.node.attrs();
  Quantization quant =
      Quantization::per_tensor(attrs.real("scale"), static_cast<int32_t>(attrs.integer("zero_point")));
  quant.lo = static_cast<int32_t>(attrs.integer("quant_min"));
  quant.hi = static_cast<int32_t>(attrs.integer("quant_max"));
  Tensor result(dtype_from_name(attrs.text("dtype")).value(), call.result_shape);
  for (int64_t i = 0; i < result.elements(); ++i)
    result.set(i, rushlight::quantize(call.operand(0).at(i), quant));
  return result;
}

Tensor dequantize(const Call& call) {
  const Attributes attrs = call.node.attrs();
  Quantization quant;
  if (call.operands.size() == 1) {
    quant = Quantization::per_tensor(attrs.real("scale"), static_cast<int32_t>(attrs.integer("zero_point")));
  } else {
    const int64_t axis = attrs.integer("axis");
    quant.axis = static_cast<int>(axis < 0 ? axis + static_cast<int64_t>(call.result_shape.size()) : axis);
    for (int64_t c = 0; c < call.operand(1).elements(); ++c) {
      quant.scales.push_back(call.operand(1).at(c));
      quant.zero_points.push_back(call.has(2) ? static_cast<int32_t>(call.operand(2).at(c)) : 0);
    }
  }
  return dequantized(call.operand(0), quant);
}

}  // namespace rushlight::eval
