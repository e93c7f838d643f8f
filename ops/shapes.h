// SPDX-License-Identifier: Apache-2.0
// Shape rules that rows of the op table name. Each checks everything an op demands of its operands and
// attributes.
#pragma once

#include "ops/op.h"

namespace rushlight::shapes {

using Shapes = Result<std::vector<ResultShape>>;

Shapes same_as_input(const OpQuery&);       // the first operand's shape and dtype
Shapes broadcast_operands(const OpQuery&);  // NumPy broadcasting of the first two operands
Shapes conv2d(const OpQuery&);  // input NCHW, weight OIHW, optional bias O; groups divide both channel counts
Shapes linear(const OpQuery&);  // input [..., I], weight [O, I], optional bias [O]
Shapes batch_norm(const OpQuery&);  // input N,C,...; four vectors of C
Shapes avg_pool2d(const OpQuery&);
Shapes adaptive_avg_pool2d(const OpQuery&);
Shapes mean(const OpQuery&);     // dims none: all
Shapes view(const OpQuery&);     // one extent may be -1
Shapes flatten(const OpQuery&);  // start_dim..end_dim become one
Shapes permute(const OpQuery&);
Shapes quantize(const OpQuery&);    // dtype from the attribute
Shapes dequantize(const OpQuery&);  // float32
Shapes concat(const OpQuery&);

// Axis in 0..rank-1 for one given as -rank..rank-1.
Result<int64_t> normalized_axis(int64_t axis, size_t rank);

// Extent of a convolution's or pool's output along one axis; an error if it would be below 1.
Result<int64_t> window_extent(int64_t input, int64_t kernel, int64_t stride, int64_t pad_before,
                              int64_t pad_after, int64_t dilation, bool ceil_mode);

}  // namespace rushlight::shapes
