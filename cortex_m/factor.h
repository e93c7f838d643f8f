// SPDX-License-Identifier: Apache-2.0
// Real factors to multiplier and shift. The only place where that happens.
#pragma once

#include "cortex_m/program.h"
#include "kernels/kernel.h"
#include "types/result.h"
#include "types/tensor_type.h"

namespace rushlight {

// docs/numerics.md, "Multiplier and shift": factor = multiplier * 2^(shift - 31), multiplier in [2^30, 2^31);
// below 2^-32 the multiplier is 0. An error for factors of 2^30 and above and for what is not a positive
// number.
Result<kernels::Factor> make_factor(double factor);

// The factor of a sum that holds 1/n: with `single` rounding its multiplier is rounded up (docs/numerics.md,
// "Pooling").
Result<kernels::Factor> make_mean_factor(double factor, Rounding rounding);

// The factor of an int64 sum: multiplier q16 in 1..32767 (kernels/fixed_point_s16.h). An error for factors of
// 2^14 and above.
Result<kernels::Factor> make_sum_factor(double factor);

// The integers that a node's result is clamped to: its clamp range under the result's quantization.
kernels::OutputRange output_range(double clamp_lo, double clamp_hi, const Quantization& quant);

// aten.add, `single`: multipliers over 2^shift. int8: with the largest shift up to 22 for which no
// intermediate leaves int32. int16, whose sums are int64: with the largest up to 30 that the multipliers fit.
struct AddFactors {
  int32_t multiplier_a, multiplier_b, offset, shift;
};
// alpha multiplies b, and is negative for a subtraction.
Result<AddFactors> make_add_factors(const Quantization& a, const Quantization& b, double alpha,
                                    const Quantization& output, DType element = DType::int8);

}  // namespace rushlight
