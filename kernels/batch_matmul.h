// SPDX-License-Identifier: Apache-2.0
// Products of two int8 matrices, for each of a batch.
#pragma once

#include "kernels/fixed_point.h"
#include "kernels/loops.h"

namespace rushlight::kernels {

// Strides reach each operand's element (row or column, depth), so that transposed operands need no copy, and
// a batch stride of 0 broadcasts. The output is dense: [batch][rows][columns].
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

// sum of (a - zero_point_a) (b - zero_point_b); the compiler has bounded depth so that it fits int32.
inline int32_t matmul_sum(const BatchMatmulParams& p, const int8_t* a, const int8_t* b) {
  int32_t sum = 0;
  if (p.a_depth_stride == 1 && p.b_depth_stride == 1) {
    for (int32_t k = 0; k < p.depth; ++k) sum += (a[k] - p.zero_point_a) * (b[k] - p.zero_point_b);
    return sum;
  }
  for (int32_t k = 0; k < p.depth; ++k, a += p.a_depth_stride, b += p.b_depth_stride)
    sum += (*a - p.zero_point_a) * (*b - p.zero_point_b);
  return sum;
}

template <class R>
inline void quantized_batch_matmul_s8(const BatchMatmulParams& p, const int8_t* a, const int8_t* b,
                                      int8_t* out) {
  Odometer<2> at{p.batch_extent, {p.batch_stride_a, p.batch_stride_b}, {}, {}};
  do {
    const int8_t* row = a + at.offset[0];
    for (int32_t r = 0; r < p.rows; ++r, row += p.a_row_stride) {
      const int8_t* column = b + at.offset[1];
      for (int32_t c = 0; c < p.columns; ++c, column += p.b_column_stride)
        *out++ = requantize<R>(matmul_sum(p, row, column), p.factor.multiplier, p.factor.shift, p.output);
    }
  } while (at.next(kMaxLoops));
}

}  // namespace rushlight::kernels
