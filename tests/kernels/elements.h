// SPDX-License-Identifier: Apache-2.0
// Random tensors and exact outputs of one element type, int8 or int16, for kernels that come in both.
#pragma once

#include <limits>

#include "tests/kernels/random.h"
#include "tests/kernels/reference.h"

namespace rushlight {

// "copy" -> "copy_s8", "copy_s16"
template <class T>
std::string kernel_of(const char* stem) {
  return std::string(stem) + (sizeof(T) == 1 ? "_s8" : "_s16");
}

template <class T>
std::vector<T> random_elements(Random& random, int64_t n) {
  constexpr int32_t lo = std::numeric_limits<T>::min();
  constexpr int32_t hi = std::numeric_limits<T>::max();
  const bool extremes = random.chance(15);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& x : values) x = static_cast<T>(extremes ? random.pick({lo, hi}) : random.in(lo, hi));
  return values;
}

// int16 is symmetric.
template <class T>
int32_t random_zero_point(Random& random) {
  return sizeof(T) == 1 ? random.zero_point() : 0;
}

template <class T>
kernels::OutputRange random_range(Random& random) {
  if (sizeof(T) == 1) return random.range();
  kernels::OutputRange range{0, INT16_MIN, INT16_MAX};
  if (random.chance(30)) range.lo = 0;  // relu
  if (random.chance(20)) range.hi = random.in(range.lo, INT16_MAX);
  if (random.chance(10)) range.lo = random.in(INT16_MIN, range.hi);
  return range;
}

namespace reference {

template <class T>
T requantize_mean_to(Mode mode, Wide sum, Factor f, const OutputRange& range) {
  if (mode == Mode::single_ && sum < 0) --f.multiplier;
  return requantize_to<T>(mode, sum, f, range);
}

}  // namespace reference
}  // namespace rushlight
