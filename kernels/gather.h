// SPDX-License-Identifier: Apache-2.0
// Movement of int8 by tables: padding of every kind, nearest-neighbour upsampling, reversal.
#pragma once

#include "kernels/loops.h"

namespace rushlight::kernels {

// `fill` is an int8.
struct GatherParams {
  int32_t extent[kMaxLoops];
  int32_t run;
  int32_t fill;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("extent", self.extent);
    v("run", self.run);
    v("fill", self.fill);
  }
};

// Marks an entry whose output is filled.
inline constexpr int32_t kGatherFill = INT32_MIN;

// One pass of the innermost loop, from `in` on.
inline int8_t* gather_row(const GatherParams& p, const int8_t* in, const int32_t* offsets, int8_t* out) {
  const int32_t n = p.extent[kMaxLoops - 1];
  if (p.run == 1) {
    for (int32_t i = 0; i < n; ++i)
      out[i] = offsets[i] == kGatherFill ? static_cast<int8_t>(p.fill) : in[offsets[i]];
    return out + n;
  }
  const auto length = static_cast<size_t>(p.run);
  for (int32_t i = 0; i < n; ++i, out += length) {
    if (offsets[i] == kGatherFill)
      __builtin_memset(out, p.fill, length);
    else
      __builtin_memcpy(out, in + offsets[i], length);
  }
  return out;
}

// `offsets` holds a table for each loop, outermost first, extent[k] entries each: what the index adds to the
// place in the input. out, dense, is for each index tuple `run` elements from there, or `run` times `fill`
// where an entry is kGatherFill. Unused outer loops have extent 1 and the entry 0.
// Example: rows 2 and 0 of a [3,4] matrix and a row of zeros have the extents {1,1,1,1,1,3}, run 4, fill 0
// and the offsets {0, 0, 0, 0, 0, 8, 0, kGatherFill}.
inline void gather_s8(const GatherParams& p, const int8_t* in, const int32_t* offsets, int8_t* out) {
  constexpr int inner = kMaxLoops - 1;
  const int32_t* table[kMaxLoops];
  for (int d = 0; d < kMaxLoops; offsets += p.extent[d], ++d) table[d] = offsets;
  int32_t index[kMaxLoops] = {};
  int d = 0;
  while (d >= 0) {
    int32_t base = 0;
    bool filled = false;
    for (int k = 0; k < inner; ++k) {
      const int32_t offset = table[k][index[k]];
      filled = filled || offset == kGatherFill;
      base += filled ? 0 : offset;
    }
    if (filled) {
      const int32_t length = p.extent[inner] * p.run;
      __builtin_memset(out, p.fill, static_cast<size_t>(length));
      out += length;
    } else {
      out = gather_row(p, in + base, table[inner], out);
    }
    for (d = inner - 1; d >= 0 && ++index[d] == p.extent[d]; --d) index[d] = 0;
  }
}

}  // namespace rushlight::kernels
