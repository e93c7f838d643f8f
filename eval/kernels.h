// SPDX-License-Identifier: Apache-2.0
// Float32 evaluation of the ops that are not elementwise. Shapes have been checked by the op's shape rule.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"
#include "types/tensor.h"

namespace rushlight::eval {

struct Call {
  const Node& node;
  std::span<const Tensor* const> operands;
  const Shape& result_shape;

  const Tensor& operand(size_t i) const { return *operands[i]; }
  bool has(size_t i) const { return i < operands.size() && operands[i] != nullptr; }
};

Tensor conv2d(const Call&);
Tensor linear(const Call&);
Tensor batch_norm(const Call&);
Tensor conv_transpose2d(const Call&);
Tensor matmul(const Call&);
Tensor embedding(const Call&);
Tensor prelu(const Call&);
Tensor reduce(const Call&);    // mean, sum, amax, amin
Tensor position(const Call&);  // argmax, argmin: int64
Tensor softmax(const Call&);   // and log_softmax
Tensor average_pool(const Call&);
Tensor max_pool(const Call&);
Tensor upsample_bilinear2d(const Call&);
Tensor axis_mapped(const Call&);  // slice, expand, flip, pad, upsample_nearest2d
Tensor elementwise(const Call&);
Tensor reshape(const Call&);
Tensor permute(const Call&);
Tensor concat(const Call&);
Tensor quantize(const Call&);
Tensor dequantize(const Call&);

}  // namespace rushlight::eval
