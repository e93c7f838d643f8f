// SPDX-License-Identifier: Apache-2.0
// Layers with constant weights, and products of two tensors.
#pragma once

#include "ops/op.h"
#include "ops/shapes.h"

namespace rushlight::rows {

using enum AttributeKind;

inline constexpr auto kLayerOps = std::to_array<OpRow>({
    {.name = "aten.conv2d",
     .summary = "2-D convolution; groups, dilation, explicit padding [top, left, bottom, right] or [h, w]",
     .operands = {{{"input"}, {"weight", Role::weight, false, false, 0}, {"bias", Role::bias, true}}},
     .attributes = {{{"stride", integers, "[1,1]"},
                     {"padding", integers, "[0,0]"},
                     {"dilation", integers, "[1,1]"},
                     {"groups", integer, "1"}}},
     .shape = shapes::conv2d,
     .clamps = true},
    {.name = "aten.linear",
     .summary = "x W^T + b on the last axis, any rank",
     .operands = {{{"input"}, {"weight", Role::weight, false, false, 0}, {"bias", Role::bias, true}}},
     .shape = shapes::linear,
     .clamps = true,
     .torch = {"aten.linear.default"}},
    {.name = "aten.batch_norm",
     .summary =
         "inference batch normalisation; folded into the layer before it, else a depthwise convolution",
     .operands = {{{"input"},
                   {"weight", Role::parameter, true},
                   {"bias", Role::parameter, true},
                   {"running_mean", Role::parameter},
                   {"running_var", Role::parameter}}},
     .attributes = {{{"training", boolean, "false"},
                     {"momentum", real, "0.1"},
                     {"eps", real, "1e-05"},
                     {"cudnn_enabled", boolean, "true"}}},
     .shape = shapes::batch_norm,
     .torch = {"aten.batch_norm.default"}},
    {.name = "aten.conv_transpose2d",
     .summary =
         "transposed 2-D convolution; groups, dilation, output_padding; weight [out, in / groups, h, w]",
     .operands = {{{"input"}, {"weight", Role::weight, false, false, 0}, {"bias", Role::bias, true}}},
     .attributes = {{{"stride", integers, "[1,1]"},
                     {"padding", integers, "[0,0]"},
                     {"output_padding", integers, "[0,0]"},
                     {"groups", integer, "1"},
                     {"dilation", integers, "[1,1]"}}},
     .shape = shapes::conv_transpose2d,
     .clamps = true},
    {.name = "aten.matmul",
     .summary = "product of two tensors' last two axes, the leading ones broadcast",
     .operands = {{{"input"}, {"other"}}},
     .shape = shapes::matmul,
     .clamps = true},
    {.name = "aten.embedding",
     .summary = "rows of a constant table by index",
     .operands = {{{"weight", Role::activation}, {"indices", Role::index}}},
     .attributes = {{{"padding_idx", integer, "-1"},
                     {"scale_grad_by_freq", boolean, "false"},
                     {"sparse", boolean, "false"}}},
     .shape = shapes::embedding,
     .quant = QuantRule::same,
     .torch = {"aten.embedding.default"}},
});

}  // namespace rushlight::rows
