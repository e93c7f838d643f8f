// SPDX-License-Identifier: Apache-2.0
// x above 0, slope[channel] * x below.
#pragma once

#include "kernels/fixed_point.h"

namespace rushlight::kernels {

// Element (o, c, i) stands at (o * channels + c) * inner + i.
struct PreluParams {
  int32_t outer, channels, inner;
  int32_t input_zero_point;
  Factor positive;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("outer", self.outer);
    v("channels", self.channels);
    v("inner", self.inner);
    v("input_zero_point", self.input_zero_point);
    v("positive", self.positive);
    v("output", self.output);
  }
};

// multipliers and shifts [channels]: the factors of the negative side, slope included; a negative multiplier
// stands for a negative slope. `out` may be the memory of `in`.
template <class R>
inline void quantized_prelu_s8(const PreluParams& p, const int8_t* in, const int32_t* multipliers,
                               const int32_t* shifts, int8_t* out) {
  for (int32_t o = 0; o < p.outer; ++o)
    for (int32_t c = 0; c < p.channels; ++c) {
      const int32_t multiplier = multipliers[c] < 0 ? -multipliers[c] : multipliers[c];
      for (int32_t i = 0; i < p.inner; ++i, ++in, ++out) {
        const int32_t x = *in - p.input_zero_point;
        if (x >= 0)
          *out = requantize<R>(x, p.positive.multiplier, p.positive.shift, p.output);
        else
          *out = requantize<R>(multipliers[c] < 0 ? -x : x, multiplier, shifts[c], p.output);
      }
    }
}

}  // namespace rushlight::kernels
