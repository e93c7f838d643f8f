// SPDX-License-Identifier: Apache-2.0
// Requantization to int16. An int16 activation has zero point 0: OutputRange::zero_point is 0 and not read.
//   int32 accumulators follow the program's mode, as kernels/fixed_point.h has it.
//   int64 accumulators (products of two int16 summed) have one rule in both modes, ties towards +infinity:
//     (acc * q16 + 2^(14-e)) >> (15-e), with q16 = min(32767, (q + 2^15) >> 16).
#pragma once

#include "kernels/fixed_point.h"

namespace rushlight::kernels {

template <class T>
inline int16_t clamp_s16_output(T r, const OutputRange& range) {
  return static_cast<int16_t>(r < range.lo ? range.lo : r > range.hi ? range.hi : r);
}

// Factors of 1/4 and more, as requantize_single_rare.
[[gnu::noinline]] inline int16_t requantize_s16_single_rare(int32_t acc, int32_t multiplier, int32_t shift,
                                                            const OutputRange& range) {
  const int64_t rounding = int64_t{1} << (30 - shift);
  return clamp_s16_output((int64_t{acc} * multiplier + rounding) >> (31 - shift), range);
}

// For e <= -2 the high word decides, as in requantize_as(Single).
inline int16_t requantize_s16_as(Single, int32_t acc, int32_t multiplier, int32_t shift,
                                 const OutputRange& range) {
  const int32_t k = -1 - shift;
  if (k < 1) return requantize_s16_single_rare(acc, multiplier, shift, range);
  return clamp_s16_output((multiply_high(acc, multiplier) + (int32_t{1} << (k - 1))) >> k, range);
}

// A left shift that saturates leaves a result beyond +-2^30, which an int16 clamp cannot tell from the exact
// value.
inline int16_t requantize_s16_as(Double, int32_t acc, int32_t multiplier, int32_t shift,
                                 const OutputRange& range) {
  return clamp_s16_output(rescale_double(acc, multiplier, shift), range);
}

// The multiplier is q16, decided by the compiler, and shift at most 14. |acc| stays below 2^47.
inline int16_t requantize_s16_sum(int64_t acc, int32_t multiplier, int32_t shift, const OutputRange& range) {
  return clamp_s16_output((acc * multiplier + (int64_t{1} << (14 - shift))) >> (15 - shift), range);
}

inline int32_t mean_multiplier(Single, int32_t sum, int32_t multiplier) {
  return multiplier - (sum < 0 ? 1 : 0);
}
inline int32_t mean_multiplier(Double, int32_t /*sum*/, int32_t multiplier) { return multiplier; }

// requantize and requantize_mean for bodies over an element type.
template <class R, class T>
inline T requantize_to(int32_t acc, int32_t multiplier, int32_t shift, const OutputRange& range) {
  if constexpr (sizeof(T) == 1)
    return requantize<R>(acc, multiplier, shift, range);
  else
    return requantize_s16_as(R{}, acc, multiplier, shift, range);
}
template <class R, class T>
inline T requantize_mean_to(int32_t sum, int32_t multiplier, int32_t shift, const OutputRange& range) {
  return requantize_to<R, T>(sum, mean_multiplier(R{}, sum, multiplier), shift, range);
}

}  // namespace rushlight::kernels
