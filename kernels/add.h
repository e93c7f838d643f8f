// SPDX-License-Identifier: Apache-2.0
// out = a + b or a - b of tensors, each with a quantization of its own; broadcasting as in binary.h.
#pragma once

#include "kernels/binary.h"

namespace rushlight::kernels {

// clamp((m_a (a - z_a) + m_b (b - z_b) + 2^(F-1) + (z_o << F)) >> F), the constants folded into `offset`. m_b
// is negative for a subtraction. int8: the compiler chooses F so that no intermediate leaves int32. int16: F
// is at most 30, sums are int64.
struct AddSingleParams {
  BroadcastLoops loops;
  int32_t multiplier_a;
  int32_t multiplier_b;
  int32_t offset;
  int32_t shift;  // F
  int32_t lo;
  int32_t hi;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("loops", self.loops);
    v("multiplier_a", self.multiplier_a);
    v("multiplier_b", self.multiplier_b);
    v("offset", self.offset);
    v("shift", self.shift);
    v("lo", self.lo);
    v("hi", self.hi);
  }

  template <class I>
  typename I::v apply(typename I::v a, typename I::v b) const {
    auto sum = I::multiply_add(I::splat_w(offset), I::widen(a), multiplier_a);
    sum = I::multiply_add(sum, I::widen(b), multiplier_b);
    return I::narrow(I::clamp(I::shift_right(sum, shift), lo, hi));
  }
  int16_t operator()(int16_t a, int16_t b) const {
    const int64_t sum = int64_t{multiplier_a} * a + int64_t{multiplier_b} * b + offset;
    const int64_t r = sum >> shift;
    return static_cast<int16_t>(r < lo ? lo : r > hi ? hi : r);
  }
};

// TensorFlow Lite's: (a - z_a) << 20 and (b - z_b) << 20 (int16: << 15), each rescaled to
// twice the larger scale (factors of at most 1/2), added (b negated where
// `negate_b` is 1), rescaled to the output; every rescaling by the Double rule.
struct AddDoubleParams {
  BroadcastLoops loops;
  int32_t zero_point_a;
  int32_t zero_point_b;
  Factor factor_a;
  Factor factor_b;
  int32_t negate_b;
  Factor factor_out;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("loops", self.loops);
    v("zero_point_a", self.zero_point_a);
    v("zero_point_b", self.zero_point_b);
    v("factor_a", self.factor_a);
    v("factor_b", self.factor_b);
    v("negate_b", self.negate_b);
    v("factor_out", self.factor_out);
    v("output", self.output);
  }

  template <class I>
  typename I::v apply(typename I::v a, typename I::v b) const {
    constexpr int32_t headroom = 1 << 20;
    const auto x = I::multiply_add(I::splat_w(-zero_point_a * headroom), I::widen(a), headroom);
    const auto y = I::multiply_add(I::splat_w(-zero_point_b * headroom), I::widen(b), headroom);
    const auto sum =
        I::multiply_add(I::rescale_double(x, factor_a), I::rescale_double(y, factor_b), negate_b ? -1 : 1);
    const auto r = I::clamp(I::rescale_double(sum, factor_out), output.lo - output.zero_point,
                            output.hi - output.zero_point);
    return I::narrow(I::add(r, I::splat_w(output.zero_point)));
  }
  int16_t operator()(int16_t a, int16_t b) const {
    constexpr int32_t headroom = 1 << 15;
    const int32_t x = rescale_double(a * headroom, factor_a.multiplier, factor_a.shift);
    const int32_t y = rescale_double(b * headroom, factor_b.multiplier, factor_b.shift);
    return requantize_s16_as(Double{}, negate_b ? x - y : x + y, factor_out.multiplier, factor_out.shift,
                             output);
  }
};

template <class R>
struct AddParamsOf;
template <>
struct AddParamsOf<Single> {
  using type = AddSingleParams;
};
template <>
struct AddParamsOf<Double> {
  using type = AddDoubleParams;
};

// `out` may be the memory of an input that is dense and not broadcast.
template <class R, class I = simd::best>
inline void quantized_add_s8(const typename AddParamsOf<R>::type& p, const int8_t* a, const int8_t* b,
                             int8_t* out) {
  broadcast<I>(p, p.loops, a, b, out);
}

template <class R>
inline void quantized_add_s16(const typename AddParamsOf<R>::type& p, const int16_t* a, const int16_t* b,
                              int16_t* out) {
  map_pairs(p, p.loops.extent, p.loops.stride_a, p.loops.stride_b, a, b, out);
}

}  // namespace rushlight::kernels
