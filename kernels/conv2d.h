// SPDX-License-Identifier: Apache-2.0
// Convolution of N,H,W,C images, with groups, stride, dilation and any padding.
#pragma once

#include "kernels/simd/best.h"
#include "kernels/taps.h"

namespace rushlight::kernels {

// Taps outside the input read input_zero_point; the input zero point is folded into the bias:
// bias[o] - input_zero_point * sum of all weights of o. Padding at the bottom and right follows from
// output_height and output_width. `groups` divides both channel counts.
struct Conv2dParams {
  int32_t batch;
  int32_t input_height, input_width, input_channels;
  int32_t output_height, output_width, output_channels;
  int32_t kernel_height, kernel_width;
  int32_t stride_height, stride_width;
  int32_t dilation_height, dilation_width;
  int32_t pad_top, pad_left;
  int32_t groups;
  int32_t input_zero_point;
  // Of the output, in elements: pixel (n, y, x) is at output_offset + n batch_pitch + y row_pitch + x
  // pixel_pitch.
  int32_t output_offset, output_batch_pitch, output_row_pitch, output_pixel_pitch;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("batch", self.batch);
    v("input_height", self.input_height);
    v("input_width", self.input_width);
    v("input_channels", self.input_channels);
    v("output_height", self.output_height);
    v("output_width", self.output_width);
    v("output_channels", self.output_channels);
    v("kernel_height", self.kernel_height);
    v("kernel_width", self.kernel_width);
    v("stride_height", self.stride_height);
    v("stride_width", self.stride_width);
    v("dilation_height", self.dilation_height);
    v("dilation_width", self.dilation_width);
    v("pad_top", self.pad_top);
    v("pad_left", self.pad_left);
    v("groups", self.groups);
    v("input_zero_point", self.input_zero_point);
    v("output_offset", self.output_offset);
    v("output_batch_pitch", self.output_batch_pitch);
    v("output_row_pitch", self.output_row_pitch);
    v("output_pixel_pitch", self.output_pixel_pitch);
    v("output", self.output);
  }
};

// How a window's inside taps lie in memory: for each kernel row `runs`
// stretches of `run_length` elements, contiguous in input and weights alike.
// Dense taps of all channels are one stretch a row, others a stretch a tap.
struct ConvRuns {
  int32_t runs, run_length;
  int32_t channels;  // of one group
};

template <class T>
inline ConvRuns conv_runs(const Conv2dParams& p, const Window<T>& window, int32_t channels) {
  const int32_t columns = window.columns.last - window.columns.first;
  if (p.dilation_width == 1 && p.groups == 1) return {1, columns * channels, channels};
  return {columns, channels, channels};
}

// Adds the products of the inside taps, for kOutputs neighbouring outputs of one group. `x` is the window's
// input at the group's first channel, `weights` those of the first output, `pitch` the weights of one output.
template <class I, int kOutputs, class T, class A>
inline void conv_inside(const Window<T>& window, ConvRuns c, const T* x, const int8_t* weights, int32_t pitch,
                        A (&acc)[kOutputs]) {
  weights += window.leading * c.channels;
  for (int32_t ky = window.rows.first; ky < window.rows.last; ++ky, x += window.input_row_step) {
    const T* run = x;
    for (int32_t r = 0; r < c.runs; ++r, run += window.input_column_step, weights += c.run_length)
      I::template dot<kOutputs>(run, weights, pitch, c.run_length, acc);
    weights += window.between * c.channels;
  }
}

// The sum of one output's weights that meet padding.
template <class T>
inline int32_t conv_outside(const Window<T>& window, ConvRuns c, const int8_t* weights) {
  int32_t sum = 0;
  int32_t gap = window.leading * c.channels;
  for (int32_t ky = window.rows.first;; ++ky) {
    sum += sum_of(weights, gap);
    if (ky == window.rows.last) return sum;
    weights += gap + c.runs * c.run_length;
    gap = window.padding_after(ky) * c.channels;
  }
}

// Outputs o..end-1 of one pixel, kOutputs at a time while they last; returns the first one not done.
template <class R, class I, int kOutputs, class T, class A>
inline int32_t conv_outputs(const Conv2dParams& p, const Window<T>& window, ConvRuns c, const T* x,
                            const int8_t* weights, const A* bias, const int32_t* multipliers,
                            const int32_t* shifts, int32_t o, int32_t end, T* output) {
  const int32_t taps = p.kernel_height * p.kernel_width;
  const int32_t pitch = taps * c.channels;
  const bool padded = (window.leading | window.between | window.trailing) != 0 && p.input_zero_point != 0;
  for (; o + kOutputs <= end; o += kOutputs) {
    const int8_t* w = weights + o * pitch;
    A acc[kOutputs];
    RUSHLIGHT_UNROLL
    for (int k = 0; k < kOutputs; ++k) {
      acc[k] = bias[o + k];
      if (padded) acc[k] += p.input_zero_point * conv_outside(window, c, w + k * pitch);
    }
    conv_inside<I, kOutputs>(window, c, x, w, pitch, acc);
    I::template finish<R>(acc, multipliers + o, shifts + o, p.output, output + o);
  }
  return o;
}

// Outputs of type T from accumulators of type A.
template <class R, class I, class T, class A>
inline void conv2d(const Conv2dParams& p, const T* input, const int8_t* weights, const A* bias,
                   const int32_t* multipliers, const int32_t* shifts, T* output) {
  const int32_t group_channels = p.groups == 1 ? p.input_channels : p.input_channels / p.groups;
  const int32_t group_outputs = p.groups == 1 ? p.output_channels : p.output_channels / p.groups;
  output += p.output_offset;
  for (int32_t n = 0; n < p.batch; ++n) {
    for (int32_t oy = 0; oy < p.output_height; ++oy) {
      const int32_t y0 = oy * p.stride_height - p.pad_top;
      const TapRange rows = taps_inside(y0, p.kernel_height, p.dilation_height, p.input_height);
      T* pixel = output + oy * p.output_row_pitch;
      for (int32_t ox = 0; ox < p.output_width; ++ox, pixel += p.output_pixel_pitch) {
        const Window<T> window = window_at(p, input, rows, y0, ox * p.stride_width - p.pad_left);
        const ConvRuns c = conv_runs(p, window, group_channels);
        const T* x = window.input;
        for (int32_t o = 0; o < p.output_channels; x += group_channels) {
          const int32_t end = o + group_outputs;
          o = conv_outputs<R, I, I::dot_outputs>(p, window, c, x, weights, bias, multipliers, shifts, o, end,
                                                 pixel);
          o = conv_outputs<R, I, 1>(p, window, c, x, weights, bias, multipliers, shifts, o, end, pixel);
        }
      }
    }
    input += p.input_height * p.input_width * p.input_channels;
    output += p.output_batch_pitch;
  }
}

// input [batch][input_height][input_width][input_channels], weights
// [O][kernel_height][kernel_width][I/groups], output [batch][output_height][output_width][O]; bias,
// multipliers and shifts [O].
template <class R, class I = simd::best>
inline void quantized_conv2d_s8(const Conv2dParams& p, const int8_t* input, const int8_t* weights,
                                const int32_t* bias, const int32_t* multipliers, const int32_t* shifts,
                                int8_t* output) {
  conv2d<R, I>(p, input, weights, bias, multipliers, shifts, output);
}

// int16 activations, int32 accumulators.
template <class R, class I = simd::best_s16>
inline void quantized_conv2d_s16(const Conv2dParams& p, const int16_t* input, const int8_t* weights,
                                 const int32_t* bias, const int32_t* multipliers, const int32_t* shifts,
                                 int16_t* output) {
  conv2d<R, I>(p, input, weights, bias, multipliers, shifts, output);
}

// int64 accumulators: multipliers and shifts as requantize_s16_sum has them.
inline void quantized_conv2d_wide_s16(const Conv2dParams& p, const int16_t* input, const int8_t* weights,
                                      const int64_t* bias, const int32_t* multipliers, const int32_t* shifts,
                                      int16_t* output) {
  conv2d<Exact, simd::best_s16_wide>(p, input, weights, bias, multipliers, shifts, output);
}

}  // namespace rushlight::kernels
