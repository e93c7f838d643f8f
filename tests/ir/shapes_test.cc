// SPDX-License-Identifier: Apache-2.0
// Shape rules against cases worked out by hand, and windows against counting them one by one.
#include "ops/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "ir/graph.h"
#include "ir/parse_type.h"

namespace rushlight {
namespace {

struct Case {
  std::string_view op;
  std::string_view operands;    // types; "none" where absent
  std::string_view attributes;  // "a=1; b=[2,3]"
  std::string_view expected;    // the result's type, or a part of the error
};

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + separator.size());
  }
  return parts;
}

// The result's type as text, or the error.
std::string infer(const Case& c) {
  Graph graph;
  std::vector<ValueId> operands;
  for (const std::string_view text : split(c.operands, "; ")) {
    Scanner in(text);
    TensorType type;
    operands.push_back(text == "none" ? ValueId::none : graph.add_input("x", {}));
    if (text == "none") continue;
    if (!parse_type(in, type)) return in.error().text();
    graph.value(operands.back()).type = type;
  }
  NamedAttributes attributes;
  for (const std::string_view part : split(c.attributes, "; ")) {
    const size_t equals = part.find('=');
    attributes[std::string(part.substr(0, equals))] = parse_attribute(part.substr(equals + 1)).value();
  }
  const Result<Node> node = graph.make_node(find_op(c.op).value(), "node", operands, attributes);
  return node ? to_string(graph.type(node->result())) : node.error().text();
}

void expect(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    EXPECT_THAT(infer(c), testing::HasSubstr(std::string(c.expected)))
        << c.op << " " << c.operands << " " << c.attributes;
}

TEST(ShapeRules, Conv2d) {
  const auto conv = [](std::string_view operands, std::string_view attributes, std::string_view expected) {
    return Case{"aten.conv2d", operands, attributes, expected};
  };
  expect({
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "padding=[1,1]", "f32[1,4,8,8]"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]; f32[4]", "padding=1", "f32[1,4,8,8]"),
      conv("f32[2,3,7,10]; f32[5,3,3,2]", "stride=[2,3]; padding=[1,0]", "f32[2,5,4,3]"),
      conv("f32[1,1,9,11]; f32[1,1,3,3]", "dilation=[2,3]", "f32[1,1,5,5]"),
      conv("f32[1,1,5,5]; f32[1,1,2,3]", "stride=[2,2]; padding=[1,2,0,3]", "f32[1,1,3,4]"),
      conv("f32[1,6,4,4]; f32[12,1,3,3]", "groups=6", "f32[1,12,2,2]"),
      conv("f32[1,4,3,3]; f32[6,2,1,1]; none", "groups=2", "f32[1,6,3,3]"),
      conv("f32[1,1,3,1]; f32[1,1,5,1]", "padding=[1,0]; stride=9", "f32[1,1,1,1]"),
      conv("i8[1,3,8,8]<0.5:0>; i8[4,3,3,3]<0.5:0>; i32[4]<0.25:0>", "", "i8[1,4,6,6]"),
      // What hostile files say.
      conv("f32[3,8,8]; f32[4,3,3,3]", "",
           "operand 'input': found shape [3,8,8], must have rank 4 (N,C,H,W); give an"),
      conv("f32[1,3,8,8]; f32[4,3,3]", "", "operand 'weight': found shape [4,3,3], must have rank 4"),
      conv("f32[1,3,8,8]; f32[4,2,3,3]", "", "found 2 input channels a group in shape [4,2,3,3], must be 3"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]; f32[3]", "",
           "operand 'bias': found shape [3], must be [4], the output"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]; f32[4,1]", "", "operand 'bias'"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "stride=[0,1]", "attribute stride: found 0, must be between 1"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "stride=[1,-1]", "attribute stride: found -1"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "stride=[1,1,1]",
           "attribute stride: found [1,1,1], must have one entry or"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "stride=[]", "attribute stride: found []"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "dilation=0", "attribute dilation: found 0"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "dilation=9223372036854775807",
           "attribute dilation: found 9223372036854775807"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "dilation=268435456",
           "larger than the padded input of 8 (0 + 8 + 0)"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "groups=0", "attribute groups: found 0"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "groups=-1", "attribute groups: found -1"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "groups=2", "must divide the 3 input and 4 output channels"),
      conv("f32[1,4,8,8]; f32[3,2,3,3]", "groups=2", "must divide the 4 input and 3 output channels"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "padding=[-1,0]", "attribute padding: found -1"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "padding=[1,1,1]", "must be [h,w] or [top,left,bottom,right]"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "padding=[0,0,0,-9223372036854775808]",
           "attribute padding: found -9223"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]", "padding=[268435456,268435456]",
           "result: shape [1,4,536870918,536870918] is"),
      conv("f32[1,1,2,8]; f32[1,1,3,3]", "",
           "a kernel that spans 3 (extent 3, dilation 1) is larger than the padded"),
      conv("i32[1,3,8,8]; f32[4,3,3,3]", "", "operand 'input': found i32[1,3,8,8] without quantization"),
      conv("f32[1,3,8,8]; f64[4,3,3,3]", "",
           "operand 'weight': found f64[4,3,3,3], must have the input's dtype f32"),
      conv("f32[1,3,8,8]; f32[4,3,3,3]; i64[4]", "", "operand 'bias': found i64[4] without quantization"),
      conv("f32[1,3,0,8]; f32[4,3,3,3]", "", "operand 1: shape [1,3,0,8] is outside the limits"),
      conv("f32[1,3,8,8]", "", "operand 'weight' is missing"),
      conv("f32[1,3,8,8]; none", "", "operand 'weight' is missing"),
      conv("f32[1]; f32[1]; f32[1]; f32[1]", "", "found 4 operands, takes at most 3"),
  });
}

TEST(ShapeRules, Pooling) {
  const auto pool = [](std::string_view operands, std::string_view attributes, std::string_view expected) {
    return Case{"aten.avg_pool2d", operands, attributes, expected};
  };
  expect({
      pool("f32[1,2,7,5]", "kernel_size=[3,2]", "f32[1,2,2,2]"),
      pool("f32[2,7,5]", "kernel_size=[3,2]; stride=[1,3]", "f32[2,5,2]"),
      pool("f32[1,1,6,6]", "kernel_size=3; stride=2", "f32[1,1,2,2]"),
      pool("f32[1,1,6,6]", "kernel_size=3; stride=2; ceil_mode=true", "f32[1,1,3,3]"),
      pool("f32[1,1,4,4]", "kernel_size=2; stride=5; padding=1", "f32[1,1,1,1]"),
      // A second window would start at 5, behind the input (4) and the padding before it (1).
      pool("f32[1,1,4,4]", "kernel_size=2; stride=5; padding=1; ceil_mode=true", "f32[1,1,1,1]"),
      pool("f32[1,1,5,5]", "kernel_size=2; stride=5; padding=1; ceil_mode=true", "f32[1,1,2,2]"),
      pool("f32[1,1,3,3]", "kernel_size=4; stride=2; ceil_mode=true", "f32[1,1,1,1]"),
      pool("f32[1,1,3,3]", "kernel_size=4; stride=2", "is larger than the padded input of 3"),
      pool("f32[1,1,2,2]", "kernel_size=4; stride=2; ceil_mode=true", "is larger than the padded input of 2"),
      pool("f32[1,1,6,6]", "kernel_size=[3,2]; padding=[1,1]", "f32[1,1,2,4]"),
      pool("f32[1,1,6,6]", "kernel_size=3; padding=2", "found [2,2], must be at most half the kernel [3,3]"),
      pool("f32[1,1,6,6]", "kernel_size=3; padding=-1", "attribute padding: found -1"),
      pool("f32[1,1,6,6]", "kernel_size=0", "attribute kernel_size: found 0"),
      pool("f32[1,1,6,6]", "kernel_size=[]", "attribute kernel_size: found []"),
      pool("f32[1,1,6,6]", "kernel_size=2; stride=0", "attribute stride: found 0"),
      pool("f32[1,1,6,6]", "kernel_size=2; divisor_override=0", "attribute divisor_override: found 0"),
      pool("f32[1,1,6,6]", "kernel_size=2; divisor_override=7", "f32[1,1,3,3]"),
      pool("f32[6,6]", "kernel_size=2", "found shape [6,6], must have rank 3 (C,H,W) or 4 (N,C,H,W)"),
      pool("i64[1,1,6,6]", "kernel_size=2", "without quantization"),
      {"aten.adaptive_avg_pool2d", "f32[1,3,7,5]", "output_size=[2,3]", "f32[1,3,2,3]"},
      {"aten.adaptive_avg_pool2d", "f32[3,7,5]", "output_size=1", "f32[3,1,1]"},
      {"aten.adaptive_avg_pool2d", "f32[1,3,2,2]", "output_size=[5,5]", "f32[1,3,5,5]"},
      {"aten.adaptive_avg_pool2d", "f32[3,7,5]", "output_size=[0,1]", "attribute output_size: found 0"},
      {"aten.adaptive_avg_pool2d", "f32[3,7,5]", "output_size=268435456",
       "result: shape [3,268435456,268435456]"},
      {"aten.adaptive_avg_pool2d", "f32[1,1,3,7,5]", "output_size=1", "must have rank 3"},
  });
}

TEST(ShapeRules, MatrixNormAndMean) {
  expect({
      {"aten.linear", "f32[8]; f32[3,8]", "", "f32[3]"},
      {"aten.linear", "f32[2,5,8]; f32[3,8]; f32[3]", "", "f32[2,5,3]"},
      {"aten.linear", "f32[2,7]; f32[3,8]", "", "the last extent must be the weight's 8 in features"},
      {"aten.linear", "f32[]; f32[3,8]", "", "operand 'input': found shape []"},
      {"aten.linear", "f32[8]; f32[8]", "", "operand 'weight': found shape [8], must have rank 2"},
      {"aten.linear", "f32[8]; f32[3,8]; f32[8]", "", "operand 'bias': found shape [8], must be [3]"},
      {"aten.linear", "f32[8]; i8[3,8]", "", "operand 'weight': found i8[3,8] without quantization"},
      {"aten.linear", "f32[268435456,1]; f32[2,1]", "", "result: shape [268435456,2] is outside the limits"},
      {"aten.batch_norm", "f32[2,3,4]; f32[3]; f32[3]; f32[3]; f32[3]", "", "f32[2,3,4]"},
      {"aten.batch_norm", "f32[2,3]; none; none; f32[3]; f32[3]", "", "f32[2,3]"},
      {"aten.batch_norm", "f32[3]; none; none; f32[3]; f32[3]", "", "must have rank 2 or more"},
      {"aten.batch_norm", "f32[2,3]; none; f32[2]; f32[3]; f32[3]", "",
       "operand 'bias': found shape [2], must be [3]"},
      {"aten.batch_norm", "f32[2,3]; none; none; f32[3]", "", "operand 'running_var' is missing"},
      {"aten.batch_norm", "f32[2,3]; none; none; f32[3]; f32[3]", "training=true", "call model.eval()"},
      {"aten.batch_norm", "f32[2,3]; none; none; f32[3]; f32[3]", "eps=-1.0", "attribute eps: found -1"},
      {"aten.batch_norm", "f32[2,3]; none; none; f32[3]; f32[3]", "eps=nan", "attribute eps: found nan"},
      {"aten.mean", "f32[2,3,4]", "", "f32[]"},
      {"aten.mean", "f32[2,3,4]", "dim=[]; keepdim=true", "f32[1,1,1]"},
      {"aten.mean", "f32[2,3,4]", "dim=[-1,0]", "f32[3]"},
      {"aten.mean", "f32[2,3,4]", "dim=1; keepdim=true", "f32[2,1,4]"},
      {"aten.mean", "f32[]", "", "f32[]"},
      {"aten.mean", "f32[2,3,4]", "dim=[2,-1]", "attribute dim: axis 2 appears twice"},
      {"aten.mean", "f32[2,3,4]", "dim=3", "found axis 3, must be within -3..2 for rank 3"},
      {"aten.mean", "f32[]", "dim=0", "found axis 0, but a scalar has none"},
      {"aten.mean", "i64[2]", "", "without quantization"},
  });
}

TEST(ShapeRules, Movement) {
  expect({
      {"aten.view", "f32[2,3,4]", "size=[4,6]", "f32[4,6]"},
      {"aten.view", "f32[2,3,4]", "size=[2,-1,2]", "f32[2,6,2]"},
      {"aten.view", "f32[1]", "size=[]", "f32[]"},
      {"aten.view", "f32[]", "size=[-1]", "f32[1]"},
      {"aten.view", "f32[2,3,4]", "size=[5,-1]", "found [5,-1], which can't hold the 24 elements of [2,3,4]"},
      {"aten.view", "f32[2,3,4]", "size=[-1,-1]", "only one extent may be -1"},
      {"aten.view", "f32[2,3,4]", "size=[-2,-12]", "which can't hold"},
      {"aten.view", "f32[2,3,4]", "size=[0,-1]", "which can't hold"},
      {"aten.view", "f32[2,3,4]", "size=[4611686018427387904,4,-1]", "which can't hold"},
      {"aten.view", "f32[1]", "size=[1,1,1,1,1,1,1,1,1]", "which can't hold"},
      {"aten.flatten", "f32[2,3,4]", "", "f32[24]"},
      {"aten.flatten", "f32[2,3,4,5]", "start_dim=1; end_dim=2", "f32[2,12,5]"},
      {"aten.flatten", "f32[2,3]", "start_dim=-1", "f32[2,3]"},
      {"aten.flatten", "f32[]", "", "f32[1]"},
      {"aten.flatten", "f32[2,3]", "start_dim=2", "attribute start_dim: found axis 2"},
      {"aten.flatten", "f32[2,3]", "end_dim=-3", "attribute end_dim: found axis -3"},
      {"aten.flatten", "f32[2,3]", "start_dim=1; end_dim=0", "found axis 1 behind end_dim 0"},
      {"aten.permute", "f32[2,3,4]", "dims=[2,0,1]", "f32[4,2,3]"},
      {"aten.permute", "f32[2,3,4]", "dims=[-1,-3,1]", "f32[4,2,3]"},
      {"aten.permute", "f32[]", "dims=[]", "f32[]"},
      {"aten.permute", "f32[2,3]", "dims=[1]", "found 1 entries, must be one for each of the 2 axes"},
      {"aten.permute", "f32[2,3]", "dims=[1,-1]", "attribute dims: axis 1 appears twice"},
      {"aten.permute", "f32[2,3]", "dims=[0,2]", "attribute dims: found axis 2"},
      {"aten.cat", "f32[2,3]; f32[2,5]; f32[2,1]", "dim=-1", "f32[2,9]"},
      {"aten.cat", "f32[2,3]", "", "f32[2,3]"},
      {"aten.cat", "f32[2,3]; f32[3,3]", "dim=1",
       "operand 2: found shape [3,3], must equal the first operand's"},
      {"aten.cat", "f32[2,3]; f32[2]", "", "operand 2: found shape [2]"},
      {"aten.cat", "f32[2,3]; i32[2,3]", "", "operand 2: found i32, must have the dtype f32"},
      {"aten.cat", "f32[]; f32[]", "", "a scalar has none"},
      {"aten.cat", "f32[2]; f32[2]", "dim=1", "attribute dim: found axis 1"},
      {"aten.cat", "f32[268435456]; f32[1]", "", "result: shape [268435457] is outside the limits"},
      {"aten.cat", "", "", "operand 'tensors' is missing"},
      {"aten.cat", "f32[1]; none", "", "operand 'tensors' is missing"},
      {"to_layout", "f32[2,3]", "", "f32[2,3]"},
      {"aten.dropout", "f32[2,3]", "p=1", "f32[2,3]"},
  });
}

TEST(ShapeRules, ElementwiseAndQuantization) {
  constexpr std::string_view kRange = "scale=0.5; zero_point=1; quant_min=-128; quant_max=127; dtype=\"i8\"";
  constexpr std::string_view kChannels = "axis=1; quant_min=-127; quant_max=127; dtype=\"i8\"";
  expect({
      {"aten.relu", "f32[2,3]", "", "f32[2,3]"},
      {"aten.add", "f32[4,1,3]; f32[2,1]", "", "f32[4,2,3]"},
      {"aten.add", "f32[]; f32[2,1]", "alpha=2", "f32[2,1]"},
      {"aten.sub", "i64[2]; i64[2]", "", "i64[2]"},
      {"aten.add", "f32[3]; f32[4]", "", "shapes [3] and [4] don't broadcast"},
      {"aten.add", "f32[3]; i64[3]", "", "found dtypes f32 and i64"},
      {"aten.add", "f32[268435456,1]; f32[1,2]", "", "result: shape [268435456,2] is outside the limits"},
      {"quantize_per_tensor", "f32[2]", kRange, "i8[2]"},
      {"quantize_per_tensor", "i8[2]", kRange, "operand 'input': found i8[2], must be floats"},
      {"dequantize_per_tensor", "i8[2]", kRange, "f32[2]"},
      {"dequantize_per_tensor", "u8[2]", kRange, "found u8[2], must be i8 as the attribute dtype says"},
      {"quantize_per_tensor", "f32[2]", "scale=0.0; zero_point=1; quant_min=0; quant_max=1; dtype=\"i8\"",
       "found 0"},
      {"quantize_per_tensor", "f32[2]", "scale=inf; zero_point=1; quant_min=0; quant_max=1; dtype=\"i8\"",
       "found inf"},
      {"quantize_per_tensor", "f32[2]", "scale=nan; zero_point=1; quant_min=0; quant_max=1; dtype=\"i8\"",
       "found nan"},
      {"quantize_per_tensor", "f32[2]", "scale=1; zero_point=128; quant_min=0; quant_max=1; dtype=\"i8\"",
       "attribute zero_point: found 128, must be within -128..127 of i8"},
      {"quantize_per_tensor", "f32[2]", "scale=1; zero_point=0; quant_min=2; quant_max=1; dtype=\"i8\"",
       "range 2..1"},
      {"quantize_per_tensor", "f32[2]", "scale=1; zero_point=0; quant_min=0; quant_max=256; dtype=\"u8\"",
       "0..256"},
      {"quantize_per_tensor", "f32[2]", "scale=1; zero_point=0; quant_min=0; quant_max=1; dtype=\"f32\"",
       "attribute dtype: found \"f32\", must be u8, i8, i16 or i32"},
      {"dequantize_per_channel", "i8[2,3]; f32[3]; i64[3]", kChannels, "f32[2,3]"},
      {"dequantize_per_channel", "i8[2,3]; f64[3]; none", kChannels, "f32[2,3]"},
      {"dequantize_per_channel", "i8[2,3]; f32[2]; i64[3]", kChannels,
       "operand 'scales': found shape [2], must be [3]"},
      {"dequantize_per_channel", "i8[2,3]; f32[3]; i64[2]", kChannels,
       "operand 'zero_points': found shape [2]"},
      {"dequantize_per_channel", "i8[2,3]; i8[3]; i64[3]", kChannels,
       "operand 'scales': found i8[3], must be floats"},
      {"dequantize_per_channel", "i8[2,3]; f32[3]; f32[3]", kChannels, "must be integers"},
      {"dequantize_per_channel", "i8[2]; f32[3]; i64[3]", kChannels, "attribute axis: found axis 1"},
  });
}

// Counts windows one at a time: window k exists if it lies inside (floor), or, with ceil_mode, if the one
// before left elements over and it starts inside the input or the padding before it.
int64_t counted_windows(int64_t input, int64_t reach, int64_t stride, int64_t before, int64_t after,
                        bool ceil_mode) {
  const int64_t padded = input + before + after;
  int64_t count = 0;
  for (int64_t start = 0; start < padded; start += stride, ++count) {
    if (!ceil_mode && start + reach > padded) break;
    if (ceil_mode && (start - stride + reach >= padded && start > 0)) break;
    if (ceil_mode && (start + reach - padded >= stride || start >= input + before)) break;
  }
  return count;
}

TEST(ShapeRules, WindowExtentCountsWindows) {
  std::mt19937 random(11);
  const auto pick = [&](int lo, int hi) {
    return int64_t{std::uniform_int_distribution<int>(lo, hi)(random)};
  };
  for (int i = 0; i < 20000; ++i) {
    const int64_t input = pick(1, 12);
    const int64_t kernel = pick(1, 5);
    const int64_t stride = pick(1, 6);
    const int64_t dilation = pick(1, 3);
    const bool ceil_mode = pick(0, 1) == 1;
    const int most = ceil_mode ? static_cast<int>(kernel / 2) : 3;  // pooling allows no more
    const int64_t before = pick(0, most);
    const int64_t after = pick(0, most);
    const Result<int64_t> extent =
        shapes::window_extent(input, kernel, stride, before, after, dilation, ceil_mode);
    const int64_t expected =
        counted_windows(input, dilation * (kernel - 1) + 1, stride, before, after, ceil_mode);
    ASSERT_EQ(extent.value_or(0), expected)
        << "input " << input << " kernel " << kernel << " stride " << stride << " dilation " << dilation
        << " padding " << before << "," << after << " ceil_mode " << ceil_mode;
  }
}

TEST(ShapeRules, WindowExtentSurvivesAnyNumbers) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> values = {kLeast, -1, 0, 1, 2, kMaxElements, kMaxElements + 1, kMost};
  for (const int64_t input : values)
    for (const int64_t kernel : values)
      for (const int64_t stride : values)
        for (const int64_t before : values)
          for (const int64_t dilation : values)
            for (const bool ceil_mode : {false, true}) {
              const auto extent =
                  shapes::window_extent(input, kernel, stride, before, before, dilation, ceil_mode);
              EXPECT_TRUE(!extent || (*extent >= 1 && *extent <= 3 * kMaxElements));
            }
}

}  // namespace
}  // namespace rushlight
