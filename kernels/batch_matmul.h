// SPDX-License-Identifier: Apache-2.0
// Matrix products of two activations, over broadcast batches.
#pragma once

#include "kernels/fixed_point_s16.h"
#include "kernels/loops.h"

namespace rushlight::kernels {

// output[n][r][c] = clamp(zero_point + round(factor * sum over k of
//   (a[n, r, k] - zero_point_a) * (b[n, k, c] - zero_point_b))), dense, factor s_a * s_b / s_out.
// Batches are a loop nest, outermost first, with stride 0 where one side is broadcast; the strides within a
// matrix make a transposed operand an operand like any other. Fastest where both depth strides are 1.
// int8: depth * 255^2 stays below 2^31, so depth is at most 33025. int16: sums are int64, depth at most 2^16,
// the zero points 0 and the factor's multiplier q16 (kernels/fixed_point_s16.h).
struct BatchMatmulParams {
  int32_t batch_extent[kMaxLoops];
  int32_t batch_stride_a[kMaxLoops];
  int32_t batch_stride_b[kMaxLoops];
  int32_t rows, columns, depth;
  int32_t a_row_stride, a_depth_stride;
  int32_t b_depth_stride, b_column_stride;
  int32_t zero_point_a, zero_point_b;
  Factor factor;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("batch_extent", self.batch_extent);
    v("batch_stride_a", self.batch_stride_a);
    v("batch_stride_b", self.batch_stride_b);
    v("rows", self.rows);
    v("columns", self.columns);
    v("depth", self.depth);
    v("a_row_stride", self.a_row_stride);
    v("a_depth_stride", self.a_depth_stride);
    v("b_depth_stride", self.b_depth_stride);
    v("b_column_stride", self.b_column_stride);
    v("zero_point_a", self.zero_point_a);
    v("zero_point_b", self.zero_point_b);
    v("factor", self.factor);
    v("output", self.output);
  }
};

template <class T>
struct MatmulSum {
  using type = int32_t;
};
template <>
struct MatmulSum<int16_t> {
  using type = int64_t;
};

template <class R>
inline int8_t matmul_output(int32_t sum, const BatchMatmulParams& p) {
  return requantize<R>(sum, p.factor.multiplier, p.factor.shift, p.output);
}
template <class R>
inline int16_t matmul_output(int64_t sum, const BatchMatmulParams& p) {
  return requantize_s16_sum(sum, p.factor.multiplier, p.factor.shift, p.output);
}

// kColumns outputs of one row. With A = a - zero_point_a the sum of A * (b - zero_point_b) is the sum of A *
// b plus `offset`, -zero_point_b times the sum of A, which is the same for every column.
template <class R, int kColumns, class T, class Sum>
inline void matmul_columns(const BatchMatmulParams& p, const T* a, int32_t a_step, const T* b, int32_t b_step,
                           Sum offset, T* out) {
  Sum acc[kColumns];
  for (int j = 0; j < kColumns; ++j) acc[j] = offset;
  for (int32_t k = 0; k < p.depth; ++k) {
    const int32_t x = a[k * a_step] - p.zero_point_a;
    for (int j = 0; j < kColumns; ++j) acc[j] += x * b[j * p.b_column_stride + k * b_step];
  }
  for (int j = 0; j < kColumns; ++j) out[j] = matmul_output<R>(acc[j], p);
}

// The depth strides are arguments so that a call with two literal ones is compiled for them.
template <class R, class T>
inline void matmul(const BatchMatmulParams& p, const T* a, int32_t a_step, const T* b, int32_t b_step,
                   T* out) {
  for (int32_t r = 0; r < p.rows; ++r, a += p.a_row_stride) {
    typename MatmulSum<T>::type offset = 0;
    if (p.zero_point_b != 0) {
      int32_t sum = -p.depth * p.zero_point_a;
      for (int32_t k = 0; k < p.depth; ++k) sum += a[k * a_step];
      offset = -p.zero_point_b * sum;
    }
    const T* y = b;
    int32_t c = 0;
    for (; c + 4 <= p.columns; c += 4, y += 4 * p.b_column_stride, out += 4)
      matmul_columns<R, 4>(p, a, a_step, y, b_step, offset, out);
    for (; c < p.columns; ++c, y += p.b_column_stride, ++out)
      matmul_columns<R, 1>(p, a, a_step, y, b_step, offset, out);
  }
}

template <class R, class T>
inline void batch_matmul(const BatchMatmulParams& p, const T* a, const T* b, T* out) {
  const bool dense = p.a_depth_stride == 1 && p.b_depth_stride == 1;
  Odometer<2> at{p.batch_extent, {p.batch_stride_a, p.batch_stride_b}, {}, {}};
  do {
    if (dense)
      matmul<R>(p, a + at.offset[0], 1, b + at.offset[1], 1, out);
    else
      matmul<R>(p, a + at.offset[0], p.a_depth_stride, b + at.offset[1], p.b_depth_stride, out);
    out += p.rows * p.columns;
  } while (at.next(kMaxLoops));
}

template <class R>
inline void quantized_batch_matmul_s8(const BatchMatmulParams& p, const int8_t* a, const int8_t* b,
                                      int8_t* out) {
  batch_matmul<R>(p, a, b, out);
}

// Rounds alike in both modes.
inline void quantized_batch_matmul_s16(const BatchMatmulParams& p, const int16_t* a, const int16_t* b,
                                       int16_t* out) {
  batch_matmul<Exact>(p, a, b, out);
}

}  // namespace rushlight::kernels
