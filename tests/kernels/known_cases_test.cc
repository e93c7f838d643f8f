// SPDX-License-Identifier: Apache-2.0
// Faults that users of other tools reported, with their numbers: small enough to be checked by hand.
#include <numeric>

#include "tests/kernels/reference.h"
#include "tests/kernels/run_case.h"

namespace rushlight {
namespace {

using namespace kernels;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

constexpr OutputRange kFull{0, -128, 127};
constexpr Factor kOne{1 << 30, 1};

BroadcastLoops loops(const Ints& extents, const Ints& a, const Ints& b) {
  BroadcastLoops result{};
  for (int d = 0; d < kMaxLoops; ++d) result.extent[d] = 1;
  const int outer = kMaxLoops - static_cast<int>(extents.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    result.extent[outer + static_cast<int>(d)] = extents[d];
    result.stride_a[outer + static_cast<int>(d)] = a[d];
    result.stride_b[outer + static_cast<int>(d)] = b[d];
  }
  return result;
}

// TensorFlow Lite's parameters for scales that are powers of
// two: twice the larger scale is 2^twice, scales are 2^e.
AddDoubleParams add_double(const BroadcastLoops& at, int zero_a, int e_a, int zero_b, int e_b, int twice,
                           int e_out, const OutputRange& output) {
  const int32_t half = 1 << 30;
  return {at,
          zero_a,
          zero_b,
          {half, e_a - twice + 1},
          {half, e_b - twice + 1},
          0,
          {half, twice - 20 - e_out + 1},
          output};
}

// pytorch/executorch#15100, CMSIS-NN#66: unequal scales and zero points of the two inputs.
TEST(KnownCases, AddWithUnequalScales) {
  const Bytes a = {25, 5, 6, 5, 127, -128};
  const Bytes b = {-17, -7, -7, -6, 127, -128};
  const Bytes expected = {-2, 3, 3, 4, 127, -128};
  const BroadcastLoops at = loops({6}, {1}, {1});
  // 0.125 / 0.5 and 0.5 / 0.5 in units of 2^-4.
  const AddSingleParams single{at, 4, 16, -4 * 5 - 16 * -7 + 8 + 3 * 16, 4, -128, 127};
  check_case(
      CaseBuilder("quantized_add_s8", Mode::single_, single, "").input(a).input(b).output(expected).done());
  const AddDoubleParams twice = add_double(at, 5, -3, -7, -1, 0, -1, {3, -128, 127});
  check_case(
      CaseBuilder("quantized_add_s8", Mode::double_, twice, "").input(a).input(b).output(expected).done());
}

// tensorflow/tensorflow#38992: a lower rank, and broadcasting of a middle axis.
TEST(KnownCases, AddBroadcasts) {
  const Bytes a = {1, 2, 3, 4, 5, 6, 7, 8};  // [1,2,2,2]
  const Bytes last = {10, 20};
  const Bytes middle = {10, 20, 30, 40};  // [1,2,1,2]
  const Bytes one = {10};
  const auto check = [&](const Bytes& b, const Ints& strides, const Bytes& expected) {
    const BroadcastLoops at = loops({1, 2, 2, 2}, {8, 4, 2, 1}, strides);
    const AddSingleParams single{at, 1, 1, 0, 0, -128, 127};
    check_case(
        CaseBuilder("quantized_add_s8", Mode::single_, single, "").input(a).input(b).output(expected).done());
    const AddDoubleParams twice = add_double(at, 0, 0, 0, 0, 1, 0, kFull);
    check_case(
        CaseBuilder("quantized_add_s8", Mode::double_, twice, "").input(a).input(b).output(expected).done());
  };
  check(last, {0, 0, 0, 1}, {11, 22, 13, 24, 15, 26, 17, 28});
  check(middle, {4, 2, 0, 1}, {11, 22, 13, 24, 35, 46, 37, 48});
  check(one, {0, 0, 0, 0}, {11, 12, 13, 14, 15, 16, 17, 18});
}

// pytorch/executorch#18462: relu stops at the zero point, not at the integer 0.
TEST(KnownCases, ReluStopsAtTheZeroPoint) {
  const Bytes in = {-50, -10, -3, 0, 5};
  const Bytes expected = {-10, -10, -3, 0, 5};
  const ClampParams clamp{5, -10, 127};
  check_case(CaseBuilder("clamp_s8", Mode::exact, clamp, "").input(in).output(expected).done());
  check_case(CaseBuilder("clamp_s8", Mode::exact, clamp, "").input(in).output_in_place(0, expected).done());
  // The same fused into an addition of real zeros.
  const AddSingleParams add{loops({5}, {1}, {0}), 1, 1, 10, 0, -10, 127};
  const Bytes zero = {-10};
  check_case(
      CaseBuilder("quantized_add_s8", Mode::single_, add, "").input(in).input(zero).output(expected).done());
}

struct Conv {
  Conv2dParams params;
  Bytes input, weights;
  Ints bias;  // with the zero point folded in
  std::vector<Factor> factors;

  void check(const Bytes& expected) const {
    Ints multipliers, shifts;
    for (int32_t o = 0; o < params.output_channels; ++o) {
      const Factor& f = factors[static_cast<size_t>(o) % factors.size()];
      multipliers.push_back(f.multiplier);
      shifts.push_back(f.shift);
    }
    for (const Mode mode : {Mode::single_, Mode::double_})
      check_case(CaseBuilder("quantized_conv2d_s8", mode, reference::with_dense_output(params), "")
                     .input(input)
                     .input(weights)
                     .input(bias)
                     .input(multipliers)
                     .input(shifts)
                     .output(expected)
                     .done());
  }
};

// A one-dimensional convolution of one channel.
Conv2dParams conv1d(int length, int taps, int dilation, int pad, int zero_point, int output_zero_point) {
  return {1, 1,        length, 1,   1, length,     1, 1, taps, 1, 1,
          1, dilation, 0,      pad, 1, zero_point, 0, 0, 0,    0, {output_zero_point, -128, 127}};
}

// pytorch/executorch#20734: an even kernel under SAME has one more padded tap at the right.
TEST(KnownCases, EvenKernelPadsUnequally) {
  for (const int zero_point : {0, -3}) {
    Bytes input = {1, 2, 3, 4, 5};
    for (int8_t& x : input) x = static_cast<int8_t>(x + zero_point);
    Conv{conv1d(5, 4, 1, 1, zero_point, 0), input, {1, 1, 1, 1}, {-4 * zero_point}, {kOne}}.check(
        {6, 10, 14, 12, 9});
  }
}

// tensorflow/tflite-micro#1646: padding of a dilated convolution reads the zero point.
TEST(KnownCases, DilatedPaddingReadsTheZeroPoint) {
  const int zero_point = -13;
  const Bytes weights = {1, 2, 3};
  for (const int out : {0, 7}) {
    const Conv2dParams p = conv1d(6, 3, 2, 2, zero_point, out);
    const auto shifted = [](Bytes list, int by) {
      for (int8_t& x : list) x = static_cast<int8_t>(x + by);
      return list;
    };
    const int folded = -zero_point * 6;
    Conv{p, Bytes(6, -13), weights, {4 + folded}, {kOne}}.check(shifted({4, 4, 4, 4, 4, 4}, out));
    Conv{p, shifted({1, 2, 3, 4, 5, 6}, zero_point), weights, {folded}, {kOne}}.check(
        shifted({11, 16, 22, 28, 13, 16}, out));
  }
}

// CMSIS-NN#99: groups that are neither one nor one a channel.
TEST(KnownCases, TwoGroups) {
  const Conv2dParams p{1, 1, 1, 4, 1, 1, 4, 1, 1, 1, 1, 1, 1, 0, 0, 2, 0, 0, 0, 0, 0, kFull};
  Conv{p, {1, 2, 3, 4}, {1, 0, 0, 1, 1, 1, 1, -1}, {0, 0, 0, 0}, {kOne}}.check({1, 2, 7, -1});
}

// tensorflow/tensorflow#42748: more output channels than any fixed table.
TEST(KnownCases, ManyOutputChannels) {
  for (const int channels : {300, 1001}) {
    Bytes weights, expected;
    for (int c = 0; c < channels; ++c) {
      const int w = c % 7 - 3;
      weights.push_back(static_cast<int8_t>(w));
      expected.push_back(static_cast<int8_t>(c % 2 == 0 ? 10 * w : 5 * w));
    }
    EXPECT_EQ(Bytes(expected.begin(), expected.begin() + 4), Bytes({-30, -10, -10, 0}));
    EXPECT_EQ(expected[299], 10);
    const Conv2dParams p{1, 1, 1, 1, 1, 1, channels, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, kFull};
    Conv{p, {10}, weights, Ints(static_cast<size_t>(channels)), {kOne, {1 << 30, 0}}}.check(expected);
  }
}

// ARM-software/CMSIS_5#1168: the last column of an odd output width.
TEST(KnownCases, OddWidths) {
  const Bytes image = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  Conv{{1, 3, 3, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, kFull}, image, {1}, {0}, {kOne}}.check(
      image);
  const Conv2dParams same{1, 3, 3, 1, 3, 3, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, kFull};
  Conv{same, image, Bytes(9, 1), {0}, {kOne}}.check({12, 21, 16, 27, 45, 33, 24, 39, 28});
  for (const int width : {1, 3, 5}) {
    Bytes row(static_cast<size_t>(width));
    std::iota(row.begin(), row.end(), int8_t{1});
    Conv{
        {1, 1, width, 1, 1, width, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, kFull}, row, {1}, {0}, {kOne}}
        .check(row);
  }
}

void check_divide_pool(const AveragePool2dParams& p, const Bytes& input, const Ints& rows,
                       const Ints& columns, int32_t divisor, const Bytes& expected) {
  check_case(CaseBuilder("quantized_avg_pool2d_divide_s8", Mode::double_, p, "")
                 .input(input)
                 .input(rows)
                 .input(columns)
                 .input(Ints{divisor})
                 .output(expected)
                 .done());
}

// ARM-software/CMSIS_5#897: sums beyond 16 bits; halves of negative averages go away from zero.
TEST(KnownCases, AveragePoolOfALargeWindow) {
  const AveragePool2dParams global{1, 20, 20, 1, 1, 1, 1, 0, kFull};
  check_divide_pool(global, Bytes(400, 127), {0, 20, 0}, {0, 20, 0}, 400, {127});
  check_divide_pool(global, Bytes(400, -128), {0, 20, 0}, {0, 20, 0}, 400, {-128});
  const AveragePool2dParams pairs{1, 1, 6, 1, 3, 1, 1, 0, kFull};
  check_divide_pool(pairs, {-1, -2, 1, 2, -3, -4}, {0, 1, 0}, {0, 2, 0, 2, 2, 0, 4, 2, 0}, 2, {-2, 2, -4});
}

// tensorflow/tflite-micro#3584: the second image of a batch.
TEST(KnownCases, AveragePoolOfABatch) {
  const AveragePool2dParams p{2, 2, 2, 1, 1, 1, 1, 0, kFull};
  check_divide_pool(p, {1, 2, 3, 4, -5, -6, -7, -8}, {0, 2, 0}, {0, 2, 0}, 4, {3, -7});
}

// The same of maximum pooling.
TEST(KnownCases, MaxPoolOfABatch) {
  const MaxPool2dParams p{2, 2, 2, 1, 1, 1, 1, 1, -128, 127};
  check_case(CaseBuilder("max_pool2d_s8", Mode::exact, p, "")
                 .input(Bytes{1, 2, 3, 4, -5, -6, -7, -8})
                 .input(Ints{0, 2})
                 .input(Ints{0, 2})
                 .output(Bytes{4, -5})
                 .done());
}

// CMSIS-NN#214: 0.05 * 0.03 / 0.07, of 5 * 14 just below 1.5 and of 1 * 23 below 0.5, where rounding twice
// goes up.
TEST(KnownCases, MulRoundsByTheMode) {
  const MulParams p{loops({2}, {1}, {1}), 0, 0, {1472560199, -5}, kFull};
  const Bytes a = {5, 1};
  const Bytes b = {14, 23};
  for (const auto& [mode, expected] :
       {std::pair{Mode::single_, Bytes{1, 0}}, std::pair{Mode::double_, Bytes{2, 1}}})
    check_case(CaseBuilder("quantized_mul_s8", mode, p, "").input(a).input(b).output(expected).done());
}

// tensorflow/tensorflow#38992 for products: a middle axis, a lower rank, [2,1,6] by [1,6].
TEST(KnownCases, MulBroadcasts) {
  const auto check = [&](const BroadcastLoops& at, const Bytes& a, const Bytes& b, const Bytes& expected) {
    const MulParams p{at, 0, 0, kOne, kFull};
    for (const Mode mode : {Mode::single_, Mode::double_})
      check_case(CaseBuilder("quantized_mul_s8", mode, p, "").input(a).input(b).output(expected).done());
  };
  const Bytes a = {1, 2, 3, 4, 5, 6, 7, 8};
  check(loops({2, 2, 2}, {4, 2, 1}, {2, 0, 1}), a, {1, 2, 3, 4}, {1, 4, 3, 8, 15, 24, 21, 32});
  check(loops({2, 2, 2}, {4, 2, 1}, {0, 0, 1}), a, {1, -1}, {1, -2, 3, -4, 5, -6, 7, -8});
  check(loops({2, 1, 6}, {6, 6, 1}, {0, 6, 1}), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1, 0, -1, 2, 1, 0},
        {1, 0, -3, 8, 5, 0, 7, 0, -9, 20, 11, 0});
}

// A mean or a sum of all elements, or of those along one axis of a matrix.
void check_mean(Mode mode, const Ints& kept, const Ints& reduced, Factor factor, const Bytes& in,
                const Bytes& expected) {
  MeanParams p{};
  for (int d = 0; d < kMaxLoops; ++d) p.kept_extent[d] = p.reduced_extent[d] = 1;
  p.kept_extent[kMaxLoops - 1] = kept[0];
  p.kept_stride[kMaxLoops - 1] = kept[1];
  p.reduced_extent[kMaxLoops - 1] = reduced[0];
  p.reduced_stride[kMaxLoops - 1] = reduced[1];
  p.factor = factor;
  p.output = kFull;
  check_case(CaseBuilder("quantized_mean_s8", mode, p, "").input(in).output(expected).done());
}

// LiteRT#7441: fifths. tensorflow/tensorflow#33588: the last axis of nine rows of three.
TEST(KnownCases, MeanOfFive) {
  const Factor fifth{1717986919, -2};  // rounded up
  const Bytes in = {1, 1, 0, 0, 0, -3, -2, -1, -1, 0};
  check_mean(Mode::single_, {2, 5}, {5, 1}, fifth, in, {0, -1});
  check_mean(Mode::double_, {2, 5}, {5, 1}, {1717986918, -2}, in, {1, -2});  // 0.4 and -1.4, rounded twice
  const Factor third{1431655766, -1};
  Bytes rows(27);
  std::iota(rows.begin(), rows.end(), int8_t{-13});
  check_mean(Mode::single_, {9, 3}, {3, 1}, third, rows, {-12, -9, -6, -3, 0, 3, 6, 9, 12});
}

// tensorflow/tensorflow#102490: a sum saturates.
TEST(KnownCases, SumSaturates) {
  for (const Mode mode : {Mode::single_, Mode::double_}) {
    check_mean(mode, {1, 0}, {128, 1}, kOne, Bytes(128, 2), {127});
    check_mean(mode, {1, 0}, {128, 1}, kOne, Bytes(128, -2), {-128});
  }
}

void check_softmax(int32_t outer, int32_t count, double scale, const Bytes& in, const Bytes& expected) {
  Ints exponentials;
  for (int d = 0; d < 256; ++d)
    exponentials.push_back(static_cast<int32_t>(std::nearbyint(std::ldexp(std::exp(-d * scale), 24))));
  const SoftmaxParams p{outer, count, 1, 1 << 30, 9, 9, {-128, -128, 127}};
  check_case(
      CaseBuilder("softmax_s8", Mode::exact, p, "").input(in).input(exponentials).output(expected).done());
  int shift = 0;
  const double fraction = std::frexp(std::ldexp(scale, 26), &shift);
  const SoftmaxTfliteParams tflite{outer, count, 1, static_cast<int32_t>(std::ldexp(fraction, 31)),
                                   shift, -1000};
  check_case(CaseBuilder("softmax_tflite_s8", Mode::exact, tflite, "").input(in).output(expected).done());
}

// onnxruntime#29727: probability 1 saturates at 127 and does not wrap.
TEST(KnownCases, SoftmaxOfOne) { check_softmax(1, 2, 0.05, {127, -128}, {127, -128}); }

// ARM-software/CMSIS_5#1441, #885: every row has its own greatest element; differences reach 255.
TEST(KnownCases, SoftmaxOfRows) {
  check_softmax(3, 3, 0.1, {0, 0, 0, 10, 0, -10, -5, -5, -5}, {-43, -43, -43, 42, -65, -105, -43, -43, -43});
  check_softmax(2, 2, 0.1, {-128, 127, 0, 0}, {-128, 127, 0, 0});
}

// executorch#16016: hard-swish as a table, computed from its definition; it is 0 at and below -3.
TEST(KnownCases, HardSwish) {
  Bytes table;
  for (int q = -128; q < 128; ++q) {
    const double x = 0.0625 * (q + 8);
    const double y = x * std::fmin(std::fmax(x + 3, 0), 6) / 6;
    table.push_back(
        reference::clamp(static_cast<int64_t>(reference::round_half_even(y / 0.03125)) - 20, -128, 127));
  }
  check_case(CaseBuilder("lookup_s8", Mode::exact, LookupParams{8}, "")
                 .input(Bytes{-72, -56, -32, -24, -8, 16, 40, 48})
                 .input(table)
                 .output(Bytes{-20, -20, -32, -31, -20, 16, 76, 92})
                 .done());
}

// apache/tvm#19468: steps backwards reach element 0.
TEST(KnownCases, SlicesBackwards) {
  const auto check = [](const Ints& offsets, const Bytes& expected) {
    const GatherParams p{{1, 1, 1, 1, 1, static_cast<int32_t>(expected.size())}, 1, 0};
    Ints all(kMaxLoops - 1);
    all.insert(all.end(), offsets.begin(), offsets.end());
    check_case(CaseBuilder("gather_s8", Mode::exact, p, "")
                   .input(Bytes{1, 2, 3, 4})
                   .input(all)
                   .output(expected)
                   .done());
  };
  check({3, 2, 1, 0}, {4, 3, 2, 1});
  check({3, 1}, {4, 2});
  check({3}, {4});
}

// tensorflow/tensorflow#48959: [1,3,2] by a [2,2] weight, both as a matrix product of one batch and of three.
TEST(KnownCases, MatmulOfRankThree) {
  BatchMatmulParams p{};
  for (int32_t& extent : p.batch_extent) extent = 1;
  p.rows = 3;
  p.columns = 2;
  p.depth = 2;
  p.a_row_stride = 2;
  p.a_depth_stride = 1;
  p.b_depth_stride = 1;  // weights are [out][in]
  p.b_column_stride = 2;
  p.factor = kOne;
  p.output = kFull;
  BatchMatmulParams split = p;
  split.batch_extent[kMaxLoops - 1] = 3;
  split.batch_stride_a[kMaxLoops - 1] = 2;
  split.rows = 1;
  for (BatchMatmulParams params : {p, split}) {
    for (const Mode mode : {Mode::single_, Mode::double_})
      check_case(CaseBuilder("quantized_batch_matmul_s8", mode, params, "")
                     .input(Bytes{1, 2, 3, 4, 5, 6})
                     .input(Bytes{1, 1, 1, -1})
                     .output(Bytes{3, -1, 7, -1, 11, -1})
                     .done());
    params.factor.multiplier >>= 16;
    check_case(CaseBuilder("quantized_batch_matmul_s16", Mode::exact, params, "")
                   .input(std::vector<int16_t>{1, 2, 3, 4, 5, 6})
                   .input(std::vector<int16_t>{1, 1, 1, -1})
                   .output(std::vector<int16_t>{3, -1, 7, -1, 11, -1})
                   .done());
  }
}

// tensorflow/tensorflow#42134: 10000 / 1024 of an int64 accumulator is 10 and keeps its sign.
TEST(KnownCases, MatmulS16KeepsTheSign) {
  BatchMatmulParams p{};
  for (int32_t& extent : p.batch_extent) extent = 1;
  p.rows = p.columns = p.depth = p.a_row_stride = p.a_depth_stride = p.b_depth_stride = p.b_column_stride = 1;
  p.factor = {1 << 14, -9};
  p.output = {0, INT16_MIN, INT16_MAX};
  for (const int16_t sign : {int16_t{1}, int16_t{-1}})
    check_case(CaseBuilder("quantized_batch_matmul_s16", Mode::exact, p, "")
                   .input(std::vector<int16_t>{100})
                   .input(std::vector<int16_t>{static_cast<int16_t>(100 * sign)})
                   .output(std::vector<int16_t>{static_cast<int16_t>(10 * sign)})
                   .done());
}

}  // namespace
}  // namespace rushlight
