// SPDX-License-Identifier: Apache-2.0
// CMSIS-NN's vectors of what has no weights.
#include <algorithm>

#include "tests/kernels/cmsisnn_vectors.h"
#include "tests/kernels/elements.h"

namespace rushlight {
namespace {

using namespace kernels;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

// first, count, class of each window; classes are counts, so that the divisor is their product.
Ints windows(const Vector& v, size_t axis, int32_t input, int32_t outputs) {
  Ints table;
  for (int32_t i = 0; i < outputs; ++i) {
    const int32_t start = i * v.number("stride", axis) - v.number("pad", axis);
    const int32_t first = std::max(start, 0);
    const int32_t count = std::min(start + v.number("filter", axis), input) - first;
    table.insert(table.end(), {first, count, count});
  }
  return table;
}

template <class T>
KernelCase average_pool2d(const Vector& v) {
  const int32_t height = v.extent("input", 1);
  const int32_t width = v.extent("input", 2);
  const AveragePool2dParams p{v.extent("input", 0),
                              height,
                              width,
                              v.extent("output", 1),
                              v.extent("output", 2),
                              v.extent("input", 3),
                              width + 1,
                              0,
                              v.range()};
  Ints divisors;
  for (int32_t y = 0; y <= height; ++y)
    for (int32_t x = 0; x <= width; ++x) divisors.push_back(y * x);
  return CaseBuilder(kernel_of<T>("quantized_avg_pool2d_divide").c_str(), Mode::double_, p, v.name)
      .input(v.values<T>("input"))
      .input(windows(v, 0, height, p.output_height))
      .input(windows(v, 1, width, p.output_width))
      .input(divisors)
      .output(v.values<T>("output"))
      .done();
}

// Both inputs aligned at the last axis of the output.
BroadcastLoops broadcast_loops(const Vector& v) {
  BroadcastLoops loops{};
  int32_t strides[2] = {1, 1};
  const int rank = static_cast<int>(v.arrays.at("output").shape().size());
  for (int d = kMaxLoops - 1; d >= 0; --d) {
    const int axis = d - (kMaxLoops - rank);
    loops.extent[d] = axis < 0 ? 1 : v.extent("output", static_cast<size_t>(axis));
    if (axis < 0) continue;
    const int32_t a = v.extent("input1", static_cast<size_t>(axis));
    const int32_t b = v.extent("input2", static_cast<size_t>(axis));
    loops.stride_a[d] = a == 1 ? 0 : strides[0];
    loops.stride_b[d] = b == 1 ? 0 : strides[1];
    strides[0] *= a;
    strides[1] *= b;
  }
  return loops;
}

template <class T = int8_t>
KernelCase elementwise(CaseBuilder builder, const Vector& v) {
  return builder.input(v.values<T>("input1"))
      .input(v.values<T>("input2"))
      .output(v.values<T>("output"))
      .done();
}

KernelCase maximum(const Vector& v) {
  return elementwise(CaseBuilder("maximum_s8", Mode::exact, BinaryParams{broadcast_loops(v)}, v.name), v);
}

template <class T>
KernelCase add(const Vector& v) {
  const AddDoubleParams p{broadcast_loops(v),
                          -v.number("input1_offset"),
                          -v.number("input2_offset"),
                          {v.number("input1_multiplier"), v.number("input1_shift")},
                          {v.number("input2_multiplier"), v.number("input2_shift")},
                          0,
                          {v.number("output_multiplier"), v.number("output_shift")},
                          v.range()};
  EXPECT_EQ(v.number("left_shift"), sizeof(T) == 1 ? 20 : 15);
  return elementwise<T>(CaseBuilder(kernel_of<T>("quantized_add").c_str(), Mode::double_, p, v.name), v);
}

KernelCase minimum(const Vector& v) {
  return elementwise(CaseBuilder("minimum_s8", Mode::exact, BinaryParams{broadcast_loops(v)}, v.name), v);
}

template <class T>
KernelCase mul(const Vector& v) {
  const MulParams p{broadcast_loops(v),
                    -v.number("input1_offset"),
                    -v.number("input2_offset"),
                    {v.number("multiplier"), v.number("shift")},
                    v.range()};
  return elementwise<T>(CaseBuilder(kernel_of<T>("quantized_mul").c_str(), Mode::double_, p, v.name), v);
}

template <class T>
KernelCase max_pool2d(const Vector& v) {
  const OutputRange range = v.range();
  const MaxPool2dParams p{v.extent("input", 0),
                          v.extent("input", 1),
                          v.extent("input", 2),
                          v.extent("output", 1),
                          v.extent("output", 2),
                          v.extent("input", 3),
                          1,
                          1,
                          range.lo,
                          range.hi};
  const auto taps = [&](size_t axis, int32_t input, int32_t outputs) {
    const Ints all = windows(v, axis, input, outputs);
    Ints table;
    for (size_t i = 0; i < all.size(); i += 3) table.insert(table.end(), {all[i], all[i + 1]});
    return table;
  };
  return CaseBuilder(kernel_of<T>("max_pool2d").c_str(), Mode::exact, p, v.name)
      .input(v.values<T>("input"))
      .input(taps(0, p.input_height, p.output_height))
      .input(taps(1, p.input_width, p.output_width))
      .output(v.values<T>("output"))
      .done();
}

KernelCase pad(const Vector& v) {
  GatherParams p{};
  p.run = 1;
  p.fill = v.number("pad_value");
  Ints offsets;
  for (int d = 0; d < kMaxLoops; ++d) {
    const int axis = d - (kMaxLoops - 4);
    p.extent[d] = axis < 0 ? 1 : v.extent("output", static_cast<size_t>(axis));
    if (axis < 0) offsets.push_back(0);
    int32_t step = 1;
    for (int k = axis + 1; k < 4 && axis >= 0; ++k) step *= v.extent("input", static_cast<size_t>(k));
    for (int32_t i = 0; i < p.extent[d] && axis >= 0; ++i) {
      const int32_t from = i - v.number("pre_pad", static_cast<size_t>(axis));
      const bool inside = from >= 0 && from < v.extent("input", static_cast<size_t>(axis));
      offsets.push_back(inside ? from * step : kGatherFill);
    }
  }
  return CaseBuilder("gather_s8", Mode::exact, p, v.name)
      .input(v.values<int8_t>("input"))
      .input(offsets)
      .output(v.values<int8_t>("output"))
      .done();
}

template <class T>
KernelCase softmax(const Vector& v) {
  const SoftmaxTfliteParams p{v.extent("input", 0),   v.extent("input", 1), 1,
                              v.number("multiplier"), v.number("shift"),    v.number("diff_min")};
  return CaseBuilder(sizeof(T) == 1 ? "softmax_tflite_s8" : "softmax_tflite_s8_s16", Mode::exact, p, v.name)
      .input(v.values<int8_t>("input"))
      .output(v.values<T>("output"))
      .done();
}

KernelCase softmax_s16(const Vector& v) {
  const SoftmaxS16Params p{v.extent("input", 0), v.extent("input", 1), 1, v.number("multiplier"),
                           v.number("shift")};
  return CaseBuilder("softmax_s16", Mode::exact, p, v.name)
      .input(v.values<int16_t>("input"))
      .input(v.values<int16_t>("exp_lut"))
      .input(v.values<int16_t>("one_by_one_lut"))
      .output(v.values<int16_t>("output"))
      .done();
}

KernelCase transpose(const Vector& v) {
  const int rank = static_cast<int>(v.arrays.at("output").shape().size());
  CopyParams p{};
  int32_t output_step = 1;
  for (int d = kMaxLoops - 1; d >= 0; --d) {
    const int axis = d - (kMaxLoops - rank);
    p.extent[d] = 1;
    if (axis < 0) continue;
    const auto from = static_cast<size_t>(v.number("perm", static_cast<size_t>(axis)));
    p.extent[d] = v.extent("output", static_cast<size_t>(axis));
    p.output_stride[d] = output_step;
    output_step *= p.extent[d];
    p.input_stride[d] = 1;
    for (size_t k = from + 1; k < static_cast<size_t>(rank); ++k) p.input_stride[d] *= v.extent("input", k);
  }
  return CaseBuilder("copy_s8", Mode::exact, p, v.name)
      .input(v.values<int8_t>("input"))
      .output(v.values<int8_t>("output"))
      .done();
}

// adj_x: the left matrix is stored with its columns first; adj_y: the right one too.
template <class T>
KernelCase batch_matmul(const Vector& v) {
  BatchMatmulParams p{};
  const bool left_transposed = v.number("adj_x") != 0;
  const bool right_transposed = v.number("adj_y") != 0;
  p.rows = v.extent("output", 2);
  p.columns = v.extent("output", 3);
  p.depth = v.extent("lhs", left_transposed ? 2 : 3);
  p.a_row_stride = left_transposed ? 1 : p.depth;
  p.a_depth_stride = left_transposed ? p.rows : 1;
  p.b_depth_stride = right_transposed ? 1 : p.columns;
  p.b_column_stride = right_transposed ? p.depth : 1;
  for (int d = 0; d < kMaxLoops; ++d) p.batch_extent[d] = 1;
  const auto batch_stride = [&](const char* side, size_t axis, int32_t matrix) {
    if (v.extent(side, axis) == 1) return 0;
    return axis == 1 ? matrix : matrix * v.extent(side, 1);
  };
  for (size_t axis = 0; axis < 2; ++axis) {
    const size_t d = kMaxLoops - 2 + axis;
    p.batch_extent[d] = v.extent("output", axis);
    p.batch_stride_a[d] = batch_stride("lhs", axis, p.rows * p.depth);
    p.batch_stride_b[d] = batch_stride("rhs", axis, p.columns * p.depth);
  }
  p.zero_point_a = -v.number("lhs_offset");
  p.zero_point_b = -v.number("rhs_offset");
  p.factor = {v.number("multiplier"), v.number("shift")};
  if (sizeof(T) == 2) p.factor.multiplier = std::min(32767, ((p.factor.multiplier >> 15) + 1) >> 1);
  p.output = v.range();
  return CaseBuilder(kernel_of<T>("quantized_batch_matmul").c_str(), Mode::double_, p, v.name)
      .input(v.values<T>("lhs"))
      .input(v.values<T>("rhs"))
      .output(v.values<T>("output"))
      .done();
}

constexpr CmsisNnOperator kOthers[] = {
    {"add_s8", add<int8_t>},
    {"add_s16", add<int16_t>},
    {"avg_pool2d_s8", average_pool2d<int8_t>},
    {"avg_pool2d_s16", average_pool2d<int16_t>},
    {"maximum_s8", maximum},
    {"minimum_s8", minimum},
    {"mul_s8", mul<int8_t>},
    {"mul_s16", mul<int16_t>},
    {"max_pool2d_s8", max_pool2d<int8_t>},
    {"max_pool2d_s16", max_pool2d<int16_t>},
    {"pad_s8", pad},
    {"softmax_s8", softmax<int8_t>},
    {"softmax_s8_s16", softmax<int16_t>},
    {"softmax_s16", softmax_s16},
    {"transpose_s8", transpose},
    {"batch_matmul_s8", batch_matmul<int8_t>},
    {"batch_matmul_s16", batch_matmul<int16_t>},
};

}  // namespace

std::span<const CmsisNnOperator> cmsisnn_others() { return kOthers; }

}  // namespace rushlight
