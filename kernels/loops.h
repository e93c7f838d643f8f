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

}  // namespace rushlight::kernels
