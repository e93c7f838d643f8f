// SPDX-License-Identifier: Apache-2.0
// From ranges and float constants to quantization parameters. Scales of activations and weights are rounded
// to float32, the precision in which frameworks and the emitted headers hold them.
#pragma once

#include <span>

#include "ops/op.h"
#include "types/tensor.h"
#include "types/tensor_type.h"

namespace rushlight {

struct Range {
  double lo = 0;
  double hi = 0;
  void include(double x) {
    lo = x < lo ? x : lo;
    hi = x > hi ? x : hi;
  }
  void include(const Range& other) {
    include(other.lo);
    include(other.hi);
  }
};

// int8 over [range.lo, range.hi], which holds 0 as every Range does: 255 steps, zero exact. A range of 0
// alone gets scale 1.
Quantization asymmetric(Range range);
// int16, symmetric: 32767 steps to the end that is farther from 0.
Quantization symmetric_int16(Range range);

// An element type and how its integers stand for reals: what an activation gets.
struct Encoding {
  DType dtype = DType::int8;
  Quantization quant;
  bool operator==(const Encoding&) const = default;
};
Encoding encoding_over(Range range, DType dtype);
// What the row of an op fixes for int8, or int16 over the same reals (1/256 from -128 is 2^-15 from 0).
Encoding fixed_encoding(const FixedQuantization& fixed, DType dtype);

// Encoding that hold a constant operand: exactly if all its elements are equal.
Encoding for_constant(const Tensor& values, DType dtype);

// The integers for reals under a per-tensor or per-channel quantization, rounded half to even.
Tensor quantized(const Tensor& reals, const Quantization& quant, DType dtype);

// What the weights of one layer are multiplied with and added to.
struct LayerScales {
  Quantization input;
  double output_scale;
};
struct LayerParameters {
  Quantization weight_quant;  // symmetric, per channel along axis
  Tensor weight;              // int8
  Quantization bias_quant;    // scale input * weight[c]
  Tensor bias;                // int32; zeros where the layer has none
};
// Weights and bias of a layer whose weight has its output channels on `axis`. Follows docs/numerics.md: a
// channel whose greatest contribution is below output_scale / 1024 keeps its bias only; where a bias does not
// fit 2^30 steps, the channel's weight scale grows.
LayerParameters layer_parameters(const Tensor& weight, const Tensor* bias, int axis,
                                 const LayerScales& scales);

// Bias integers for weights that are quantized already.
Tensor quantized_bias(const Tensor& bias, double input_scale, const Quantization& weight_quant);
// {input * weight[c]} along axis 0.
Quantization bias_quantization(double input_scale, const Quantization& weight_quant, int64_t channels);

}  // namespace rushlight
