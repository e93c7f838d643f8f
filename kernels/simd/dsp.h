// SPDX-License-Identifier: Apache-2.0
// Cortex-M4, M7, M33: two 16-bit products an instruction, four bytes a load. Loads of four bytes may be
// unaligned on these cores.
#pragma once

#include "kernels/simd/dsp_instructions.h"
#include "kernels/simd/scalar.h"

namespace rushlight::kernels::simd {

struct dsp : scalar {
  // Four weights make two pairs of halfwords, and so do four inputs: 1.4 instructions a product at four
  // outputs, with loads and widening.
  static constexpr int dot_outputs = 4;

  template <int kOutputs>
  static void dot(const int8_t* x, const int8_t* weights, int32_t pitch, int32_t n,
                  int32_t (&acc)[kOutputs]) {
    int32_t sums[kOutputs];
    for (int k = 0; k < kOutputs; ++k) sums[k] = acc[k];
    for (; n >= 4; n -= 4, x += 4, weights += 4) {
      const uint32_t inputs = load_word(x);
      const uint32_t even = even_bytes(inputs);
      const uint32_t odd = odd_bytes(inputs);
      const int8_t* w = weights;
      for (int k = 0; k < kOutputs; ++k, w += pitch) {
        const uint32_t four = load_word(w);
        sums[k] = multiply_add_halves(even, even_bytes(four), sums[k]);
        sums[k] = multiply_add_halves(odd, odd_bytes(four), sums[k]);
      }
    }
    for (; n > 0; --n, ++x, ++weights)
      for (int k = 0; k < kOutputs; ++k) sums[k] += *x * weights[k * pitch];
    for (int k = 0; k < kOutputs; ++k) acc[k] = sums[k];
  }

  template <int kChannels>
  struct Channels : scalar::Channels<kChannels> {};
};

template <>
struct dsp::Channels<4> : scalar::Channels<4> {
  using scalar::Channels<4>::acc;
  using scalar::Channels<4>::multiply_add;

  void add(const int8_t* x) {
    const uint32_t four = load_word(x);
    const uint32_t even = even_bytes(four);
    const uint32_t odd = odd_bytes(four);
    acc[0] += low_half(even);
    acc[1] += low_half(odd);
    acc[2] += high_half(even);
    acc[3] += high_half(odd);
  }
  void multiply_add(const int8_t* x, const int8_t* w) {
    const uint32_t inputs = load_word(x);
    const uint32_t weights = load_word(w);
    const uint32_t even = even_bytes(inputs);
    const uint32_t odd = odd_bytes(inputs);
    const uint32_t even_weights = even_bytes(weights);
    const uint32_t odd_weights = odd_bytes(weights);
    acc[0] += low_half(even) * low_half(even_weights);
    acc[1] += low_half(odd) * low_half(odd_weights);
    acc[2] += high_half(even) * high_half(even_weights);
    acc[3] += high_half(odd) * high_half(odd_weights);
  }
};

// Four bytes in a register.
struct dsp_bytes {
  using v = uint32_t;
  static constexpr int32_t lanes = 4;

  static v load(const int8_t* p, int32_t n) {
    if (n >= 4) return load_word(p);
    uint32_t word = 0;
    for (int32_t k = 0; k < n; ++k) word |= static_cast<uint32_t>(static_cast<uint8_t>(p[k])) << (8 * k);
    return word;
  }
  static void store(int8_t* p, v x, int32_t n) {
    if (n >= 4) return store_word(p, x);
    for (int32_t k = 0; k < n; ++k) p[k] = static_cast<int8_t>(x >> (8 * k));
  }
  static v splat(int8_t x) { return static_cast<uint8_t>(x) * 0x01010101U; }
  static v max(v a, v b) { return max_bytes(a, b); }
  static v min(v a, v b) { return min_bytes(a, b); }
};

}  // namespace rushlight::kernels::simd
