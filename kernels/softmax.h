// SPDX-License-Identifier: Apache-2.0
// Softmax along one axis, from a table of exponentials.
#pragma once

#include "kernels/fixed_point.h"

namespace rushlight::kernels {

// Element (o, k, i) stands at (o * count + k) * inner + i; the sum runs over k. multiplier and shift are the
// factor 1 / output scale, shift in 0..31; quotient_bits bounds the unclamped result: it is below
// 2^quotient_bits, at most 24.
struct SoftmaxParams {
  int32_t outer, count, inner;
  int32_t multiplier, shift;
  int32_t quotient_bits;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("outer", self.outer);
    v("count", self.count);
    v("inner", self.inner);
    v("multiplier", self.multiplier);
    v("shift", self.shift);
    v("quotient_bits", self.quotient_bits);
    v("output", self.output);
  }
};

// floor(a / b) below 2^bits, for a up to 2^62 and b above 0: one subtraction a bit, and no division, which
// 64-bit integers have on no core.
inline int32_t short_quotient(uint64_t a, uint64_t b, int32_t bits) {
  int32_t quotient = 0;
  for (int32_t k = bits - 1; k >= 0; --k)
    if ((a >> k) >= b) {
      a -= b << k;
      quotient += int32_t{1} << k;
    }
  return quotient;
}

// Of one line of `count` elements `step` apart.
inline int32_t greatest_of(const int8_t* x, int32_t count, int32_t step) {
  int32_t greatest = *x;
  for (int32_t k = 1; k < count; ++k) greatest = x[k * step] > greatest ? x[k * step] : greatest;
  return greatest;
}

// exponentials [256]: E[d] = round(2^F exp(-d scale_in)), with F such that a line's sum stays below 2^31.
// clamp(zero_point + floor(E[max - x] * m / sum + 1/2)) with m = multiplier * 2^(shift - 31), exactly.
inline void softmax_s8(const SoftmaxParams& p, const int8_t* in, const int32_t* exponentials, int8_t* out) {
  for (int32_t o = 0; o < p.outer; ++o, in += p.count * p.inner, out += p.count * p.inner)
    for (int32_t i = 0; i < p.inner; ++i) {
      const int32_t greatest = greatest_of(in + i, p.count, p.inner);
      uint32_t sum = 0;
      for (int32_t k = 0; k < p.count; ++k)
        sum += static_cast<uint32_t>(exponentials[greatest - in[k * p.inner + i]]);
      const uint64_t denominator = uint64_t{sum} << (31 - p.shift);
      for (int32_t k = 0; k < p.count; ++k) {
        const auto e = static_cast<uint64_t>(exponentials[greatest - in[k * p.inner + i]]);
        const uint64_t numerator = e * static_cast<uint32_t>(p.multiplier);
        const int32_t q = short_quotient(numerator + (denominator >> 1), denominator, p.quotient_bits);
        out[k * p.inner + i] = clamp_output(q, p.output);
      }
    }
}

}  // namespace rushlight::kernels
