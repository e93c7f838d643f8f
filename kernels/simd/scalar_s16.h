// SPDX-License-Identifier: Apache-2.0
// What bodies that take an instruction set as their template argument (kernels/simd/scalar.h) find for
// elements of int16 and weights of int8: one lane at a time, sums in A (int32_t, or int64_t with
// Mode::exact).
#pragma once

#include "kernels/fixed_point_s16.h"
#include "kernels/simd/scalar.h"

namespace rushlight::kernels::simd {

inline void finish_sum(Single, int32_t acc, int32_t multiplier, int32_t shift, const OutputRange& range,
                       int16_t* out) {
  *out = requantize_s16_as(Single{}, acc, multiplier, shift, range);
}
inline void finish_sum(Double, int32_t acc, int32_t multiplier, int32_t shift, const OutputRange& range,
                       int16_t* out) {
  *out = requantize_s16_as(Double{}, acc, multiplier, shift, range);
}
inline void finish_sum(Exact, int64_t acc, int32_t multiplier, int32_t shift, const OutputRange& range,
                       int16_t* out) {
  *out = requantize_s16_sum(acc, multiplier, shift, range);
}

template <class A>
struct scalar_s16_sums {
  using v = int16_t;
  static constexpr int32_t lanes = 1;
  static constexpr int dot_outputs = 2;

  static v load(const int16_t* p, int32_t /*n*/) { return *p; }
  static void store(int16_t* p, v x, int32_t /*n*/) { *p = x; }
  static v splat(int16_t x) { return x; }
  static v max(v a, v b) { return a > b ? a : b; }
  static v min(v a, v b) { return a < b ? a : b; }

  // acc[k] += sum over i < n of x[i] * weights[k * pitch + i].
  template <int kOutputs>
  static void dot(const int16_t* x, const int8_t* weights, int32_t pitch, int32_t n, A (&acc)[kOutputs]) {
    scalar::dot<kOutputs>(x, weights, pitch, n, acc);
  }

  template <class R, int kOutputs>
  static void finish(const A (&acc)[kOutputs], const int32_t* multipliers, const int32_t* shifts,
                     const OutputRange& range, int16_t* out) {
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) finish_sum(R{}, acc[k], multipliers[k], shifts[k], range, out + k);
  }

  template <int kChannels>
  struct Channels {
    A acc[kChannels];

    void start(const A* bias) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] = bias[k];
    }
    void clear() {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] = 0;
    }
    void add(const int16_t* x) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] += x[k];
    }
    // acc[k] += x[k] * w[k]
    void multiply_add(const int16_t* x, const int8_t* w) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] += x[k] * w[k];
    }
    // acc[k] += x * w[k]
    void multiply_add(int32_t x, const int8_t* w) {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) acc[k] += x * w[k];
    }
    void read(A (&values)[kChannels]) const {
      RUSHLIGHT_UNROLL
      for (int k = 0; k < kChannels; ++k) values[k] = acc[k];
    }
    template <class R>
    void finish(const int32_t* multipliers, const int32_t* shifts, const OutputRange& range,
                int16_t* out) const {
      scalar_s16_sums::finish<R>(acc, multipliers, shifts, range, out);
    }
  };
};

using scalar_s16 = scalar_s16_sums<int32_t>;
using scalar_s16_wide = scalar_s16_sums<int64_t>;

}  // namespace rushlight::kernels::simd
