// SPDX-License-Identifier: Apache-2.0
// Element-wise functions of two tensors. Broadcasting is by input strides of 0, so nothing looks at
// shapes. Example: maximum of [2,3] and [3] has extents {1,1,1,1,2,3}, strides {..,3,1} and {..,0,1}.
#pragma once

#include "kernels/loops.h"
#include "kernels/simd/best.h"

namespace rushlight::kernels {

// Loop nest over the dense output, outermost first; unused outer loops have extent 1. Input strides of 0
// broadcast. Rows are fastest where the innermost strides are 0 or 1; any others work.
struct BroadcastLoops {
  int32_t extent[kMaxLoops];
  int32_t stride_a[kMaxLoops];
  int32_t stride_b[kMaxLoops];

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("extent", self.extent);
    v("stride_a", self.stride_a);
    v("stride_b", self.stride_b);
  }
};

// Operations on integers whose two inputs and output share one quantization.
struct BinaryParams {
  BroadcastLoops loops;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("loops", self.loops);
  }
};

template <class I, class Op, class T>
inline void broadcast_row(const Op& op, const T* a, int32_t stride_a, const T* b, int32_t stride_b, T* out,
                          int32_t n) {
  if (stride_a == 1 && stride_b == 1) {
    for (int32_t i = 0; i < n; i += I::lanes)
      I::store(out + i, op.template apply<I>(I::load(a + i, n - i), I::load(b + i, n - i)), n - i);
  } else if (stride_a == 1 && stride_b == 0) {
    const auto y = I::splat(*b);
    for (int32_t i = 0; i < n; i += I::lanes)
      I::store(out + i, op.template apply<I>(I::load(a + i, n - i), y), n - i);
  } else if (stride_a == 0 && stride_b == 1) {
    const auto x = I::splat(*a);
    for (int32_t i = 0; i < n; i += I::lanes)
      I::store(out + i, op.template apply<I>(x, I::load(b + i, n - i)), n - i);
  } else {
    for (int32_t i = 0; i < n; ++i)
      I::store(out + i, op.template apply<I>(I::splat(a[i * stride_a]), I::splat(b[i * stride_b])), 1);
  }
}

// out = op(a, b) over the loops. `out` may be the memory of an input that is dense and not broadcast.
template <class I, class Op, class T>
inline void broadcast(const Op& op, const BroadcastLoops& loops, const T* a, const T* b, T* out) {
  constexpr int inner = kMaxLoops - 1;
  Odometer<2> at{loops.extent, {loops.stride_a, loops.stride_b}, {}, {}};
  do {
    broadcast_row<I>(op, a + at.offset[0], loops.stride_a[inner], b + at.offset[1], loops.stride_b[inner],
                     out, loops.extent[inner]);
    out += loops.extent[inner];
  } while (at.next(inner));
}

// out = function(a, b), one element at a time, for functions that no instruction set has in lanes. `out` as
// above.
template <class Function>
inline void broadcast_each(const Function& function, const BroadcastLoops& loops, const int8_t* a,
                           const int8_t* b, int8_t* out) {
  constexpr int inner = kMaxLoops - 1;
  const int32_t n = loops.extent[inner];
  const int32_t step_a = loops.stride_a[inner];
  const int32_t step_b = loops.stride_b[inner];
  Odometer<2> at{loops.extent, {loops.stride_a, loops.stride_b}, {}, {}};
  do {
    const int8_t* x = a + at.offset[0];
    const int8_t* y = b + at.offset[1];
    for (int32_t i = 0; i < n; ++i, x += step_a, y += step_b) *out++ = function(*x, *y);
  } while (at.next(inner));
}

template <class Op, class I, class T>
inline void binary(const BinaryParams& p, const T* a, const T* b, T* out) {
  broadcast<I>(Op{}, p.loops, a, b, out);
}

// The family, one line a member: RUSHLIGHT_BINARY(name, lane) declares name_s8 and name_s16, where `lane` is
// the function of simd/scalar.h that does the work. A member also has its rows in kernels/table.h and its
// definition, for the tests, in tests/kernels/elementwise_cases.cc.
#define RUSHLIGHT_BINARY(name, lane)                                         \
  struct name {                                                              \
    template <class I>                                                       \
    typename I::v apply(typename I::v a, typename I::v b) const {            \
      return I::lane(a, b);                                                  \
    }                                                                        \
  };                                                                         \
  inline constexpr auto& name##_s8 = binary<name, simd::best_bytes, int8_t>; \
  inline constexpr auto& name##_s16 = binary<name, simd::best_s16, int16_t>;

RUSHLIGHT_BINARY(maximum, max)
RUSHLIGHT_BINARY(minimum, min)

#undef RUSHLIGHT_BINARY

}  // namespace rushlight::kernels
