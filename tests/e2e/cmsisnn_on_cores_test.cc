// SPDX-License-Identifier: Apache-2.0
// CMSIS-NN's test vectors on the emulated cores, and those of transposed convolution, which no single kernel
// computes here, through the compiler.
#include <algorithm>
#include <cmath>

#include "passes/pipeline.h"
#include "tests/e2e/programs.h"
#include "tests/kernels/cmsisnn_vectors.h"

namespace rushlight::e2e {
namespace {

#define RUSHLIGHT_NEEDS_VECTORS() \
  if (!std::filesystem::exists(vectors_folder())) GTEST_SKIP() << "no vectors at " << vectors_folder()

constexpr int kChannelsFirst[] = {0, 3, 1, 2};

class CmsisNnOn : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(AllCores, CmsisNnOn, testing::ValuesIn(kTargets), test_name);

TEST_P(CmsisNnOn, EqualTheVectors) {
  RUSHLIGHT_NEEDS_VECTORS();
  RUSHLIGHT_NEEDS_BOARDS();
  std::vector<RecordedCall> calls;
  for (const auto operators : {cmsisnn_layers(), cmsisnn_others()})
    for (const CmsisNnOperator& op : operators)
      for (const Vector& vector : cmsisnn_vectors(op.name)) {
        KernelCase item = op.make(vector);
        RecordedCall call{
            {item.kernel, std::move(item.params), {}}, std::move(item.expected), item.description};
        for (KernelCase::Argument& argument : item.arguments)
          call.item.arguments.push_back({argument.output, std::move(argument.bytes)});
        calls.push_back(std::move(call));
      }
  RecordProperty("vectors", static_cast<int>(calls.size()));
  EXPECT_EQ(calls.size(), 125U);
  expect_same_on(GetParam(), calls);
}

// CMSIS-NN's output may lack rows and columns that the stride and kernel would give (padding on one side).
struct Transposed {
  Shape whole;
  Shape kept;
};

Transposed transposed_shapes(const Vector& v, int64_t (&output_padding)[2]) {
  Transposed shapes{{v.extent("output", 0), v.extent("output", 3), 0, 0}, {}};
  shapes.kept = shapes.whole;
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t natural = (v.extent("input", 1 + axis) - 1) * v.number("stride", axis) -
                            2 * v.number("pad", axis) + v.extent("weights", 1 + axis);
    const int64_t wanted = v.extent("output", 1 + axis);
    output_padding[axis] = std::max<int64_t>(wanted - natural, 0);
    shapes.whole[2 + axis] = natural + output_padding[axis];
    shapes.kept[2 + axis] = wanted;
  }
  return shapes;
}

// A graph whose factors are the vector's: input and output scale 1, weight scales multiplier * 2^(shift -
// 31).
Graph transposed_conv(const Vector& v) {
  int64_t output_padding[2];
  const Transposed shapes = transposed_shapes(v, output_padding);
  const int32_t outputs = v.extent("output", 3);
  Graph graph;
  graph.name = "g";
  const auto channels_first = [&](const char* array) { return v.arrays.at(array).permuted(kChannelsFirst); };
  TensorType input{DType::int8, channels_first("input").shape(), Layout::row_major,
                   Quantization::per_tensor(1.0, -v.number("input_offset"))};
  const ValueId x = graph.add_input("x", input);
  TensorType weight{DType::int8, channels_first("weights").shape(), Layout::row_major, {}};
  const std::vector<int32_t> multipliers = v.per_channel("multiplier", outputs);
  const std::vector<int32_t> shifts = v.per_channel("shift", outputs);
  weight.quant.axis = 0;
  weight.quant.lo = -127;
  for (size_t c = 0; c < multipliers.size(); ++c) {
    weight.quant.scales.push_back(std::ldexp(multipliers[c], shifts[c] - 31));
    weight.quant.zero_points.push_back(0);
  }
  const ValueId w =
      graph.add_constant("w", weight, std::make_shared<const Tensor>(channels_first("weights")));
  ValueId b = ValueId::none;
  if (v.has("bias")) {
    TensorType bias{DType::int32, {outputs}, Layout::row_major, weight.quant};
    bias.quant.lo = INT32_MIN;
    bias.quant.hi = INT32_MAX;
    b = graph.add_constant("b", bias, std::make_shared<const Tensor>(v.arrays.at("bias")));
  }
  const auto pair = [&](const char* key) { return Integers{v.number(key, 0), v.number(key, 1)}; };
  Node node = graph
                  .make_node("aten.conv_transpose2d"_op, "y", {x, w, b},
                             {{"stride", pair("stride")},
                              {"padding", pair("pad")},
                              {"output_padding", Integers{output_padding[0], output_padding[1]}}})
                  .value();
  const ValueId y = node.result();
  EXPECT_EQ(graph.type(y).shape, shapes.whole);
  graph.value(y).type.dtype = DType::int8;
  graph.value(y).type.quant = Quantization::per_tensor(1.0, v.number("output_offset"));
  graph.nodes.push_back(std::move(node));
  graph.outputs = {y};
  return graph;
}

TEST(CmsisNn, TransposedConvolutionsAreEqual) {
  RUSHLIGHT_NEEDS_VECTORS();
  const std::vector<Vector> vectors = cmsisnn_vectors("transpose_conv2d_s8");
  EXPECT_EQ(vectors.size(), 7U);
  Recorder recorder;
  for (const Vector& v : vectors) {
    SCOPED_TRACE(v.name);
    CompileOptions options;
    options.rounding = Rounding::double_rounding;
    Graph graph = transposed_conv(v);
    ASSERT_TRUE(run_passes(graph, kIntegerPasses).value());
    const auto compiled = compile_program(std::move(graph), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    const Tensor input = v.arrays.at("input").permuted(kChannelsFirst);
    recorder.add(*compiled, {{input}}, v.name);
    const Tensor got = simulate(*compiled, {{input}})[0][0];
    const Tensor want = v.arrays.at("output").permuted(kChannelsFirst);
    const Shape& kept = want.shape();
    const Shape& whole = got.shape();
    for (int64_t i = 0; i < want.elements(); ++i) {
      const int64_t x = i % kept[3];
      const int64_t y = i / kept[3] % kept[2];
      const int64_t plane = i / kept[3] / kept[2];
      ASSERT_EQ(got.at((plane * whole[2] + y) * whole[3] + x), want.at(i)) << "element " << i;
    }
  }
  if (missing_tools()) return;
  for (const char* target : {"cortex-m4", "cortex-m55"})
    expect_same_on(*find_target(target), recorder.calls());
}

}  // namespace
}  // namespace rushlight::e2e
