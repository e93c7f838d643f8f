// SPDX-License-Identifier: Apache-2.0
// Movement of int8 by tables: padding of every kind, nearest-neighbour upsampling, reversal.
#pragma once

#include "kernels/loops.h"

namespace rushlight::kernels {

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

// `offsets` holds a table for each loop, outermost first, extent[k] entries each: what the index adds to the
// place in the input. out, dense, is for each index tuple `run` elements from there, or `run` times `fill`
// where an entry is kGatherFill. Unused outer loops have extent 1 and the entry 0.
inline void gather_s8(const GatherParams& p, const int8_t* in, const int32_t* offsets, int8_t* out) {
  const int32_t* table[kMaxLoops];
  int32_t index[kMaxLoops] = {};
  for (int d = 0; d < kMaxLoops; offsets += p.extent[d], ++d) table[d] = offsets;
  constexpr int inner = kMaxLoops - 1;
  const auto length = static_cast<size_t>(p.run);
  for (;;) {
    int32_t base = 0;
    bool filled = false;
    for (int d = 0; d < inner; ++d) {
      const int32_t offset = table[d][index[d]];
      if (offset == kGatherFill)
        filled = true;
      else
        base += offset;
    }
    for (int32_t i = 0; i < p.extent[inner]; ++i, out += p.run) {
      const int32_t offset = table[inner][i];
      if (filled || offset == kGatherFill)
        __builtin_memset(out, p.fill, length);
      else if (p.run == 1)
        *out = in[base + offset];
      else
        __builtin_memcpy(out, in + base + offset, length);
    }
    int d = inner - 1;
    while (d >= 0 && ++index[d] == p.extent[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

}  // namespace rushlight::kernels
