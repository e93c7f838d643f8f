// SPDX-License-Identifier: Apache-2.0
#include "quant/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/verify.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using testing_support::Random;

double real(const Quantization& q, int32_t integer) { return q.scale() * (integer - q.zero_point()); }

TEST(Asymmetric, RangesOfAllKinds) {
  EXPECT_EQ(asymmetric({0, 0}), Quantization::per_tensor(1.0, 0));
  EXPECT_EQ(asymmetric({0, 255}), Quantization::per_tensor(1.0, -128));
  EXPECT_EQ(asymmetric({-255, 0}), Quantization::per_tensor(1.0, 127));
  EXPECT_EQ(asymmetric({-128, 127}), Quantization::per_tensor(1.0, 0));
  EXPECT_EQ(asymmetric({0, 6}).scale(), static_cast<double>(static_cast<float>(6.0 / 255)));
}

// Zero is exact, both ends are held within half a step, and the type is valid: also for the least and the
// greatest floats.
TEST(Asymmetric, HoldsItsRange) {
  constexpr uint64_t kSeed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 20000; ++i) {
    const double size = std::ldexp(1.0, static_cast<int>(random.integer(-90, 127)));
    Range range;
    range.include(size * random.real(-1, 1));
    if (random.one_in(2)) range.include(size * random.real(-1, 1));
    const Quantization q = asymmetric(range);
    ASSERT_FALSE(invalid_quantization({.dtype = DType::int8, .shape = {1}, .quant = q}));
    ASSERT_EQ(quantize(0, q), q.zero_point());
    const double half = q.scale() * (0.5 + 1e-4);
    ASSERT_LE(std::abs(real(q, quantize(range.lo, q)) - range.lo), half) << range.lo << " " << range.hi;
    ASSERT_LE(std::abs(real(q, quantize(range.hi, q)) - range.hi), half) << range.lo << " " << range.hi;
  }
  for (const Range range : {Range{0, 1e-45}, Range{-1e-45, 0}, Range{-3e38, 3e38}})
    EXPECT_FALSE(invalid_quantization({.dtype = DType::int8, .shape = {1}, .quant = asymmetric(range)}));
}

TEST(ForConstant, EqualElementsAreExact) {
  constexpr uint64_t kSeed = 8;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const auto value =
        static_cast<float>(random.real(-1, 1) * std::ldexp(1.0, static_cast<int>(random.integer(-60, 60))));
    const Tensor constant = Tensor::of<float>({2}, {value, value});
    for (const DType dtype : {DType::int8, DType::int16}) {
      const Encoding encoding = for_constant(constant, dtype);
      ASSERT_EQ(encoding.dtype, dtype);
      const Tensor integers = quantized(constant, encoding.quant, dtype);
      ASSERT_EQ(static_cast<float>(encoding.quant.scale() * (integers.at(0) - encoding.quant.zero_point())),
                value);
    }
  }
  EXPECT_EQ(for_constant(Tensor::of<float>({}, {0.0F}), DType::int8).quant, Quantization::per_tensor(1.0, 0));
  EXPECT_EQ(for_constant(Tensor::of<float>({2}, {0.0F, 255.0F}), DType::int8).quant, asymmetric({0, 255}));
}

TEST(SymmetricInt16, CoversTheFartherEnd) {
  const auto of = [](double lo, double hi) { return symmetric_int16({lo, hi}); };
  EXPECT_EQ(of(0, 0), Quantization::per_tensor(1.0, 0, DType::int16));
  EXPECT_EQ(of(-1, 32767), Quantization::per_tensor(1.0, 0, DType::int16));
  EXPECT_EQ(of(-32767, 5), Quantization::per_tensor(1.0, 0, DType::int16));
  EXPECT_EQ(fixed_encoding({1.0 / 256, -128}, DType::int16).quant,
            Quantization::per_tensor(1.0 / 32768, 0, DType::int16));
}

LayerScales scales(double input, int32_t zero_point, double output) {
  return {Quantization::per_tensor(input, zero_point), output};
}

TEST(LayerParameters, ChannelsAreSymmetric) {
  const Tensor weight = Tensor::of<float>({2, 2}, {0.5F, -1.27F, 25.4F, 0.2F});
  const Tensor bias = Tensor::of<float>({2}, {0.1F, -0.2F});
  const LayerParameters p = layer_parameters(weight, &bias, 0, scales(0.5, 3, 0.5));
  EXPECT_EQ(p.weight, Tensor::of<int8_t>({2, 2}, {50, -127, 127, 1}));
  EXPECT_EQ(p.weight_quant.scales,
            (std::vector<double>{static_cast<float>(static_cast<double>(1.27F) / 127),
                                 static_cast<float>(static_cast<double>(25.4F) / 127)}));
  EXPECT_EQ(p.weight_quant.lo, -127);
  EXPECT_EQ(p.bias, Tensor::of<int32_t>({2}, {20, -2}));
  EXPECT_EQ(p.bias_quant.scales[1], 0.5 * p.weight_quant.scales[1]);
}

// A filter of zeros or of 1e-12, as pruning leaves them: the channel is its bias, and the neighbours are as
// without it.
TEST(LayerParameters, DeadChannelsKeepTheirBias) {
  for (const float dead : {0.0F, 1e-12F, 1e-31F}) {
    const Tensor weight = Tensor::of<float>({3, 2}, {0.25F, -1, dead, -dead, 0.25F, 2});
    const Tensor bias = Tensor::of<float>({3}, {0.25F, 0.5F, -1});
    const LayerParameters p = layer_parameters(weight, &bias, 0, scales(0.1, 0, 0.05));
    EXPECT_EQ(p.weight, Tensor::of<int8_t>({3, 2}, {32, -127, 0, 0, 16, 127}));
    const double output = p.bias.at(1) * p.bias_quant.scales[1];
    EXPECT_EQ(std::nearbyint(output / 0.05) - 4, 6);
    EXPECT_EQ(p.weight_quant.scales[0], static_cast<double>(static_cast<float>(1.0 / 127)));
  }
}

// A bias far above what int32 holds at input * weight: the weight's scale grows instead of the bias being
// cut.
TEST(LayerParameters, ScalesGrowForALargeBias) {
  const Tensor weight = Tensor::of<float>({2, 1}, {7.843e-10F * 127, 7.843e-10F * 127});
  const Tensor bias = Tensor::of<float>({2}, {5.0F, -4.5F});
  const LayerParameters p = layer_parameters(weight, &bias, 0, scales(0.5, 0, 1e-12));
  for (size_t c = 0; c < 2; ++c) {
    const double held = p.bias.at(static_cast<int64_t>(c)) * p.bias_quant.scales[c];
    EXPECT_NEAR(held, bias.at(static_cast<int64_t>(c)), 1e-6);
    EXPECT_LE(std::abs(p.bias.at(static_cast<int64_t>(c))), 0x1p30 + 1024);
  }
}

TEST(LayerParameters, WithoutABiasThereAreZeros) {
  const LayerParameters p =
      layer_parameters(Tensor::of<float>({2, 1}, {1, 2}), nullptr, 0, scales(0.5, 0, 0.5));
  EXPECT_EQ(p.bias, Tensor::of<int32_t>({2}, {0, 0}));
}

// Round half to even in reals / scale, by an element's own channel.
TEST(Quantized, ChannelsOfAnyAxis) {
  Quantization q;
  q.axis = 1;
  q.scales = {0.5, 2};
  q.zero_points = {0, 10};
  q.lo = -127;
  q.hi = 127;
  EXPECT_EQ(quantized(Tensor::of<float>({2, 2}, {0.25F, 1, 0.75F, -1000}), q, DType::int8),
            Tensor::of<int8_t>({2, 2}, {0, 10, 2, -127}));
}

}  // namespace
}  // namespace rushlight
