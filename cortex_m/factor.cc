// SPDX-License-Identifier: Apache-2.0
#include "cortex_m/factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rushlight {
namespace {

constexpr int largest_add_shift(DType element) { return element == DType::int8 ? 22 : 30; }

// The most that m_a a + m_b b + offset can reach, in any order of summation. Whatever range the types state:
// a program's inputs are any int8.
double greatest_intermediate(const AddFactors& f) {
  constexpr double kReach = 128;
  return kReach *
             (std::abs(static_cast<double>(f.multiplier_a)) + std::abs(static_cast<double>(f.multiplier_b))) +
         std::abs(static_cast<double>(f.offset));
}

Result<kernels::Factor> rounded_factor(double factor, double (*round)(double)) {
  if (!(factor > 0) || !std::isfinite(factor))
    return input_error("scales",
                       fmt::format("give the rescaling factor {}; it must be a positive number", factor));
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);  // in [0.5, 1)
  auto multiplier = static_cast<int64_t>(round(std::ldexp(fraction, 31)));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++exponent;
  }
  if (exponent < -31) return kernels::Factor{0, 0};
  if (exponent > 30)
    return input_error(
        "scales", fmt::format("give the rescaling factor {}; the greatest allowed is below 2^30", factor));
  return kernels::Factor{static_cast<int32_t>(multiplier), exponent};
}

}  // namespace

Result<kernels::Factor> make_factor(double factor) {
  return rounded_factor(factor, [](double x) { return std::round(x); });
}

Result<kernels::Factor> make_mean_factor(double factor, Rounding rounding) {
  if (rounding == Rounding::double_rounding) return make_factor(factor);
  return rounded_factor(factor, [](double x) { return std::ceil(x); });
}

Result<kernels::Factor> make_sum_factor(double factor) {
  Result<kernels::Factor> whole = make_factor(factor);
  if (!whole) return whole;
  if (whole->shift > 14)
    return input_error(
        "scales",
        fmt::format("give the rescaling factor {}; a sum of int16 products allows less than 2^14", factor));
  whole->multiplier = std::min(32767, ((whole->multiplier >> 15) + 1) >> 1);
  return whole;
}

kernels::OutputRange output_range(double clamp_lo, double clamp_hi, const Quantization& quant) {
  kernels::OutputRange range{quant.zero_point(), quant.lo, quant.hi};
  range.lo = quantize(clamp_lo, quant);
  range.hi = quantize(clamp_hi, quant);
  return range;
}

Result<AddFactors> make_add_factors(const Quantization& a, const Quantization& b, double alpha,
                                    const Quantization& output, DType element) {
  const double ratio_a = a.scale() / output.scale();
  const double ratio_b = b.scale() / output.scale() * alpha;
  for (int shift = largest_add_shift(element); shift >= 0; --shift) {
    const double multiplier_a = std::round(std::ldexp(ratio_a, shift));
    const double multiplier_b = std::round(std::ldexp(ratio_b, shift));
    const double rounding = shift == 0 ? 0 : std::ldexp(1.0, shift - 1);
    const double offset = rounding + std::ldexp(static_cast<double>(output.zero_point()), shift) -
                          multiplier_a * a.zero_point() - multiplier_b * b.zero_point();
    constexpr double kLimit = INT32_MAX;
    if (std::abs(multiplier_a) > kLimit || std::abs(multiplier_b) > kLimit || std::abs(offset) > kLimit)
      continue;
    const AddFactors factors{static_cast<int32_t>(multiplier_a), static_cast<int32_t>(multiplier_b),
                             static_cast<int32_t>(offset), shift};
    if (element == DType::int16 || greatest_intermediate(factors) <= kLimit) return factors;
  }
  return unsupported("scales",
                     fmt::format("of the inputs are {} and {} times the output's; above about 2^23 the sum "
                                 "does not fit 32 bits",
                                 ratio_a, ratio_b));
}

}  // namespace rushlight
