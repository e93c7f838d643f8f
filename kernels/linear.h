// SPDX-License-Identifier: Apache-2.0
// Fully connected layer: every row of the input times every row of the weights.
#pragma once

#include "kernels/simd/best.h"

namespace rushlight::kernels {

// The input zero point is folded into the bias.
struct LinearParams {
  int32_t rows;  // product of the leading extents
  int32_t input_features;
  int32_t output_features;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("rows", self.rows);
    v("input_features", self.input_features);
    v("output_features", self.output_features);
    v("output", self.output);
  }
};

// Outputs o.. of one row, kOutputs at a time while they last; returns the first one not done.
template <class R, class I, int kOutputs, class T, class A>
inline int32_t linear_outputs(const LinearParams& p, const T* input, const int8_t* weights, const A* bias,
                              const int32_t* multipliers, const int32_t* shifts, int32_t o, T* output) {
  const int32_t features = p.input_features;
  for (; o + kOutputs <= p.output_features; o += kOutputs) {
    A acc[kOutputs];
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) acc[k] = bias[o + k];
    I::template dot<kOutputs>(input, weights + o * features, features, features, acc);
    I::template finish<R>(acc, multipliers + o, shifts + o, p.output, output + o);
  }
  return o;
}

// Outputs of type T from accumulators of type A.
template <class R, class I, class T, class A>
inline void linear(const LinearParams& p, const T* input, const int8_t* weights, const A* bias,
                   const int32_t* multipliers, const int32_t* shifts, T* output) {
  for (int32_t row = 0; row < p.rows; ++row, input += p.input_features, output += p.output_features) {
    int32_t o = linear_outputs<R, I, I::dot_outputs>(p, input, weights, bias, multipliers, shifts, 0, output);
    o = linear_outputs<R, I, 1>(p, input, weights, bias, multipliers, shifts, o, output);
  }
}

// input [rows][I], weights [O][I], output [rows][O]; bias, multipliers and shifts [O].
template <class R, class I = simd::best>
inline void quantized_linear_s8(const LinearParams& p, const int8_t* input, const int8_t* weights,
                                const int32_t* bias, const int32_t* multipliers, const int32_t* shifts,
                                int8_t* output) {
  linear<R, I>(p, input, weights, bias, multipliers, shifts, output);
}

// int16 activations, int32 accumulators.
template <class R, class I = simd::best_s16>
inline void quantized_linear_s16(const LinearParams& p, const int16_t* input, const int8_t* weights,
                                 const int32_t* bias, const int32_t* multipliers, const int32_t* shifts,
                                 int16_t* output) {
  linear<R, I>(p, input, weights, bias, multipliers, shifts, output);
}

// int64 accumulators: multipliers and shifts as requantize_s16_sum has them.
inline void quantized_linear_wide_s16(const LinearParams& p, const int16_t* input, const int8_t* weights,
                                      const int64_t* bias, const int32_t* multipliers, const int32_t* shifts,
                                      int16_t* output) {
  linear<Exact, simd::best_s16_wide>(p, input, weights, bias, multipliers, shifts, output);
}

}  // namespace rushlight::kernels
