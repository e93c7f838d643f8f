// SPDX-License-Identifier: Apache-2.0
// Fully connected layer: every row of the input times every row of the weights.
#pragma once

#include "kernels/fixed_point.h"
#include "kernels/taps.h"

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

// input [rows][I], weights [O][I], output [rows][O]; bias, multipliers and shifts [O].
template <class R>
inline void quantized_linear_s8(const LinearParams& p, const int8_t* input, const int8_t* weights,
                                const int32_t* bias, const int32_t* multipliers, const int32_t* shifts,
                                int8_t* output) {
  const int32_t features = p.input_features;
  for (int32_t row = 0; row < p.rows; ++row, input += features, output += p.output_features) {
    const int8_t* w = weights;
    int32_t o = 0;
    for (; o + 1 < p.output_features; o += 2, w += 2 * features) {
      int32_t acc[2] = {bias[o], bias[o + 1]};
      accumulate<2>(input, w, features, features, acc);
      output[o] = requantize<R>(acc[0], multipliers[o], shifts[o], p.output);
      output[o + 1] = requantize<R>(acc[1], multipliers[o + 1], shifts[o + 1], p.output);
    }
    if (o < p.output_features) {
      int32_t acc[1] = {bias[o]};
      accumulate<1>(input, w, 0, features, acc);
      output[o] = requantize<R>(acc[0], multipliers[o], shifts[o], p.output);
    }
  }
}

}  // namespace rushlight::kernels
