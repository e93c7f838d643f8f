// SPDX-License-Identifier: Apache-2.0
// Quantization at the boundary of a program, and between two quantizations.
#pragma once

#include "ops/op.h"
#include "ops/shapes.h"

namespace rushlight::rows {

using enum AttributeKind;

inline constexpr auto kBoundaryOps = std::to_array<OpRow>({
    {.name = "quantize_per_tensor",
     .summary = "float to integers; kept only where a program's outside is float",
     .operands = {{{"input"}}},
     .attributes = {{{"scale", real},
                     {"zero_point", integer},
                     {"quant_min", integer},
                     {"quant_max", integer},
                     {"dtype", text}}},
     .shape = shapes::quantize,
     .quant = QuantRule::none,
     .torch = {"quantized_decomposed.quantize_per_tensor.default"}},
    {.name = "dequantize_per_tensor",
     .summary = "integers to float",
     .operands = {{{"input"}}},
     .attributes = {{{"scale", real},
                     {"zero_point", integer},
                     {"quant_min", integer},
                     {"quant_max", integer},
                     {"dtype", text}}},
     .shape = shapes::dequantize,
     .quant = QuantRule::none,
     .torch = {"quantized_decomposed.dequantize_per_tensor.default"}},
    {.name = "dequantize_per_channel",
     .summary = "integers to float, parameters along one axis",
     .operands = {{{"input"}, {"scales", Role::parameter}, {"zero_points", Role::parameter, true}}},
     .attributes = {{{"axis", integer}, {"quant_min", integer}, {"quant_max", integer}, {"dtype", text}}},
     .shape = shapes::dequantize,
     .quant = QuantRule::none,
     .torch = {"quantized_decomposed.dequantize_per_channel.default"}},
    {.name = "requantize",
     .summary = "the same reals under other parameters",
     .operands = {{{"input"}}},
     .shape = shapes::same_as_input,
     .clamps = true,
     .unary = [](double x, const Attributes&) { return x; }},
    {.name = "lookup",
     .summary = "a function of one quantized tensor as a table of the 256 results",
     .operands = {{{"input"}, {"table", Role::parameter}}},
     .shape = shapes::same_as_input},
    {.name = "elementwise",
     .summary =
         "a function of one tensor, put together from elementwise ops: \"aten.mul(x, aten.sigmoid(x))\"",
     .operands = {{{"input"}}},
     .attributes = {{{"expression", text}}},
     .shape = shapes::expression},
});

}  // namespace rushlight::rows
