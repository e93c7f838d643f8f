// SPDX-License-Identifier: Apache-2.0
// The best instruction set of the core that this is compiled for; the only place that asks. Kernels take it
// as a template argument. The host is `scalar`, which gives the same integers.
//   best        int8 as lanes of int32, dot products, blocks of channels
//   best_bytes  int8 as lanes of int8
#pragma once

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#include "kernels/simd/mve.h"
namespace rushlight::kernels::simd {
using best = mve;
using best_bytes = mve_bytes;
}  // namespace rushlight::kernels::simd
#elif defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP
#include "kernels/simd/dsp.h"
namespace rushlight::kernels::simd {
using best = dsp;
using best_bytes = dsp_bytes;
}  // namespace rushlight::kernels::simd
#else
#include "kernels/simd/scalar.h"
namespace rushlight::kernels::simd {
using best = scalar;
using best_bytes = scalar;
}  // namespace rushlight::kernels::simd
#endif
