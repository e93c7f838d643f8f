// SPDX-License-Identifier: Apache-2.0
#include "types/tensor_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "types/real_text.h"
#include "types/result.h"

namespace rushlight {

Quantization Quantization::per_tensor(double scale, int32_t zero_point, DType dtype) {
  return {.scales = {scale},
          .zero_points = {zero_point},
          .axis = -1,
          .lo = static_cast<int32_t>(lowest(dtype)),
          .hi = static_cast<int32_t>(highest(dtype))};
}

std::vector<int> memory_order(Layout layout, size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (layout == Layout::channels_last) {
    require(rank == 3 || rank == 4, "channels_last is a layout of rank 3 or 4");
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  return order;
}

std::vector<int64_t> strides(const TensorType& type) {
  const std::vector<int> order = memory_order(type.layout, type.shape.size());
  std::vector<int64_t> result(type.shape.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    result[axis] = stride;
    stride *= type.shape[axis];
  }
  return result;
}

bool layouts_coincide(const Shape& shape) {
  if (shape.size() != 3 && shape.size() != 4) return true;
  const int64_t positions = shape[2] * (shape.size() == 4 ? shape[3] : 1);
  return shape[1] <= 1 || positions <= 1;
}

int32_t quantize(double real, const Quantization& quant) {
  const bool wide = int64_t{quant.hi} - quant.lo > 0xFFFF;
  // PyTorch multiplies by the reciprocal in float32; where 24 bits are not enough, double keeps every integer
  // exact.
  const double scaled = wide ? real / quant.scale()
                             : double{static_cast<float>(real) * static_cast<float>(1.0 / quant.scale())};
  const double lo = quant.lo;
  const double hi = quant.hi;
  if (std::isnan(scaled)) return std::clamp(quant.zero_point(), quant.lo, quant.hi);
  return static_cast<int32_t>(std::clamp(std::nearbyint(scaled) + quant.zero_point(), lo, hi));
}

namespace {

std::string quantization_text(const Quantization& quant, DType dtype) {
  std::string text = "<";
  if (quant.per_channel()) text += fmt::format("axis={}; ", quant.axis);
  for (size_t i = 0; i < quant.scales.size(); ++i) {
    const int32_t zero_point = i < quant.zero_points.size() ? quant.zero_points[i] : 0;
    text += fmt::format("{}{}:{}", i == 0 ? "" : ", ", real_text(quant.scales[i]), zero_point);
  }
  if (quant.lo != lowest(dtype) || quant.hi != highest(dtype))
    text += fmt::format("; {}..{}", quant.lo, quant.hi);
  return text + ">";
}

}  // namespace

std::string to_string(const TensorType& type) {
  std::string text = fmt::format("{}{}", name(type.dtype), to_string(type.shape));
  if (type.layout == Layout::channels_last) text += "{channels_last}";
  if (type.quantized()) text += quantization_text(type.quant, type.dtype);
  return text;
}

}  // namespace rushlight
