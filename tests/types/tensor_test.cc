// SPDX-License-Identifier: Apache-2.0
#include "types/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rushlight {
namespace {

uint16_t bits_of(DType dtype, double value) {
  Tensor t(dtype, {1});
  t.set(0, value);
  uint16_t bits = 0;
  std::memcpy(&bits, t.bytes().data(), sizeof bits);
  return bits;
}

double from_bits(DType dtype, uint16_t bits) {
  Tensor t(dtype, {1});
  std::memcpy(t.bytes().data(), &bits, sizeof bits);
  return t.at(0);
}

TEST(Tensor, HalfKnownValues) {
  struct Case {
    double value;
    uint16_t bits;
  };
  for (const auto& [value, bits] : std::vector<Case>{{0.0, 0x0000},
                                                     {-0.0, 0x8000},
                                                     {1.0, 0x3C00},
                                                     {-2.0, 0xC000},
                                                     {65504, 0x7BFF},
                                                     {6.103515625e-05, 0x0400},
                                                     {5.960464477539063e-08, 0x0001},
                                                     {1.0 / 3, 0x3555},
                                                     {std::numeric_limits<double>::infinity(), 0x7C00}}) {
    EXPECT_EQ(bits_of(DType::float16, value), bits) << value;
    if (value != 1.0 / 3) {
      EXPECT_EQ(from_bits(DType::float16, bits), value);
    }
  }
}

TEST(Tensor, HalfRoundsOnceHalfToEven) {
  const double ulp = std::ldexp(1.0, -10);
  EXPECT_EQ(bits_of(DType::float16, 1 + 0.5 * ulp), 0x3C00);
  EXPECT_EQ(bits_of(DType::float16, 1 + 1.5 * ulp), 0x3C02);
  EXPECT_EQ(bits_of(DType::float16, 1 + 0.5 * ulp + 1e-15), 0x3C01);  // by way of float32 it would be a tie
  EXPECT_EQ(bits_of(DType::float16, 2 - 0.25 * ulp), 0x4000);         // carries into the exponent
  EXPECT_EQ(bits_of(DType::float16, 65519.99), 0x7BFF);
  EXPECT_EQ(bits_of(DType::float16, 65520), 0x7C00);
  EXPECT_EQ(bits_of(DType::float16, 1e300), 0x7C00);
  EXPECT_EQ(bits_of(DType::float16, std::ldexp(1.0, -25)), 0x0000);  // half the least subnormal
  EXPECT_EQ(bits_of(DType::float16, std::ldexp(1.5, -25)), 0x0001);
  EXPECT_EQ(bits_of(DType::float16, 5e-324), 0x0000);
  EXPECT_TRUE(std::isnan(from_bits(DType::float16, bits_of(DType::float16, std::nan("")))));
}

TEST(Tensor, BFloat16IsTheUpperHalfOfAFloat) {
  for (const float value : {0.0F, 1.0F, -1.5F, 3.140625F, 1e-40F, 2e38F}) {
    Tensor t = Tensor::of<float>({1}, std::vector<float>{value});
    uint32_t wide = 0;
    std::memcpy(&wide, t.bytes().data(), sizeof wide);
    const uint32_t rounded = (wide + 0x7FFF + (wide >> 16 & 1)) >> 16;
    EXPECT_EQ(bits_of(DType::bfloat16, value), rounded) << value;
  }
  EXPECT_EQ(bits_of(DType::bfloat16, 3.4e38), 0x7F80);
}

TEST(Tensor, Every16BitFloatSurvivesARoundTrip) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    for (int bits = 0; bits <= 0xFFFF; ++bits) {
      const double value = from_bits(dtype, static_cast<uint16_t>(bits));
      if (std::isnan(value)) continue;
      ASSERT_EQ(bits_of(dtype, value), bits) << name(dtype);
    }
  }
}

TEST(Tensor, ConvertsAsCastsDo) {
  const Tensor reals = Tensor::of<double>({6}, std::vector<double>{1.9, -1.9, 300, -300, std::nan(""), 0});
  EXPECT_EQ(reals.converted(DType::int8),
            Tensor::of<int8_t>({6}, std::vector<int8_t>{1, -1, 127, -128, 0, 0}));
  EXPECT_EQ(reals.converted(DType::uint8),
            Tensor::of<uint8_t>({6}, std::vector<uint8_t>{1, 0, 255, 0, 0, 0}));
  EXPECT_EQ(reals.converted(DType::boolean).converted(DType::int8),
            Tensor::of<int8_t>({6}, std::vector<int8_t>{1, 1, 1, 1, 1, 0}));
  const Tensor wide = Tensor::of<int64_t>({2}, std::vector<int64_t>{(int64_t{1} << 53) + 1, 257});
  EXPECT_EQ(wide.converted(DType::int64), wide);
  EXPECT_EQ(wide.converted(DType::uint8), Tensor::of<uint8_t>({2}, std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(Tensor::of<double>({1}, std::vector<double>{1e300}).converted(DType::int64).as<int64_t>()[0],
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Tensor::of<double>({1}, std::vector<double>{0.1}).converted(DType::float32).as<float>()[0], 0.1F);
}

TEST(Tensor, AtAndSetWorkForEveryDtype) {
  for (const DTypeRow& r : kDTypes) {
    Tensor t(r.dtype, {2, 2});
    t.set(3, 1);
    EXPECT_EQ(t.at(3), 1) << r.name;
    EXPECT_EQ(t.at(2), 0) << r.name;
    EXPECT_EQ(t.bytes().size(), static_cast<size_t>(4 * r.bytes));
  }
}

TEST(Tensor, PermuteMovesAxes) {
  std::vector<int32_t> values(2 * 3 * 4);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
  const Tensor t = Tensor::of<int32_t>({2, 3, 4}, values);
  const std::vector<int> order = {2, 0, 1};
  const Tensor moved = t.permuted(order);
  ASSERT_EQ(moved.shape(), (Shape{4, 2, 3}));
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t c = 0; c < 4; ++c) EXPECT_EQ(moved.at(c * 6 + a * 3 + b), t.at(a * 12 + b * 4 + c));
  EXPECT_EQ(moved.permuted(std::vector<int>{1, 2, 0}), t);
}

TEST(Tensor, PermuteHandlesScalarsAndEmptyTensors) {
  EXPECT_EQ(Tensor(DType::int8, {}).permuted({}), Tensor(DType::int8, {}));
  EXPECT_EQ(Tensor(DType::int8, {0, 3}).permuted(std::vector<int>{1, 0}), Tensor(DType::int8, {3, 0}));
}

TEST(Tensor, ReshapeKeepsElements) {
  const Tensor t = Tensor::of<int8_t>({2, 2}, std::vector<int8_t>{1, 2, 3, 4});
  EXPECT_EQ(t.reshaped({4}), Tensor::of<int8_t>({4}, std::vector<int8_t>{1, 2, 3, 4}));
  EXPECT_THROW(t.reshaped({5}), InternalError);
  EXPECT_THROW(t.as<float>(), InternalError);
}

}  // namespace
}  // namespace rushlight
