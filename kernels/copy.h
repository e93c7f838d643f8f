// SPDX-License-Identifier: Apache-2.0
// Movement without arithmetic: transpose, slice, concatenate, pad's interior, layout changes.
#pragma once

#include "kernels/loops.h"

namespace rushlight::kernels {

// output[output_offset + sum i_k output_stride_k] = input[input_offset + sum i_k input_stride_k], over all
// i_k below extent_k. Elements of the output that no index names keep their value.
struct CopyParams {
  int32_t extent[kMaxLoops];
  int32_t input_stride[kMaxLoops];
  int32_t output_stride[kMaxLoops];
  int32_t input_offset;
  int32_t output_offset;

  template <class Self, class Visitor>
  static constexpr void visit(Self& self, Visitor&& v) {
    v("extent", self.extent);
    v("input_stride", self.input_stride);
    v("output_stride", self.output_stride);
    v("input_offset", self.input_offset);
    v("output_offset", self.output_offset);
  }
};

template <class T>
inline void copy_elements(const CopyParams& p, const T* in, T* out) {
  constexpr int inner = kMaxLoops - 1;
  const int32_t n = p.extent[inner];
  const int32_t in_step = p.input_stride[inner];
  const int32_t out_step = p.output_stride[inner];
  Odometer<2> at{p.extent, {p.input_stride, p.output_stride}, {}, {p.input_offset, p.output_offset}};
  do {
    const T* from = in + at.offset[0];
    T* to = out + at.offset[1];
    if (in_step == 1 && out_step == 1)
      __builtin_memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    else
      for (int32_t i = 0; i < n; ++i) to[i * out_step] = from[i * in_step];
  } while (at.next(inner));
}

inline void copy_s8(const CopyParams& p, const int8_t* in, int8_t* out) { copy_elements(p, in, out); }
inline void copy_s16(const CopyParams& p, const int16_t* in, int16_t* out) { copy_elements(p, in, out); }

}  // namespace rushlight::kernels
