// SPDX-License-Identifier: Apache-2.0
// What bodies that take an instruction set as their template argument (kernels/simd/scalar.h) find for
// elements of int16: one lane at a time.
#pragma once

#include "kernels/kernel.h"

namespace rushlight::kernels {

struct scalar_s16 {
  using v = int16_t;
  static constexpr int32_t lanes = 1;

  static v load(const int16_t* p, int32_t /*n*/) { return *p; }
  static void store(int16_t* p, v x, int32_t /*n*/) { *p = x; }
  static v splat(int16_t x) { return x; }
  static v max(v a, v b) { return a > b ? a : b; }
  static v min(v a, v b) { return a < b ? a : b; }

  template <int kChannels>
  struct Channels {
    int32_t acc[kChannels];

    void clear() {
      for (int k = 0; k < kChannels; ++k) acc[k] = 0;
    }
    void add(const int16_t* x) {
      for (int k = 0; k < kChannels; ++k) acc[k] += x[k];
    }
    void read(int32_t (&values)[kChannels]) const {
      for (int k = 0; k < kChannels; ++k) values[k] = acc[k];
    }
  };
};

}  // namespace rushlight::kernels
