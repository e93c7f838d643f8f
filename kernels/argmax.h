// SPDX-License-Identifier: Apache-2.0
// Positions of extreme elements along one axis.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

// Element (o, k, i) stands at (o * count + k) * inner + i. smallest: 0 looks for the greatest element,
// anything else for the least.
struct ArgmaxParams {
  int32_t outer, count, inner;
  int32_t smallest;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("outer", self.outer);
    v("count", self.count);
    v("inner", self.inner);
    v("smallest", self.smallest);
  }
};

// out [outer][inner]: the first k of the extreme element.
template <class T>
inline void argmax(const ArgmaxParams& p, const T* in, int32_t* out) {
  const int32_t sign = p.smallest != 0 ? -1 : 1;
  for (int32_t o = 0; o < p.outer; ++o, in += p.count * p.inner)
    for (int32_t i = 0; i < p.inner; ++i) {
      int32_t best = 0;
      for (int32_t k = 1; k < p.count; ++k)
        if (sign * in[k * p.inner + i] > sign * in[best * p.inner + i]) best = k;
      *out++ = best;
    }
}

inline void argmax_s8(const ArgmaxParams& p, const int8_t* in, int32_t* out) { argmax(p, in, out); }
inline void argmax_s16(const ArgmaxParams& p, const int16_t* in, int32_t* out) { argmax(p, in, out); }

}  // namespace rushlight::kernels
