// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of one or two tensors.
#pragma once

#include <algorithm>

#include "ops/op.h"
#include "ops/shapes.h"

namespace rushlight::rows {

using enum AttributeKind;

inline constexpr auto kElementwiseOps = std::to_array<OpRow>({
    {.name = "aten.add",
     .summary = "a + alpha b with NumPy broadcasting",
     .operands = {{{"input"}, {"other"}}},
     .attributes = {{{"alpha", real, "1.0"}}},
     .shape = shapes::broadcast_operands,
     .clamps = true,
     .binary = [](double a, double b, const Attributes& t) { return a + t.real("alpha") * b; },
     .torch = {"aten.add.Tensor", "aten.add.Scalar"}},
    {.name = "aten.sub",
     .summary = "a - alpha b with NumPy broadcasting",
     .operands = {{{"input"}, {"other"}}},
     .attributes = {{{"alpha", real, "1.0"}}},
     .shape = shapes::broadcast_operands,
     .clamps = true,
     .binary = [](double a, double b, const Attributes& t) { return a - t.real("alpha") * b; },
     .torch = {"aten.sub.Tensor", "aten.sub.Scalar"}},
    {.name = "aten.mul",
     .summary = "a b with NumPy broadcasting",
     .operands = {{{"input"}, {"other"}}},
     .shape = shapes::broadcast_operands,
     .clamps = true,
     .binary = [](double a, double b, const Attributes&) { return a * b; },
     .torch = {"aten.mul.Tensor", "aten.mul.Scalar"}},
    {.name = "aten.div",
     .summary = "a / b with NumPy broadcasting; a number over 0 saturates, 0 over 0 is 0",
     .operands = {{{"input"}, {"other"}}},
     .shape = shapes::broadcast_operands,
     .clamps = true,
     .binary = [](double a, double b, const Attributes&) { return a == 0 ? 0 : a / b; },
     .torch = {"aten.div.Tensor", "aten.div.Scalar"}},
    {.name = "aten.prelu",
     .summary = "x above 0, weight[c] x below, with a slope a channel",
     .operands = {{{"input"}, {"weight", Role::parameter}}},
     .shape = shapes::prelu},
    {.name = "aten.maximum",
     .summary = "the larger of a and b, with NumPy broadcasting",
     .operands = {{{"input"}, {"other"}}},
     .shape = shapes::broadcast_operands,
     .quant = QuantRule::same,
     .binary = [](double a, double b, const Attributes&) { return a > b ? a : b; },
     .torch = {"aten.maximum.default", "aten.max.other"}},
    {.name = "aten.minimum",
     .summary = "the smaller of a and b, with NumPy broadcasting",
     .operands = {{{"input"}, {"other"}}},
     .shape = shapes::broadcast_operands,
     .quant = QuantRule::same,
     .binary = [](double a, double b, const Attributes&) { return a < b ? a : b; },
     .torch = {"aten.minimum.default", "aten.min.other"}},
    {.name = "aten.relu",
     .summary = "max(x, 0)",
     .operands = {{{"input"}}},
     .shape = shapes::same_as_input,
     .unary = [](double x, const Attributes&) { return x > 0 ? x : 0; },
     .torch = {"aten.relu.default"}},
    {.name = "aten.relu6",
     .summary = "min(max(x, 0), 6)",
     .operands = {{{"input"}}},
     .shape = shapes::same_as_input,
     .unary = [](double x, const Attributes&) { return std::clamp(x, 0.0, 6.0); },
     .torch = {"aten.relu6.default"}},
    {.name = "aten.hardtanh",
     .summary = "clamp to [min_val, max_val]",
     .operands = {{{"input"}}},
     .attributes = {{{"min_val", real, "-1.0"}, {"max_val", real, "1.0"}}},
     .shape = shapes::same_as_input,
     .unary = [](double x,
                 const Attributes& t) { return std::min(std::max(x, t.real("min_val")), t.real("max_val")); },
     .torch = {"aten.hardtanh.default"}},
    {.name = "aten.clamp",
     .summary = "clamp to [min, max], either bound optional",
     .operands = {{{"input"}}},
     .attributes = {{{"min", real, "none"}, {"max", real, "none"}}},
     .shape = shapes::same_as_input,
     .unary =
         [](double x, const Attributes& t) {
           if (!t.is_none("min")) x = std::max(x, t.real("min"));
           if (!t.is_none("max")) x = std::min(x, t.real("max"));
           return x;
         },
     .torch = {"aten.clamp.default"}},
});

}  // namespace rushlight::rows
