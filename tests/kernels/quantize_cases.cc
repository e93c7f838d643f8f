// SPDX-License-Identifier: Apache-2.0
// quantize, dequantize, requantize, clamp.
#include <limits>

#include "tests/kernels/random.h"
#include "tests/kernels/reference.h"

namespace rushlight {
namespace {

using namespace kernels;

// Reals around the grid of 1 / inverse_scale: ties, their neighbours, both ends, and what is not a number.
std::vector<float> reals(Random& random, float inverse_scale) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0f,
                               -0.0f,
                               infinity,
                               -infinity,
                               std::numeric_limits<float>::quiet_NaN(),
                               -std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::lowest(),
                               std::numeric_limits<float>::min(),
                               std::numeric_limits<float>::denorm_min(),
                               4e9f,
                               -4e9f,
                               -2147483648.0f};
  for (int i = 0; i < 60; ++i) {
    const float tie = (static_cast<float>(random.in(-300, 300)) + 0.5f) / inverse_scale;
    values.insert(values.end(), {tie, std::nextafter(tie, infinity), std::nextafter(tie, -infinity)});
    values.push_back(static_cast<float>((random.unit() - 0.5) * 600) / inverse_scale);
  }
  return values;
}

void add_quantize(std::vector<KernelCase>& cases, Random& random) {
  const float scale =
      random.pick({1.0f, 0.25f, 3.0f, static_cast<float>(std::exp2(random.unit() * 20 - 15))});
  const float inverse_scale = 1 / scale;
  const std::vector<float> in = reals(random, inverse_scale);
  const QuantizeParams p{static_cast<int32_t>(in.size()), std::bit_cast<int32_t>(inverse_scale),
                         random.range()};
  std::vector<int8_t> out;
  for (const float x : in) out.push_back(reference::quantize(x, inverse_scale, p.output));
  cases.push_back(
      CaseBuilder("quantize_per_tensor_s8", Mode::exact, p, random.tag()).input(in).output(out).done());
}

void add_dequantize(std::vector<KernelCase>& cases, Random& random) {
  const float scale = static_cast<float>(std::exp2(random.unit() * 20 - 15));
  std::vector<int8_t> in(256);
  for (int i = 0; i < 256; ++i) in[static_cast<size_t>(i)] = static_cast<int8_t>(i - 128);
  const DequantizeParams p{256, std::bit_cast<int32_t>(scale), random.zero_point()};
  std::vector<float> out;
  for (const int8_t x : in)
    out.push_back(static_cast<float>(static_cast<double>(x - p.zero_point) * static_cast<double>(scale)));
  cases.push_back(
      CaseBuilder("dequantize_per_tensor_s8", Mode::exact, p, random.tag()).input(in).output(out).done());
}

void add_requantize(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const std::vector<int8_t> in = random.bytes(random.pick({1, 2, 3, 4, 5, 15, 16, 17, 64}));
  const RequantizeParams p{static_cast<int32_t>(in.size()), random.zero_point(), random.factor(100),
                           random.range()};
  std::vector<int8_t> out;
  for (const int8_t x : in)
    out.push_back(reference::requantize(mode, x - p.input_zero_point, p.factor, p.output));
  CaseBuilder builder("requantize_s8", mode, p, random.tag());
  builder.input(in);
  cases.push_back(random.chance(50) ? builder.output(out).done() : builder.output_in_place(0, out).done());
}

void add_clamp(std::vector<KernelCase>& cases, Random& random) {
  const std::vector<int8_t> in = random.bytes(random.pick({1, 2, 3, 4, 5, 15, 16, 17, 64}));
  const OutputRange range = random.range();
  const ClampParams p{static_cast<int32_t>(in.size()), range.lo, range.hi};
  std::vector<int8_t> out;
  for (const int8_t x : in) out.push_back(reference::clamp(x, p.lo, p.hi));
  CaseBuilder builder("clamp_s8", Mode::exact, p, random.tag());
  builder.input(in);
  cases.push_back(random.chance(50) ? builder.output(out).done() : builder.output_in_place(0, out).done());
}

}  // namespace

void add_quantize_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (int i = 0; i < 30 * scale; ++i) {
    add_quantize(cases, random);
    add_dequantize(cases, random);
    for (int k = 0; k < 4; ++k) {
      add_requantize(cases, random, Mode::single_);
      add_requantize(cases, random, Mode::double_);
    }
    add_clamp(cases, random);
  }
}

}  // namespace rushlight
