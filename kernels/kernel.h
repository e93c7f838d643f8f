// SPDX-License-Identifier: Apache-2.0
// What all kernels share. This folder is built for the host (simulator, tests) and for every core,
// freestanding, as C++17: no library but memcpy and memset, no heap, no state, no ISA tests inside functions.
// A kernel
//   - is a function `void name<Rounding>(const Params&, const T* in..., T* out..., [void* scratch])`,
//     a template over the rounding mode where it rounds;
//   - takes Params made only of int32_t fields (byte-identical on host and device), all decided by
//     the compiler;
//   - writes only its outputs and scratch, reads only its inputs, checks nothing: the compiler has proved it.
// Extents and strides are in elements, extents are 1 or more. Images are N,H,W,C in memory. `>>` of a
// negative number is arithmetic, as on every compiler this is built with (and by the standard since C++20).
#pragma once

#include <stddef.h>
#include <stdint.h>

// Before a loop over a few accumulators: GCC keeps them in registers only where it unrolls, which -O2 does
// not do by itself. At most 8 rounds.
#if defined(__clang__)
#define RUSHLIGHT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RUSHLIGHT_UNROLL _Pragma("GCC unroll 8")
#endif

namespace rushlight::kernels {

// The two requantization modes of a program; template arguments of kernels.
struct Single {};
struct Double {};
// For kernels that do not round.
struct Exact {};

// A real factor in (0, 2^30): multiplier * 2^(shift - 31), multiplier in [2^30, 2^31), shift in -32..30;
// multiplier 0 stands for a factor below 2^-32.
struct Factor {
  int32_t multiplier;
  int32_t shift;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("multiplier", self.multiplier);
    v("shift", self.shift);
  }
};

// Output offset and clamp range in the output's integers, all three within -128..127 for an int8 output.
struct OutputRange {
  int32_t zero_point;
  int32_t lo;
  int32_t hi;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("zero_point", self.zero_point);
    v("lo", self.lo);
    v("hi", self.hi);
  }
};

}  // namespace rushlight::kernels
