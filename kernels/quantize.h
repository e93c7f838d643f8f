// SPDX-License-Identifier: Apache-2.0
// float32 <-> int8 at the boundary of a program; the only kernels that touch floats. Floats in Params are
// held as their bits, so that Params stay integers.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

struct QuantizeParams {
  int32_t count;
  int32_t inverse_scale_bits;  // float32(1 / scale), finite and positive: PyTorch's rule
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("count", self.count);
    v("inverse_scale_bits", self.inverse_scale_bits);
    v("output", self.output);
  }
};

struct DequantizeParams {
  int32_t count;
  int32_t scale_bits;  // float32
  int32_t zero_point;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("count", self.count);
    v("scale_bits", self.scale_bits);
    v("zero_point", self.zero_point);
  }
};

inline float float_from_bits(int32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// x rounded half to even, saturated to +-1024, which is beyond any int8 range and its offset; NaN gives 0.
// Decided on the bits: no libm, and no float comparison, which would be a call on cores without an FPU.
inline int32_t round_half_even_saturated(float x) {
  constexpr int32_t kLimit = 1024;
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0;  // NaN
  const int32_t exponent = static_cast<int32_t>(magnitude >> 23) - 127;
  if (exponent < -1) return 0;  // |x| < 1/2
  int32_t r = kLimit;
  if (exponent < 10) {
    const uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    const int32_t fraction_bits = 23 - exponent;  // 14..24
    const uint32_t half = uint32_t{1} << (fraction_bits - 1);
    const uint32_t whole = mantissa >> fraction_bits;
    // Adding half - 1 plus the lowest kept bit carries exactly
    // when the fraction is above a half, or a half and odd.
    r = static_cast<int32_t>((mantissa + half - 1 + (whole & 1)) >> fraction_bits);
  }
  return bits >> 31 ? -r : r;
}

// out = clamp(zero_point + round_half_even(x * inverse_scale));
// NaN gives the zero point (clamped), infinities saturate.
inline void quantize_per_tensor_s8(const QuantizeParams& p, const float* in, int8_t* out) {
  const float inverse_scale = float_from_bits(p.inverse_scale_bits);
  for (int32_t i = 0; i < p.count; ++i) {
    const int32_t q = p.output.zero_point + round_half_even_saturated(in[i] * inverse_scale);
    out[i] = static_cast<int8_t>(q < p.output.lo ? p.output.lo : q > p.output.hi ? p.output.hi : q);
  }
}

// out = scale * (x - zero_point), rounded once to float32.
inline void dequantize_per_tensor_s8(const DequantizeParams& p, const int8_t* in, float* out) {
  const float scale = float_from_bits(p.scale_bits);
  for (int32_t i = 0; i < p.count; ++i) out[i] = static_cast<float>(in[i] - p.zero_point) * scale;
}

}  // namespace rushlight::kernels
