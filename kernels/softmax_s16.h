// SPDX-License-Identifier: Apache-2.0
// Softmax of int16 along one axis, in TensorFlow Lite's form: exponentials and the reciprocal of their sum
// from tables with straight lines between the points. The output has scale 2^-15.
#pragma once

#include "kernels/lookup.h"
#include "kernels/softmax.h"

namespace rushlight::kernels {

// As SoftmaxParams; multiplier and shift take a difference of inputs to 65535 steps of 10/65535, by the
// Double rule. count is at most 65535, so that a sum of exponentials fits 31 bits.
struct SoftmaxS16Params {
  int32_t outer, count, inner;
  int32_t multiplier, shift;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("outer", self.outer);
    v("count", self.count);
    v("inner", self.inner);
    v("multiplier", self.multiplier);
    v("shift", self.shift);
  }
};

// exp [513]: 2^15 e^x over [-10, 0]; reciprocal [513]: 2^15 / (1 + x) over [0, 1]; both in 512 equal parts,
// at most 32767.
inline void softmax_s16(const SoftmaxS16Params& p, const int16_t* in, const int16_t* exp,
                        const int16_t* reciprocal, int16_t* out) {
  const int32_t line = p.count * p.inner;
  for (int32_t o = 0; o < p.outer; ++o, in += line, out += line)
    for (int32_t i = 0; i < p.inner; ++i) {
      int32_t greatest = in[i];
      for (int32_t at = i; at < line; at += p.inner) greatest = in[at] > greatest ? in[at] : greatest;
      // A line may be its own output: exponentials wait where the results go.
      uint32_t sum = 0;
      for (int32_t at = i; at < line; at += p.inner) {
        const int32_t x = rescale_double(in[at] - greatest, p.multiplier, p.shift) + 32767;
        out[at] = between_points(exp, static_cast<int16_t>(x < -32768 ? -32768 : x));
        sum += static_cast<uint32_t>(out[at]);
      }
      // The sum as (1 + f) 2^k: the table has 1 / (1 + f).
      const int32_t zeros = leading_zeros(sum);
      const uint32_t normal = ((sum << (zeros - 1)) + (uint32_t{1} << 13)) >> 14;
      const int32_t scale =
          between_points(reciprocal, static_cast<int16_t>(static_cast<int32_t>(normal) - 98304));
      for (int32_t at = i; at < line; at += p.inner)
        out[at] = static_cast<int16_t>((((out[at] * scale) >> (30 - zeros)) + 1) >> 1);
    }
}

}  // namespace rushlight::kernels
