// SPDX-License-Identifier: Apache-2.0
// Logarithm of the softmax along one axis.
#pragma once

#include "kernels/softmax.h"

namespace rushlight::kernels {

// As SoftmaxParams. step is scale_in / scale_out and unit is ln 2 / scale_out, both in units of
// 2^-fraction_bits.
struct LogSoftmaxParams {
  int32_t outer, count, inner;
  int32_t sum_bits;
  int32_t step, unit;
  int32_t fraction_bits;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("outer", self.outer);
    v("count", self.count);
    v("inner", self.inner);
    v("sum_bits", self.sum_bits);
    v("step", self.step);
    v("unit", self.unit);
    v("fraction_bits", self.fraction_bits);
    v("output", self.output);
  }
};

// log2 of x in 1..2^31 with 16 fraction bits: the position of the leading bit, then one more bit for each
// squaring of the rest, which is kept to 32 bits by cutting the product. Never above the true value, and
// below it by less than 2^-16 + 2^-30, which is 2^-16.5 in the natural logarithm.
inline int32_t log2_q16(uint32_t x) {
  int32_t exponent = 31;
  while ((x & 0x80000000U) == 0) x <<= 1, --exponent;
  int32_t result = exponent;
  for (int i = 0; i < 16; ++i) {
    const uint64_t square = uint64_t{x} * x;  // in [1, 4) of 2^62
    const bool carries = (square >> 63) != 0;
    result = 2 * result + (carries ? 1 : 0);
    x = static_cast<uint32_t>(square >> (carries ? 32 : 31));
  }
  return result;
}

// exponentials [256] as softmax_s8 takes them, with F = sum_bits. With d = max - x and L = log2_q16 of the
// line's sum, less sum_bits: clamp(zero_point + floor((-d * step - floor(L * unit / 2^16)) / 2^fraction_bits
// + 1/2)).
inline void log_softmax_s8(const LogSoftmaxParams& p, const int8_t* in, const int32_t* exponentials,
                           int8_t* out) {
  const int64_t half = int64_t{1} << (p.fraction_bits - 1);
  for (int32_t o = 0; o < p.outer; ++o, in += p.count * p.inner, out += p.count * p.inner)
    for (int32_t i = 0; i < p.inner; ++i) {
      const int32_t greatest = greatest_of(in + i, p.count, p.inner);
      const uint32_t sum = sum_of_exponentials(in + i, p.count, p.inner, greatest, exponentials);
      const int32_t logarithm = log2_q16(sum) - (p.sum_bits << 16);
      const int64_t offset = half - ((int64_t{logarithm} * p.unit) >> 16);
      for (int32_t k = 0; k < p.count; ++k) {
        const int64_t y = offset - int64_t{greatest - in[k * p.inner + i]} * p.step;
        out[k * p.inner + i] = clamp_output(y >> p.fraction_bits, p.output);
      }
    }
}

}  // namespace rushlight::kernels
