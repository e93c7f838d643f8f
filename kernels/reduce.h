// SPDX-License-Identifier: Apache-2.0
// Greatest and least elements over any axes.
#pragma once

#include "kernels/loops.h"

namespace rushlight::kernels {

// Loop nests over the dense output and over the elements of one group, as in kernels/mean.h. The result is
// clamped to [lo, hi].
struct ReduceParams {
  int32_t kept_extent[kMaxLoops];
  int32_t kept_stride[kMaxLoops];
  int32_t reduced_extent[kMaxLoops];
  int32_t reduced_stride[kMaxLoops];
  int32_t lo, hi;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("kept_extent", self.kept_extent);
    v("kept_stride", self.kept_stride);
    v("reduced_extent", self.reduced_extent);
    v("reduced_stride", self.reduced_stride);
    v("lo", self.lo);
    v("hi", self.hi);
  }
};

struct Greatest {
  static int32_t of(int32_t a, int32_t b) { return a > b ? a : b; }
};
struct Least {
  static int32_t of(int32_t a, int32_t b) { return a < b ? a : b; }
};

template <class Choice, class T>
inline int32_t reduce_group(const ReduceParams& p, const T* x) {
  constexpr int inner = kMaxLoops - 1;
  Odometer<1> at{p.reduced_extent, {p.reduced_stride}, {}, {}};
  int32_t best = *x;
  do {
    const T* tap = x + at.offset[0];
    for (int32_t i = 0; i < p.reduced_extent[inner]; ++i, tap += p.reduced_stride[inner])
      best = Choice::of(best, *tap);
  } while (at.next(inner));
  return best;
}

template <class Choice, class T>
inline void reduce(const ReduceParams& p, const T* in, T* out) {
  Odometer<1> at{p.kept_extent, {p.kept_stride}, {}, {}};
  do {
    const int32_t y = reduce_group<Choice>(p, in + at.offset[0]);
    *out++ = static_cast<T>(y < p.lo ? p.lo : y > p.hi ? p.hi : y);
  } while (at.next(kMaxLoops));
}

inline void amax_s8(const ReduceParams& p, const int8_t* in, int8_t* out) { reduce<Greatest>(p, in, out); }
inline void amin_s8(const ReduceParams& p, const int8_t* in, int8_t* out) { reduce<Least>(p, in, out); }
inline void amax_s16(const ReduceParams& p, const int16_t* in, int16_t* out) { reduce<Greatest>(p, in, out); }
inline void amin_s16(const ReduceParams& p, const int16_t* in, int16_t* out) { reduce<Least>(p, in, out); }

}  // namespace rushlight::kernels
