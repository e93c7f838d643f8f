// SPDX-License-Identifier: Apache-2.0
// Maximum pooling of N,H,W,C images.
#pragma once

#include "kernels/simd/best.h"

namespace rushlight::kernels {

// Windows come as tables, because ceil_mode, padding and adaptive pooling make them differ: for output row y
// the entries 2y and 2y+1 of `rows` are the first input row inside and the number of rows, one or more;
// likewise `columns`. Taps are `dilation` apart. The result is clamped to [lo, hi].
struct MaxPool2dParams {
  int32_t batch;
  int32_t input_height, input_width;
  int32_t output_height, output_width;
  int32_t channels;
  int32_t dilation_height, dilation_width;
  int32_t lo, hi;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("batch", self.batch);
    v("input_height", self.input_height);
    v("input_width", self.input_width);
    v("output_height", self.output_height);
    v("output_width", self.output_width);
    v("channels", self.channels);
    v("dilation_height", self.dilation_height);
    v("dilation_width", self.dilation_width);
    v("lo", self.lo);
    v("hi", self.hi);
  }
};

// One pixel, as many channels at a time as a register holds.
template <class I, class T>
inline void max_window(const MaxPool2dParams& p, const T* x, int32_t rows, int32_t columns, T* out) {
  const int32_t column_step = p.dilation_width * p.channels;
  const int32_t row_step = p.dilation_height * p.input_width * p.channels;
  const auto lo = I::splat(static_cast<T>(p.lo));
  const auto hi = I::splat(static_cast<T>(p.hi));
  for (int32_t c = 0; c < p.channels; c += I::lanes, x += I::lanes) {
    auto greatest = lo;
    const T* row = x;
    for (int32_t r = 0; r < rows; ++r, row += row_step) {
      const T* tap = row;
      for (int32_t k = 0; k < columns; ++k, tap += column_step)
        greatest = I::max(greatest, I::load(tap, p.channels - c));
    }
    I::store(out + c, I::min(greatest, hi), p.channels - c);
  }
}

// rows [output_height][2], columns [output_width][2].
template <class I, class T>
inline void max_pool2d_with(const MaxPool2dParams& p, const T* input, const int32_t* rows,
                            const int32_t* columns, T* output) {
  const int32_t pitch = p.input_width * p.channels;
  for (int32_t n = 0; n < p.batch; ++n, input += p.input_height * pitch)
    for (const int32_t* row = rows; row != rows + 2 * p.output_height; row += 2)
      for (const int32_t* column = columns; column != columns + 2 * p.output_width; column += 2) {
        max_window<I>(p, input + row[0] * pitch + column[0] * p.channels, row[1], column[1], output);
        output += p.channels;
      }
}

inline void max_pool2d_s8(const MaxPool2dParams& p, const int8_t* input, const int32_t* rows,
                          const int32_t* columns, int8_t* output) {
  max_pool2d_with<simd::best_bytes>(p, input, rows, columns, output);
}

inline void max_pool2d_s16(const MaxPool2dParams& p, const int16_t* input, const int32_t* rows,
                           const int32_t* columns, int16_t* output) {
  max_pool2d_with<simd::best_s16>(p, input, rows, columns, output);
}

}  // namespace rushlight::kernels
