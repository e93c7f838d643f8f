// SPDX-License-Identifier: Apache-2.0
// CMSIS-NN's own int8 test vectors: kernels in the Double mode give the same integers. The vectors are not
// part of this repository; without them the test says that it was skipped.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "import/npz/npz.h"
#include "tests/kernels/reference.h"
#include "tests/kernels/run_case.h"

namespace rushlight {
namespace {

using namespace kernels;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

std::filesystem::path vectors_folder() {
  const char* shared = std::getenv("RUSHLIGHT_SHARED");
  const std::filesystem::path root = shared != nullptr
                                         ? std::filesystem::path(shared)
                                         : std::filesystem::path(RUSHLIGHT_SOURCE_DIR) / "../shared";
  return root / "corpus/cmsisnn_vectors";
}

// One vector: its arrays and, in CMSIS-NN's words, its parameters. Offsets are added there: an input's is
// minus its zero point, an output's its zero point.
struct Vector {
  std::string name;
  std::map<std::string, Tensor> arrays;
  nlohmann::json params;

  bool has(const char* array) const { return arrays.count(array) != 0; }
  int32_t extent(const char* array, size_t axis) const {
    return static_cast<int32_t>(arrays.at(array).shape().at(axis));
  }
  template <class T>
  std::vector<T> values(const char* array) const {
    const auto span = arrays.at(array).as<T>();
    return {span.begin(), span.end()};
  }
  int32_t number(const char* key) const { return params.at(key).get<int32_t>(); }
  int32_t number(const char* key, size_t i) const { return params.at(key).at(i).get<int32_t>(); }
  OutputRange range() const {
    return {params.value("output_offset", 0), number("activation", 0), number("activation", 1)};
  }
  // A multiplier or shift a channel, from one or from as many.
  Ints per_channel(const char* array, int32_t channels) const {
    Ints list = values<int32_t>(array);
    if (list.size() == 1) list.resize(static_cast<size_t>(channels), list[0]);
    return list;
  }
};

// The bias with the input zero point folded in; weight(o, i) is the i-th of an output's weights.
template <class Weight>
Ints folded_bias(const Vector& v, int32_t outputs, int32_t depth, Weight weight) {
  Ints bias = v.has("bias") ? v.values<int32_t>("bias") : Ints(static_cast<size_t>(outputs));
  for (int32_t o = 0; o < outputs; ++o)
    for (int32_t i = 0; i < depth; ++i)
      bias[static_cast<size_t>(o)] += v.number("input_offset") * weight(o, i);
  return bias;
}

KernelCase with_weights(CaseBuilder builder, const Vector& v, const Ints& bias) {
  const int32_t outputs = static_cast<int32_t>(bias.size());
  return builder.input(v.values<int8_t>("input"))
      .input(v.values<int8_t>("weights"))
      .input(bias)
      .input(v.per_channel("multiplier", outputs))
      .input(v.per_channel("shift", outputs))
      .output(v.values<int8_t>("output"))
      .done();
}

// Conv2dParams and DepthwiseConv2dParams differ in one field, `last`: groups or channel multiplier.
template <class Params>
Params conv_params(const Vector& v, int32_t last) {
  return reference::with_dense_output(Params{v.extent("input", 0),
                                             v.extent("input", 1),
                                             v.extent("input", 2),
                                             v.extent("input", 3),
                                             v.extent("output", 1),
                                             v.extent("output", 2),
                                             v.extent("output", 3),
                                             v.extent("weights", 1),
                                             v.extent("weights", 2),
                                             v.number("stride", 0),
                                             v.number("stride", 1),
                                             v.number("dilation", 0),
                                             v.number("dilation", 1),
                                             v.number("pad", 0),
                                             v.number("pad", 1),
                                             last,
                                             -v.number("input_offset"),
                                             0,
                                             0,
                                             0,
                                             0,
                                             v.range()});
}

KernelCase conv2d(const Vector& v) {
  const auto p = conv_params<Conv2dParams>(v, v.number("groups"));
  const Bytes weights = v.values<int8_t>("weights");
  const int32_t depth = static_cast<int32_t>(weights.size()) / p.output_channels;
  const Ints bias = folded_bias(v, p.output_channels, depth, [&](int32_t o, int32_t i) {
    return int32_t{weights[static_cast<size_t>(o * depth + i)]};
  });
  return with_weights(CaseBuilder("quantized_conv2d_s8", Mode::double_, p, v.name), v, bias);
}

KernelCase depthwise_conv2d(const Vector& v) {
  const auto p = conv_params<DepthwiseConv2dParams>(v, v.number("ch_mult"));
  const Bytes weights = v.values<int8_t>("weights");
  const Ints bias = folded_bias(
      v, p.output_channels, p.kernel_height * p.kernel_width,
      [&](int32_t o, int32_t i) { return int32_t{weights[static_cast<size_t>(i * p.output_channels + o)]}; });
  return with_weights(CaseBuilder("quantized_depthwise_conv2d_s8", Mode::double_, p, v.name), v, bias);
}

KernelCase fully_connected(const Vector& v) {
  const LinearParams p{v.extent("input", 0), v.extent("input", 1), v.extent("output", 1), v.range()};
  const Bytes weights = v.values<int8_t>("weights");
  const Ints bias = folded_bias(v, p.output_features, p.input_features, [&](int32_t o, int32_t i) {
    return int32_t{weights[static_cast<size_t>(o * p.input_features + i)]};
  });
  return with_weights(CaseBuilder("quantized_linear_s8", Mode::double_, p, v.name), v, bias);
}

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
  return CaseBuilder("quantized_avg_pool2d_divide_s8", Mode::double_, p, v.name)
      .input(v.values<int8_t>("input"))
      .input(windows(v, 0, height, p.output_height))
      .input(windows(v, 1, width, p.output_width))
      .input(divisors)
      .output(v.values<int8_t>("output"))
      .done();
}

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
  // First and number of each window.
  const auto taps = [&v](size_t axis, int32_t input, int32_t outputs) {
    const Ints table = windows(v, axis, input, outputs);
    Ints pairs;
    for (size_t i = 0; i < table.size(); i += 3) pairs.insert(pairs.end(), {table[i], table[i + 1]});
    return pairs;
  };
  return CaseBuilder("max_pool2d_s8", Mode::exact, p, v.name)
      .input(v.values<int8_t>("input"))
      .input(taps(0, p.input_height, p.output_height))
      .input(taps(1, p.input_width, p.output_width))
      .output(v.values<int8_t>("output"))
      .done();
}

// The place among kMaxLoops loops of an axis of `array`.
int loop_of(const Vector& v, const char* array, size_t axis) {
  return kMaxLoops - static_cast<int>(v.arrays.at(array).shape().size()) + static_cast<int>(axis);
}

Ints strides_of(const Vector& v, const char* array) {
  Ints extents;
  for (size_t d = 0; d < v.arrays.at(array).shape().size(); ++d) extents.push_back(v.extent(array, d));
  return reference::row_major(extents);
}

KernelCase pad(const Vector& v) {
  GatherParams p{};
  p.run = 1;
  p.fill = v.number("pad_value");
  const Ints strides = strides_of(v, "input");
  Ints offsets(static_cast<size_t>(loop_of(v, "input", 0)));
  for (int32_t& extent : p.extent) extent = 1;
  for (size_t d = 0; d < strides.size(); ++d) {
    p.extent[loop_of(v, "input", d)] = v.extent("output", d);
    for (int32_t o = 0; o < v.extent("output", d); ++o) {
      const int32_t i = o - v.number("pre_pad", d);
      offsets.push_back(i < 0 || i >= v.extent("input", d) ? kGatherFill : i * strides[d]);
    }
  }
  return CaseBuilder("gather_s8", Mode::exact, p, v.name)
      .input(v.values<int8_t>("input"))
      .input(offsets)
      .output(v.values<int8_t>("output"))
      .done();
}

KernelCase transpose(const Vector& v) {
  CopyParams p{};
  for (int32_t& extent : p.extent) extent = 1;
  const Ints from = strides_of(v, "input");
  const Ints to = strides_of(v, "output");
  for (size_t d = 0; d < to.size(); ++d) {
    const int loop = loop_of(v, "output", d);
    p.extent[loop] = v.extent("output", d);
    p.input_stride[loop] = from[static_cast<size_t>(v.number("perm", d))];
    p.output_stride[loop] = to[d];
  }
  return CaseBuilder("copy_s8", Mode::exact, p, v.name)
      .input(v.values<int8_t>("input"))
      .output(v.values<int8_t>("output"))
      .done();
}

KernelCase softmax(const Vector& v) {
  const SoftmaxTfliteParams p{v.extent("input", 0),   v.extent("input", 1), 1,
                              v.number("multiplier"), v.number("shift"),    v.number("diff_min")};
  return CaseBuilder("softmax_tflite_s8", Mode::exact, p, v.name)
      .input(v.values<int8_t>("input"))
      .output(v.values<int8_t>("output"))
      .done();
}

// Batches of two axes; a side's batch axis of extent 1 is broadcast.
KernelCase batch_matmul(const Vector& v) {
  const bool turned_a = v.number("adj_x") != 0;
  const bool turned_b = v.number("adj_y") != 0;
  const Ints a = strides_of(v, "lhs");
  const Ints b = strides_of(v, "rhs");
  BatchMatmulParams p{};
  for (int32_t& extent : p.batch_extent) extent = 1;
  for (size_t d = 0; d < 2; ++d) {
    const int loop = kMaxLoops - 2 + static_cast<int>(d);
    p.batch_extent[loop] = v.extent("output", d);
    p.batch_stride_a[loop] = v.extent("lhs", d) == 1 ? 0 : a[d];
    p.batch_stride_b[loop] = v.extent("rhs", d) == 1 ? 0 : b[d];
  }
  p.rows = v.extent("output", 2);
  p.columns = v.extent("output", 3);
  p.depth = v.extent("lhs", turned_a ? 2 : 3);
  p.a_row_stride = a[turned_a ? 3 : 2];
  p.a_depth_stride = a[turned_a ? 2 : 3];
  p.b_depth_stride = b[turned_b ? 3 : 2];
  p.b_column_stride = b[turned_b ? 2 : 3];
  p.zero_point_a = -v.number("lhs_offset");
  p.zero_point_b = -v.number("rhs_offset");
  p.factor = {v.number("multiplier"), v.number("shift")};
  p.output = v.range();
  return CaseBuilder("quantized_batch_matmul_s8", Mode::double_, p, v.name)
      .input(v.values<int8_t>("lhs"))
      .input(v.values<int8_t>("rhs"))
      .output(v.values<int8_t>("output"))
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

KernelCase elementwise(CaseBuilder builder, const Vector& v) {
  return builder.input(v.values<int8_t>("input1"))
      .input(v.values<int8_t>("input2"))
      .output(v.values<int8_t>("output"))
      .done();
}

KernelCase maximum(const Vector& v) {
  return elementwise(CaseBuilder("maximum_s8", Mode::exact, BinaryParams{broadcast_loops(v)}, v.name), v);
}

KernelCase minimum(const Vector& v) {
  return elementwise(CaseBuilder("minimum_s8", Mode::exact, BinaryParams{broadcast_loops(v)}, v.name), v);
}

KernelCase mul(const Vector& v) {
  const MulParams p{broadcast_loops(v),
                    -v.number("input1_offset"),
                    -v.number("input2_offset"),
                    {v.number("multiplier"), v.number("shift")},
                    v.range()};
  return elementwise(CaseBuilder("quantized_mul_s8", Mode::double_, p, v.name), v);
}

KernelCase add(const Vector& v) {
  const AddDoubleParams p{broadcast_loops(v),
                          -v.number("input1_offset"),
                          -v.number("input2_offset"),
                          {v.number("input1_multiplier"), v.number("input1_shift")},
                          {v.number("input2_multiplier"), v.number("input2_shift")},
                          0,
                          {v.number("output_multiplier"), v.number("output_shift")},
                          v.range()};
  EXPECT_EQ(v.number("left_shift"), 20);
  return elementwise(CaseBuilder("quantized_add_s8", Mode::double_, p, v.name), v);
}

struct Operator {
  const char* name;
  KernelCase (*make)(const Vector&);
};
const Operator kOperators[] = {
    {"add_s8", add},
    {"conv2d_s8", conv2d},
    {"depthwise_conv2d_s8", depthwise_conv2d},
    {"fully_connected_s8", fully_connected},
    {"avg_pool2d_s8", average_pool2d},
    {"maximum_s8", maximum},
    {"minimum_s8", minimum},
    {"mul_s8", mul},
    {"max_pool2d_s8", max_pool2d},
    {"pad_s8", pad},
    {"transpose_s8", transpose},
    {"softmax_s8", softmax},
    {"batch_matmul_s8", batch_matmul},
};
void PrintTo(const Operator& op, std::ostream* out) { *out << op.name; }

class CmsisNnVectors : public testing::TestWithParam<Operator> {};

TEST_P(CmsisNnVectors, AreEqual) {
  const std::filesystem::path folder = vectors_folder();
  if (!std::filesystem::exists(folder / "index.json")) GTEST_SKIP() << "no vectors at " << folder;
  const nlohmann::json index = nlohmann::json::parse(std::ifstream(folder / "index.json"));
  int count = 0;
  for (const nlohmann::json& entry : index.at("cases")) {
    if (entry.at("op") != GetParam().name) continue;
    // Weights with a zero point are refused by the compiler.
    if (entry.at("params").value("filter_offset", 0) != 0) continue;
    auto arrays = read_npz((folder / entry.at("file").get<std::string>()).string());
    ASSERT_TRUE(arrays.has_value()) << entry.at("file");
    check_case(
        GetParam().make({entry.at("case").get<std::string>(), *std::move(arrays), entry.at("params")}));
    ++count;
  }
  RecordProperty("vectors", count);
  EXPECT_GT(count, 0);
}

INSTANTIATE_TEST_SUITE_P(All, CmsisNnVectors, testing::ValuesIn(kOperators),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace rushlight
