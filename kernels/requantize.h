// SPDX-License-Identifier: Apache-2.0
// One tensor, element by element: to another quantization of its type, or to a narrower range. int16 has the
// zero points 0.
#pragma once

#include "kernels/fixed_point_s16.h"

namespace rushlight::kernels {

// output = clamp(zero_point + round(factor * (input - input_zero_point)))
struct RequantizeParams {
  int32_t count;
  int32_t input_zero_point;
  Factor factor;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("count", self.count);
    v("input_zero_point", self.input_zero_point);
    v("factor", self.factor);
    v("output", self.output);
  }
};

struct ClampParams {
  int32_t count;
  int32_t lo;
  int32_t hi;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("count", self.count);
    v("lo", self.lo);
    v("hi", self.hi);
  }
};

// `out` may be the memory of `in`, here and below.
template <class R, class From, class To>
inline void requantize_elements(const RequantizeParams& p, const From* in, To* out) {
  for (int32_t i = 0; i < p.count; ++i)
    out[i] = requantize_to<R, To>(in[i] - p.input_zero_point, p.factor.multiplier, p.factor.shift, p.output);
}

template <class R>
inline void requantize_s8(const RequantizeParams& p, const int8_t* in, int8_t* out) {
  requantize_elements<R>(p, in, out);
}
template <class R>
inline void requantize_s16(const RequantizeParams& p, const int16_t* in, int16_t* out) {
  requantize_elements<R>(p, in, out);
}
// Between the two types; here `out` stays apart from `in`.
template <class R>
inline void requantize_s8_s16(const RequantizeParams& p, const int8_t* in, int16_t* out) {
  requantize_elements<R>(p, in, out);
}
template <class R>
inline void requantize_s16_s8(const RequantizeParams& p, const int16_t* in, int8_t* out) {
  requantize_elements<R>(p, in, out);
}

template <class T>
inline void clamp_elements(const ClampParams& p, const T* in, T* out) {
  for (int32_t i = 0; i < p.count; ++i) {
    const int32_t x = in[i];
    out[i] = static_cast<T>(x < p.lo ? p.lo : x > p.hi ? p.hi : x);
  }
}

inline void clamp_s8(const ClampParams& p, const int8_t* in, int8_t* out) { clamp_elements(p, in, out); }
inline void clamp_s16(const ClampParams& p, const int16_t* in, int16_t* out) { clamp_elements(p, in, out); }

}  // namespace rushlight::kernels
