// SPDX-License-Identifier: Apache-2.0
// Element-wise product of two tensors, broadcast by strides.
#pragma once

#include "kernels/binary.h"
#include "kernels/fixed_point_s16.h"

namespace rushlight::kernels {

// int16 has the zero points 0.
struct MulParams {
  BroadcastLoops loops;
  int32_t zero_point_a, zero_point_b;
  Factor factor;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("loops", self.loops);
    v("zero_point_a", self.zero_point_a);
    v("zero_point_b", self.zero_point_b);
    v("factor", self.factor);
    v("output", self.output);
  }
};

template <class R>
struct Mul {
  const MulParams& p;
  template <class T>
  T operator()(T a, T b) const {
    return requantize_to<R, T>((a - p.zero_point_a) * (b - p.zero_point_b), p.factor.multiplier,
                               p.factor.shift, p.output);
  }
};

// clamp(zero_point + round(factor * (a - zero_point_a) * (b - zero_point_b))). `out` may be the memory of an
// input that is dense and not broadcast.
template <class R>
inline void quantized_mul_s8(const MulParams& p, const int8_t* a, const int8_t* b, int8_t* out) {
  map_pairs(Mul<R>{p}, p.loops.extent, p.loops.stride_a, p.loops.stride_b, a, b, out);
}

template <class R>
inline void quantized_mul_s16(const MulParams& p, const int16_t* a, const int16_t* b, int16_t* out) {
  map_pairs(Mul<R>{p}, p.loops.extent, p.loops.stride_a, p.loops.stride_b, a, b, out);
}

}  // namespace rushlight::kernels
