// SPDX-License-Identifier: Apache-2.0
// The best instruction set of the core that this is compiled for; the only place that asks. Kernels take it
// as a template argument. The host is `scalar`, which gives the same integers.
//   best        int8 as lanes of int32, dot products, blocks of channels
//   best_bytes  int8 as lanes of int8
//   best_s16, best_s16_wide  int16, with sums of int32 or int64
#pragma once

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#include "kernels/simd/mve_s16.h"
namespace rushlight::kernels::simd {
using best = mve;
using best_bytes = mve_bytes;
using best_s16 = mve_s16;
using best_s16_wide = mve_s16_wide;
}  // namespace rushlight::kernels::simd
#elif defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP
#include "kernels/simd/dsp_s16.h"
namespace rushlight::kernels::simd {
using best = dsp;
using best_bytes = dsp_bytes;
using best_s16 = dsp_s16;
using best_s16_wide = dsp_s16_wide;
}  // namespace rushlight::kernels::simd
#else
#include "kernels/simd/scalar_s16.h"
namespace rushlight::kernels::simd {
using best = scalar;
using best_bytes = scalar;
using best_s16 = scalar_s16;
using best_s16_wide = scalar_s16_wide;
}  // namespace rushlight::kernels::simd
#endif
