// SPDX-License-Identifier: Apache-2.0
#include "quant/parameters.h"

#include <algorithm>
#include <cmath>

namespace rushlight {
namespace {

double to_float32(double x) { return static_cast<float>(x); }

// Below this the products of scales leave the range of normal float32 numbers.
constexpr double kLeastScale = 0x1p-100;

constexpr int32_t kWeightLimit = 127;
// Bias steps that leave an int32 accumulator room for the products.
constexpr double kBiasLimit = 0x1p30;
// See docs/numerics.md, "Accumulators and scales".
constexpr double kDeadChannel = 1.0 / 1024;

double greatest_magnitude(const Quantization& quant) {
  return quant.scale() * std::max(std::abs(static_cast<double>(quant.lo) - quant.zero_point()),
                                  std::abs(static_cast<double>(quant.hi) - quant.zero_point()));
}

struct ChannelWeights {
  double largest = 0;
  double sum = 0;
};

// Element i of a tensor belongs to channel channel_of(i).
struct Channels {
  int64_t inner, count;
  Channels(const Shape& shape, int axis)
      : inner(row_major_strides(shape)[static_cast<size_t>(axis)]), count(shape[static_cast<size_t>(axis)]) {}
  size_t of(int64_t i) const { return static_cast<size_t>(i / inner % count); }
};

std::vector<ChannelWeights> measure(const Tensor& weight, const Channels& channels) {
  std::vector<ChannelWeights> found(static_cast<size_t>(channels.count));
  for (int64_t i = 0; i < weight.elements(); ++i) {
    ChannelWeights& channel = found[channels.of(i)];
    const double w = std::abs(weight.at(i));
    channel.largest = std::max(channel.largest, w);
    channel.sum += w;
  }
  return found;
}

}  // namespace

Quantization asymmetric(Range range) {
  if (!(range.hi - range.lo > 0)) return Quantization::per_tensor(1.0, 0);
  const double scale = std::max(to_float32((range.hi - range.lo) / 255), kLeastScale);
  const double zero_point = std::clamp(std::nearbyint(-128 - range.lo / scale), -128.0, 127.0);
  return Quantization::per_tensor(scale, static_cast<int32_t>(zero_point));
}

Quantization symmetric_int16(Range range) {
  const double magnitude = std::max(range.hi, -range.lo);
  if (!(magnitude > 0)) return Quantization::per_tensor(1.0, 0, DType::int16);
  return Quantization::per_tensor(std::max(to_float32(magnitude / INT16_MAX), kLeastScale), 0, DType::int16);
}

Encoding encoding_over(Range range, DType dtype) {
  return {dtype, dtype == DType::int16 ? symmetric_int16(range) : asymmetric(range)};
}

Encoding fixed_encoding(const FixedQuantization& fixed, DType dtype) {
  if (dtype == DType::int8) return {dtype, Quantization::per_tensor(fixed.scale, fixed.zero_point)};
  const double magnitude = fixed.scale * (128 + std::abs(fixed.zero_point));
  return {dtype, Quantization::per_tensor(magnitude / 32768, 0, DType::int16)};
}

Encoding for_constant(const Tensor& values, DType dtype) {
  Range range;
  bool all_equal = true;
  for (int64_t i = 0; i < values.elements(); ++i) {
    range.include(values.at(i));
    all_equal = all_equal && values.at(i) == values.at(0);
  }
  const double magnitude = std::max(range.hi, -range.lo);
  if (!all_equal || magnitude == 0) return encoding_over(range, dtype);
  // Not rounded to float32: 127 or 32767 steps of it would miss the constant.
  const double steps = dtype == DType::int16 ? INT16_MAX : kWeightLimit;
  return {dtype, Quantization::per_tensor(std::max(magnitude / steps, kLeastScale), 0, dtype)};
}

Tensor quantized(const Tensor& reals, const Quantization& quant, DType dtype) {
  Tensor out(dtype, reals.shape());
  const Channels channels(quant.per_channel() ? reals.shape() : Shape{1}, std::max(quant.axis, 0));
  for (int64_t i = 0; i < reals.elements(); ++i) {
    const size_t c = quant.per_channel() ? channels.of(i) : 0;
    const double q = std::nearbyint(reals.at(i) / quant.scale(c)) +
                     quant.zero_points[std::min(c, quant.zero_points.size() - 1)];
    out.set(i, std::clamp(q, static_cast<double>(quant.lo), static_cast<double>(quant.hi)));
  }
  return out;
}

LayerParameters layer_parameters(const Tensor& weight, const Tensor* bias, int axis,
                                 const LayerScales& scales) {
  const Channels channels(weight.shape(), axis);
  const std::vector<ChannelWeights> measured = measure(weight, channels);
  const double input_scale = scales.input.scale();
  const double input_magnitude = greatest_magnitude(scales.input);

  LayerParameters result;
  result.weight_quant.axis = axis;
  result.weight_quant.lo = -kWeightLimit;
  result.weight_quant.hi = kWeightLimit;
  Tensor kept(DType::float32, weight.shape());
  std::vector<bool> dead(measured.size());
  for (size_t c = 0; c < measured.size(); ++c) {
    const double bias_magnitude = bias ? std::abs(bias->at(static_cast<int64_t>(c))) : 0.0;
    dead[c] = measured[c].sum * input_magnitude < scales.output_scale * kDeadChannel;
    // A dead channel's scale only has to hold its bias finely.
    double scale = dead[c] ? scales.output_scale / input_scale / 1024 : measured[c].largest / kWeightLimit;
    scale = std::max({scale, bias_magnitude / (input_scale * kBiasLimit), kLeastScale});
    result.weight_quant.scales.push_back(to_float32(scale));
    result.weight_quant.zero_points.push_back(0);
  }
  for (int64_t i = 0; i < weight.elements(); ++i) kept.set(i, dead[channels.of(i)] ? 0.0 : weight.at(i));
  result.weight = quantized(kept, result.weight_quant, DType::int8);
  result.bias_quant = bias_quantization(input_scale, result.weight_quant, channels.count);
  result.bias =
      bias ? quantized_bias(*bias, input_scale, result.weight_quant) : Tensor(DType::int32, {channels.count});
  return result;
}

Quantization bias_quantization(double input_scale, const Quantization& weight_quant, int64_t channels) {
  Quantization quant;
  quant.axis = 0;
  quant.lo = INT32_MIN;
  quant.hi = INT32_MAX;
  for (int64_t c = 0; c < channels; ++c)
    quant.scales.push_back(input_scale * weight_quant.scale(static_cast<size_t>(c)));
  quant.zero_points.assign(quant.scales.size(), 0);
  return quant;
}

Tensor quantized_bias(const Tensor& bias, double input_scale, const Quantization& weight_quant) {
  return quantized(bias, bias_quantization(input_scale, weight_quant, bias.elements()), DType::int32);
}

}  // namespace rushlight
