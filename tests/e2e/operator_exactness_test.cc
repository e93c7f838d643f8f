// SPDX-License-Identifier: Apache-2.0
// Layers, means and pools, in both rounding modes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "tests/e2e/trials.h"

namespace rushlight::e2e {
namespace {

Trial requantize(Random& random, Rounding rounding) {
  const Ints shape = {random.in(1, 3), random.in(1, 130)};
  const Quant in = random_quant(random, 4);
  const Quant out = random.chance(25) ? in : random_quant(random, random.pick({1.0, 4.0, 9.0}));
  const Unary u(random, shape, shape, in, out);
  Trial trial = u.trial("requantize", "(%x)");
  for (const int8_t q : u.values) {
    const Wide acc = q - in.zero_point;
    if (in.scale == out.scale && in.zero_point == out.zero_point) {
      const auto range = u.range();
      trial.exact.push_back(reference::clamp(q, range.lo, range.hi));
      trial.fake.push_back({trial.exact.back(), false});
    } else {
      u.push(trial, rounding, acc, in.scale / out.scale, in.real(q));
    }
  }
  return trial;
}

Trial linear(Random& random, Rounding rounding) {
  const int32_t rows = random.in(1, 4), inputs = random.in(1, 70), outputs = random.in(1, 12);
  const Quant in = random_quant(random, 3);
  const Weights w(random, outputs, inputs, in.scale);
  const Unary u(random, {rows, inputs}, {rows, outputs}, in, random_quant(random, w.reach()));
  Trial trial = u.trial("aten.linear", "(" + w.operands() + ")", w.constants({outputs, inputs}));
  for (int32_t r = 0; r < rows; ++r)
    for (int32_t o = 0; o < outputs; ++o) {
      Wide acc = w.added(o);
      for (int32_t i = 0; i < inputs; ++i)
        acc += Wide{u.values[static_cast<size_t>(r * inputs + i)] - in.zero_point} * w.weight(o, i);
      const double product = in.scale * w.scale(o);
      // TFLite multiplies the scales of a per-tensor layer in float32.
      const bool in_float = rounding == Rounding::double_rounding && w.scales.size() == 1;
      const double used =
          in_float ? static_cast<double>(static_cast<float>(in.scale) * static_cast<float>(w.scale(o)))
                   : product;
      u.push(trial, rounding, acc, used / u.out.scale, static_cast<double>(acc) * product);
    }
  return trial;
}

struct Axis {
  int32_t in, kernel, stride, dilation, before, after;
  int32_t out() const { return (in + before + after - dilation * (kernel - 1) - 1) / stride + 1; }
};
Axis random_axis(Random& random) {
  Axis axis{random.in(4, 9), random.in(1, 4), random.in(1, 3), random.in(1, 2), 0, 0};
  if (axis.dilation * (axis.kernel - 1) >= axis.in) axis.dilation = 1;
  axis.before = random.in(0, axis.kernel / 2), axis.after = random.in(0, axis.kernel / 2);
  return axis;
}

Trial convolution(Random& random, Rounding rounding, bool depthwise) {
  const Axis h = random_axis(random), v = random_axis(random);
  const int32_t batch = random.in(1, 2), groups = depthwise ? random.in(2, 6) : random.pick({1, 1, 2});
  const int32_t depth = depthwise ? 1 : random.in(groups == 1 ? 1 : 2, 5);
  const int32_t channels = groups * random.in(1, 3), per_group = channels / groups;
  const Quant in = random_quant(random, 3);
  const Weights w(random, channels, depth * h.kernel * v.kernel, in.scale);
  const Unary u(random, {batch, groups * depth, h.in, v.in}, {batch, channels, h.out(), v.out()}, in,
                random_quant(random, w.reach()));
  const std::string attributes =
      fmt::format(" {{stride=[{},{}], padding=[{},{},{},{}], dilation=[{},{}], groups={}}}", h.stride,
                  v.stride, h.before, v.before, h.after, v.after, h.dilation, v.dilation, groups);
  Trial trial = u.trial("aten.conv2d", "(" + w.operands() + ")" + attributes,
                        w.constants({channels, depth, h.kernel, v.kernel}));
  trial.op = depthwise ? "aten.conv2d, depthwise" : "aten.conv2d";
  reference::for_each_index(u.out_shape, [&](const Ints& at) {
    Wide acc = w.added(at[1]);
    reference::for_each_index({depth, h.kernel, v.kernel}, [&](const Ints& k) {
      acc +=
          Wide{u.tap(at[0], at[1] / per_group * depth + k[0], at[2] * h.stride - h.before + k[1] * h.dilation,
                     at[3] * v.stride - v.before + k[2] * v.dilation)} *
          w.weight(at[1], (k[0] * h.kernel + k[1]) * v.kernel + k[2]);
    });
    const double product = in.scale * w.scale(at[1]);
    u.push(trial, rounding, acc, product / u.out.scale, static_cast<double>(acc) * product);
  });
  return trial;
}

Trial mean(Random& random, Rounding rounding) {
  const Ints shape = {random.in(1, 3), random.in(1, 6), random.in(1, 7), random.in(1, 7)};
  const Ints dims = random.pick<Ints>({{2, 3}, {1}, {3}, {0, 2}, {1, 2, 3}});
  const bool keep = random.chance(50);
  const auto reduced = [&](size_t d) {
    return std::find(dims.begin(), dims.end(), static_cast<int32_t>(d)) != dims.end();
  };
  Ints kept = shape, out_shape;
  int32_t n = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced(d)) n *= shape[d], kept[d] = 1;
    if (!reduced(d) || keep) out_shape.push_back(kept[d]);
  }
  const Quant in = random_quant(random, 3),
              out = random.chance(30) ? in : random_quant(random, 3 / std::sqrt(n));
  const Unary u(random, shape, out_shape, in, out);
  Trial trial =
      u.trial("aten.mean", fmt::format("(%x) {{dim=[{}], keepdim={}}}", fmt::join(dims, ","), keep));
  reference::for_each_index(kept, [&](const Ints& at) {
    Ints window = shape;
    for (size_t d = 0; d < shape.size(); ++d)
      if (!reduced(d)) window[d] = 1;
    Wide sum = 0;
    reference::for_each_index(
        window, [&](const Ints& k) { sum += u.tap(at[0] + k[0], at[1] + k[1], at[2] + k[2], at[3] + k[3]); });
    u.push_mean(trial, rounding, sum, in.scale / (out.scale * n), static_cast<double>(sum) * in.scale / n);
  });
  return trial;
}

// One output's window along an axis, and how many of its places count.
struct Window {
  int32_t begin, end, counted;
};

// The mean over windows that `rows` and `columns` give for each output position.
Trial pool(Random& random, Rounding rounding, const std::string& op, const std::string& attributes,
           const Ints& in_shape, const std::vector<Window>& rows, const std::vector<Window>& columns,
           int32_t divisor) {
  const Quant in = random_quant(random, 3), out = random.chance(50) ? in : random_quant(random, 2);
  const Ints out_shape = {in_shape[0], in_shape[1], static_cast<int32_t>(rows.size()),
                          static_cast<int32_t>(columns.size())};
  const Unary u(random, in_shape, out_shape, in, out);
  Trial trial = u.trial(op, "(%x) " + attributes);
  const bool divides =
      rounding == Rounding::double_rounding && in.scale == out.scale && in.zero_point == out.zero_point;
  reference::for_each_index(u.out_shape, [&](const Ints& at) {
    const Window row = rows[static_cast<size_t>(at[2])], column = columns[static_cast<size_t>(at[3])];
    Wide sum = 0;
    for (int32_t y = row.begin; y < row.end; ++y)
      for (int32_t x = column.begin; x < column.end; ++x) sum += u.tap(at[0], at[1], y, x);
    const int32_t n = divisor != 0 ? divisor : row.counted * column.counted;
    u.push_mean(trial, rounding, sum, in.scale / (out.scale * n), static_cast<double>(sum) * in.scale / n);
    // TFLite divides the stored integers, padding being the zero point.
    if (divides)
      trial.exact.back() = reference::clamp(reference::round_half_away(sum + Wide{n} * in.zero_point, n),
                                            u.range().lo, u.range().hi);
  });
  return trial;
}

Trial avg_pool(Random& random, Rounding rounding) {
  const bool counts_padding = random.chance(50);
  const int32_t divisor = random.chance(20) ? random.in(2, 9) : 0;
  const auto windows = [&](const Axis& axis) {
    std::vector<Window> all;
    for (int32_t o = 0; o < axis.out(); ++o) {
      const int32_t begin = o * axis.stride - axis.before, end = begin + axis.kernel;
      const int32_t real = std::min(end, axis.in) - std::max(begin, 0);
      all.push_back({begin, end, counts_padding ? axis.kernel : real});
    }
    return all;
  };
  const auto axis = [&] {
    Axis a{random.in(4, 9), random.in(1, 4), random.in(1, 3), 1, 0, 0};
    a.before = a.after = random.in(0, a.kernel / 2);
    return a;
  };
  const Axis h = axis(), v = axis();
  const std::string attributes =
      fmt::format("{{kernel_size=[{},{}], stride=[{},{}], padding=[{},{}], count_include_pad={}{}}}",
                  h.kernel, v.kernel, h.stride, v.stride, h.before, v.before, counts_padding,
                  divisor != 0 ? fmt::format(", divisor_override={}", divisor) : "");
  return pool(random, rounding, "aten.avg_pool2d", attributes, {random.in(1, 2), random.in(1, 6), h.in, v.in},
              windows(h), windows(v), divisor);
}

Trial adaptive_pool(Random& random, Rounding rounding) {
  const Ints shape = {random.in(1, 2), random.in(1, 6), random.in(1, 9), random.in(1, 9)};
  const auto windows = [](int32_t in, int32_t out) {
    std::vector<Window> all;
    for (int32_t o = 0; o < out; ++o) {
      const auto begin = static_cast<int32_t>(std::floor(static_cast<double>(o) * in / out));
      const auto end = static_cast<int32_t>(std::ceil(static_cast<double>(o + 1) * in / out));
      all.push_back({begin, end, end - begin});
    }
    return all;
  };
  const int32_t height = random.in(1, shape[2]), width = random.in(1, shape[3]);
  return pool(random, rounding, "aten.adaptive_avg_pool2d",
              fmt::format("{{output_size=[{},{}]}}", height, width), shape, windows(shape[2], height),
              windows(shape[3], width), 0);
}

TEST(OperatorExactness, EveryOperatorInBothModes) {
  Random random{test_seed()};
  const std::function<Trial(Random&, Rounding)> makers[] = {
      requantize,
      linear,
      [](Random& r, Rounding mode) { return convolution(r, mode, false); },
      [](Random& r, Rounding mode) { return convolution(r, mode, true); },
      mean,
      avg_pool,
      adaptive_pool,
  };
  Tally tally;
  for (const auto& make : makers)
    for (int round = 0; round < 250; ++round)
      for (const Rounding rounding : {Rounding::single, Rounding::double_rounding}) {
        tally.run(make(random, rounding), rounding);
        if (HasFatalFailure()) return;
      }
  tally.finish();
}

// Both are float32 operations on the device: round_half_even(x * float32(1 / s)), and float32(s) * (q - zero
// point).
TEST(OperatorExactness, QuantizeAndDequantize) {
  Random random{test_seed()};
  Tally tally;
  for (int round = 0; round < 200; ++round) {
    const Quant quant = random_quant(random, 3);
    const auto inverse = static_cast<float>(1 / quant.scale);
    const std::string attributes =
        fmt::format("{{scale={}, zero_point={}, quant_min=-128, quant_max=127, dtype=\"i8\"}}",
                    real_text(quant.scale), quant.zero_point);
    Trial trial{
        "quantize_per_tensor",
        fmt::format(
            "graph @g(%x: f32[40]) {{\n  %o: i8[40]{} = quantize_per_tensor(%x) {}\n  return %o\n}}\n",
            quant.text(), attributes),
        {},
        {},
        {}};
    std::vector<float> x(40);
    for (float& value : x) {
      value = static_cast<float>((random.unit() * 2 - 1) * 5);
      if (random.chance(10))
        value = (static_cast<float>(random.in(-200, 200)) + 0.5F) * static_cast<float>(quant.scale);
      if (random.chance(3)) value = random.pick({1e38F, -1e38F, 1e30F, -0.0F, 1e-30F});
      const kernels::OutputRange range{quant.zero_point, -128, 127};
      trial.exact.push_back(reference::quantize(value, inverse, range));
      // Ties go to even here, and float32 decides what is one.
      Fake fake = fake_quantize(static_cast<double>(value), quant, range);
      const double steps = static_cast<double>(value) / quant.scale;
      fake.tie = fake.tie || std::abs(steps - std::floor(steps) - 0.5) < 1e-5;
      trial.fake.push_back(fake);
    }
    trial.inputs = {Tensor::of<float>({40}, x)};
    tally.run(trial, Rounding::single);
    if (HasFatalFailure()) return;

    const std::string back = fmt::format(
        "graph @g(%x: i8[256]{}) {{\n  %o: f32[256] = dequantize_per_tensor(%x) {}\n  return %o\n}}\n",
        quant.text(), attributes);
    Bytes all(256);
    for (int32_t q = -128; q < 128; ++q) all[static_cast<size_t>(q + 128)] = static_cast<int8_t>(q);
    const Tensor result = run_graph(back, Rounding::single, {int8_tensor({256}, all)});
    for (int32_t q = -128; q < 128; ++q)
      ASSERT_EQ(
          result.as<float>()[static_cast<size_t>(q + 128)],
          static_cast<float>(static_cast<double>(static_cast<float>(quant.scale)) * (q - quant.zero_point)));
  }
  tally.finish();
}

}  // namespace
}  // namespace rushlight::e2e
