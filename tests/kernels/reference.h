// SPDX-License-Identifier: Apache-2.0
// Exact references for the kernels, written from docs/numerics.md and the operators' definitions: wide
// integers, plain loops, one element at a time. Nothing here is shared with kernels/ but the Params structs.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/table.h"

namespace rushlight::reference {

using Wide = __int128;
using kernels::Factor;
using kernels::Mode;
using kernels::OutputRange;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

inline Wide floor_divide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
inline Wide power_of_two(int k) { return Wide{1} << k; }

// a / b, b > 0, to the nearest integer; halves up, or away from zero.
inline Wide round_half_up(Wide a, Wide b) { return floor_divide(2 * a + b, 2 * b); }
inline Wide round_half_away(Wide a, Wide b) { return a < 0 ? -round_half_up(-a, b) : round_half_up(a, b); }

// round(acc * factor) in a program's mode; exact stands for int64 sums, whose factors have 16-bit
// multipliers.
inline Wide rescale(Mode mode, Wide acc, Factor f) {
  if (mode == Mode::exact) return round_half_up(acc * f.multiplier, power_of_two(15 - f.shift));
  if (mode == Mode::single_) return round_half_up(acc * f.multiplier, power_of_two(31 - f.shift));
  const Wide left = f.shift > 0 ? acc * power_of_two(f.shift) : acc;
  const Wide high = round_half_up(left * f.multiplier, power_of_two(31));
  return f.shift < 0 ? round_half_away(high, power_of_two(-f.shift)) : high;
}

inline int8_t clamp(Wide x, int32_t lo, int32_t hi) {
  return static_cast<int8_t>(x < lo ? lo : x > hi ? hi : x);
}

inline int8_t requantize(Mode mode, Wide acc, Factor f, const OutputRange& range) {
  return clamp(range.zero_point + rescale(mode, acc, f), range.lo, range.hi);
}

template <class T>
T clamp_to(Wide x, int32_t lo, int32_t hi) {
  return static_cast<T>(x < lo ? lo : x > hi ? hi : x);
}

template <class T>
T requantize_to(Mode mode, Wide acc, Factor f, const OutputRange& range) {
  return clamp_to<T>(range.zero_point + rescale(mode, acc, f), range.lo, range.hi);
}

// The same for means, docs/numerics.md, "Pooling": negative sums take a multiplier one less in `single`.
inline int8_t requantize_mean(Mode mode, Wide sum, Factor f, const OutputRange& range) {
  if (mode == Mode::single_ && sum < 0) --f.multiplier;
  return requantize(mode, sum, f, range);
}

// Row-major index arithmetic.
inline int32_t count(const Ints& extents) {
  int32_t n = 1;
  for (const int32_t extent : extents) n *= extent;
  return n;
}
inline Ints row_major(const Ints& extents) {
  Ints strides(extents.size());
  int32_t stride = 1;
  for (size_t d = extents.size(); d-- > 0; stride *= extents[d]) strides[d] = stride;
  return strides;
}
// Calls visit(index) for every multi-index below `extents`, last axis fastest.
inline void for_each_index(const Ints& extents, const std::function<void(const Ints&)>& visit) {
  for (int32_t i = 0; i < count(extents); ++i) {
    Ints index(extents.size());
    int32_t rest = i;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d]) index[d] = rest % extents[d];
    visit(index);
  }
}
inline int32_t dot(const Ints& a, const Ints& b) {
  int32_t sum = 0;
  for (size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

// Half to even of a finite double that is exact in the first place.
inline double round_half_even(double x) {
  const double below = std::floor(x);
  const double fraction = x - below;
  if (fraction != 0.5) return fraction < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

// x * inverse_scale is rounded to float32 as the device does; the product of two floats is exact in double.
// NaN counts as 0.
inline Wide quantize(float x, float inverse_scale, int32_t zero_point) {
  const float product = static_cast<float>(static_cast<double>(x) * static_cast<double>(inverse_scale));
  if (std::isnan(product)) return zero_point;
  const double limit = 1e6;
  const double bounded = std::fmax(-limit, std::fmin(limit, static_cast<double>(product)));
  return zero_point + static_cast<int64_t>(round_half_even(bounded));
}
inline int8_t quantize(float x, float inverse_scale, const OutputRange& range) {
  return clamp(quantize(x, inverse_scale, range.zero_point), range.lo, range.hi);
}

// What convolutions of any kind read: (x - zero point) at n, y, x, c, and 0 in the padding.
template <class T>
struct Image {
  const std::vector<T>& data;
  int32_t height, width, channels;
  int32_t zero_point;
  int32_t real(int32_t n, int32_t y, int32_t x, int32_t c) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return 0;
    return data[static_cast<size_t>(((n * height + y) * width + x) * channels + c)] - zero_point;
  }
};

// A convolution's Params for an output without gaps.
template <class Params>
Params with_dense_output(Params p) {
  p.output_offset = 0;
  p.output_pixel_pitch = p.output_channels;
  p.output_row_pitch = p.output_channels * p.output_width;
  p.output_batch_pitch = p.output_row_pitch * p.output_height;
  return p;
}

// `bias` is the layer's own: the input zero point is not folded into it.
template <class T>
std::vector<T> conv2d(Mode mode, const kernels::Conv2dParams& p, const std::vector<T>& input,
                      const Bytes& weights, const std::vector<int64_t>& bias,
                      const std::vector<Factor>& factors) {
  const Image image{input, p.input_height, p.input_width, p.input_channels, p.input_zero_point};
  const int32_t depth = p.input_channels / p.groups;
  std::vector<T> output;
  for_each_index({p.batch, p.output_height, p.output_width, p.output_channels}, [&](const Ints& at) {
    const int32_t o = at[3];
    const int32_t group = o / (p.output_channels / p.groups);
    Wide acc = bias[static_cast<size_t>(o)];
    for_each_index({p.kernel_height, p.kernel_width, depth}, [&](const Ints& tap) {
      const int32_t y = at[1] * p.stride_height - p.pad_top + tap[0] * p.dilation_height;
      const int32_t x = at[2] * p.stride_width - p.pad_left + tap[1] * p.dilation_width;
      const int32_t w = ((o * p.kernel_height + tap[0]) * p.kernel_width + tap[1]) * depth + tap[2];
      acc += Wide{1} * image.real(at[0], y, x, group * depth + tap[2]) * weights[static_cast<size_t>(w)];
    });
    output.push_back(requantize_to<T>(mode, acc, factors[static_cast<size_t>(o)], p.output));
  });
  return output;
}

template <class T>
std::vector<T> depthwise_conv2d(Mode mode, const kernels::DepthwiseConv2dParams& p,
                                const std::vector<T>& input, const Bytes& weights,
                                const std::vector<int64_t>& bias, const std::vector<Factor>& factors) {
  const Image image{input, p.input_height, p.input_width, p.input_channels, p.input_zero_point};
  std::vector<T> output;
  for_each_index({p.batch, p.output_height, p.output_width, p.output_channels}, [&](const Ints& at) {
    const int32_t o = at[3];
    Wide acc = bias[static_cast<size_t>(o)];
    for_each_index({p.kernel_height, p.kernel_width}, [&](const Ints& tap) {
      const int32_t y = at[1] * p.stride_height - p.pad_top + tap[0] * p.dilation_height;
      const int32_t x = at[2] * p.stride_width - p.pad_left + tap[1] * p.dilation_width;
      const int32_t w = (tap[0] * p.kernel_width + tap[1]) * p.output_channels + o;
      acc += Wide{1} * image.real(at[0], y, x, o / p.channel_multiplier) * weights[static_cast<size_t>(w)];
    });
    output.push_back(requantize_to<T>(mode, acc, factors[static_cast<size_t>(o)], p.output));
  });
  return output;
}

template <class T>
std::vector<T> linear(Mode mode, const kernels::LinearParams& p, int32_t input_zero_point,
                      const std::vector<T>& input, const Bytes& weights, const std::vector<int64_t>& bias,
                      const std::vector<Factor>& factors) {
  std::vector<T> output;
  for_each_index({p.rows, p.output_features}, [&](const Ints& at) {
    Wide acc = bias[static_cast<size_t>(at[1])];
    for (int32_t i = 0; i < p.input_features; ++i)
      acc += Wide{1} * (input[static_cast<size_t>(at[0] * p.input_features + i)] - input_zero_point) *
             weights[static_cast<size_t>(at[1] * p.input_features + i)];
    output.push_back(requantize_to<T>(mode, acc, factors[static_cast<size_t>(at[1])], p.output));
  });
  return output;
}

}  // namespace rushlight::reference
