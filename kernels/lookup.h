// SPDX-License-Identifier: Apache-2.0
// Functions of one int8 tensor as tables.
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

}  // namespace rushlight::kernels
