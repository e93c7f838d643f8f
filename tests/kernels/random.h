// SPDX-License-Identifier: Apache-2.0
// Random test data that depends on the seed alone (the standard's distributions differ between libraries),
// drawn so that extremes, ties and saturation are common.
#pragma once

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "tests/kernels/case.h"

namespace rushlight {

struct Random {
  uint64_t seed;
  std::mt19937_64 engine{seed};

  // Uniform in lo..hi.
  int64_t wide(int64_t lo, int64_t hi) {
    const uint64_t span = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) + 1;
    return static_cast<int64_t>(static_cast<uint64_t>(lo) + (span == 0 ? engine() : engine() % span));
  }
  int32_t in(int32_t lo, int32_t hi) { return static_cast<int32_t>(wide(lo, hi)); }
  bool chance(int percent) { return in(0, 99) < percent; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[in(0, static_cast<int32_t>(values.size()) - 1)];
  }
  double unit() { return static_cast<double>(engine() >> 11) * 0x1p-53; }

  int32_t zero_point() { return pick({-128, 127, 0, in(-128, 127)}); }

  std::vector<int8_t> bytes(int64_t n, int32_t lo = -128, int32_t hi = 127) {
    const bool extremes = chance(15);
    std::vector<int8_t> values(static_cast<size_t>(n));
    for (int8_t& x : values) x = static_cast<int8_t>(extremes ? pick({lo, hi}) : in(lo, hi));
    return values;
  }
  kernels::OutputRange range() {
    kernels::OutputRange range{zero_point(), -128, 127};
    if (chance(30)) range.lo = range.zero_point;  // relu
    if (chance(20)) range.hi = in(range.lo, 127);
    if (chance(10)) range.lo = in(-128, range.hi);
    return range;
  }
  // A factor that brings accumulators of this magnitude into int8, give or take; now and then any at all.
  kernels::Factor factor(double magnitude) {
    if (chance(3)) return {0, in(-32, 30)};
    const int32_t multiplier = chance(20) ? pick({1 << 30, INT32_MAX, 3 << 29}) : in(1 << 30, INT32_MAX);
    if (chance(8)) return {multiplier, in(-32, 30)};
    const int shift = static_cast<int>(std::floor(std::log2(90.0 / std::fmax(magnitude, 1)))) + in(-2, 2);
    return {multiplier, std::min(30, std::max(-32, shift))};
  }
  std::vector<kernels::Factor> factors(int32_t n, double magnitude) {
    std::vector<kernels::Factor> list;
    for (int32_t i = 0; i < n; ++i) list.push_back(factor(magnitude));
    return list;
  }
  std::string tag() const { return "(seed " + std::to_string(seed) + ")"; }
};

inline std::vector<int32_t> multipliers_of(const std::vector<kernels::Factor>& factors) {
  std::vector<int32_t> list;
  for (const kernels::Factor& f : factors) list.push_back(f.multiplier);
  return list;
}
inline std::vector<int32_t> shifts_of(const std::vector<kernels::Factor>& factors) {
  std::vector<int32_t> list;
  for (const kernels::Factor& f : factors) list.push_back(f.shift);
  return list;
}

// One a file of cases; `scale` multiplies their number.
void add_elementwise_cases(std::vector<KernelCase>& cases, Random& random, int scale);
void add_quantize_cases(std::vector<KernelCase>& cases, Random& random, int scale);
void add_movement_cases(std::vector<KernelCase>& cases, Random& random, int scale);
void add_convolution_cases(std::vector<KernelCase>& cases, Random& random, int scale);
void add_function_cases(std::vector<KernelCase>& cases, Random& random, int scale);
void add_line_cases(std::vector<KernelCase>& cases, Random& random, int scale);
void add_pooling_cases(std::vector<KernelCase>& cases, Random& random, int scale);

inline constexpr void (*kCaseFamilies[])(std::vector<KernelCase>& cases, Random& random, int scale) = {
    add_quantize_cases, add_elementwise_cases, add_movement_cases, add_convolution_cases,
    add_pooling_cases,  add_function_cases,    add_line_cases,
};

}  // namespace rushlight
