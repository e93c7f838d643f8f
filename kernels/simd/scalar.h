// SPDX-License-Identifier: Apache-2.0
// What an element-wise body may do with lanes of int8, one lane at a time. Another instruction set is another
// struct with the same members; bodies name it only as their template argument.
#pragma once

#include "kernels/fixed_point.h"

namespace rushlight::kernels::simd {

struct scalar {
  using v = int8_t;   // `lanes` int8
  using w = int32_t;  // the same lanes as int32
  static constexpr int32_t lanes = 1;

  // `n` elements are left at p, one or more: min(n, lanes) of them are read or written.
  static v load(const int8_t* p, int32_t /*n*/) { return *p; }
  static void store(int8_t* p, v x, int32_t /*n*/) { *p = x; }
  static v splat(int8_t x) { return x; }

  static v max(v a, v b) { return a > b ? a : b; }
  static v min(v a, v b) { return a < b ? a : b; }

  static w widen(v x) { return x; }
  static v narrow(w x) { return static_cast<v>(x); }  // of values within int8
  static w splat_w(int32_t x) { return x; }
  static w add(w a, w b) { return a + b; }
  static w multiply_add(w acc, w x, int32_t factor) { return acc + x * factor; }
  static w shift_right(w x, int32_t k) { return x >> k; }
  static w clamp(w x, int32_t lo, int32_t hi) { return x < lo ? lo : x > hi ? hi : x; }
  static w rescale_double(w x, Factor f) { return kernels::rescale_double(x, f.multiplier, f.shift); }
};

}  // namespace rushlight::kernels::simd
