// SPDX-License-Identifier: Apache-2.0
// Element-wise quotient of two int8 tensors, broadcast by strides.
#pragma once

#include "kernels/binary.h"

namespace rushlight::kernels {

struct DivParams {
  BroadcastLoops loops;
  int32_t zero_point_a;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("loops", self.loops);
    v("zero_point_a", self.zero_point_a);
    v("output", self.output);
  }
};

// multipliers and shifts [256], by b + 128: the factor scale_a / (scale_b * scale_out) / |b - zero_point_b|,
// with a negative multiplier where b is below its zero point. The entry of the zero point itself is
// (INT32_MAX, 30), which saturates every numerator but 0.
template <class R>
struct Div {
  const DivParams& p;
  const int32_t* multipliers;
  const int32_t* shifts;
  int8_t operator()(int8_t a, int8_t b) const {
    const int32_t x = a - p.zero_point_a;
    const int32_t multiplier = multipliers[b + 128];
    if (multiplier < 0) return requantize_mean<R>(-x, -multiplier, shifts[b + 128], p.output);
    return requantize_mean<R>(x, multiplier, shifts[b + 128], p.output);
  }
};

// clamp(zero_point + round((a - zero_point_a) / (b - zero_point_b) * scales)). `out` may be the memory of an
// input that is dense and not broadcast.
template <class R>
inline void quantized_div_s8(const DivParams& p, const int8_t* a, const int8_t* b, const int32_t* multipliers,
                             const int32_t* shifts, int8_t* out) {
  broadcast_each(Div<R>{p, multipliers, shifts}, p.loops, a, b, out);
}

}  // namespace rushlight::kernels
