// SPDX-License-Identifier: Apache-2.0
// Loop nests that the compiler lays out: extents and strides,
// outermost first, unused outer loops with extent 1.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

inline constexpr int kMaxLoops = 6;

// Counts through the outermost `depth` loops of a nest and keeps an offset into each of several operands.
template <int kOperands>
struct Odometer {
  const int32_t* extent;
  const int32_t* stride[kOperands];
  int32_t index[kMaxLoops];
  int32_t offset[kOperands];

  // Moves to the next position; false (and back at the first) after the last.
  bool next(int32_t depth) {
    for (int32_t d = depth - 1; d >= 0; --d) {
      ++index[d];
      const bool wraps = index[d] == extent[d];
      const int32_t steps = wraps ? 1 - extent[d] : 1;
      for (int i = 0; i < kOperands; ++i) offset[i] += steps * stride[i][d];
      if (!wraps) return true;
      index[d] = 0;
    }
    return false;
  }
};

// out = function(a, b), one element at a time, over a loop nest whose output is dense; strides of 0
// broadcast.
template <class Function, class T>
inline void map_pairs(const Function& function, const int32_t* extent, const int32_t* stride_a,
                      const int32_t* stride_b, const T* a, const T* b, T* out) {
  constexpr int inner = kMaxLoops - 1;
  Odometer<2> at{extent, {stride_a, stride_b}, {}, {}};
  do {
    const T* x = a + at.offset[0];
    const T* y = b + at.offset[1];
    for (int32_t i = 0; i < extent[inner]; ++i, x += stride_a[inner], y += stride_b[inner])
      *out++ = function(*x, *y);
  } while (at.next(inner));
}

}  // namespace rushlight::kernels
