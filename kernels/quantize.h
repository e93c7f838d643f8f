// SPDX-License-Identifier: Apache-2.0
// float32 <-> int8 or int16 at the boundary of a program; the only kernels that touch floats. Floats in
// Params are held as their bits, so that Params stay integers.
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

// x rounded half to even, saturated to +-2^kBits, kBits at most 22; NaN gives 0.
// Decided on the bits: no libm, and no float comparison, which would be a call on cores without an FPU.
template <int kBits = 10>
inline int32_t round_half_even_saturated(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0;  // NaN
  const int32_t exponent = static_cast<int32_t>(magnitude >> 23) - 127;
  if (exponent < -1) return 0;  // |x| < 1/2
  int32_t r = int32_t{1} << kBits;
  if (exponent < kBits) {
    const uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    const int32_t fraction_bits = 23 - exponent;  // 1..24
    const uint32_t half = uint32_t{1} << (fraction_bits - 1);
    const uint32_t whole = mantissa >> fraction_bits;
    // Adding half - 1 plus the lowest kept bit carries exactly
    // when the fraction is above a half, or a half and odd.
    r = static_cast<int32_t>((mantissa + half - 1 + (whole & 1)) >> fraction_bits);
  }
  return bits >> 31 ? -r : r;
}

// Saturates at four times the range of T, which is beyond any output and its offset.
template <class T>
inline void quantize_elements(const QuantizeParams& p, const float* in, T* out) {
  constexpr int kBits = 8 * sizeof(T) + 2;
  const float inverse_scale = float_from_bits(p.inverse_scale_bits);
  for (int32_t i = 0; i < p.count; ++i) {
    const int32_t q = p.output.zero_point + round_half_even_saturated<kBits>(in[i] * inverse_scale);
    out[i] = static_cast<T>(q < p.output.lo ? p.output.lo : q > p.output.hi ? p.output.hi : q);
  }
}

// out = clamp(zero_point + round_half_even(x * inverse_scale));
// NaN gives the zero point (clamped), infinities saturate.
inline void quantize_per_tensor_s8(const QuantizeParams& p, const float* in, int8_t* out) {
  quantize_elements(p, in, out);
}
inline void quantize_per_tensor_s16(const QuantizeParams& p, const float* in, int16_t* out) {
  quantize_elements(p, in, out);
}

template <class T>
inline void dequantize_elements(const DequantizeParams& p, const T* in, float* out) {
  const float scale = float_from_bits(p.scale_bits);
  for (int32_t i = 0; i < p.count; ++i) out[i] = static_cast<float>(in[i] - p.zero_point) * scale;
}

// out = scale * (x - zero_point), rounded once to float32.
inline void dequantize_per_tensor_s8(const DequantizeParams& p, const int8_t* in, float* out) {
  dequantize_elements(p, in, out);
}
inline void dequantize_per_tensor_s16(const DequantizeParams& p, const int16_t* in, float* out) {
  dequantize_elements(p, in, out);
}

}  // namespace rushlight::kernels
