// SPDX-License-Identifier: Apache-2.0
// Convolution and linear layers: weights re-laid out, input zero point folded into the bias, one factor a
// channel, and the proof that no accumulator can overflow.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cortex_m/lowering.h"

namespace rushlight::lowering {
namespace {

struct Layer {
  std::vector<int64_t> bias;    // folded: bias - input zero point * sum of weights
  std::vector<double> factors;  // of each channel
  int64_t greatest = 0;         // magnitude that an accumulator can reach
  // Channels whose output is one integer, whatever the input: weights of 0, or a result that is always
  // clamped.
  int64_t constant_channels = 0;
};

// A bias may be stored at a scale that differs from input * weight by the rounding of float32, not by more.
constexpr double kBiasScaleTolerance = 1e-6;

Status check_bias_scale(const Quantization& bias, double expected, size_t c) {
  if (std::abs(bias.scale(c) / expected - 1) <= kBiasScaleTolerance) return {};
  return unsupported("the bias",
                     fmt::format("of channel {} has the scale {}; it must be input scale times weight scale, "
                                 "{}",
                                 c, bias.scale(c), expected));
}

// Real factor of one output channel. TFLite multiplies the scales of a per-tensor linear layer in float32; so
// does `double` mode.
double channel_factor(const Lowering& l, const Node& node, const Quantization& weight, size_t c) {
  const double input = l.type(node.operands[0]).quant.scale();
  const double output = l.result_type(node).quant.scale();
  if (l.rounding() == Rounding::double_rounding && node.op == "aten.linear"_op && !weight.per_channel())
    return static_cast<double>(static_cast<float>(input) * static_cast<float>(weight.scale())) / output;
  return input * weight.scale(c) / output;
}

// Accumulators within `reach` of `middle` all end on one side of the range.
bool is_constant(int64_t middle, int64_t reach, double factor, const kernels::OutputRange& range) {
  const auto output = [&](int64_t acc) { return factor * static_cast<double>(acc) + range.zero_point; };
  return reach == 0 || output(middle + reach) < range.lo || output(middle - reach) > range.hi;
}

int bits_of(int64_t magnitude) {
  int bits = 1;
  while (magnitude >> (bits - 1) != 0) ++bits;
  return bits;
}

// `weight` with the output channel first: [channels][inner].
Result<Layer> prepare(const Lowering& l, const Node& node, const Tensor& weight) {
  const Quantization& weight_quant = l.type(node.operands[1]).quant;
  const TensorType& input = l.type(node.operands[0]);
  const auto w = weight.as<int8_t>();
  const auto channels = static_cast<size_t>(weight.shape()[0]);
  const size_t inner = channels == 0 ? 0 : w.size() / channels;
  const bool has_bias = node.operands[2] != ValueId::none;
  // Whatever range the type states: a program's inputs are any integers, padding is the zero point.
  const bool is_int16 = l.element(node) == DType::int16;
  const int64_t reach = is_int16 ? 32768 : 128;
  const kernels::OutputRange range = output_range(node.clamp.lo, node.clamp.hi, l.result_type(node).quant);
  Layer layer;
  for (size_t c = 0; c < channels; ++c) {
    int64_t sum = 0;
    int64_t magnitude = 0;
    for (size_t i = c * inner; i < (c + 1) * inner; ++i) {
      sum += w[i];
      magnitude += std::abs(int64_t{w[i]});
    }
    int64_t bias = 0;
    if (has_bias) {
      if (Status s = check_bias_scale(l.type(node.operands[2]).quant,
                                      input.quant.scale() * weight_quant.scale(c), c);
          !s)
        return forward(s);
      bias = l.graph().constant(node.operands[2]).as<int32_t>()[c];
    }
    const int64_t folded = bias - int64_t{input.quant.zero_point()} * sum;
    // Bounds every partial sum, whatever the order of the taps.
    const int64_t greatest = std::abs(folded) + magnitude * reach;
    if (greatest > INT32_MAX && !is_int16)
      return unsupported("the accumulator",
                         fmt::format("of channel {} can reach {}; int32 holds 2147483647. The bias or "
                                     "the weights of that channel are too large for their scale",
                                     c, greatest));
    layer.greatest = std::max(layer.greatest, greatest);
    const double real = channel_factor(l, node, weight_quant, c);
    layer.constant_channels += is_constant(folded, magnitude * reach, real, range) ? 1 : 0;
    layer.bias.push_back(folded);
    layer.factors.push_back(real);
  }
  return layer;
}

Status check_weights(const Lowering& l, const Node& node) {
  for (size_t i = 1; i < node.operands.size(); ++i)
    if (node.operands[i] != ValueId::none && !l.graph().is_constant(node.operands[i]))
      return unsupported(fmt::format("operand '{}'", node.row().operand(i).name),
                         "is computed; weights and biases must be constants");
  if (l.type(node.operands[1]).dtype != DType::int8)
    return unsupported("the weight",
                       fmt::format("is {}; int8 is supported", to_string(l.type(node.operands[1]))));
  if (node.operands[2] != ValueId::none && l.type(node.operands[2]).dtype != DType::int32)
    return unsupported("the bias",
                       fmt::format("is {}; int32 is supported", to_string(l.type(node.operands[2]))));
  return {};
}

std::vector<int8_t> permuted_weights(const Tensor& weight, std::vector<int> order) {
  const Tensor packed = weight.permuted(order);
  const auto w = packed.as<int8_t>();
  return {w.begin(), w.end()};
}

// The fields that Conv2dParams and DepthwiseConv2dParams share.
template <class Params>
void fill_window(Params& p, const Lowering& l, const Node& node) {
  const Shape& in = l.type(node.operands[0]).shape;
  const Shape& kernel = l.type(node.operands[1]).shape;
  const Shape& out = l.result_type(node).shape;
  const Attributes attrs = node.attrs();
  const auto [stride_h, stride_w] = attrs.pair("stride");
  const auto [dilation_h, dilation_w] = attrs.pair("dilation");
  const Integers& padding = attrs.integers("padding");
  const auto set = [](int32_t& field, int64_t value) { field = static_cast<int32_t>(value); };
  set(p.batch, in[0]);
  set(p.input_channels, in[1]);
  set(p.input_height, in[2]);
  set(p.input_width, in[3]);
  set(p.output_channels, out[1]);
  set(p.output_height, out[2]);
  set(p.output_width, out[3]);
  set(p.kernel_height, kernel[2]);
  set(p.kernel_width, kernel[3]);
  set(p.stride_height, stride_h);
  set(p.stride_width, stride_w);
  set(p.dilation_height, dilation_h);
  set(p.dilation_width, dilation_w);
  set(p.pad_top, padding[0]);
  set(p.pad_left, padding.size() > 1 ? padding[1] : padding[0]);
  p.input_zero_point = l.type(node.operands[0]).quant.zero_point();
  const Lowering::Placement* placed = l.placement(node.result());
  const int64_t pitch = placed ? l.type(placed->whole).shape[1] : out[1];
  set(p.output_offset, placed ? placed->channel : 0);
  set(p.output_pixel_pitch, pitch);
  set(p.output_row_pitch, pitch * out[3]);
  set(p.output_batch_pitch, pitch * out[3] * out[2]);
  p.output = output_range(node.clamp.lo, node.clamp.hi, l.result_type(node).quant);
}

template <class Params>
Status call_layer(Lowering& l, const Node& node, std::string_view kernel, const Params& params,
                  const std::vector<int8_t>& weights, const Layer& layer, int64_t macs) {
  if (layer.constant_channels > 0)
    l.note(node,
           fmt::format("{} of {} output channels are the same for every input: their weights are 0, or their "
                       "results are always clamped; the layer could be made narrower",
                       layer.constant_channels, layer.bias.size()));
  const bool wide = layer.greatest > INT32_MAX;
  std::vector<int32_t> multipliers;
  std::vector<int32_t> shifts;
  for (const double real : layer.factors) {
    const auto factor = wide ? make_sum_factor(real) : make_factor(real);
    if (!factor) return tl::unexpected(factor.error());
    multipliers.push_back(factor->multiplier);
    shifts.push_back(factor->shift);
  }
  const std::vector<int32_t> narrow_bias(layer.bias.begin(), layer.bias.end());
  const Lowering::Placement* placed = l.placement(node.result());
  return l.call(node, wide ? fmt::format("{}_wide", kernel) : std::string(kernel), params,
                {l.bind(node.operands[0]), l.constant(node, "weights", weights),
                 wide ? l.constant(node, "bias", layer.bias) : l.constant(node, "bias", narrow_bias),
                 l.constant(node, "multipliers", multipliers), l.constant(node, "shifts", shifts),
                 l.bind(placed ? placed->whole : node.result())},
                {macs, {}, bits_of(layer.greatest)});
}

}  // namespace

Status conv2d(Lowering& l, const Node& node) {
  if (Status s = check_weights(l, node); !s) return s;
  auto layer = prepare(l, node, l.graph().constant(node.operands[1]));
  if (!layer) return forward(layer);
  const Tensor& weight = l.graph().constant(node.operands[1]);
  const int64_t groups = node.attrs().integer("groups");
  const int64_t input_channels = l.type(node.operands[0]).shape[1];
  const int64_t taps = weight.elements() / weight.shape()[0];
  const int64_t macs = l.result_type(node).elements() * taps;
  if (groups == input_channels && groups > 1) {
    kernels::DepthwiseConv2dParams params{};
    fill_window(params, l, node);
    params.channel_multiplier = static_cast<int32_t>(weight.shape()[0] / groups);
    return call_layer(l, node, "quantized_depthwise_conv2d", params, permuted_weights(weight, {2, 3, 0, 1}),
                      *layer, macs);
  }
  kernels::Conv2dParams params{};
  fill_window(params, l, node);
  params.groups = static_cast<int32_t>(groups);
  return call_layer(l, node, "quantized_conv2d", params, permuted_weights(weight, {0, 2, 3, 1}), *layer,
                    macs);
}

namespace {

// Along one axis, the outputs o = phase, phase + stride, ... of a transposed convolution read taps first_tap,
// first_tap + tap_step, ... of the kernel, from input positions that fall by input_step a tap: a convolution.
struct Phase {
  int64_t outputs = 0;
  int64_t first_tap = 0, tap_step = 1, taps = 0;
  int64_t input_step = 1;
  int64_t first_input = 0;  // of the first output's first tap
};

Phase phase_of(int64_t phase, int64_t output, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  Phase p;
  p.outputs = (output - phase + stride - 1) / stride;
  p.tap_step = stride / std::gcd(stride, dilation);
  p.input_step = dilation / std::gcd(stride, dilation);
  // Tap k reads input (o + pad - k dilation) / stride where that is whole.
  while (p.first_tap < kernel && (phase + pad - p.first_tap * dilation) % stride != 0) ++p.first_tap;
  if (p.first_tap == kernel) return p;
  p.taps = (kernel - p.first_tap + p.tap_step - 1) / p.tap_step;
  p.first_input = (phase + pad - p.first_tap * dilation) / stride;
  return p;
}

// The taps of one phase in order of rising input position, [O][I / groups][h][w].
Tensor phase_weights(const Tensor& weight, const Phase& y, const Phase& x) {
  const Shape& shape = weight.shape();
  Tensor part(DType::int8, {shape[0], shape[1], y.taps, x.taps});
  int64_t at = 0;
  for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    for (int64_t i = y.taps; i-- > 0;)
      for (int64_t j = x.taps; j-- > 0;)
        part.set(at++, weight.at((plane * shape[2] + y.first_tap + i * y.tap_step) * shape[3] + x.first_tap +
                                 j * x.tap_step));
  return part;
}

template <class Params>
Params phase_params(const Lowering& l, const Node& node, const Phase& y, const Phase& x) {
  Params p{};
  fill_window(p, l, node);
  const auto set = [](int32_t& field, int64_t value) { field = static_cast<int32_t>(value); };
  const auto [stride_h, stride_w] = node.attrs().pair("stride");
  set(p.output_height, y.outputs);
  set(p.output_width, x.outputs);
  set(p.kernel_height, y.taps);
  set(p.kernel_width, x.taps);
  set(p.stride_height, 1);
  set(p.stride_width, 1);
  set(p.dilation_height, y.input_step);
  set(p.dilation_width, x.input_step);
  set(p.pad_top, (y.taps - 1) * y.input_step - y.first_input);
  set(p.pad_left, (x.taps - 1) * x.input_step - x.first_input);
  p.output_row_pitch *= static_cast<int32_t>(stride_h);
  p.output_pixel_pitch *= static_cast<int32_t>(stride_w);
  return p;
}

}  // namespace

// Each of the stride_h * stride_w residues of the output position is a convolution of its own, without a
// multiplication by an inserted zero.
Status conv_transpose2d(Lowering& l, const Node& node) {
  if (Status s = check_weights(l, node); !s) return s;
  const Shape& in = l.type(node.operands[0]).shape;
  const Shape& out = l.result_type(node).shape;
  const Tensor& weight = l.graph().constant(node.operands[1]);
  const Attributes attrs = node.attrs();
  const auto [stride_h, stride_w] = attrs.pair("stride");
  const auto [dilation_h, dilation_w] = attrs.pair("dilation");
  const auto [pad_h, pad_w] = attrs.pair("padding");
  const int64_t groups = attrs.integer("groups");
  for (int64_t py = 0; py < std::min(stride_h, out[2]); ++py)
    for (int64_t px = 0; px < std::min(stride_w, out[3]); ++px) {
      const Phase y = phase_of(py, out[2], weight.shape()[2], stride_h, pad_h, dilation_h);
      const Phase x = phase_of(px, out[3], weight.shape()[3], stride_w, pad_w, dilation_w);
      const Tensor part = phase_weights(weight, y, x);
      auto layer = prepare(l, node, part);
      if (!layer) return forward(layer);
      const int64_t offset = (py * out[3] + px) * out[1];
      const int64_t macs = in[0] * y.outputs * x.outputs * part.elements();
      Status called;
      if (groups == in[1] && groups > 1) {
        auto params = phase_params<kernels::DepthwiseConv2dParams>(l, node, y, x);
        params.channel_multiplier = static_cast<int32_t>(out[1] / groups);
        params.output_offset = static_cast<int32_t>(offset);
        called = call_layer(l, node, "quantized_depthwise_conv2d", params,
                            permuted_weights(part, {2, 3, 0, 1}), *layer, macs);
      } else {
        auto params = phase_params<kernels::Conv2dParams>(l, node, y, x);
        params.groups = static_cast<int32_t>(groups);
        params.output_offset = static_cast<int32_t>(offset);
        called = call_layer(l, node, "quantized_conv2d", params, permuted_weights(part, {0, 2, 3, 1}), *layer,
                            macs);
      }
      if (!called) return called;
    }
  return {};
}

Status linear(Lowering& l, const Node& node) {
  if (Status s = check_weights(l, node); !s) return s;
  auto layer = prepare(l, node, l.graph().constant(node.operands[1]));
  if (!layer) return forward(layer);
  const Tensor& weight = l.graph().constant(node.operands[1]);
  const int64_t outputs = weight.shape()[0];
  const int64_t inputs = weight.shape()[1];
  const int64_t rows = l.result_type(node).elements() / std::max<int64_t>(outputs, 1);
  const kernels::LinearParams params{static_cast<int32_t>(rows), static_cast<int32_t>(inputs),
                                     static_cast<int32_t>(outputs),
                                     output_range(node.clamp.lo, node.clamp.hi, l.result_type(node).quant)};
  const auto w = weight.as<int8_t>();
  return call_layer(l, node, "quantized_linear", params, {w.begin(), w.end()}, *layer,
                    rows * inputs * outputs);
}

}  // namespace rushlight::lowering
