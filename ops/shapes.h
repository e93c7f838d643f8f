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
Shapes max_pool2d(const OpQuery&);
Shapes adaptive_pool2d(const OpQuery&);
Shapes conv_transpose2d(const OpQuery&);  // input NCHW, weight OIHW as conv2d
Shapes matmul(const OpQuery&);            // [..., M, K] by [..., K, N], leading axes broadcast
Shapes embedding(const OpQuery&);         // weight [rows, width], indices of any shape
Shapes reduce(const OpQuery&);            // dims none or []: all
Shapes position(const OpQuery&);          // int64; dim none: of all
Shapes along_dim(const OpQuery&);         // same_as_input, with an attribute dim
Shapes prelu(const OpQuery&);             // input N,C,..., weight [C]
Shapes expression(const OpQuery&);        // same_as_input, with an attribute expression
Shapes slice(const OpQuery&);
Shapes expand(const OpQuery&);
Shapes flip(const OpQuery&);
Shapes pad(const OpQuery&);
Shapes upsample2d(const OpQuery&);
Shapes view(const OpQuery&);     // one extent may be -1
Shapes flatten(const OpQuery&);  // start_dim..end_dim become one
Shapes permute(const OpQuery&);
Shapes quantize(const OpQuery&);    // dtype from the attribute
Shapes dequantize(const OpQuery&);  // float32
Shapes concat(const OpQuery&);

// Axis in 0..rank-1 for one given as -rank..rank-1.
Result<int64_t> normalized_axis(int64_t axis, size_t rank);

// First element and the one behind the last of an aten.slice along an axis of this extent.
std::pair<int64_t, int64_t> slice_bounds(const Attributes& attributes, int64_t extent);

// Extent of a convolution's or pool's output along one axis; an error if it would be below 1.
Result<int64_t> window_extent(int64_t input, int64_t kernel, int64_t stride, int64_t pad_before,
                              int64_t pad_after, int64_t dilation, bool ceil_mode);

}  // namespace rushlight::shapes
