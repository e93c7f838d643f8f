// SPDX-License-Identifier: Apache-2.0
// quantize, dequantize, requantize, clamp, of int8 and int16.
#include "tests/kernels/elements.h"

namespace rushlight {
namespace {

using namespace kernels;

// Reals around the grid of 1 / inverse_scale: ties, their neighbours, both ends, and what is not a number.
// `reach` is a little beyond the outputs.
std::vector<float> reals(Random& random, float inverse_scale, int32_t reach) {
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
    const float tie = (static_cast<float>(random.in(-reach, reach)) + 0.5f) / inverse_scale;
    values.insert(values.end(), {tie, std::nextafter(tie, infinity), std::nextafter(tie, -infinity)});
    values.push_back(static_cast<float>((random.unit() - 0.5) * 2 * reach) / inverse_scale);
  }
  return values;
}

template <class T>
void add_quantize(std::vector<KernelCase>& cases, Random& random) {
  const float scale =
      random.pick({1.0f, 0.25f, 3.0f, static_cast<float>(std::exp2(random.unit() * 20 - 15))});
  const float inverse_scale = 1 / scale;
  const std::vector<float> in = reals(random, inverse_scale, sizeof(T) == 1 ? 300 : 40000);
  const QuantizeParams p{static_cast<int32_t>(in.size()), std::bit_cast<int32_t>(inverse_scale),
                         random_range<T>(random)};
  std::vector<T> out;
  for (const float x : in)
    out.push_back(reference::clamp_to<T>(reference::quantize(x, inverse_scale, p.output.zero_point),
                                         p.output.lo, p.output.hi));
  cases.push_back(CaseBuilder(kernel_of<T>("quantize_per_tensor").c_str(), Mode::exact, p, random.tag())
                      .input(in)
                      .output(out)
                      .done());
}

template <class T>
void add_dequantize(std::vector<KernelCase>& cases, Random& random) {
  const float scale = static_cast<float>(std::exp2(random.unit() * 20 - 15));
  std::vector<T> in = random_elements<T>(random, 256);
  if (sizeof(T) == 1)
    for (int i = 0; i < 256; ++i) in[static_cast<size_t>(i)] = static_cast<T>(i - 128);
  const DequantizeParams p{256, std::bit_cast<int32_t>(scale), random_zero_point<T>(random)};
  std::vector<float> out;
  for (const T x : in)
    out.push_back(static_cast<float>(static_cast<double>(x - p.zero_point) * static_cast<double>(scale)));
  cases.push_back(CaseBuilder(kernel_of<T>("dequantize_per_tensor").c_str(), Mode::exact, p, random.tag())
                      .input(in)
                      .output(out)
                      .done());
}

template <class T>
void add_requantize(std::vector<KernelCase>& cases, Random& random, Mode mode) {
  const std::vector<T> in = random_elements<T>(random, random.pick({1, 2, 3, 4, 5, 15, 16, 17, 64}));
  const RequantizeParams p{static_cast<int32_t>(in.size()), random_zero_point<T>(random), random.factor(100),
                           random_range<T>(random)};
  std::vector<T> out;
  for (const T x : in)
    out.push_back(reference::requantize_to<T>(mode, x - p.input_zero_point, p.factor, p.output));
  CaseBuilder builder(kernel_of<T>("requantize").c_str(), mode, p, random.tag());
  builder.input(in);
  cases.push_back(random.chance(50) ? builder.output(out).done() : builder.output_in_place(0, out).done());
}

template <class From, class To>
void add_requantize_between(std::vector<KernelCase>& cases, Random& random, const char* name, Mode mode) {
  const std::vector<From> in = random_elements<From>(random, random.pick({1, 2, 3, 4, 5, 15, 16, 17, 64}));
  const double magnitude = sizeof(From) == 1 ? 0.5 : 25600;
  const RequantizeParams p{static_cast<int32_t>(in.size()), random_zero_point<From>(random),
                           random.factor(magnitude), random_range<To>(random)};
  std::vector<To> out;
  for (const From x : in)
    out.push_back(reference::requantize_to<To>(mode, x - p.input_zero_point, p.factor, p.output));
  cases.push_back(CaseBuilder(name, mode, p, random.tag()).input(in).output(out).done());
}

template <class T>
void add_clamp(std::vector<KernelCase>& cases, Random& random) {
  const std::vector<T> in = random_elements<T>(random, random.pick({1, 2, 3, 4, 5, 15, 16, 17, 64}));
  const OutputRange range = random_range<T>(random);
  const ClampParams p{static_cast<int32_t>(in.size()), range.lo, range.hi};
  std::vector<T> out;
  for (const T x : in) out.push_back(reference::clamp_to<T>(x, p.lo, p.hi));
  CaseBuilder builder(kernel_of<T>("clamp").c_str(), Mode::exact, p, random.tag());
  builder.input(in);
  cases.push_back(random.chance(50) ? builder.output(out).done() : builder.output_in_place(0, out).done());
}

}  // namespace

void add_quantize_cases(std::vector<KernelCase>& cases, Random& random, int scale) {
  for (int i = 0; i < 30 * scale; ++i) {
    add_quantize<int8_t>(cases, random);
    add_quantize<int16_t>(cases, random);
    add_dequantize<int8_t>(cases, random);
    add_dequantize<int16_t>(cases, random);
    for (const Mode mode : {Mode::single_, Mode::double_}) {
      for (int k = 0; k < 4; ++k) add_requantize<int8_t>(cases, random, mode);
      add_requantize<int16_t>(cases, random, mode);
      add_requantize_between<int8_t, int16_t>(cases, random, "requantize_s8_s16", mode);
      add_requantize_between<int16_t, int8_t>(cases, random, "requantize_s16_s8", mode);
    }
    add_clamp<int8_t>(cases, random);
    add_clamp<int16_t>(cases, random);
  }
}

}  // namespace rushlight
