// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and linear kernels: which taps of a window lie inside the input.
// Accumulators start at the bias and stay within int32 in any order of summation: the compiler's
// bound adds up the absolute values of all products.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

// Taps first..last-1 of a window read inside 0..extent-1; tap
// t reads `origin + t * dilation`. first == last if none.
struct TapRange {
  int32_t first;
  int32_t last;
};

// Counts instead of dividing: windows are short, and some cores have no divide instruction.
inline TapRange taps_inside(int32_t origin, int32_t taps, int32_t dilation, int32_t extent) {
  TapRange range{0, taps};
  while (range.first < taps && origin + range.first * dilation < 0) ++range.first;
  while (range.last > range.first && origin + (range.last - 1) * dilation >= extent) --range.last;
  return range;
}

// The window of one output pixel. Its weights are walked in memory order: `leading` taps that meet padding,
// the inside taps of a kernel row, `between` taps of padding, the next row's, ..., `trailing` taps of
// padding. Where no tap is inside, all are leading and there are no rows.
template <class T>
struct Window {
  TapRange rows, columns;
  int32_t leading, between, trailing;
  const T* input;  // at the first inside tap, channel 0
  int32_t input_row_step, input_column_step;

  int32_t padding_after(int32_t kernel_row) const { return kernel_row + 1 == rows.last ? trailing : between; }
};

// The window whose first tap is at input column x0; y0 and
// `rows` are its first row and that axis' inside taps.
template <class T, class Params>
inline Window<T> window_at(const Params& p, const T* image, TapRange rows, int32_t y0, int32_t x0) {
  const TapRange columns = taps_inside(x0, p.kernel_width, p.dilation_width, p.input_width);
  const int32_t pitch = p.input_width * p.input_channels;
  const int32_t row_step = p.dilation_height * pitch;
  const int32_t column_step = p.dilation_width * p.input_channels;
  // Without an inside tap no offset into the image is formed: it could lie outside.
  if (rows.first == rows.last || columns.first == columns.last)
    return {{0, 0}, {0, 0}, p.kernel_height * p.kernel_width, 0, 0, image, row_step, column_step};
  const int32_t left = columns.first;
  const int32_t right = p.kernel_width - columns.last;
  const int32_t y = y0 + rows.first * p.dilation_height;
  const int32_t x = x0 + columns.first * p.dilation_width;
  return {rows,
          columns,
          rows.first * p.kernel_width + left,
          right + left,
          right + (p.kernel_height - rows.last) * p.kernel_width,
          image + y * pitch + x * p.input_channels,
          row_step,
          column_step};
}

inline int32_t sum_of(const int8_t* x, int32_t n) {
  int32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

}  // namespace rushlight::kernels
