// SPDX-License-Identifier: Apache-2.0
// The op table: one row an op. Names, operands, attributes, verification, text form, shape inference,
// importer names, float evaluation of elementwise ops, quantization and the documentation's operator table
// come from these rows. Adding an op starts here; see HACKING.md.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "ops/op.h"
#include "ops/shapes.h"

namespace rushlight {

using enum AttributeKind;

inline constexpr auto kOps = std::to_array<OpRow>({
    // ---- quantization boundary
    // -------------------------------------------------------------------------------
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

    // ---- convolution and linear
    // ------------------------------------------------------------------------------
    {.name = "aten.conv2d",
     .summary = "2-D convolution; groups, dilation, explicit padding [top, left, bottom, right] or [h, w]",
     .operands = {{{"input"}, {"weight", Role::weight, false, false, 0}, {"bias", Role::bias, true}}},
     .attributes = {{{"stride", integers, "[1,1]"},
                     {"padding", integers, "[0,0]"},
                     {"dilation", integers, "[1,1]"},
                     {"groups", integer, "1"}}},
     .shape = shapes::conv2d,
     .clamps = true,
     .torch = {"aten.conv2d.default"}},
    {.name = "aten.linear",
     .summary = "x W^T + b on the last axis, any rank",
     .operands = {{{"input"}, {"weight", Role::weight, false, false, 0}, {"bias", Role::bias, true}}},
     .shape = shapes::linear,
     .clamps = true,
     .torch = {"aten.linear.default"}},
    {.name = "aten.batch_norm",
     .summary = "inference batch normalisation; folded into the convolution or linear before it",
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

    // ---- elementwise
    // -----------------------------------------------------------------------------------------
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

    // ---- reductions and pooling
    // ------------------------------------------------------------------------------
    {.name = "aten.mean",
     .summary = "mean over the given dims",
     .operands = {{{"input"}}},
     .attributes = {{{"dim", integers, "none"}, {"keepdim", boolean, "false"}}},
     .shape = shapes::mean,
     .clamps = true,
     .torch = {"aten.mean.dim"}},
    {.name = "aten.avg_pool2d",
     .summary = "mean over windows",
     .operands = {{{"input"}}},
     .attributes = {{{"kernel_size", integers},
                     {"stride", integers, "[]"},
                     {"padding", integers, "[0,0]"},
                     {"ceil_mode", boolean, "false"},
                     {"count_include_pad", boolean, "true"},
                     {"divisor_override", integer, "none"}}},
     .shape = shapes::avg_pool2d,
     .clamps = true,
     .torch = {"aten.avg_pool2d.default"}},
    {.name = "aten.adaptive_avg_pool2d",
     .summary = "mean over windows that tile the input, also of unequal size",
     .operands = {{{"input"}}},
     .attributes = {{{"output_size", integers}}},
     .shape = shapes::adaptive_avg_pool2d,
     .clamps = true,
     .torch = {"aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default"}},

    // ---- movement
    // --------------------------------------------------------------------------------------------
    {.name = "aten.view",
     .summary = "the same elements under another shape",
     .operands = {{{"input"}}},
     .attributes = {{{"size", integers}}},
     .shape = shapes::view,
     .quant = QuantRule::same,
     .torch = {"aten.view.default", "aten.reshape.default"}},
    {.name = "aten.flatten",
     .summary = "axes start_dim to end_dim become one",
     .operands = {{{"input"}}},
     .attributes = {{{"start_dim", integer, "0"}, {"end_dim", integer, "-1"}}},
     .shape = shapes::flatten,
     .quant = QuantRule::same,
     .torch = {"aten.flatten.using_ints"}},
    {.name = "aten.permute",
     .summary = "axes in another order",
     .operands = {{{"input"}}},
     .attributes = {{{"dims", integers}}},
     .shape = shapes::permute,
     .quant = QuantRule::same,
     .torch = {"aten.permute.default"}},
    {.name = "to_layout",
     .summary = "the same elements in another order in memory; the result's type says which",
     .operands = {{{"input"}}},
     .shape = shapes::same_as_input,
     .quant = QuantRule::same},
    {.name = "aten.cat",
     .summary = "concatenation along dim",
     .operands = {{{"tensors", Role::activation, false, true}}},
     .attributes = {{{"dim", integer, "0"}}},
     .shape = shapes::concat,
     .quant = QuantRule::same,
     .torch = {"aten.cat.default"}},

    // ---- identities, removed before anything else
    // --------------------------------------------------------------
    {.name = "aten.dropout",
     .summary = "the identity at inference",
     .operands = {{{"input"}}},
     .attributes = {{{"p", real, "0.5"}, {"train", boolean, "false"}}},
     .shape = shapes::same_as_input,
     .quant = QuantRule::same,
     .torch = {"aten.dropout.default", "aten.feature_dropout.default", "aten.alpha_dropout.default"}},
    {.name = "aten.alias",
     .summary = "the identity",
     .operands = {{{"input"}}},
     .shape = shapes::same_as_input,
     .quant = QuantRule::same,
     .torch = {"aten.alias.default", "aten.detach.default", "aten.lift_fresh_copy.default",
               "aten.clone.default"}},
    {.name = "aten.contiguous",
     .summary = "the identity: memory order is the compiler's business",
     .operands = {{{"input"}}},
     .shape = shapes::same_as_input,
     .quant = QuantRule::same,
     .torch = {"aten.contiguous.default"}},
});

// An op: a row of the table. Written "aten.add"_op, which does not compile for a name that has no row.
enum class Op : uint16_t {};

constexpr std::optional<Op> find_op(std::string_view name) {
  for (size_t i = 0; i < kOps.size(); ++i)
    if (kOps[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}
consteval Op operator""_op(const char* text, size_t length) {
  return find_op(std::string_view(text, length)).value();
}
constexpr const OpRow& row(Op op) { return kOps[static_cast<size_t>(op)]; }
constexpr std::string_view name(Op op) { return row(op).name; }

}  // namespace rushlight
