// SPDX-License-Identifier: Apache-2.0
// Softmax along one axis, from a table of exponentials.
#pragma once

#include "kernels/fixed_point.h"

namespace rushlight::kernels {

// Element (o, k, i) stands at (o * count + k) * inner + i; the sum runs over k. multiplier and shift are the
// factor 1 / output scale, shift in 0..30; quotient_bits bounds the unclamped result: 0 or more and
// below 2^quotient_bits, which is 1..31.
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

inline int32_t leading_zeros(uint32_t x) {
  int32_t count = 0;
  for (; count < 32 && (x & 0x80000000U) == 0; x <<= 1) ++count;
  return count;
}

// floor(a / b) below 2^bits, bits in 1..31, for b up to 2^31: division bit by bit in 32-bit words, where a
// 64-bit one would be a library call on every core.
inline int32_t short_quotient(uint64_t a, uint32_t b, int32_t bits) {
  if (a < b) return 0;
  auto rest = static_cast<uint32_t>(a >> bits);  // below b, as the quotient is below 2^bits
  uint32_t next = static_cast<uint32_t>(a) << (32 - bits);
  uint32_t quotient = 0;
  for (; bits > 0; --bits, next <<= 1) {
    rest = 2 * rest + (next >> 31);
    quotient *= 2;
    if (rest >= b) {
      rest -= b;
      ++quotient;
    }
  }
  return static_cast<int32_t>(quotient);
}

// Of one line of `count` elements `step` apart.
inline int32_t greatest_of(const int8_t* x, int32_t count, int32_t step) {
  int32_t greatest = *x;
  for (int32_t k = 1; k < count; ++k) greatest = x[k * step] > greatest ? x[k * step] : greatest;
  return greatest;
}

// The line's sum of exponentials, where x is its first element and `greatest` its greatest.
inline uint32_t sum_of_exponentials(const int8_t* x, int32_t count, int32_t step, int32_t greatest,
                                    const int32_t* exponentials) {
  uint32_t sum = 0;
  for (int32_t k = 0; k < count; ++k) sum += static_cast<uint32_t>(exponentials[greatest - x[k * step]]);
  return sum;
}

// exponentials [256]: E[d] = round(2^F exp(-d scale_in)), with F at most 24 and such that count * 2^F, which
// bounds a line's sum, is at most 2^31.
// clamp(zero_point + floor(E[max - x] * m / sum + 1/2)) with m = multiplier * 2^(shift - 31), exactly: with
// k = 31 - shift the floor is that of (E * multiplier + sum * 2^(k-1)) / 2^k, cut to an integer, over sum.
inline void softmax_s8(const SoftmaxParams& p, const int8_t* in, const int32_t* exponentials, int8_t* out) {
  const int32_t k = 31 - p.shift;
  for (int32_t o = 0; o < p.outer; ++o, in += p.count * p.inner, out += p.count * p.inner)
    for (int32_t i = 0; i < p.inner; ++i) {
      const int32_t greatest = greatest_of(in + i, p.count, p.inner);
      const uint32_t sum = sum_of_exponentials(in + i, p.count, p.inner, greatest, exponentials);
      const uint64_t half = uint64_t{sum} << (k - 1);
      for (int32_t at = i; at < p.count * p.inner; at += p.inner) {
        const auto e = static_cast<uint32_t>(exponentials[greatest - in[at]]);
        const uint64_t scaled = (uint64_t{e} * static_cast<uint32_t>(p.multiplier) + half) >> k;
        out[at] = clamp_output(short_quotient(scaled, sum, p.quotient_bits), p.output);
      }
    }
}

}  // namespace rushlight::kernels
