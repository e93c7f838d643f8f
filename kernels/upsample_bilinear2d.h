// SPDX-License-Identifier: Apache-2.0
// Bilinear interpolation of N,H,W,C images.
#pragma once

#include "kernels/fixed_point.h"

namespace rushlight::kernels {

// For output row y the entries 3y..3y+2 of `rows` are the first input row, the second, and the weight of the
// second in 0..row_denominator, which the first row's weight completes; likewise `columns`. The factor holds
// 1 / (row_denominator * column_denominator), which is at most 2^22.
struct UpsampleBilinear2dParams {
  int32_t batch;
  int32_t input_height, input_width;
  int32_t output_height, output_width;
  int32_t channels;
  int32_t row_denominator, column_denominator;
  int32_t input_zero_point;
  Factor factor;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("batch", self.batch);
    v("input_height", self.input_height);
    v("input_width", self.input_width);
    v("output_height", self.output_height);
    v("output_width", self.output_width);
    v("channels", self.channels);
    v("row_denominator", self.row_denominator);
    v("column_denominator", self.column_denominator);
    v("input_zero_point", self.input_zero_point);
    v("factor", self.factor);
    v("output", self.output);
  }
};

// rows [output_height][3], columns [output_width][3].
template <class R>
inline void upsample_bilinear2d_s8(const UpsampleBilinear2dParams& p, const int8_t* input,
                                   const int32_t* rows, const int32_t* columns, int8_t* output) {
  const int32_t pitch = p.input_width * p.channels;
  const int32_t offset = p.input_zero_point * p.row_denominator * p.column_denominator;
  for (int32_t n = 0; n < p.batch; ++n, input += p.input_height * pitch)
    for (const int32_t* row = rows; row != rows + 3 * p.output_height; row += 3) {
      const int8_t* upper = input + row[0] * pitch;
      const int8_t* lower = input + row[1] * pitch;
      for (const int32_t* column = columns; column != columns + 3 * p.output_width; column += 3) {
        const int32_t left = column[0] * p.channels;
        const int32_t right = column[1] * p.channels;
        for (int32_t c = 0; c < p.channels; ++c) {
          const int32_t above =
              upper[left + c] * (p.column_denominator - column[2]) + upper[right + c] * column[2];
          const int32_t below =
              lower[left + c] * (p.column_denominator - column[2]) + lower[right + c] * column[2];
          const int32_t sum = above * (p.row_denominator - row[2]) + below * row[2] - offset;
          *output++ = requantize_mean<R>(sum, p.factor.multiplier, p.factor.shift, p.output);
        }
      }
    }
}

}  // namespace rushlight::kernels
