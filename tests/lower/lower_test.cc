// SPDX-License-Identifier: Apache-2.0
#include "cortex_m/lower.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>

#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

Program lowered(std::string_view text) {
  const Graph graph = parsed(text);
  Result<Program> program = lower(graph, {});
  EXPECT_TRUE(program) << program.error().text();
  return program ? *std::move(program) : Program{};
}
std::string refusal(std::string_view text) {
  const Result<Program> program = lower(parsed(text), {});
  return program ? "accepted" : program.error().text();
}
template <class Params>
Params params_of(const KernelCall& call) {
  Params params;
  EXPECT_EQ(sizeof params, call.params.size());
  std::memcpy(&params, call.params.data(), sizeof params);
  return params;
}
std::vector<int32_t> integers(const Program& program, int constant) {
  const auto& bytes = program.constants[static_cast<size_t>(constant)].bytes;
  std::vector<int32_t> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Lower, ASmallNetAsText) {
  EXPECT_EQ(print(lowered(R"(graph @net(%x: i8[1,1,2,2]<0.5:-3>) {
    %w: i8[1,1,1,2]<axis=0; 0.5:0> = constant [100, -50]
    %b: i32[1]<axis=0; 0.25:0> = constant [7]
    %l: i8[1,1,2,2]{channels_last}<0.5:-3> = to_layout(%x)
    %c: i8[1,1,2,1]{channels_last}<0.5:10> = aten.conv2d(%l, %w, %b) clamp=[0.0, 6.0]
    %r: i8[1,1,2,1]<0.5:10> = to_layout(%c)
    %f: i8[1,2]<0.5:10> = aten.flatten(%r) {start_dim=1}
    return %f })")),
            R"(program @net rounding=single {
  input %x: i8[1,1,2,2]<0.5:-3>
  @c_weights: 2 bytes of i8
  @c_bias: 4 bytes of i32
  @c_multipliers: 4 bytes of i32
  @c_shifts: 4 bytes of i32
  cortex_m::quantized_conv2d(%x, @c_weights, @c_bias, @c_multipliers, @c_shifts, %c) {batch: 1, input_height: 2, input_width: 2, input_channels: 1, output_height: 2, output_width: 1, output_channels: 1, kernel_height: 1, kernel_width: 2, stride_height: 1, stride_width: 1, dilation_height: 1, dilation_width: 1, pad_top: 0, pad_left: 0, groups: 1, input_zero_point: -3, output_offset: 0, output_batch_pitch: 2, output_row_pitch: 1, output_pixel_pitch: 1, output: {zero_point: 10, lo: 10, hi: 22}}
  output %c: i8[1,2]<0.5:10>
}
)");
}

TEST(Lower, ZeroPointsFoldIntoTheBias) {
  const Program p = lowered(R"(graph @g(%x: i8[1,2]<0.5:-3>) {
    %w: i8[2,2]<axis=0; 0.5:0, 0.25:0> = constant [1, 2, 100, -50]
    %b: i32[2]<axis=0; 0.25:0, 0.125:0> = constant [1000, -2000]
    %y: i8[1,2]<0.5:0> = aten.linear(%x, %w, %b)
    return %y })");
  ASSERT_EQ(p.calls.size(), 1U);
  EXPECT_EQ(integers(p, p.calls[0].arguments[2].index), (std::vector<int32_t>{1000 + 3 * 3, -2000 + 3 * 50}));
  EXPECT_EQ(integers(p, p.calls[0].arguments[4].index), (std::vector<int32_t>{0, -1}));
  EXPECT_EQ(p.calls[0].macs, 4);
}

std::string linear_with_bias(std::string_view bias,
                             std::string_view type = "i32[2]<axis=0; 0.25:0, 0.25:0>") {
  return fmt::format(R"(graph @g(%x: i8[1,2]<0.5:0>) {{
    %w: i8[2,2]<axis=0; 0.5:0, 0.5:0> = constant splat 100
    %b: {} = constant [{}]
    %y: i8[1,2]<0.5:0> = aten.linear(%x, %w, %b)
    return %y }})",
                     type, bias);
}

TEST(Lower, AccumulatorsThatCanOverflowAreRefused) {
  // 2147483647 - 2 * 100 * 128 is the most.
  EXPECT_EQ(refusal(linear_with_bias("0, 2147458047")), "accepted");
  EXPECT_EQ(refusal(linear_with_bias("0, -2147458047")), "accepted");
  EXPECT_THAT(refusal(linear_with_bias("0, 2147458048")),
              testing::AllOf(testing::HasSubstr("node 'y' (aten.linear) at line 4"),
                             testing::HasSubstr("the accumulator of channel 1 can reach 2147483648")));
}

TEST(Lower, BiasesAtAnotherScaleAreRefused) {
  EXPECT_EQ(refusal(linear_with_bias("0, 1", "i32[2]<axis=0; 0.25:0, 0.25000001:0>")), "accepted");
  Graph wrong = parsed(linear_with_bias("0, 1"));
  wrong.value(find(wrong, "b")).type.quant.scales[1] = 0.125;
  const Result<Program> program = lower(wrong, {});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().text(),
              testing::HasSubstr(
                  "the bias of channel 1 has the scale 0.125; it must be input scale times weight scale"));
}

TEST(Lower, EveryObstacleIsNamed) {
  const std::string error = refusal(R"(graph @g(%x: i8[1,2]<0.5:0>, %f: f32[1,2]) {
    %m: f32[2] = constant splat 1.0
    %a: f32[1,2] = aten.add(%f, %f)
    %n: f32[1,2] = aten.batch_norm(%a, none, none, %m, %m)
    return %n, %x })");
  EXPECT_THAT(error, testing::HasSubstr("node 'a' (aten.add) at line 3: computes f32[1,2]"));
  EXPECT_THAT(error,
              testing::HasSubstr(
                  "node 'n' (aten.batch_norm) at line 4: has parameters that are not float constants"));
}

struct Broadcast {
  Shape a, b;
  std::vector<int32_t> extents;  // of the loops that are left
};

TEST(Lower, BroadcastLoopsCollapse) {
  const Broadcast cases[] = {
      {{2, 3, 4}, {2, 3, 4}, {24}},
      {{2, 3, 4}, {1}, {24}},
      {{2, 3, 4}, {}, {24}},
      {{1}, {1}, {}},
      {{2, 3, 4}, {4}, {6, 4}},
      {{2, 3, 4}, {3, 4}, {2, 12}},
      {{2, 3, 4}, {2, 1, 1}, {2, 12}},
      {{2, 3, 4}, {1, 3, 1}, {2, 3, 4}},
      {{2, 3, 4}, {2, 1, 4}, {2, 3, 4}},
      {{2, 1, 4}, {1, 3, 1}, {2, 3, 4}},
      {{2, 1, 1, 5}, {1, 3, 4, 1}, {2, 12, 5}},
      {{1, 3, 1, 5}, {3, 1, 5}, {15}},
  };
  for (const Broadcast& c : cases) {
    const std::string q = "<0.5:0>";
    const Program p = lowered(
        fmt::format("graph @g(%a: i8{0}{3}, %b: i8{1}{3}) {{ %y: i8{2}{3} = aten.add(%a, %b) return %y }}",
                    to_string(c.a), to_string(c.b), to_string(*broadcast(c.a, c.b)), q));
    const auto params = params_of<kernels::AddSingleParams>(p.calls.at(0));
    std::vector<int32_t> extents;
    for (const int32_t extent : params.loops.extent)
      if (extent != 1) extents.push_back(extent);
    EXPECT_EQ(extents, c.extents) << to_string(c.a) << to_string(c.b);
    const bool whole_a = c.a == *broadcast(c.a, c.b);
    const auto& may = p.calls[0].may_overwrite;
    EXPECT_EQ(std::count(may.begin(), may.end(), 0) == 1, whole_a);
  }
}

TEST(Lower, PoolWindowsAreATable) {
  // 5 wide, windows of 3 at stride 2, padding 1, not counted: first, taps, class of (taps, divisor).
  const Program p = lowered(R"(graph @g(%x: i8[1,1,5,5]{channels_last}<0.5:0>) {
    %y: i8[1,1,3,3]{channels_last}<0.5:0> = aten.avg_pool2d(%x) {kernel_size=[3], stride=[2], padding=[1], count_include_pad=false}
    return %y })");
  const std::vector<int32_t> windows = {0, 2, 0, 1, 3, 1, 3, 2, 0};
  EXPECT_EQ(integers(p, p.calls.at(0).arguments[1].index), windows);
  EXPECT_EQ(p.calls[0].arguments[1], p.calls[0].arguments[2]);
  // 1/4, 1/6, 1/6, 1/9 as multiplier and shift.
  EXPECT_EQ(integers(p, p.calls[0].arguments[3].index),
            (std::vector<int32_t>{1 << 30, -1, 1431655766, -2, 1431655766, -2, 1908874354, -3}));
}

// A convolution that only the concatenation reads writes its channels there; what is read elsewhere too is
// copied.
TEST(Lower, ConvolutionsWriteIntoTheirConcatenation) {
  const Program p = lowered(R"(graph @g(%x: i8[1,2,3,4]{channels_last}<0.5:0>) {
    %w: i8[3,2,1,1]<axis=0; 0.5:0, 0.5:0, 0.5:0> = constant splat 1
    %a: i8[1,3,3,4]{channels_last}<1.0:0> = aten.conv2d(%x, %w, none)
    %b: i8[1,3,3,4]{channels_last}<1.0:0> = aten.conv2d(%x, %w, none)
    %y: i8[1,6,3,4]{channels_last}<1.0:0> = aten.cat(%a, %b) {dim=1}
    return %y, %a })");
  ASSERT_EQ(p.calls.size(), 3u);
  kernels::Conv2dParams second{};
  std::memcpy(&second, p.calls[1].params.data(), sizeof second);
  EXPECT_EQ(second.output_offset, 3);
  EXPECT_EQ(second.output_pixel_pitch, 6);
  EXPECT_EQ(second.output_row_pitch, 24);
  EXPECT_EQ(p.calls[1].arguments.back(), p.calls[2].arguments.back());
  EXPECT_STREQ(p.calls[2].row().name, "copy_s8");
}

TEST(Lower, MovementsOfTheSameBytesAreNoCalls) {
  const Program p = lowered(R"(graph @g(%x: i8[1,1,3,4]<0.5:0>) {
    %l: i8[1,1,3,4]{channels_last}<0.5:0> = to_layout(%x)
    %p: i8[1,3,4,1]<0.5:0> = aten.permute(%l) {dims=[0,2,3,1]}
    %v: i8[12]<0.5:0> = aten.view(%p) {size=[12]}
    return %v })");
  EXPECT_TRUE(p.calls.empty());
  EXPECT_EQ(p.buffers.size(), 1U);
  EXPECT_EQ(p.outputs[0].buffer, p.inputs[0].buffer);
  EXPECT_EQ(to_string(p.outputs[0].type), "i8[12]<0.5:0>");
}

TEST(Lower, ConcatenationsCopyToOffsets) {
  const Program p = lowered(R"(graph @g(%x: i8[2,3]<0.5:0>, %y: i8[2,1]<0.5:0>) {
    %k: i8[2,7]<0.5:0> = aten.cat(%x, %y, %x) {dim=-1}
    return %k })");
  ASSERT_EQ(p.calls.size(), 3U);
  const int32_t offsets[] = {0, 3, 4};
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(params_of<kernels::CopyParams>(p.calls[i]).output_offset, offsets[i]);
}

TEST(Lower, EqualConstantsAreStoredOnce) {
  const Program p = lowered(R"(graph @g(%x: i8[1,2]<0.5:0>) {
    %w: i8[2,2]<axis=0; 0.5:0, 0.5:0> = constant splat 100
    %v: i8[2,2]<axis=0; 0.5:0, 0.5:0> = constant splat 100
    %y: i8[1,2]<0.5:0> = aten.linear(%x, %w)
    %z: i8[1,2]<0.5:0> = aten.linear(%y, %v)
    return %z })");
  // Weights, multipliers, and zeros for biases and shifts.
  EXPECT_EQ(p.constants.size(), 3U);
  EXPECT_EQ(p.calls[0].arguments[1], p.calls[1].arguments[1]);
}

// 600 weights of 127 times 32768 leave int32; 500 do not.
TEST(Lower, Int16SumsAreAsWideAsTheyMustBe) {
  const auto linear = [](int features) {
    std::string weights = "127";
    for (int i = 1; i < features; ++i) weights += ", 127";
    return fmt::format(R"(graph @g(%x: i16[1,{0}]<0.5:0>) {{
    %w: i8[1,{0}]<axis=0; 0.5:0> = constant [{1}]
    %b: i32[1]<axis=0; 0.25:0> = constant [7]
    %y: i16[1,1]<64.0:0> = aten.linear(%x, %w, %b)
    return %y }})",
                       features, weights);
  };
  const Program narrow = lowered(linear(500));
  EXPECT_STREQ(narrow.calls[0].row().name, "quantized_linear_s16");
  EXPECT_EQ(narrow.constants[1].dtype, DType::int32);
  EXPECT_EQ(narrow.calls[0].accumulator_bits, 32);
  const Program wide = lowered(linear(600));
  EXPECT_STREQ(wide.calls[0].row().name, "quantized_linear_wide_s16");
  EXPECT_EQ(wide.constants[1].dtype, DType::int64);
  EXPECT_EQ(wide.calls[0].accumulator_bits, 33);
  // 0.5 * 0.5 / 64 = 2^-8: q = 2^30 in 16 bits.
  EXPECT_THAT(integers(wide, 2), testing::ElementsAre(1 << 14));
  EXPECT_THAT(integers(wide, 3), testing::ElementsAre(-7));
}

TEST(Lower, Int16IsRefusedWhereItCannotBe) {
  EXPECT_THAT(refusal(R"(graph @g(%a: i16[2]<0.5:0>, %b: i16[2]<0.5:0>) {
    %y: i16[2]<0.5:0> = aten.div(%a, %b)
    return %y })"),
              testing::AllOf(testing::HasSubstr("computes i16; there is no kernel quantized_div_s16"),
                             testing::HasSubstr("int16 has: ")));
  EXPECT_THAT(refusal(R"(graph @g(%a: i8[2]<0.5:0>, %b: i16[2]<0.5:0>) {
    %y: i16[2]<0.5:0> = aten.add(%a, %b)
    return %y })"),
              testing::HasSubstr("makes i16 of i8; only requantize changes between int8 and int16"));
  EXPECT_THAT(refusal(R"(graph @g(%a: i16[2]<0.5:3>) {
    %y: i16[2]<0.5:3> = aten.add(%a, %a)
    return %y })"),
              testing::HasSubstr("int16 needs the zero point 0"));
}

TEST(Lower, RequantizeChangesTheElementType) {
  const Program p = lowered(R"(graph @g(%a: i8[2]<0.5:3>) {
    %b: i16[2]<0.001:0> = requantize(%a)
    %y: i8[2]<0.5:3> = requantize(%b)
    return %y })");
  EXPECT_STREQ(p.calls[0].row().name, "requantize_s8_s16");
  EXPECT_STREQ(p.calls[1].row().name, "requantize_s16_s8");
}

}  // namespace
}  // namespace rushlight
