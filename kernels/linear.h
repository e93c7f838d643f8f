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
template <class R, class I, int kOutputs>
inline int32_t linear_outputs(const LinearParams& p, const int8_t* input, const int8_t* weights,
                              const int32_t* bias, const int32_t* multipliers, const int32_t* shifts,
                              int32_t o, int8_t* output) {
  const int32_t features = p.input_features;
  for (; o + kOutputs <= p.output_features; o += kOutputs) {
    int32_t acc[kOutputs];
    for (int k = 0; k < kOutputs; ++k) acc[k] = bias[o + k];
    I::template dot<kOutputs>(input, weights + o * features, features, features, acc);
    I::template finish<R>(acc, multipliers + o, shifts + o, p.output, output + o);
  }
  return o;
}

// input [rows][I], weights [O][I], output [rows][O]; bias, multipliers and shifts [O].
template <class R, class I = simd::best>
inline void quantized_linear_s8(const LinearParams& p, const int8_t* input, const int8_t* weights,
                                const int32_t* bias, const int32_t* multipliers, const int32_t* shifts,
                                int8_t* output) {
  for (int32_t row = 0; row < p.rows; ++row, input += p.input_features, output += p.output_features) {
    int32_t o = linear_outputs<R, I, I::dot_outputs>(p, input, weights, bias, multipliers, shifts, 0, output);
    o = linear_outputs<R, I, 1>(p, input, weights, bias, multipliers, shifts, o, output);
  }
}

}  // namespace rushlight::kernels
