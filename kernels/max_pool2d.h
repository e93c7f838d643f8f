// SPDX-License-Identifier: Apache-2.0
// Max pooling of N,H,W,C images. Input and output have one quantization.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

// Windows come as tables, because padding and ceil_mode make them differ: for output row y the entries 2y and
// 2y + 1 of `rows` are the first input row inside the input and the number of taps inside, 1 or more;
// likewise `columns`. Taps stand `dilation` apart. Padding never wins.
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

// kChannels outputs of the window that starts at x, into y.
template <int kChannels, class T>
inline void pool_maxima(const MaxPool2dParams& p, const T* x, int32_t rows, int32_t columns, T* y) {
  const int32_t step = p.dilation_width * p.channels;
  const int32_t pitch = p.dilation_height * p.input_width * p.channels;
  int32_t best[kChannels];
  for (int k = 0; k < kChannels; ++k) best[k] = p.lo;
  for (; rows > 0; --rows, x += pitch) {
    const T* tap = x;
    for (int32_t c = 0; c < columns; ++c, tap += step)
      for (int k = 0; k < kChannels; ++k) best[k] = best[k] < tap[k] ? tap[k] : best[k];
  }
  for (int k = 0; k < kChannels; ++k) y[k] = static_cast<T>(best[k] < p.hi ? best[k] : p.hi);
}

template <class T>
inline void max_pool2d(const MaxPool2dParams& p, const T* input, const int32_t* rows, const int32_t* columns,
                       T* output) {
  const int32_t pitch = p.input_width * p.channels;
  for (int32_t n = 0; n < p.batch; ++n, input += p.input_height * pitch) {
    for (const int32_t* row = rows; row != rows + 2 * p.output_height; row += 2) {
      for (const int32_t* column = columns; column != columns + 2 * p.output_width; column += 2) {
        const T* x = input + row[0] * pitch + column[0] * p.channels;
        int32_t c = 0;
        for (; c + 4 <= p.channels; c += 4) pool_maxima<4>(p, x + c, row[1], column[1], output + c);
        for (; c < p.channels; ++c) pool_maxima<1>(p, x + c, row[1], column[1], output + c);
        output += p.channels;
      }
    }
  }
}

// clamp(maximum of the taps inside, lo, hi). rows [output_height][2], columns [output_width][2].
inline void max_pool2d_s8(const MaxPool2dParams& p, const int8_t* input, const int32_t* rows,
                          const int32_t* columns, int8_t* output) {
  max_pool2d(p, input, rows, columns, output);
}

inline void max_pool2d_s16(const MaxPool2dParams& p, const int16_t* input, const int32_t* rows,
                           const int32_t* columns, int16_t* output) {
  max_pool2d(p, input, rows, columns, output);
}

}  // namespace rushlight::kernels
