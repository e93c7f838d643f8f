// SPDX-License-Identifier: Apache-2.0
// conv2d, depthwise_conv2d, linear.
#include "tests/kernels/random.h"
#include "tests/kernels/reference.h"

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
  Ints folded;
  std::vector<Factor> factors;
};

// weight(o, i) is the i-th of the `depth` weights of output o.
template <class Weight>
Channels channels(Random& random, int32_t outputs, int32_t depth, int32_t zero_point, Weight weight) {
  Channels result;
  const double magnitude = std::sqrt(static_cast<double>(depth)) * 74 * 74;
  for (int32_t o = 0; o < outputs; ++o) {
    int64_t sum = 0;
    int64_t bound = 0;
    for (int32_t i = 0; i < depth; ++i) {
      sum += weight(o, i);
      bound += 128 * std::abs(weight(o, i));
    }
    const int64_t extreme = random.pick({INT32_MAX - bound, INT32_MIN + bound});
    const int64_t usual = random.wide(-2, 2) * static_cast<int64_t>(magnitude / 2) - zero_point * sum;
    result.folded.push_back(static_cast<int32_t>(random.chance(5) ? extreme : usual));
    result.bias.push_back(result.folded.back() + zero_point * sum);
  }
  result.factors = random.factors(outputs, magnitude);
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

template <class Params>
Bytes spread_out(const Params& p, const Bytes& dense) {
  const int32_t last = p.output_offset + (p.batch - 1) * p.output_batch_pitch +
                       (p.output_height - 1) * p.output_row_pitch +
                       (p.output_width - 1) * p.output_pixel_pitch;
  Bytes memory(static_cast<size_t>(last + p.output_channels), 0x55);
  size_t next = 0;
  reference::for_each_index(
      {p.batch, p.output_height, p.output_width, p.output_channels}, [&](const Ints& at) {
        const int32_t to = p.output_offset + at[0] * p.output_batch_pitch + at[1] * p.output_row_pitch +
                           at[2] * p.output_pixel_pitch + at[3];
        memory[static_cast<size_t>(to)] = dense[next++];
      });
  return memory;
}

KernelCase with_weights(CaseBuilder builder, const Bytes& input, const Bytes& weights, const Channels& c,
                        const Bytes& output) {
  return builder.input(input)
      .input(weights)
      .input(c.folded)
      .input(multipliers_of(c.factors))
      .input(shifts_of(c.factors))
      .output(output)
      .done();
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

void add_conv2d(std::vector<KernelCase>& cases, Random& random, Mode mode, const Shape& s) {
  const Spread to = spread(random, s.y.output(), s.x.output(), s.outputs);
  const Conv2dParams p{s.batch,      s.y.input,           s.x.input,    s.channels,     s.y.output(),
                       s.x.output(), s.outputs,           s.y.kernel,   s.x.kernel,     s.y.stride,
                       s.x.stride,   s.y.dilation,        s.x.dilation, s.y.pad_before, s.x.pad_before,
                       s.groups,     random.zero_point(), to.offset,    to.batch,       to.row,
                       to.pixel,     random.range()};
  const int32_t depth = s.y.kernel * s.x.kernel * s.channels / s.groups;
  const Bytes input = random.bytes(s.batch * s.y.input * s.x.input * s.channels);
  const Bytes weights = random.bytes(s.outputs * depth, -127);
  const Channels c = channels(random, s.outputs, depth, p.input_zero_point, [&](int32_t o, int32_t i) {
    return int64_t{weights[static_cast<size_t>(o * depth + i)]};
  });
  const Bytes output = spread_out(p, reference::conv2d(mode, p, input, weights, c.bias, c.factors));
  CaseBuilder builder("quantized_conv2d_s8", mode, p, text(s) + random.tag());
  cases.push_back(with_weights(builder, input, weights, c, output));
}

void add_depthwise(std::vector<KernelCase>& cases, Random& random, Mode mode, const Shape& s) {
  const int32_t outputs = s.channels * s.outputs;
  const Spread to = spread(random, s.y.output(), s.x.output(), outputs);
  const DepthwiseConv2dParams p{
      s.batch,      s.y.input,      s.x.input,      s.channels,    s.y.output(),        s.x.output(),
      outputs,      s.y.kernel,     s.x.kernel,     s.y.stride,    s.x.stride,          s.y.dilation,
      s.x.dilation, s.y.pad_before, s.x.pad_before, s.outputs,     random.zero_point(), to.offset,
      to.batch,     to.row,         to.pixel,       random.range()};
  const int32_t taps = s.y.kernel * s.x.kernel;
  const Bytes input = random.bytes(s.batch * s.y.input * s.x.input * s.channels);
  const Bytes weights = random.bytes(taps * outputs, -127);
  const Channels c = channels(random, outputs, taps, p.input_zero_point, [&](int32_t o, int32_t i) {
    return int64_t{weights[static_cast<size_t>(i * outputs + o)]};
  });
  const Bytes output = spread_out(p, reference::depthwise_conv2d(mode, p, input, weights, c.bias, c.factors));
  CaseBuilder builder("quantized_depthwise_conv2d_s8", mode, p, text(s) + random.tag());
  cases.push_back(with_weights(builder, input, weights, c, output));
}

void add_linear(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const LinearParams p{random.in(1, 3), random.pick({1, 2, 3, 4, 5, 8, 17, 33, 100}),
                       random.pick({1, 2, 3, 5, 8, 10}), random.range()};
  const int32_t zero_point = random.zero_point();
  const Bytes input = random.bytes(p.rows * p.input_features);
  const Bytes weights = random.bytes(p.output_features * p.input_features, -127);
  const Channels c = channels(
      random, p.output_features, p.input_features, zero_point,
      [&](int32_t o, int32_t i) { return int64_t{weights[static_cast<size_t>(o * p.input_features + i)]}; });
  const Bytes output = reference::linear(mode, p, zero_point, input, weights, c.bias, c.factors);
  const std::string sizes = std::to_string(p.rows) + "x" + std::to_string(p.input_features) + "x" +
                            std::to_string(p.output_features) + " ";
  CaseBuilder builder("quantized_linear_s8", mode, p, sizes + random.tag());
  cases.push_back(with_weights(builder, input, weights, c, output));
}

// Accumulators that are the bias alone, at both ends of int32 and
// around ties: the whole of requantization, one element a factor.
void add_accumulators(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  Channels c;
  for (int i = 0; i < 128; ++i) {
    const Factor f{random.pick({1 << 30, INT32_MAX, 3 << 29, random.in(1 << 30, INT32_MAX)}),
                   random.in(-32, 30)};
    int64_t acc = random.pick<int64_t>({INT32_MIN, INT32_MAX, 0, 1, -1, random.wide(INT32_MIN, INT32_MAX)});
    // An accumulator next to a half-integer after scaling.
    const double tie = random.in(-140, 140) + 0.5;
    const int32_t step = random.in(-1, 1);
    if (random.chance(50)) acc = std::llround(tie * std::exp2(31 - f.shift) / f.multiplier) + step;
    c.factors.push_back(f);
    c.folded.push_back(static_cast<int32_t>(std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, acc))));
    c.bias.push_back(c.folded.back());
  }
  const LinearParams p{1, 1, 128, random.range()};
  const Bytes input = {0};
  const Bytes weights(128, 1);
  const Bytes output = reference::linear(mode, p, 0, input, weights, c.bias, c.factors);
  CaseBuilder builder("quantized_linear_s8", mode, p, "accumulators " + random.tag());
  cases.push_back(with_weights(builder, input, weights, c, output));
}

}  // namespace

void add_convolution_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (const Mode mode : {Mode::single_, Mode::double_}) {
    for (const Shape& shape : kShapes) {
      add_conv2d(cases, random, mode, shape);
      add_depthwise(cases, random, mode, shape);
    }
    for (int i = 0; i < 25 * scale; ++i) {
      add_conv2d(cases, random, mode, random_shape(random));
      Shape depthwise = random_shape(random);
      depthwise.outputs = random.pick({1, 1, 1, 2, 3, 4, 5, 8});
      add_depthwise(cases, random, mode, depthwise);
      add_linear(cases, random, mode);
      add_accumulators(cases, random, mode);
    }
  }
}

}  // namespace rushlight
