// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "types/result.h"
#include "types/tensor_type.h"

namespace rushlight {
namespace {

TEST(Result, TextHasOneLineADiagnostic) {
  Error error{Fault::no, {{"a.pt2", "is bad"}, {"", "nowhere"}, {"b", "c"}}};
  EXPECT_EQ(error.text(), "a.pt2: is bad\nnowhere\nb: c");
  Result<int> failed = unsupported("node", "no");
  const Result<std::string> passed_on = forward(failed);
  EXPECT_EQ(passed_on.error().fault, Fault::no);
  EXPECT_EQ(passed_on.error().text(), "node: no");
  EXPECT_THROW(require(false, "x"), InternalError);
}

TEST(DTypes, RowsStandAtTheirEnumerator) {
  for (const DTypeRow& r : kDTypes) {
    EXPECT_EQ(&row(r.dtype), &r);
    EXPECT_EQ(dtype_from_name(r.name), r.dtype);
  }
  EXPECT_EQ(dtype_from_name("f8"), std::nullopt);
}

TEST(Shapes, CheckedElementCountBoundsEverything) {
  EXPECT_EQ(checked_element_count({}), 1);
  EXPECT_EQ(checked_element_count({2, 3, 4}), 24);
  EXPECT_EQ(checked_element_count({2, 0}), 0);
  EXPECT_EQ(checked_element_count({kMaxElements}), kMaxElements);
  EXPECT_EQ(checked_element_count({kMaxElements, 2}), std::nullopt);
  EXPECT_EQ(checked_element_count({-1}), std::nullopt);
  EXPECT_EQ(checked_element_count({-1, -1}), std::nullopt);
  EXPECT_EQ(checked_element_count({int64_t{1} << 62, 4}), std::nullopt);  // wraps to 0 in 64 bits
  EXPECT_EQ(checked_element_count({0, std::numeric_limits<int64_t>::max()}), std::nullopt);
  EXPECT_EQ(checked_element_count(Shape(8, 1)), 1);
  EXPECT_EQ(checked_element_count(Shape(9, 1)), std::nullopt);
}

TEST(Shapes, BroadcastAlignsAtTheLastAxis) {
  EXPECT_EQ(broadcast({4, 1, 3}, {2, 1}), (Shape{4, 2, 3}));
  EXPECT_EQ(broadcast({}, {5}), (Shape{5}));
  EXPECT_EQ(broadcast({3}, {4}), std::nullopt);
  EXPECT_EQ(broadcast({1}, {0}), (Shape{0}));
  EXPECT_EQ(row_major_strides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(row_major_strides({}), (std::vector<int64_t>{}));
}

TEST(TensorTypes, StridesFollowTheLayout) {
  TensorType type{.dtype = DType::int8, .shape = {2, 3, 4, 5}};
  EXPECT_EQ(strides(type), (std::vector<int64_t>{60, 20, 5, 1}));
  type.layout = Layout::channels_last;
  EXPECT_EQ(strides(type), (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_EQ(memory_order(type.layout, 4), (std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(memory_order(type.layout, 3), (std::vector<int>{0, 2, 1}));
  EXPECT_EQ(memory_order(Layout::row_major, 0), (std::vector<int>{}));
  EXPECT_THROW(memory_order(Layout::channels_last, 2), InternalError);
}

TEST(TensorTypes, LayoutsCoincideForOneChannelOrOnePosition) {
  EXPECT_TRUE(layouts_coincide({3, 1, 4, 5}));
  EXPECT_TRUE(layouts_coincide({3, 7, 1, 1}));
  EXPECT_FALSE(layouts_coincide({1, 7, 1, 2}));
  EXPECT_FALSE(layouts_coincide({1, 2, 3}));
  EXPECT_TRUE(layouts_coincide({1, 2, 1}));
  EXPECT_TRUE(layouts_coincide({5, 6}));
}

TEST(TensorTypes, QuantizeRoundsHalfToEvenAndClamps) {
  const Quantization q = Quantization::per_tensor(0.5, 3);
  EXPECT_EQ(quantize(0.25, q), 3);   // 0.5 -> 0
  EXPECT_EQ(quantize(0.75, q), 5);   // 1.5 -> 2
  EXPECT_EQ(quantize(-0.25, q), 3);  // -0.5 -> 0
  EXPECT_EQ(quantize(1e30, q), 127);
  EXPECT_EQ(quantize(-std::numeric_limits<double>::infinity(), q), -128);
  EXPECT_EQ(quantize(std::numeric_limits<double>::quiet_NaN(), q), 3);
  Quantization narrow = q;
  narrow.lo = 3;
  EXPECT_EQ(quantize(-5, narrow), 3);
}

TEST(TensorTypes, QuantizeMultipliesByTheReciprocalInFloatAsPyTorchDoes) {
  const Quantization q = Quantization::per_tensor(0.1, 0);
  EXPECT_EQ(quantize(0.25, q), 2);  // 0.25f * 10.0f = 2.5, a tie
  EXPECT_EQ(quantize(0.35, q), 4);  // 0.35f * 10.0f rounds to 3.5, a tie; the exact product is below
  // 32 bits would not survive float32.
  const Quantization bias = Quantization::per_tensor(1.0, 0, DType::int32);
  EXPECT_EQ(quantize(16777217.0, bias), 16777217);
  EXPECT_EQ(quantize(-4e9, bias), std::numeric_limits<int32_t>::min());
}

TEST(TensorTypes, TextShowsWhatIsNotTheDefault) {
  TensorType type{.dtype = DType::float32, .shape = {1, 3, 8, 8}};
  EXPECT_EQ(to_string(type), "f32[1,3,8,8]");
  type.dtype = DType::int8;
  type.layout = Layout::channels_last;
  type.quant = Quantization::per_tensor(0.5, -3);
  EXPECT_EQ(to_string(type), "i8[1,3,8,8]{channels_last}<0.5:-3>");
  type.quant.lo = -127;
  EXPECT_EQ(to_string(type), "i8[1,3,8,8]{channels_last}<0.5:-3; -127..127>");
  type = {.dtype = DType::int32, .shape = {2}, .quant = Quantization::per_tensor(1, 0, DType::int32)};
  type.quant.axis = 0;
  type.quant.scales = {1, 0.25};
  type.quant.zero_points = {0, 0};
  EXPECT_EQ(to_string(type), "i32[2]<axis=0; 1.0:0, 0.25:0>");
}

}  // namespace
}  // namespace rushlight
