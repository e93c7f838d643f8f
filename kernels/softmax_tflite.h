// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's int8 softmax in 32-bit fixed point, for equality with its reference kernel: exponentials
// from a polynomial, the reciprocal of their sum by Newton's iteration. Numbers named Qm.n have m integer and
// n fraction bits. The output has scale 1/256 and zero point -128.
#pragma once

#include "kernels/softmax.h"

namespace rushlight::kernels {

// As SoftmaxParams; multiplier and shift take a difference of inputs to Q5.26, and differences below diff_min
// count as e^-infinity. A sum of exponentials is in Q12.19: count stays below 4096.
struct SoftmaxTfliteParams {
  int32_t outer, count, inner;
  int32_t multiplier, shift;
  int32_t diff_min;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("outer", self.outer);
    v("count", self.count);
    v("inner", self.inner);
    v("multiplier", self.multiplier);
    v("shift", self.shift);
    v("diff_min", self.diff_min);
  }
};

inline int32_t saturating_shift_left(int32_t x, int32_t k) {
  return saturate_s32(int64_t{x} * (int64_t{1} << k));
}

// e^x for x in [-1/4, 0), Q0.31: Taylor's polynomial around -1/8.
inline int32_t exp_near_zero(int32_t x) {
  constexpr int32_t kExpOfMinusEighth = 1895147668;
  constexpr int32_t kThird = 715827883;
  const int32_t y = x + (1 << 28);
  const int32_t y2 = doubling_high(y, y);
  const int32_t y3 = doubling_high(y2, y);
  const int32_t y4 = doubling_high(y2, y2);
  const int32_t tail =
      divide_by_power_of_two(doubling_high(divide_by_power_of_two(y4, 2) + y3, kThird) + y2, 1);
  return saturate_s32(int64_t{kExpOfMinusEighth} + doubling_high(kExpOfMinusEighth, y + tail));
}

// e^x for x <= 0 in Q5.26, as Q0.31: the part below 1/4 by polynomial, the rest by e^-(2^k) for the bits set.
inline int32_t exp_of_negative(int32_t x) {
  constexpr int32_t kQuarter = 1 << 24;
  constexpr int32_t kPowers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  if (x == 0) return INT32_MAX;
  const int32_t fraction = (x & (kQuarter - 1)) - kQuarter;
  int32_t result = exp_near_zero(saturating_shift_left(fraction, 5));
  const int32_t rest = fraction - x;
  for (int32_t k = 0; k < 7; ++k)
    if ((rest >> (24 + k)) & 1) result = doubling_high(result, kPowers[k]);
  return result;
}

// 1 / (1 + x) for x in [0, 1), Q0.31.
inline int32_t reciprocal_above_one(int32_t x) {
  constexpr int32_t kFortyEightSeventeenths = 1515870810;  // Q2.29
  constexpr int32_t kMinusThirtyTwoSeventeenths = -1010580540;
  const auto half = static_cast<int32_t>((int64_t{x} + INT32_MAX + 1) / 2);
  int32_t y = kFortyEightSeventeenths + doubling_high(half, kMinusThirtyTwoSeventeenths);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = (1 << 29) - doubling_high(half, y);
    y += saturating_shift_left(doubling_high(y, error), 2);
  }
  return saturating_shift_left(y, 1);
}

// T is int8_t with the output above, or int16_t with scale 2^-16 and zero point -32768.
template <class T>
inline void softmax_tflite_line(const SoftmaxTfliteParams& p, const int8_t* in, T* out) {
  constexpr int32_t lowest = sizeof(T) == 1 ? -128 : -32768;
  const int32_t greatest = greatest_of(in, p.count, p.inner);
  const auto exponential = [&p](int32_t difference) {
    return exp_of_negative(doubling_high(saturating_shift_left(difference, p.shift), p.multiplier));
  };
  int32_t sum = 0;  // Q12.19
  for (int32_t k = 0; k < p.count; ++k) {
    const int32_t difference = in[k * p.inner] - greatest;
    if (difference >= p.diff_min) sum += divide_by_power_of_two(exponential(difference), 12);
  }
  const int32_t zeros = leading_zeros(static_cast<uint32_t>(sum));
  const auto fraction = static_cast<int32_t>((static_cast<uint32_t>(sum) << zeros) - 0x80000000U);
  const int32_t scale = reciprocal_above_one(fraction);
  const int32_t bits = 12 - zeros + 31 - 8 * static_cast<int32_t>(sizeof(T));
  for (int32_t k = 0; k < p.count; ++k) {
    const int32_t difference = in[k * p.inner] - greatest;
    int32_t y = lowest;
    // `bits` is above 31 where every probability is below half a step: int8, from a sum of 512 on.
    if (difference >= p.diff_min && bits <= 31)
      y += divide_by_power_of_two(doubling_high(scale, exponential(difference)), bits);
    out[k * p.inner] = static_cast<T>(y > -lowest - 1 ? -lowest - 1 : y);
  }
}

template <class T>
inline void softmax_tflite(const SoftmaxTfliteParams& p, const int8_t* in, T* out) {
  for (int32_t o = 0; o < p.outer; ++o, in += p.count * p.inner, out += p.count * p.inner)
    for (int32_t i = 0; i < p.inner; ++i) softmax_tflite_line(p, in + i, out + i);
}

inline void softmax_tflite_s8(const SoftmaxTfliteParams& p, const int8_t* in, int8_t* out) {
  softmax_tflite(p, in, out);
}
inline void softmax_tflite_s8_s16(const SoftmaxTfliteParams& p, const int8_t* in, int16_t* out) {
  softmax_tflite(p, in, out);
}

}  // namespace rushlight::kernels
