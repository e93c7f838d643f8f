// SPDX-License-Identifier: Apache-2.0
// What trials of single operators share: an activation with its parameters, and a layer's weights.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/e2e/exactness.h"
#include "types/real_text.h"

namespace rushlight::e2e {

using reference::Bytes;
using reference::Ints;
using reference::Wide;

// An operator of one activation: the shapes, parameters and inputs that all trials need.
struct Unary {
  Ints in_shape, out_shape;
  Quant in, out;
  Clamp clamp;
  Bytes values;

  Unary(Random& random, Ints input, Ints output, Quant from, Quant to)
      : in_shape(std::move(input)),
        out_shape(std::move(output)),
        in(from),
        out(to),
        clamp(random_clamp(random, to)),
        values(random.bytes(reference::count(in_shape))) {}

  kernels::OutputRange range() const { return clamp.range(out); }
  // `constants`: lines before the node; `arguments`: "%x, ..." and the attributes.
  std::string graph(const std::string& op, const std::string& call, const std::string& constants = "") const {
    return fmt::format("graph @g(%x: i8{}{}) {{\n{}  %o: i8{}{} = {}{}{}\n  return %o\n}}\n",
                       shape_text(in_shape), in.text(), constants, shape_text(out_shape), out.text(), op,
                       call, clamp.text());
  }
  Trial trial(const std::string& op, const std::string& call, const std::string& constants = "") const {
    return {op, graph(op, call, constants), {int8_tensor(in_shape, values)}, {}, {}};
  }
  // The input less its zero point at N,C,H,W; 0 outside.
  int32_t tap(int32_t n, int32_t c, int32_t y, int32_t x) const {
    if (y < 0 || x < 0 || y >= in_shape[2] || x >= in_shape[3]) return 0;
    const int32_t at = ((n * in_shape[1] + c) * in_shape[2] + y) * in_shape[3] + x;
    return values[static_cast<size_t>(at)] - in.zero_point;
  }
  // acc * factor, rounded as the mode says and, with the real number it stands for, by fake quantization.
  void push(Trial& trial, Rounding rounding, Wide acc, double factor, double real) const {
    trial.exact.push_back(reference::requantize(mode_of(rounding), acc, exact_factor(factor), range()));
    trial.fake.push_back(fake_quantize(real, out, range()));
  }
  // The same for a sum with 1/n in the factor.
  void push_mean(Trial& trial, Rounding rounding, Wide sum, double factor, double real) const {
    trial.exact.push_back(
        reference::requantize_mean(mode_of(rounding), sum, exact_mean_factor(factor, rounding), range()));
    trial.fake.push_back(fake_quantize(real, out, range()));
  }
};

// Weights of a layer, an output channel a row.
struct Weights {
  int32_t channels, inner;
  Bytes values;
  std::vector<double> scales;  // one, or one a channel
  std::vector<int32_t> bias;   // empty: none
  double in_scale;

  Weights(Random& random, int32_t rows, int32_t columns, double input_scale)
      : channels(rows),
        inner(columns),
        values(random.bytes(int64_t{rows} * columns, -127, 127)),
        in_scale(input_scale) {
    const bool per_channel = random.chance(75);
    for (int32_t c = 0; c < (per_channel ? channels : 1); ++c)
      scales.push_back(static_cast<double>(static_cast<float>(std::exp2(random.unit() * 3 - 9))));
    if (random.chance(75))
      for (int32_t c = 0; c < channels; ++c) bias.push_back(random.in(-9000, 9000));
  }
  bool per_channel() const { return scales.size() > 1 || channels == 1; }
  double scale(int32_t c) const { return scales[scales.size() == 1 ? 0 : static_cast<size_t>(c)]; }
  std::string quant_text(double factor, const char* end) const {
    std::string text = scales.size() > 1 ? "<axis=0; " : "<";
    for (size_t c = 0; c < scales.size(); ++c)
      text += fmt::format("{}{}:0", c == 0 ? "" : ", ", real_text(scales[c] * factor));
    return text + end;
  }
  std::string constants(const Ints& shape) const {
    std::string text = fmt::format("  %w: i8{}{} = constant {}\n", shape_text(shape),
                                   quant_text(1, "; -127..127>"), list_text(values));
    if (!bias.empty())
      text += fmt::format("  %b: i32[{}]{} = constant {}\n", channels, quant_text(in_scale, ">"),
                          list_text(bias));
    return text;
  }
  std::string operands() const { return bias.empty() ? "%x, %w, none" : "%x, %w, %b"; }
  int32_t weight(int32_t c, int32_t i) const { return values[static_cast<size_t>(c * inner + i)]; }
  int32_t added(int32_t c) const { return bias.empty() ? 0 : bias[static_cast<size_t>(c)]; }
  // About what a channel's output reaches.
  double reach() const { return in_scale * scales[0] * 73 * 73 * std::sqrt(inner); }
};

}  // namespace rushlight::e2e
