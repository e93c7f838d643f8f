// SPDX-License-Identifier: Apache-2.0
// Requantization: an int32 accumulator times a real factor, rounded to an integer, in the two modes of a
// program. With q = multiplier, e = shift (kernel.h: Factor):
//   Single  one rounding, ties towards +infinity: (acc * q + 2^(30-e)) >> (31-e), exact.
//   Double  TensorFlow Lite's two roundings: h = (acc * 2^max(e,0) * q + 2^30) >> 31, then
//           h / 2^max(-e,0) with ties away from zero.
// Results are clamped before they are narrowed, so that a large accumulator saturates and never wraps.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

inline int32_t multiply_high(int32_t a, int32_t b) { return static_cast<int32_t>((int64_t{a} * b) >> 32); }

// clamp(zero_point + r, lo, hi) without leaving the range of T.
template <class T>
inline int8_t clamp_output(T r, const OutputRange& range) {
  if (r < range.lo - range.zero_point) return static_cast<int8_t>(range.lo);
  if (r > range.hi - range.zero_point) return static_cast<int8_t>(range.hi);
  return static_cast<int8_t>(static_cast<int32_t>(r) + range.zero_point);
}

inline int32_t saturate_s32(int64_t x) {
  if (x > INT32_MAX) return INT32_MAX;
  if (x < INT32_MIN) return INT32_MIN;
  return static_cast<int32_t>(x);
}

// x / 2^k, ties away from zero, k in 0..31.
inline int32_t divide_by_power_of_two(int32_t x, int32_t k) {
  const int32_t mask = static_cast<int32_t>((uint32_t{1} << k) - 1);
  const int32_t threshold = (mask >> 1) + (x < 0);
  return (x >> k) + ((x & mask) > threshold);
}

inline int32_t doubling_high(int32_t a, int32_t b) {
  return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

// The rare shifts of the Double rule, kept out of the callers' loops. A left shift saturates, where
// TensorFlow Lite's would wrap; the result is then beyond +-2^30, which an int8 clamp cannot tell from the
// exact value. For e = -32 the quotient is always 0, as |h| < 2^31.
[[gnu::noinline]] inline int32_t rescale_double_rare(int32_t acc, int32_t multiplier, int32_t shift) {
  if (shift < 0) return 0;
  return doubling_high(saturate_s32(int64_t{acc} * (int64_t{1} << shift)), multiplier);
}

// The Double rule as an int32.
inline int32_t rescale_double(int32_t acc, int32_t multiplier, int32_t shift) {
  const int32_t k = -shift;
  if (k < 0 || k > 31) return rescale_double_rare(acc, multiplier, shift);
  return divide_by_power_of_two(doubling_high(acc, multiplier), k);
}

// Factors of 1/4 and more: the rounding constant reaches into the low word, and the result may need 62 bits.
[[gnu::noinline]] inline int8_t requantize_single_rare(int32_t acc, int32_t multiplier, int32_t shift,
                                                       const OutputRange& range) {
  const int64_t rounding = int64_t{1} << (30 - shift);
  return clamp_output((int64_t{acc} * multiplier + rounding) >> (31 - shift), range);
}

// For e <= -2 the low word of acc * q cannot change the result: with k = -1-e
// the rounding constant 2^(k+31) has no bit there, so the exact value is
// (hi32(acc * q) + 2^(k-1)) >> k, and |hi32| <= 2^30 keeps the sum in int32.
inline int8_t requantize_as(Single, int32_t acc, int32_t multiplier, int32_t shift,
                            const OutputRange& range) {
  const int32_t k = -1 - shift;
  if (k < 1) return requantize_single_rare(acc, multiplier, shift, range);
  return clamp_output((multiply_high(acc, multiplier) + (int32_t{1} << (k - 1))) >> k, range);
}

inline int8_t requantize_as(Double, int32_t acc, int32_t multiplier, int32_t shift,
                            const OutputRange& range) {
  return clamp_output(rescale_double(acc, multiplier, shift), range);
}

// clamp(zero_point + round(factor * acc), lo, hi) in the mode R.
template <class R>
inline int8_t requantize(int32_t acc, int32_t multiplier, int32_t shift, const OutputRange& range) {
  return requantize_as(R{}, acc, multiplier, shift, range);
}

// requantize for sums whose factor holds a 1/n. 1/6 has no exact multiplier, yet with equal scales every
// sixth sum is exactly half-way between two outputs. Single: the multiplier is the factor rounded up, and
// negative sums take one less, so that the error always points up: ties go up as everywhere in that mode.
// Double: as requantize.
inline int8_t requantize_mean_as(Single, int32_t sum, int32_t multiplier, int32_t shift,
                                 const OutputRange& range) {
  return requantize_as(Single{}, sum, multiplier - (sum < 0 ? 1 : 0), shift, range);
}
inline int8_t requantize_mean_as(Double, int32_t sum, int32_t multiplier, int32_t shift,
                                 const OutputRange& range) {
  return requantize_as(Double{}, sum, multiplier, shift, range);
}
template <class R>
inline int8_t requantize_mean(int32_t sum, int32_t multiplier, int32_t shift, const OutputRange& range) {
  return requantize_mean_as(R{}, sum, multiplier, shift, range);
}

}  // namespace rushlight::kernels
