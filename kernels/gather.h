// SPDX-License-Identifier: Apache-2.0
// Movement of elements by tables: padding of every kind, nearest-neighbour upsampling, reversal.
#pragma once

#include "kernels/loops.h"

namespace rushlight::kernels {

// `fill` is an integer of the element type.
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

inline void fill_run(int8_t* out, int32_t fill, int32_t n) {
  __builtin_memset(out, fill, static_cast<size_t>(n));
}
inline void fill_run(int16_t* out, int32_t fill, int32_t n) {
  for (int32_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(fill);
}

// One pass of the innermost loop, from `in` on.
template <class T>
inline T* gather_row(const GatherParams& p, const T* in, const int32_t* offsets, T* out) {
  const int32_t n = p.extent[kMaxLoops - 1];
  if (p.run == 1) {
    for (int32_t i = 0; i < n; ++i)
      out[i] = offsets[i] == kGatherFill ? static_cast<T>(p.fill) : in[offsets[i]];
    return out + n;
  }
  for (int32_t i = 0; i < n; ++i, out += p.run) {
    if (offsets[i] == kGatherFill)
      fill_run(out, p.fill, p.run);
    else
      __builtin_memcpy(out, in + offsets[i], static_cast<size_t>(p.run) * sizeof(T));
  }
  return out;
}

// `offsets` holds a table for each loop, outermost first, extent[k] entries each: what the index adds to the
// place in the input. out, dense, is for each index tuple `run` elements from there, or `run` times `fill`
// where an entry is kGatherFill. Unused outer loops have extent 1 and the entry 0.
// Example: rows 2 and 0 of a [3,4] matrix and a row of zeros have the extents {1,1,1,1,1,3}, run 4, fill 0
// and the offsets {0, 0, 0, 0, 0, 8, 0, kGatherFill}.
template <class T>
inline void gather(const GatherParams& p, const T* in, const int32_t* offsets, T* out) {
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
      fill_run(out, p.fill, length);
      out += length;
    } else {
      out = gather_row(p, in + base, table[inner], out);
    }
    for (d = inner - 1; d >= 0 && ++index[d] == p.extent[d]; --d) index[d] = 0;
  }
}

inline void gather_s8(const GatherParams& p, const int8_t* in, const int32_t* offsets, int8_t* out) {
  gather(p, in, offsets, out);
}
inline void gather_s16(const GatherParams& p, const int16_t* in, const int32_t* offsets, int16_t* out) {
  gather(p, in, offsets, out);
}

}  // namespace rushlight::kernels
