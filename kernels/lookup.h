// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor as tables.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

struct LookupParams {
  int32_t count;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("count", self.count);
  }
};

// out[i] = table[in[i] + 128]; `table` [256]. `out` may be the memory of `in`.
inline void lookup_s8(const LookupParams& p, const int8_t* in, const int8_t* table, int8_t* out) {
  const int8_t* middle = table + 128;
  for (int32_t i = 0; i < p.count; ++i) out[i] = middle[in[i]];
}

// A function given at 513 points 128 apart, by straight lines between them: with k = 256 + (x >> 7) and
// t = x & 127, table[k] + (((table[k+1] - table[k]) * t + 64) >> 7), which lies between the two.
inline int16_t between_points(const int16_t* table, int16_t x) {
  const int16_t* left = table + 256 + (x >> 7);
  return static_cast<int16_t>(left[0] + (((left[1] - left[0]) * (x & 127) + 64) >> 7));
}

// out[i] is the function of in[i]. `out` may be the memory of `in`.
inline void lookup_s16(const LookupParams& p, const int16_t* in, const int16_t* table, int16_t* out) {
  for (int32_t i = 0; i < p.count; ++i) out[i] = between_points(table, in[i]);
}

}  // namespace rushlight::kernels
