// SPDX-License-Identifier: Apache-2.0
// Cortex-M55, M85: Helium, 128-bit vectors. Loads and stores of bytes may be unaligned; those that go past
// the end of an array are predicated.
#pragma once

#include <arm_mve.h>

#include "kernels/simd/scalar.h"

namespace rushlight::kernels::simd {

struct mve : scalar {
  using v = int32x4_t;
  using w = int32x4_t;
  static constexpr int32_t lanes = 4;

  static v load(const int8_t* p, int32_t n) {
    return n >= lanes ? vldrbq_s32(p) : vldrbq_z_s32(p, vctp32q(static_cast<uint32_t>(n)));
  }
  static void store(int8_t* p, v x, int32_t n) {
    if (n >= lanes)
      vstrbq_s32(p, x);
    else
      vstrbq_p_s32(p, x, vctp32q(static_cast<uint32_t>(n)));
  }
  static v splat(int8_t x) { return vdupq_n_s32(x); }
  static v max(v a, v b) { return vmaxq_s32(a, b); }
  static v min(v a, v b) { return vminq_s32(a, b); }

  static w widen(v x) { return x; }
  static v narrow(w x) { return x; }
  static w splat_w(int32_t x) { return vdupq_n_s32(x); }
  static w add(w a, w b) { return vaddq_s32(a, b); }
  static w multiply_add(w acc, w x, int32_t factor) { return vmlaq_n_s32(acc, x, factor); }
  static w shift_right(w x, int32_t k) { return vshlq_s32(x, vdupq_n_s32(-k)); }
  static w clamp(w x, int32_t lo, int32_t hi) {
    return vminq_s32(vmaxq_s32(x, vdupq_n_s32(lo)), vdupq_n_s32(hi));
  }
  static w rescale_double(w x, Factor f) {
    if (f.shift > 0 || f.shift < -31) {  // seldom: lane by lane
      int32_t values[4];
      vst1q_s32(values, x);
      for (int k = 0; k < 4; ++k) values[k] = kernels::rescale_double(values[k], f.multiplier, f.shift);
      return vld1q_s32(values);
    }
    return rounded_shift_right(vqrdmulhq_n_s32(x, f.multiplier), vdupq_n_s32(f.shift));
  }

  static constexpr int dot_outputs = 4;

  template <int kOutputs>
  static void dot(const int8_t* x, const int8_t* weights, int32_t pitch, int32_t n,
                  int32_t (&acc)[kOutputs]) {
    int32_t sums[kOutputs];
    for (int k = 0; k < kOutputs; ++k) sums[k] = acc[k];
    for (; n >= 16; n -= 16, x += 16, weights += 16) {
      const int8x16_t inputs = vldrbq_s8(x);
      for (int k = 0; k < kOutputs; ++k)
        sums[k] = vmladavaq_s8(sums[k], inputs, vldrbq_s8(weights + k * pitch));
    }
    if (n > 0) {
      // Lanes past the end read as 0.
      const mve_pred16_t rest = vctp8q(static_cast<uint32_t>(n));
      const int8x16_t inputs = vldrbq_z_s8(x, rest);
      for (int k = 0; k < kOutputs; ++k)
        sums[k] = vmladavaq_s8(sums[k], inputs, vldrbq_z_s8(weights + k * pitch, rest));
    }
    for (int k = 0; k < kOutputs; ++k) acc[k] = sums[k];
  }

  // x / 2^-shifts for shifts of -31..0, ties away from zero: the fixup moves negative ties down.
  static int32x4_t rounded_shift_right(int32x4_t x, int32x4_t shifts) {
    const int32x4_t fixup = vshrq_n_s32(vandq_s32(x, shifts), 31);
    return vrshlq_s32(vqaddq_s32(x, fixup), shifts);
  }
  static int32x4_t rescale(Single, int32x4_t acc, int32x4_t multipliers, int32x4_t shifts) {
    return vrshlq_s32(vmulhq_s32(acc, multipliers), vaddq_n_s32(shifts, 1));
  }
  static int32x4_t rescale(Double, int32x4_t acc, int32x4_t multipliers, int32x4_t shifts) {
    return rounded_shift_right(vqrdmulhq_s32(acc, multipliers), shifts);
  }
  // The shifts that `rescale` does not cover: see fixed_point.h.
  static bool is_rare(Single, int32x4_t shifts) { return vcmpgtq_n_s32(shifts, -2) != 0; }
  static bool is_rare(Double, int32x4_t shifts) {
    return (vcmpgtq_n_s32(shifts, 0) | vcmpltq_n_s32(shifts, -31)) != 0;
  }

  template <class R>
  static void finish_four(int32x4_t acc, const int32_t* multipliers, const int32_t* shifts,
                          const OutputRange& range, int8_t* out) {
    const int32x4_t by = vld1q_s32(shifts);
    if (is_rare(R{}, by)) {
      int32_t values[4];
      vst1q_s32(values, acc);
      return scalar::finish<R>(values, multipliers, shifts, range, out);
    }
    const int32x4_t r = vqaddq_n_s32(rescale(R{}, acc, vld1q_s32(multipliers), by), range.zero_point);
    vstrbq_s32(out, clamp(r, range.lo, range.hi));
  }

  template <class R, int kOutputs>
  static void finish(const int32_t (&acc)[kOutputs], const int32_t* multipliers, const int32_t* shifts,
                     const OutputRange& range, int8_t* out) {
    if constexpr (kOutputs == 4)
      finish_four<R>(vld1q_s32(acc), multipliers, shifts, range, out);
    else
      scalar::finish<R>(acc, multipliers, shifts, range, out);
  }

  template <int kChannels>
  struct Channels : scalar::Channels<kChannels> {};
};

template <>
struct mve::Channels<4> {
  int32x4_t acc;

  void start(const int32_t* bias) { acc = vld1q_s32(bias); }
  void clear() { acc = vdupq_n_s32(0); }
  void add(const int8_t* x) { acc = vaddq_s32(acc, vldrbq_s32(x)); }
  void multiply_add(const int8_t* x, const int8_t* w) {
    acc = vaddq_s32(acc, vmulq_s32(vldrbq_s32(x), vldrbq_s32(w)));
  }
  void multiply_add(int32_t x, const int8_t* w) { acc = vmlaq_n_s32(acc, vldrbq_s32(w), x); }
  void read(int32_t (&values)[4]) const { vst1q_s32(values, acc); }
  template <class R>
  void finish(const int32_t* multipliers, const int32_t* shifts, const OutputRange& range,
              int8_t* out) const {
    finish_four<R>(acc, multipliers, shifts, range, out);
  }
};

// Sixteen bytes in a register.
struct mve_bytes {
  using v = int8x16_t;
  static constexpr int32_t lanes = 16;

  static v load(const int8_t* p, int32_t n) {
    return n >= lanes ? vldrbq_s8(p) : vldrbq_z_s8(p, vctp8q(static_cast<uint32_t>(n)));
  }
  static void store(int8_t* p, v x, int32_t n) {
    if (n >= lanes)
      vstrbq_s8(p, x);
    else
      vstrbq_p_s8(p, x, vctp8q(static_cast<uint32_t>(n)));
  }
  static v splat(int8_t x) { return vdupq_n_s8(x); }
  static v max(v a, v b) { return vmaxq_s8(a, b); }
  static v min(v a, v b) { return vminq_s8(a, b); }
};

}  // namespace rushlight::kernels::simd
