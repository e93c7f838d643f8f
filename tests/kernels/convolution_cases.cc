// SPDX-License-Identifier: Apache-2.0
// conv2d, depthwise_conv2d, linear.
#include "tests/kernels/elements.h"

namespace rushlight {
namespace {

using namespace kernels;
using reference::Bytes;
using reference::Ints;

struct Axis {
  int32_t input, kernel, stride, dilation, pad_before, pad_after;

  int32_t span() const { return (kernel - 1) * dilation + 1; }
  int32_t output() const { return (input + pad_before + pad_after - span()) / stride + 1; }
  bool valid() const { return input + pad_before + pad_after >= span(); }
};

// `outputs` is the count of output channels, or the channel multiplier of a depthwise convolution.
struct Shape {
  int32_t batch;
  Axis y, x;
  int32_t channels, outputs, groups;
};

const Shape kShapes[] = {
    {1, {5, 3, 1, 1, 1, 1}, {7, 3, 1, 1, 1, 1}, 8, 8, 1},   // SAME
    {2, {6, 3, 2, 1, 0, 1}, {5, 3, 2, 1, 1, 0}, 3, 5, 1},   // batch, strides, one-sided pads
    {1, {1, 1, 1, 1, 0, 0}, {9, 4, 1, 1, 1, 2}, 1, 3, 1},   // one dimension, even kernel
    {1, {3, 1, 1, 1, 0, 0}, {5, 1, 1, 1, 0, 0}, 17, 9, 1},  // 1x1
    {2, {5, 1, 2, 1, 0, 0}, {6, 1, 3, 1, 0, 0}, 4, 2, 1},   // 1x1 with strides
    {1, {7, 3, 1, 2, 2, 2}, {6, 2, 1, 3, 3, 0}, 2, 3, 1},   // dilation
    {1, {2, 5, 1, 1, 2, 2}, {3, 7, 1, 1, 3, 3}, 2, 2, 1},   // kernel larger than the input
    {1, {3, 2, 1, 1, 4, 4}, {2, 2, 2, 1, 3, 5}, 3, 2, 1},   // windows wholly in the padding
    {1, {2, 3, 1, 2, 2, 2}, {1, 3, 1, 5, 5, 5}, 5, 4, 1},   // dilated kernel larger than the input
    {1, {4, 3, 1, 1, 1, 1}, {5, 3, 1, 1, 1, 1}, 6, 9, 3},   // groups
    {1, {4, 2, 2, 2, 1, 0}, {5, 3, 1, 2, 2, 1}, 8, 8, 8},   // a group a channel
    {3, {4, 4, 4, 1, 0, 0}, {4, 4, 4, 1, 0, 0}, 5, 1, 1},   // whole image
};

Axis random_axis(Random& random) {
  for (;;) {
    const Axis axis{random.in(1, 8), random.in(1, 4), random.in(1, 3),
                    random.in(1, 3), random.in(0, 3), random.in(0, 3)};
    if (axis.valid()) return axis;
  }
}

Shape random_shape(Random& random) {
  Shape s{random.in(1, 2), random_axis(random), random_axis(random), 0, 0, 0};
  s.groups = random.pick({1, 1, 1, 2, 3});
  s.channels = s.groups * random.pick({1, 2, 3, 4, 5, 8, 17});
  s.outputs = s.groups * random.pick({1, 2, 3, 4, 5, 8});
  return s;
}

// The part that all kernels with weights share: a bias for every output, its form with the input zero point
// folded in, and factors. Now and then the folded bias is as extreme as the accumulator's bound allows.
struct Channels {
  std::vector<int64_t> bias;  // the layer's own; beyond int32 where the folded one is extreme
  std::vector<int64_t> folded;
  std::vector<Factor> factors;
};

// "quantized_linear" -> "quantized_linear_s8", "quantized_linear_s16"; Mode::exact has int64 sums.
template <class T>
std::string layer_kernel(const char* stem, Mode mode) {
  return kernel_of<T>((stem + std::string(mode == Mode::exact ? "_wide" : "")).c_str());
}

// A factor that brings sums of this magnitude into T, for sums as the mode has them.
template <class T>
Factor sum_factor(Random& random, Mode mode, double magnitude) {
  Factor factor = random.factor(magnitude / (sizeof(T) == 1 ? 1 : 256));
  if (mode != Mode::exact) return factor;
  factor.multiplier = random.chance(10) ? random.pick({1 << 14, 32767}) : random.in(1 << 14, 32767);
  factor.shift = std::min(factor.shift, 14);
  return factor;
}

// weight(o, i) is the i-th of the `depth` weights of output o.
template <class T, class Weight>
Channels channels(Random& random, Mode mode, int32_t outputs, int32_t depth, int32_t zero_point,
                  Weight weight) {
  Channels result;
  const double element = sizeof(T) == 1 ? 74 : 74 * 256;
  const double magnitude = std::sqrt(static_cast<double>(depth)) * 74 * element;
  const int64_t reach = -int64_t{std::numeric_limits<T>::min()};
  const int64_t greatest = mode == Mode::exact ? int64_t{1} << 47 : INT32_MAX;
  for (int32_t o = 0; o < outputs; ++o) {
    int64_t sum = 0;
    int64_t bound = 0;
    for (int32_t i = 0; i < depth; ++i) {
      sum += weight(o, i);
      bound += reach * std::abs(weight(o, i));
    }
    const int64_t extreme = random.pick({greatest - bound, -greatest + bound});
    const int64_t usual = random.wide(-2, 2) * static_cast<int64_t>(magnitude / 2) - zero_point * sum;
    result.folded.push_back(random.chance(5) ? extreme : usual);
    result.bias.push_back(result.folded.back() + zero_point * sum);
    result.factors.push_back(sum_factor<T>(random, mode, magnitude));
  }
  return result;
}

// The output as it comes, or with gaps between pixels, rows and images that stay as they were.
struct Spread {
  int32_t offset, batch, row, pixel;
};

Spread spread(Random& random, int32_t height, int32_t width, int32_t channels) {
  const bool gaps = random.chance(30);
  Spread s{gaps ? random.in(0, 5) : 0, 0, 0, channels};
  if (gaps) s.pixel += random.in(0, 7);
  s.row = s.pixel * width + (gaps ? random.in(0, 3) : 0);
  s.batch = s.row * height + (gaps ? random.in(0, 3) : 0);
  return s;
}

template <class Params, class T>
std::vector<T> spread_out(const Params& p, const std::vector<T>& dense) {
  const int32_t last = p.output_offset + (p.batch - 1) * p.output_batch_pitch +
                       (p.output_height - 1) * p.output_row_pitch +
                       (p.output_width - 1) * p.output_pixel_pitch;
  std::vector<T> memory(static_cast<size_t>(last + p.output_channels), static_cast<T>(0x5555));
  size_t next = 0;
  reference::for_each_index(
      {p.batch, p.output_height, p.output_width, p.output_channels}, [&](const Ints& at) {
        const int32_t to = p.output_offset + at[0] * p.output_batch_pitch + at[1] * p.output_row_pitch +
                           at[2] * p.output_pixel_pitch + at[3];
        memory[static_cast<size_t>(to)] = dense[next++];
      });
  return memory;
}

template <class T>
KernelCase with_weights(CaseBuilder builder, Mode mode, const std::vector<T>& input, const Bytes& weights,
                        const Channels& c, const std::vector<T>& output) {
  builder.input(input).input(weights);
  if (mode == Mode::exact)
    builder.input(c.folded);
  else
    builder.input(Ints(c.folded.begin(), c.folded.end()));
  return builder.input(multipliers_of(c.factors)).input(shifts_of(c.factors)).output(output).done();
}

std::string text(const Shape& s) {
  std::string result = "batch " + std::to_string(s.batch);
  for (const Axis& a : {s.y, s.x})
    result += " [in " + std::to_string(a.input) + " k " + std::to_string(a.kernel) + " s " +
              std::to_string(a.stride) + " d " + std::to_string(a.dilation) + " p " +
              std::to_string(a.pad_before) + "," + std::to_string(a.pad_after) + "]";
  return result + " channels " + std::to_string(s.channels) + " outputs " + std::to_string(s.outputs) +
         " groups " + std::to_string(s.groups) + " ";
}

template <class T>
void add_conv2d(std::vector<KernelCase>& cases, Random& random, Mode mode, const Shape& s) {
  const Spread to = spread(random, s.y.output(), s.x.output(), s.outputs);
  const Conv2dParams p{s.batch,
                       s.y.input,
                       s.x.input,
                       s.channels,
                       s.y.output(),
                       s.x.output(),
                       s.outputs,
                       s.y.kernel,
                       s.x.kernel,
                       s.y.stride,
                       s.x.stride,
                       s.y.dilation,
                       s.x.dilation,
                       s.y.pad_before,
                       s.x.pad_before,
                       s.groups,
                       random_zero_point<T>(random),
                       to.offset,
                       to.batch,
                       to.row,
                       to.pixel,
                       random_range<T>(random)};
  const int32_t depth = s.y.kernel * s.x.kernel * s.channels / s.groups;
  const std::vector<T> input = random_elements<T>(random, s.batch * s.y.input * s.x.input * s.channels);
  const Bytes weights = random.bytes(s.outputs * depth, -127);
  const Channels c =
      channels<T>(random, mode, s.outputs, depth, p.input_zero_point,
                  [&](int32_t o, int32_t i) { return int64_t{weights[static_cast<size_t>(o * depth + i)]}; });
  const std::vector<T> output = spread_out(p, reference::conv2d(mode, p, input, weights, c.bias, c.factors));
  CaseBuilder builder(layer_kernel<T>("quantized_conv2d", mode).c_str(), mode, p, text(s) + random.tag());
  cases.push_back(with_weights(builder, mode, input, weights, c, output));
}

template <class T>
void add_depthwise(std::vector<KernelCase>& cases, Random& random, Mode mode, const Shape& s) {
  const int32_t outputs = s.channels * s.outputs;
  const Spread to = spread(random, s.y.output(), s.x.output(), outputs);
  const DepthwiseConv2dParams p{s.batch,
                                s.y.input,
                                s.x.input,
                                s.channels,
                                s.y.output(),
                                s.x.output(),
                                outputs,
                                s.y.kernel,
                                s.x.kernel,
                                s.y.stride,
                                s.x.stride,
                                s.y.dilation,
                                s.x.dilation,
                                s.y.pad_before,
                                s.x.pad_before,
                                s.outputs,
                                random_zero_point<T>(random),
                                to.offset,
                                to.batch,
                                to.row,
                                to.pixel,
                                random_range<T>(random)};
  const int32_t taps = s.y.kernel * s.x.kernel;
  const std::vector<T> input = random_elements<T>(random, s.batch * s.y.input * s.x.input * s.channels);
  const Bytes weights = random.bytes(taps * outputs, -127);
  const Channels c = channels<T>(random, mode, outputs, taps, p.input_zero_point, [&](int32_t o, int32_t i) {
    return int64_t{weights[static_cast<size_t>(i * outputs + o)]};
  });
  const std::vector<T> output =
      spread_out(p, reference::depthwise_conv2d(mode, p, input, weights, c.bias, c.factors));
  CaseBuilder builder(layer_kernel<T>("quantized_depthwise_conv2d", mode).c_str(), mode, p,
                      text(s) + random.tag());
  cases.push_back(with_weights(builder, mode, input, weights, c, output));
}

template <class T>
void add_linear(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const LinearParams p{random.in(1, 3), random.pick({1, 2, 3, 4, 5, 8, 17, 33, 100}),
                       random.pick({1, 2, 3, 5, 8, 10}), random_range<T>(random)};
  const int32_t zero_point = random_zero_point<T>(random);
  const std::vector<T> input = random_elements<T>(random, p.rows * p.input_features);
  const Bytes weights = random.bytes(p.output_features * p.input_features, -127);
  const Channels c = channels<T>(
      random, mode, p.output_features, p.input_features, zero_point,
      [&](int32_t o, int32_t i) { return int64_t{weights[static_cast<size_t>(o * p.input_features + i)]}; });
  const std::vector<T> output = reference::linear(mode, p, zero_point, input, weights, c.bias, c.factors);
  const std::string sizes = std::to_string(p.rows) + "x" + std::to_string(p.input_features) + "x" +
                            std::to_string(p.output_features) + " ";
  CaseBuilder builder(layer_kernel<T>("quantized_linear", mode).c_str(), mode, p, sizes + random.tag());
  cases.push_back(with_weights(builder, mode, input, weights, c, output));
}

// Accumulators that are the bias alone, at both ends of int32 and
// around ties: the whole of requantization, one element a factor.
template <class T>
void add_accumulators(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  Channels c;
  for (int i = 0; i < 128; ++i) {
    Factor f{random.pick({1 << 30, INT32_MAX, 3 << 29, random.in(1 << 30, INT32_MAX)}), random.in(-32, 30)};
    if (mode == Mode::exact) f = {std::min(32767, f.multiplier >> 16), std::min(f.shift, 14)};
    const int64_t least = mode == Mode::exact ? -(int64_t{1} << 47) : INT32_MIN;
    const int64_t greatest = -(least + 1);
    int64_t acc = random.pick<int64_t>({least, greatest, 0, 1, -1, random.wide(least, greatest)});
    // An accumulator next to a half-integer after scaling.
    const double tie = random.in(-140, 140) * (sizeof(T) == 1 ? 1 : 250) + 0.5;
    const int32_t step = random.in(-1, 1);
    const int bits = mode == Mode::exact ? 15 : 31;
    if (random.chance(50)) acc = std::llround(tie * std::exp2(bits - f.shift) / f.multiplier) + step;
    c.factors.push_back(f);
    c.folded.push_back(std::min(greatest, std::max(least, acc)));
    c.bias.push_back(c.folded.back());
  }
  const LinearParams p{1, 1, 128, random_range<T>(random)};
  const std::vector<T> input = {0};
  const Bytes weights(128, 1);
  const std::vector<T> output = reference::linear(mode, p, 0, input, weights, c.bias, c.factors);
  CaseBuilder builder(layer_kernel<T>("quantized_linear", mode).c_str(), mode, p,
                      "accumulators " + random.tag());
  cases.push_back(with_weights(builder, mode, input, weights, c, output));
}

template <class T>
void add_layers(std::vector<KernelCase>& cases, Random& random, int scale, Mode mode) {
  for (const Shape& shape : kShapes) {
    add_conv2d<T>(cases, random, mode, shape);
    add_depthwise<T>(cases, random, mode, shape);
  }
  for (int i = 0; i < 25 * scale; ++i) {
    add_conv2d<T>(cases, random, mode, random_shape(random));
    Shape depthwise = random_shape(random);
    depthwise.outputs = random.pick({1, 1, 1, 2, 3, 4, 5, 8});
    add_depthwise<T>(cases, random, mode, depthwise);
    add_linear<T>(cases, random, mode);
    add_accumulators<T>(cases, random, mode);
  }
}

}  // namespace

void add_convolution_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (const Mode mode : {Mode::single_, Mode::double_}) {
    add_layers<int8_t>(cases, random, scale, mode);
    add_layers<int16_t>(cases, random, scale, mode);
  }
  add_layers<int16_t>(cases, random, scale, Mode::exact);
}

}  // namespace rushlight
