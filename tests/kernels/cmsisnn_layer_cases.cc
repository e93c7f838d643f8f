// SPDX-License-Identifier: Apache-2.0
// CMSIS-NN's vectors of convolutions and fully connected layers.
#include <algorithm>

#include "tests/kernels/cmsisnn_vectors.h"
#include "tests/kernels/elements.h"

namespace rushlight {
namespace {

using namespace kernels;
using Bytes = std::vector<int8_t>;
using Ints = std::vector<int32_t>;

// The bias with the input zero point folded in; weight(o, i) is the i-th of an output's weights.
template <class Weight>
Ints folded_bias(const Vector& v, int32_t outputs, int32_t depth, Weight weight) {
  Ints bias(static_cast<size_t>(outputs));
  if (v.has("bias")) bias = v.values<int32_t>("bias");
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

// int16: "s64_reduced_multiplier" vectors have int64 sums and a 16-bit multiplier.
template <class Params>
KernelCase with_weights_s16(const std::string& stem, const Params& p, const Vector& v, int32_t outputs) {
  const bool wide = v.params.at("requant") == "s64_reduced_multiplier";
  CaseBuilder builder((stem + (wide ? "_wide_s16" : "_s16")).c_str(), wide ? Mode::exact : Mode::double_, p,
                      v.name);
  builder.input(v.values<int16_t>("input")).input(v.values<int8_t>("weights"));
  Ints multipliers = v.per_channel("multiplier", outputs);
  if (wide) {
    std::vector<int64_t> bias(static_cast<size_t>(outputs));
    if (v.has("bias")) bias = v.values<int64_t>("bias");
    for (int32_t& m : multipliers) m = std::min(32767, ((m >> 15) + 1) >> 1);
    builder.input(bias);
  } else {
    builder.input(folded_bias(v, outputs, 0, [](int32_t, int32_t) { return 0; }));
  }
  return builder.input(multipliers)
      .input(v.per_channel("shift", outputs))
      .output(v.values<int16_t>("output"))
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

KernelCase conv2d_s16(const Vector& v) {
  const auto p = conv_params<Conv2dParams>(v, v.number("groups"));
  return with_weights_s16("quantized_conv2d", p, v, p.output_channels);
}

KernelCase depthwise_conv2d_s16(const Vector& v) {
  const auto p = conv_params<DepthwiseConv2dParams>(v, v.number("ch_mult"));
  return with_weights_s16("quantized_depthwise_conv2d", p, v, p.output_channels);
}

KernelCase fully_connected_s16(const Vector& v) {
  const LinearParams p{v.extent("input", 0), v.extent("input", 1), v.extent("output", 1), v.range()};
  return with_weights_s16("quantized_linear", p, v, p.output_features);
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

constexpr CmsisNnOperator kLayers[] = {
    {"conv2d_s8", conv2d},
    {"conv2d_s16", conv2d_s16},
    {"depthwise_conv2d_s8", depthwise_conv2d},
    {"depthwise_conv2d_s16", depthwise_conv2d_s16},
    {"fully_connected_s8", fully_connected},
    {"fully_connected_s16", fully_connected_s16},
};

}  // namespace

std::span<const CmsisNnOperator> cmsisnn_layers() { return kLayers; }

}  // namespace rushlight
