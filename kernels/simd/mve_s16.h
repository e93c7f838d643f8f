// SPDX-License-Identifier: Apache-2.0
// Cortex-M55, M85: int16 elements and int8 weights, eight products an instruction.
#pragma once

#include "kernels/simd/mve.h"
#include "kernels/simd/scalar_s16.h"

namespace rushlight::kernels::simd {

inline int32_t add_products(int32_t acc, int16x8_t a, int16x8_t b) { return vmladavaq_s16(acc, a, b); }
inline int64_t add_products(int64_t acc, int16x8_t a, int16x8_t b) { return vmlaldavaq_s16(acc, a, b); }

template <class A>
struct mve_s16_sums : scalar_s16_sums<A> {
  static constexpr int dot_outputs = 4;

  template <int kOutputs>
  static void dot(const int16_t* x, const int8_t* weights, int32_t pitch, int32_t n, A (&acc)[kOutputs]) {
    A sums[kOutputs];
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) sums[k] = acc[k];
    for (; n >= 8; n -= 8, x += 8, weights += 8) {
      const int16x8_t inputs = vldrhq_s16(x);
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kOutputs; ++k)
        sums[k] = add_products(sums[k], inputs, vldrbq_s16(weights + k * pitch));
    }
    if (n > 0) {
      // Lanes past the end read as 0.
      const mve_pred16_t rest = vctp16q(static_cast<uint32_t>(n));
      const int16x8_t inputs = vldrhq_z_s16(x, rest);
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kOutputs; ++k)
        sums[k] = add_products(sums[k], inputs, vldrbq_z_s16(weights + k * pitch, rest));
    }
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) acc[k] = sums[k];
  }
};

using mve_s16 = mve_s16_sums<int32_t>;
using mve_s16_wide = mve_s16_sums<int64_t>;

}  // namespace rushlight::kernels::simd
