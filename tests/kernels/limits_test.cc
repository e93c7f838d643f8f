// SPDX-License-Identifier: Apache-2.0
// The greatest extents and magnitudes that the kernels' headers allow: no intermediate value leaves its type.
#include "tests/kernels/reference.h"
#include "tests/kernels/run_case.h"

namespace rushlight {
namespace {

using namespace kernels;
using reference::Bytes;
using reference::Ints;
using reference::Wide;

BatchMatmulParams one_product(int32_t depth, int32_t zero_point, Factor factor, const OutputRange& output) {
  BatchMatmulParams p{};
  for (int32_t& extent : p.batch_extent) extent = 1;
  p.rows = p.columns = 1;
  p.depth = depth;
  p.a_row_stride = p.b_column_stride = depth;
  p.a_depth_stride = p.b_depth_stride = 1;
  p.zero_point_a = p.zero_point_b = zero_point;
  p.factor = factor;
  p.output = output;
  return p;
}

// 2^31 / 255^2 products of 255^2, and of either sign.
TEST(Limits, MatmulOfTheGreatestDepth) {
  constexpr int32_t depth = 33025;
  const OutputRange range{0, -128, 127};
  for (const auto& [a, b, zero_point] : {std::tuple{127, 127, -128}, std::tuple{-128, -128, 127},
                                         std::tuple{127, -128, -128}, std::tuple{127, -128, 0}}) {
    BatchMatmulParams p = one_product(depth, zero_point, {1 << 30, -24}, range);
    const Wide sum = Wide{depth} * (a - zero_point) * (b - zero_point);
    const Bytes x(depth, static_cast<int8_t>(a));
    const Bytes y(depth, static_cast<int8_t>(b));
    for (const bool dense : {true, false}) {
      // A stride of 0 along depth reads one element again and again, by the body for any strides.
      p.a_depth_stride = dense ? 1 : 0;
      for (const Mode mode : {Mode::single_, Mode::double_})
        check_case(CaseBuilder("quantized_batch_matmul_s8", mode, p, dense ? "dense" : "any strides")
                       .input(x)
                       .input(y)
                       .output(Bytes{reference::requantize(mode, sum, p.factor, range)})
                       .done());
    }
  }
}

TEST(Limits, MatmulOfTheGreatestDepthS16) {
  constexpr int32_t depth = 65536;
  const BatchMatmulParams p = one_product(depth, 0, {32767, -31}, {0, INT16_MIN, INT16_MAX});
  const std::vector<int16_t> x(depth, INT16_MIN);
  const Wide sum = Wide{depth} * INT16_MIN * INT16_MIN;
  const Wide y = reference::round_half_up(sum * 32767, reference::power_of_two(46));
  ASSERT_EQ(y, 32767);
  check_case(CaseBuilder("quantized_batch_matmul_s16", Mode::exact, p, "")
                 .input(x)
                 .input(x)
                 .output(std::vector<int16_t>{static_cast<int16_t>(y)})
                 .done());
}

TEST(Limits, AveragePoolOfTheLargestWindowS16) {
  const AveragePool2dParams p{1, 255, 257, 1, 1, 1, 1, 0, {0, INT16_MIN, INT16_MAX}};
  for (const int16_t value : {int16_t{INT16_MIN}, int16_t{INT16_MAX}})
    check_case(CaseBuilder("quantized_avg_pool2d_divide_s16", Mode::double_, p, "")
                   .input(std::vector<int16_t>(65535, value))
                   .input(Ints{0, 255, 0})
                   .input(Ints{0, 257, 0})
                   .input(Ints{65535})
                   .output(std::vector<int16_t>{value})
                   .done());
}

// Lines of equal elements: the sum of exponentials is as great as it gets, and each probability 1 / count.
TEST(Limits, SoftmaxOfLongLines) {
  for (const int32_t count : {2, 256, 511, 512, 513, 4095}) {
    const Bytes in(static_cast<size_t>(count), 5);
    const auto steps = static_cast<int32_t>(reference::round_half_up(256, count));
    const Bytes out(static_cast<size_t>(count), static_cast<int8_t>(steps - 128));
    const SoftmaxTfliteParams tflite{1, count, 1, 1 << 30, 24, -200};
    check_case(CaseBuilder("softmax_tflite_s8", Mode::exact, tflite, std::to_string(count))
                   .input(in)
                   .output(count == 512 ? Bytes(512, -128) : out)  // its reciprocal is just below a half step
                   .done());
    // The sum is 2^31 for 256 and 512 elements.
    int bits = 31;
    while (int64_t{count} << bits > int64_t{1} << 31) --bits;
    const int32_t one = 1 << std::min(24, bits);
    const SoftmaxParams exact{1, count, 1, 1 << 30, 9, 9, {-128, -128, 127}};
    check_case(CaseBuilder("softmax_s8", Mode::exact, exact, std::to_string(count))
                   .input(in)
                   .input(Ints(256, one))
                   .output(out)
                   .done());
  }
}

}  // namespace
}  // namespace rushlight
