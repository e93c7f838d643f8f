// SPDX-License-Identifier: Apache-2.0
// Mean over any axes.
#pragma once

#include "kernels/fixed_point_s16.h"
#include "kernels/loops.h"

namespace rushlight::kernels {

// output[o] = clamp(zero_point + round(factor * sum over r of (input[o, r] - input_zero_point))), 1/n in the
// factor. Kept and reduced axes are loop nests over the input's memory, outermost first; the output is dense.
struct MeanParams {
  int32_t kept_extent[kMaxLoops];
  int32_t kept_stride[kMaxLoops];
  int32_t reduced_extent[kMaxLoops];
  int32_t reduced_stride[kMaxLoops];
  int32_t offset;  // -n * input_zero_point
  Factor factor;
  OutputRange output;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("kept_extent", self.kept_extent);
    v("kept_stride", self.kept_stride);
    v("reduced_extent", self.reduced_extent);
    v("reduced_stride", self.reduced_stride);
    v("offset", self.offset);
    v("factor", self.factor);
    v("output", self.output);
  }
};

template <class T>
inline int32_t mean_sum(const MeanParams& p, const T* x) {
  constexpr int inner = kMaxLoops - 1;
  const int32_t n = p.reduced_extent[inner];
  const int32_t step = p.reduced_stride[inner];
  int32_t sum = p.offset;
  Odometer<1> at{p.reduced_extent, {p.reduced_stride}, {}, {}};
  do {
    const T* row = x + at.offset[0];
    for (int32_t i = 0; i < n; ++i) sum += row[i * step];
  } while (at.next(inner));
  return sum;
}

template <class R, class T>
inline void mean(const MeanParams& p, const T* in, T* out) {
  Odometer<1> at{p.kept_extent, {p.kept_stride}, {}, {}};
  do {
    *out++ = requantize_mean_to<R, T>(mean_sum(p, in + at.offset[0]), p.factor.multiplier, p.factor.shift,
                                      p.output);
  } while (at.next(kMaxLoops));
}

template <class R>
inline void quantized_mean_s8(const MeanParams& p, const int8_t* in, int8_t* out) {
  mean<R>(p, in, out);
}
template <class R>
inline void quantized_mean_s16(const MeanParams& p, const int16_t* in, int16_t* out) {
  mean<R>(p, in, out);
}

}  // namespace rushlight::kernels
