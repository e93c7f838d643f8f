// SPDX-License-Identifier: Apache-2.0
// Average pooling of N,H,W,C images.
#pragma once

#include "kernels/fixed_point_s16.h"
#include "kernels/simd/best.h"

namespace rushlight::kernels {

// Windows come as tables, because ceil_mode, padding and adaptive pooling make them differ: for output row y
// the entries 3y..3y+2 of `rows` are first input row, number of input rows, and class; likewise `columns`.
// Windows hold only taps inside the input (possibly none). A window of row class i and column class j has the
// factor factors[2 * (i * column_classes + j)], [.. + 1] (multiplier and shift), 1 / divisor included; or,
// for the dividing kernel, the divisor itself in divisors[i * column_classes + j]. int16 has the zero points
// 0, and windows of at most 65535 taps.
struct AveragePool2dParams {
  int32_t batch;
  int32_t input_height, input_width;
  int32_t output_height, output_width;
  int32_t channels;
  int32_t column_classes;
  int32_t input_zero_point;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("batch", self.batch);
    v("input_height", self.input_height);
    v("input_width", self.input_width);
    v("output_height", self.output_height);
    v("output_width", self.output_width);
    v("channels", self.channels);
    v("column_classes", self.column_classes);
    v("input_zero_point", self.input_zero_point);
    v("output", self.output);
  }
};

// sums[k] = sum of channel k over the window that starts at x.
template <class I, int kChannels, class T>
inline void pool_sums(const AveragePool2dParams& p, const T* x, int32_t rows, int32_t columns,
                      int32_t (&sums)[kChannels]) {
  typename I::template Channels<kChannels> channels;
  channels.clear();
  for (int32_t y = 0; y < rows; ++y, x += (p.input_width - columns) * p.channels)
    for (int32_t c = 0; c < columns; ++c, x += p.channels) channels.add(x);
  channels.read(sums);
}

// Sums every window and channel; `finish(sum, taps, window class)` makes it an output.
template <class I, class T, class Finish>
inline void average_pool2d(const AveragePool2dParams& p, const T* input, const int32_t* rows,
                           const int32_t* columns, T* output, Finish finish) {
  const int32_t pitch = p.input_width * p.channels;
  for (int32_t n = 0; n < p.batch; ++n, input += p.input_height * pitch) {
    for (const int32_t* row = rows; row != rows + 3 * p.output_height; row += 3) {
      for (const int32_t* column = columns; column != columns + 3 * p.output_width; column += 3) {
        const int32_t taps = row[1] * column[1];
        const int32_t window_class = row[2] * p.column_classes + column[2];
        const T* x = input + row[0] * pitch + column[0] * p.channels;
        int32_t c = 0;
        for (; c + 4 <= p.channels; c += 4, x += 4) {
          int32_t acc[4];
          pool_sums<I, 4>(p, x, row[1], column[1], acc);
          for (int k = 0; k < 4; ++k) *output++ = finish(acc[k], taps, window_class);
        }
        for (; c < p.channels; ++c, ++x) {
          int32_t acc[1];
          pool_sums<I, 1>(p, x, row[1], column[1], acc);
          *output++ = finish(acc[0], taps, window_class);
        }
      }
    }
  }
}

template <class R, class I, class T>
inline void scaled_average_pool2d(const AveragePool2dParams& p, const T* input, const int32_t* rows,
                                  const int32_t* columns, const int32_t* factors, T* output) {
  average_pool2d<I>(
      p, input, rows, columns, output, [&p, factors](int32_t sum, int32_t taps, int32_t window_class) {
        return requantize_mean_to<R, T>(sum - taps * p.input_zero_point, factors[2 * window_class],
                                        factors[2 * window_class + 1], p.output);
      });
}

// clamp(zero_point + round(factor * sum over the inside taps of (x - input_zero_point))): a padded tap is a
// real 0, so it counts only through the divisor in the factor. rows [output_height][3], columns
// [output_width][3], factors [row classes][column_classes][2].
template <class R, class I = simd::best>
inline void quantized_avg_pool2d_s8(const AveragePool2dParams& p, const int8_t* input, const int32_t* rows,
                                    const int32_t* columns, const int32_t* factors, int8_t* output) {
  scaled_average_pool2d<R, I>(p, input, rows, columns, factors, output);
}
template <class R>
inline void quantized_avg_pool2d_s16(const AveragePool2dParams& p, const int16_t* input, const int32_t* rows,
                                     const int32_t* columns, const int32_t* factors, int16_t* output) {
  scaled_average_pool2d<R, simd::best_s16>(p, input, rows, columns, factors, output);
}

template <class I, class T>
inline void dividing_average_pool2d(const AveragePool2dParams& p, const T* input, const int32_t* rows,
                                    const int32_t* columns, const int32_t* divisors, T* output) {
  average_pool2d<I>(
      p, input, rows, columns, output, [&p, divisors](int32_t sum, int32_t taps, int32_t window_class) {
        const int32_t divisor = divisors[window_class];
        const int32_t acc = sum + p.input_zero_point * (divisor - taps);
        const int32_t half = divisor / 2;
        const int32_t mean = (acc < 0 ? acc - half : acc + half) / divisor;
        return static_cast<T>(mean < p.output.lo ? p.output.lo : mean > p.output.hi ? p.output.hi : mean);
      });
}

// TensorFlow Lite's, for input and output of one quantization: clamp((sum of
// x + input_zero_point * padded taps) / divisor), ties away from zero (of
// the stored integer, not of the real value). output.zero_point is not used.
template <class R, class I = simd::best>
inline void quantized_avg_pool2d_divide_s8(const AveragePool2dParams& p, const int8_t* input,
                                           const int32_t* rows, const int32_t* columns,
                                           const int32_t* divisors, int8_t* output) {
  dividing_average_pool2d<I>(p, input, rows, columns, divisors, output);
}
template <class R>
inline void quantized_avg_pool2d_divide_s16(const AveragePool2dParams& p, const int16_t* input,
                                            const int32_t* rows, const int32_t* columns,
                                            const int32_t* divisors, int16_t* output) {
  dividing_average_pool2d<simd::best_s16>(p, input, rows, columns, divisors, output);
}

}  // namespace rushlight::kernels
