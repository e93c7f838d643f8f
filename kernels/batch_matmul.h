// SPDX-License-Identifier: Apache-2.0
// Matrix products of two activations, over broadcast batches.
#pragma once

#include "kernels/fixed_point_s16.h"
#include "kernels/loops.h"
#include "kernels/simd/best.h"
#include "kernels/taps.h"

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

// product(a, b, out) of each pair of matrices.
template <class T, class Product>
inline void for_each_product(const BatchMatmulParams& p, const T* a, const T* b, T* out, Product product) {
  Odometer<2> at{p.batch_extent, {p.batch_stride_a, p.batch_stride_b}, {}, {}};
  do {
    product(a + at.offset[0], b + at.offset[1], out);
    out += p.rows * p.columns;
  } while (at.next(kMaxLoops));
}

// Columns c.. of a product whose depth strides are both 1, kOutputs at a time while they last; returns the
// first one not done. With n = depth the sum is
//   sum of a b - zero_point_b * sum of a + zero_point_a * (n * zero_point_b - sum of b),
// of which only the whole is known to fit int32: the parts are added modulo 2^32.
template <class R, class I, int kOutputs>
inline int32_t dense_columns(const BatchMatmulParams& p, const int8_t* a, const int8_t* b, int32_t c,
                             int8_t* out) {
  for (; c + kOutputs <= p.columns; c += kOutputs) {
    const int8_t* first = b + c * p.b_column_stride;
    uint32_t of_columns[kOutputs];
    for (int j = 0; j < kOutputs; ++j)
      of_columns[j] = static_cast<uint32_t>(
          p.zero_point_a * (p.depth * p.zero_point_b - sum_of(first + j * p.b_column_stride, p.depth)));
    const int8_t* row = a;
    int8_t* to = out + c;
    for (int32_t r = 0; r < p.rows; ++r, row += p.a_row_stride, to += p.columns) {
      const auto of_row =
          static_cast<uint32_t>(p.zero_point_b == 0 ? 0 : p.zero_point_b * sum_of(row, p.depth));
      int32_t acc[kOutputs] = {};
      I::template dot<kOutputs>(row, first, p.b_column_stride, p.depth, acc);
      for (int j = 0; j < kOutputs; ++j) {
        const uint32_t sum = static_cast<uint32_t>(acc[j]) - of_row + of_columns[j];
        to[j] = matmul_output<R>(static_cast<int32_t>(sum), p);
      }
    }
  }
  return c;
}

template <class R, class I = simd::best>
inline void quantized_batch_matmul_s8(const BatchMatmulParams& p, const int8_t* a, const int8_t* b,
                                      int8_t* out) {
  const bool dense = p.a_depth_stride == 1 && p.b_depth_stride == 1;
  for_each_product(p, a, b, out, [&p, dense](const int8_t* x, const int8_t* y, int8_t* to) {
    if (!dense) return matmul<R>(p, x, p.a_depth_stride, y, p.b_depth_stride, to);
    const int32_t c = dense_columns<R, I, I::dot_outputs>(p, x, y, 0, to);
    dense_columns<R, I, 1>(p, x, y, c, to);
  });
}

// Rounds alike in both modes.
inline void quantized_batch_matmul_s16(const BatchMatmulParams& p, const int16_t* a, const int16_t* b,
                                       int16_t* out) {
  const bool dense = p.a_depth_stride == 1 && p.b_depth_stride == 1;
  for_each_product(p, a, b, out, [&p, dense](const int16_t* x, const int16_t* y, int16_t* to) {
    if (dense) return matmul<Exact>(p, x, 1, y, 1, to);
    matmul<Exact>(p, x, p.a_depth_stride, y, p.b_depth_stride, to);
  });
}

}  // namespace rushlight::kernels
