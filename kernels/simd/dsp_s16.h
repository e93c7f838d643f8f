// SPDX-License-Identifier: Apache-2.0
// Cortex-M4, M7, M33: int16 elements and int8 weights, two products an instruction.
#pragma once

#include "kernels/simd/dsp.h"
#include "kernels/simd/scalar_s16.h"

namespace rushlight::kernels::simd {

template <class A>
struct dsp_s16_sums : scalar_s16_sums<A> {
  // Four inputs are two words; sorted into even and odd ones they meet the weights as SXTB16 unpacks them.
  template <int kOutputs>
  static void dot(const int16_t* x, const int8_t* weights, int32_t pitch, int32_t n, A (&acc)[kOutputs]) {
    A sums[kOutputs];
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) sums[k] = acc[k];
    for (; n >= 4; n -= 4, x += 4, weights += 4) {
      const uint32_t first = load_word(x);
      const uint32_t second = load_word(x + 2);
      const uint32_t even = low_halves(first, second);
      const uint32_t odd = high_halves(first, second);
      const int8_t* w = weights;
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kOutputs; ++k, w += pitch) {
        const uint32_t four = load_word(w);
        sums[k] = multiply_add_halves(even, even_bytes(four), sums[k]);
        sums[k] = multiply_add_halves(odd, odd_bytes(four), sums[k]);
      }
    }
    for (; n > 0; --n, ++x, ++weights) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kOutputs; ++k) sums[k] += *x * weights[k * pitch];
    }
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) acc[k] = sums[k];
  }
};

using dsp_s16 = dsp_s16_sums<int32_t>;
using dsp_s16_wide = dsp_s16_sums<int64_t>;

}  // namespace rushlight::kernels::simd
