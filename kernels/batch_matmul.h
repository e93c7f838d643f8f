// SPDX-License-Identifier: Apache-2.0
// Matrix products of two activations, over broadcast batches.
#pragma once

#include "kernels/fixed_point.h"
#include "kernels/loops.h"

namespace rushlight::kernels {

// output[n][r][c] = clamp(zero_point + round(factor * sum over k of
//   (a[n, r, k] - zero_point_a) * (b[n, k, c] - zero_point_b))), dense, factor s_a * s_b / s_out.
// Batches are a loop nest, outermost first, with stride 0 where one side is broadcast; the strides within a
// matrix make a transposed operand an operand like any other. Fastest where both depth strides are 1.
// depth * 255^2 stays below 2^31: at most 33025.
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

// kColumns outputs of one row. With A = a - zero_point_a the sum of A * (b - zero_point_b) is the sum of A *
// b plus `offset`, -zero_point_b times the sum of A, which is the same for every column.
template <class R, int kColumns>
inline void matmul_columns(const BatchMatmulParams& p, const int8_t* a, int32_t a_step, const int8_t* b,
                           int32_t b_step, int32_t offset, int8_t* out) {
  int32_t acc[kColumns];
  for (int j = 0; j < kColumns; ++j) acc[j] = offset;
  for (int32_t k = 0; k < p.depth; ++k) {
    const int32_t x = a[k * a_step] - p.zero_point_a;
    for (int j = 0; j < kColumns; ++j) acc[j] += x * b[j * p.b_column_stride + k * b_step];
  }
  for (int j = 0; j < kColumns; ++j)
    out[j] = requantize<R>(acc[j], p.factor.multiplier, p.factor.shift, p.output);
}

// The depth strides are arguments so that a call with two literal ones is compiled for them.
template <class R>
inline void matmul(const BatchMatmulParams& p, const int8_t* a, int32_t a_step, const int8_t* b,
                   int32_t b_step, int8_t* out) {
  for (int32_t r = 0; r < p.rows; ++r, a += p.a_row_stride) {
    int32_t sum = -p.depth * p.zero_point_a;
    for (int32_t k = 0; k < p.depth; ++k) sum += a[k * a_step];
    const int32_t offset = -p.zero_point_b * sum;
    const int8_t* y = b;
    int32_t c = 0;
    for (; c + 4 <= p.columns; c += 4, y += 4 * p.b_column_stride, out += 4)
      matmul_columns<R, 4>(p, a, a_step, y, b_step, offset, out);
    for (; c < p.columns; ++c, y += p.b_column_stride, ++out)
      matmul_columns<R, 1>(p, a, a_step, y, b_step, offset, out);
  }
}

template <class R>
inline void quantized_batch_matmul_s8(const BatchMatmulParams& p, const int8_t* a, const int8_t* b,
                                      int8_t* out) {
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

}  // namespace rushlight::kernels
