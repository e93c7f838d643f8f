// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of N,H,W,C images: output channel o reads only input channel o / channel_multiplier.
#pragma once

#include "kernels/simd/best.h"
#include "kernels/taps.h"

namespace rushlight::kernels {

// Taps outside the input read input_zero_point; the input zero point is folded into the bias: bias[o]
// - input_zero_point * sum of all weights of o. output_channels = input_channels * channel_multiplier.
struct DepthwiseConv2dParams {
  int32_t batch;
  int32_t input_height, input_width, input_channels;
  int32_t output_height, output_width, output_channels;
  int32_t kernel_height, kernel_width;
  int32_t stride_height, stride_width;
  int32_t dilation_height, dilation_width;
  int32_t pad_top, pad_left;
  int32_t channel_multiplier;
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
    v("channel_multiplier", self.channel_multiplier);
    v("input_zero_point", self.input_zero_point);
    v("output_offset", self.output_offset);
    v("output_batch_pitch", self.output_batch_pitch);
    v("output_row_pitch", self.output_row_pitch);
    v("output_pixel_pitch", self.output_pixel_pitch);
    v("output", self.output);
  }
};

// kOutputs neighbouring outputs from `o` of one pixel; `x` is the window's input at the first one's channel.
template <class R, class I, int kOutputs, bool kShared, class T, class A>
inline void depthwise_outputs(const DepthwiseConv2dParams& p, const Window<T>& window, const T* x,
                              const int8_t* weights, const A* bias, const int32_t* multipliers,
                              const int32_t* shifts, int32_t o, T* output) {
  const int8_t* w = weights + o;
  typename I::template Channels<kOutputs> channels;
  channels.start(bias + o);
  int32_t gap = window.leading;
  for (int32_t ky = window.rows.first;; ++ky, x += window.input_row_step) {
    if (p.input_zero_point == 0) w += gap * p.output_channels, gap = 0;
    for (; gap > 0; --gap, w += p.output_channels) channels.multiply_add(p.input_zero_point, w);
    if (ky == window.rows.last) break;
    const T* tap = x;
    for (int32_t kx = window.columns.first; kx < window.columns.last; ++kx) {
      if constexpr (kShared)
        channels.multiply_add(int32_t{*tap}, w);
      else
        channels.multiply_add(tap, w);
      tap += window.input_column_step;
      w += p.output_channels;
    }
    gap = window.padding_after(ky);
  }
  channels.template finish<R>(multipliers + o, shifts + o, p.output, output + o);
}

// Outputs o..o+count-1, four at a time; they share the input channel at `x`, or have one each from there.
template <class R, class I, bool kShared, class T, class A>
inline void depthwise_channels(const DepthwiseConv2dParams& p, const Window<T>& window, const T* x,
                               const int8_t* weights, const A* bias, const int32_t* multipliers,
                               const int32_t* shifts, int32_t o, int32_t count, T* output) {
  for (; count >= 4; count -= 4, o += 4, x += kShared ? 0 : 4)
    depthwise_outputs<R, I, 4, kShared>(p, window, x, weights, bias, multipliers, shifts, o, output);
  for (; count > 0; --count, ++o, x += kShared ? 0 : 1)
    depthwise_outputs<R, I, 1, kShared>(p, window, x, weights, bias, multipliers, shifts, o, output);
}

// Outputs of type T from accumulators of type A.
template <class R, class I, class T, class A>
inline void depthwise_conv2d(const DepthwiseConv2dParams& p, const T* input, const int8_t* weights,
                             const A* bias, const int32_t* multipliers, const int32_t* shifts, T* output) {
  output += p.output_offset;
  for (int32_t n = 0; n < p.batch; ++n) {
    for (int32_t oy = 0; oy < p.output_height; ++oy) {
      const int32_t y0 = oy * p.stride_height - p.pad_top;
      const TapRange rows = taps_inside(y0, p.kernel_height, p.dilation_height, p.input_height);
      T* pixel = output + oy * p.output_row_pitch;
      for (int32_t ox = 0; ox < p.output_width; ++ox, pixel += p.output_pixel_pitch) {
        const Window<T> window = window_at(p, input, rows, y0, ox * p.stride_width - p.pad_left);
        if (p.channel_multiplier == 1) {
          depthwise_channels<R, I, false>(p, window, window.input, weights, bias, multipliers, shifts, 0,
                                          p.output_channels, pixel);
          continue;
        }
        for (int32_t c = 0; c < p.input_channels; ++c)
          depthwise_channels<R, I, true>(p, window, window.input + c, weights, bias, multipliers, shifts,
                                         c * p.channel_multiplier, p.channel_multiplier, pixel);
      }
    }
    input += p.input_height * p.input_width * p.input_channels;
    output += p.output_batch_pitch;
  }
}

// input [batch][input_height][input_width][input_channels], weights [kernel_height][kernel_width][O],
// output [batch][output_height][output_width][O]; bias, multipliers and shifts [O].
template <class R, class I = simd::best>
inline void quantized_depthwise_conv2d_s8(const DepthwiseConv2dParams& p, const int8_t* input,
                                          const int8_t* weights, const int32_t* bias,
                                          const int32_t* multipliers, const int32_t* shifts, int8_t* output) {
  depthwise_conv2d<R, I>(p, input, weights, bias, multipliers, shifts, output);
}

// int16 activations, int32 accumulators.
template <class R, class I = simd::best_s16>
inline void quantized_depthwise_conv2d_s16(const DepthwiseConv2dParams& p, const int16_t* input,
                                           const int8_t* weights, const int32_t* bias,
                                           const int32_t* multipliers, const int32_t* shifts,
                                           int16_t* output) {
  depthwise_conv2d<R, I>(p, input, weights, bias, multipliers, shifts, output);
}

// int64 accumulators: multipliers and shifts as requantize_s16_sum has them.
inline void quantized_depthwise_conv2d_wide_s16(const DepthwiseConv2dParams& p, const int16_t* input,
                                                const int8_t* weights, const int64_t* bias,
                                                const int32_t* multipliers, const int32_t* shifts,
                                                int16_t* output) {
  depthwise_conv2d<Exact, simd::best_s16_wide>(p, input, weights, bias, multipliers, shifts, output);
}

}  // namespace rushlight::kernels
