// SPDX-License-Identifier: Apache-2.0
// What bodies may do with several elements at once, one element at a time. Another instruction set is another
// struct with the same members; bodies name it only as their template argument. Members that an instruction
// set has no better form of are inherited from here.
#pragma once

#include "kernels/fixed_point.h"

namespace rushlight::kernels::simd {

struct scalar {
  using v = int8_t;   // `lanes` int8
  using w = int32_t;  // the same lanes as int32
  static constexpr int32_t lanes = 1;

  // `n` elements are left at p, one or more: min(n, lanes) of them are read or written.
  static v load(const int8_t* p, int32_t /*n*/) { return *p; }
  static void store(int8_t* p, v x, int32_t /*n*/) { *p = x; }
  static v splat(int8_t x) { return x; }

  static v max(v a, v b) { return a > b ? a : b; }
  static v min(v a, v b) { return a < b ? a : b; }

  static w widen(v x) { return x; }
  static v narrow(w x) { return static_cast<v>(x); }  // of values within int8
  static w splat_w(int32_t x) { return x; }
  static w add(w a, w b) { return a + b; }
  static w multiply_add(w acc, w x, int32_t factor) { return acc + x * factor; }
  static w shift_right(w x, int32_t k) { return x >> k; }
  static w clamp(w x, int32_t lo, int32_t hi) { return x < lo ? lo : x > hi ? hi : x; }
  static w rescale_double(w x, Factor f) { return kernels::rescale_double(x, f.multiplier, f.shift); }

  // How many outputs a dot product best makes in one pass over its inputs.
  static constexpr int dot_outputs = 2;

  // acc[k] += sum over i < n of x[i] * weights[k * pitch + i].
  template <int kOutputs, class T, class A>
  static void dot(const T* x, const int8_t* weights, int32_t pitch, int32_t n, A (&acc)[kOutputs]) {
    A sums[kOutputs];
    const int8_t* w[kOutputs];
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) {
      sums[k] = acc[k];
      w[k] = weights + k * pitch;
    }
    for (; n >= 4; n -= 4, x += 4) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kOutputs; ++k) {
        sums[k] += x[0] * w[k][0];
        sums[k] += x[1] * w[k][1];
        sums[k] += x[2] * w[k][2];
        sums[k] += x[3] * w[k][3];
        w[k] += 4;
      }
    }
    for (; n > 0; --n, ++x) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kOutputs; ++k) sums[k] += *x * *w[k]++;
    }
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) acc[k] = sums[k];
  }

  // out[k] = requantized acc[k], with a factor each.
  template <class R, int kOutputs>
  static void finish(const int32_t (&acc)[kOutputs], const int32_t* multipliers, const int32_t* shifts,
                     const OutputRange& range, int8_t* out) {
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) out[k] = requantize<R>(acc[k], multipliers[k], shifts[k], range);
  }

  // kChannels neighbouring channels, with an accumulator each.
  template <int kChannels>
  struct Channels {
    int32_t acc[kChannels];

    void start(const int32_t* bias) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] = bias[k];
    }
    void clear() {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] = 0;
    }
    void add(const int8_t* x) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] += x[k];
    }
    // acc[k] += x[k] * w[k]
    void multiply_add(const int8_t* x, const int8_t* w) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] += x[k] * w[k];
    }
    // acc[k] += x * w[k]
    void multiply_add(int32_t x, const int8_t* w) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] += x * w[k];
    }
    void read(int32_t (&values)[kChannels]) const {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) values[k] = acc[k];
    }
    template <class R>
    void finish(const int32_t* multipliers, const int32_t* shifts, const OutputRange& range,
                int8_t* out) const {
      scalar::finish<R>(acc, multipliers, shifts, range, out);
    }
  };
};

}  // namespace rushlight::kernels::simd
