// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cortex_m/lowering.h"

namespace rushlight::lowering {
namespace {

Result<kernels::BroadcastLoops> broadcast_loops(Lowering& l, const Node& node) {
  const TensorType& out = l.result_type(node);
  const std::vector<int> order = memory_order(out.layout, out.shape.size());
  std::vector<int64_t> extent;
  std::vector<std::vector<int64_t>> strides(2);
  for (int axis : order) {
    const auto d = static_cast<size_t>(axis);
    extent.push_back(out.shape[d]);
    for (size_t k = 0; k < 2; ++k) strides[k].push_back(broadcast_strides(l.type(node.operands[k]), out)[d]);
  }
  const Loops loops = collapse(extent, std::move(strides));
  kernels::BroadcastLoops result{};
  if (!fill(result.extent, loops.extent, 1) || !fill(result.stride_a, loops.strides[0], 0) ||
      !fill(result.stride_b, loops.strides[1], 0))
    return unsupported("broadcasting",
                       fmt::format("needs {} nested loops; {} are allowed. Reshape the operands so that "
                                   "neighbouring axes broadcast alike",
                                   loops.extent.size(), kernels::kMaxLoops));
  return result;
}

// The headroom of TFLite's addition.
constexpr int left_shift(DType element) { return element == DType::int8 ? 20 : 15; }

Result<kernels::AddDoubleParams> add_double(const Quantization& a, const Quantization& b, double alpha,
                                            const Quantization& out, DType element) {
  kernels::AddDoubleParams params{};
  const double scale_b = b.scale() * std::abs(alpha);
  const double twice_larger = 2 * std::max(a.scale(), scale_b);
  const auto factor_a = make_factor(a.scale() / twice_larger);
  const auto factor_b = make_factor(scale_b / twice_larger);
  const auto factor_out = make_factor(twice_larger / (std::ldexp(1.0, left_shift(element)) * out.scale()));
  for (const auto* factor : {&factor_a, &factor_b, &factor_out})
    if (!*factor) return tl::unexpected(factor->error());
  params.zero_point_a = a.zero_point();
  params.zero_point_b = b.zero_point();
  params.factor_a = *factor_a;
  params.factor_b = *factor_b;
  params.negate_b = alpha < 0 ? 1 : 0;
  params.factor_out = *factor_out;
  return params;
}

int32_t count(const Lowering& l, const Node& node) {
  return static_cast<int32_t>(l.result_type(node).elements());
}

int32_t bits(float x) {
  int32_t result = 0;
  std::memcpy(&result, &x, sizeof result);
  return result;
}

}  // namespace

Status add(Lowering& l, const Node& node) {
  auto loops = broadcast_loops(l, node);
  if (!loops) return forward(loops);
  const Quantization& a = l.type(node.operands[0]).quant;
  const Quantization& b = l.type(node.operands[1]).quant;
  const Quantization& out = l.result_type(node).quant;
  const double alpha = node.attrs().real("alpha") * (node.op == "aten.sub"_op ? -1 : 1);
  if (alpha == 0 || !std::isfinite(alpha))
    return unsupported("alpha", fmt::format("is {}; it must be a number other than 0", alpha));
  const kernels::OutputRange range = output_range(node.clamp.lo, node.clamp.hi, out);
  std::vector<Binding> arguments = {l.bind(node.operands[0]), l.bind(node.operands[1]),
                                    l.bind(node.result())};
  const Lowering::CallOptions options{0, l.overwritable(node)};
  if (l.rounding() == Rounding::single) {
    const auto factors = make_add_factors(a, b, alpha, out, l.element(node));
    if (!factors) return tl::unexpected(factors.error());
    const kernels::AddSingleParams params{*loops,          factors->multiplier_a, factors->multiplier_b,
                                          factors->offset, factors->shift,        range.lo,
                                          range.hi};
    return l.call(node, "quantized_add", params, std::move(arguments), options);
  }
  auto params = add_double(a, b, alpha, out, l.element(node));
  if (!params) return forward(params);
  params->loops = *loops;
  params->output = range;
  return l.call(node, "quantized_add", *params, std::move(arguments), options);
}

Status mul(Lowering& l, const Node& node) {
  auto loops = broadcast_loops(l, node);
  if (!loops) return forward(loops);
  const Quantization& a = l.type(node.operands[0]).quant;
  const Quantization& b = l.type(node.operands[1]).quant;
  const Quantization& out = l.result_type(node).quant;
  const auto factor = make_factor(a.scale() * b.scale() / out.scale());
  if (!factor) return tl::unexpected(factor.error());
  return l.call(node, "quantized_mul",
                kernels::MulParams{*loops, a.zero_point(), b.zero_point(), *factor,
                                   output_range(node.clamp.lo, node.clamp.hi, out)},
                {l.bind(node.operands[0]), l.bind(node.operands[1]), l.bind(node.result())},
                {0, l.overwritable(node)});
}

// Division by the integer b is multiplication by one factor out of 256.
Status div(Lowering& l, const Node& node) {
  auto loops = broadcast_loops(l, node);
  if (!loops) return forward(loops);
  const Quantization& a = l.type(node.operands[0]).quant;
  const Quantization& b = l.type(node.operands[1]).quant;
  const Quantization& out = l.result_type(node).quant;
  std::vector<int32_t> multipliers;
  std::vector<int32_t> shifts;
  for (int32_t q = -128; q < 128; ++q) {
    const int32_t divisor = q - b.zero_point();
    kernels::Factor factor{INT32_MAX, 30};  // over 0: saturates
    if (divisor != 0) {
      const auto exact =
          make_mean_factor(a.scale() / (b.scale() * out.scale() * std::abs(divisor)), l.rounding());
      if (!exact) return tl::unexpected(exact.error());
      factor = *exact;
    }
    multipliers.push_back(divisor < 0 ? -factor.multiplier : factor.multiplier);
    shifts.push_back(factor.shift);
  }
  return l.call(
      node, "quantized_div",
      kernels::DivParams{*loops, a.zero_point(), output_range(node.clamp.lo, node.clamp.hi, out)},
      {l.bind(node.operands[0]), l.bind(node.operands[1]), l.constant(node, "multipliers", multipliers),
       l.constant(node, "shifts", shifts), l.bind(node.result())},
      {0, l.overwritable(node)});
}

Status prelu(Lowering& l, const Node& node) {
  const ValueId weight = node.operands[1];
  if (!l.graph().is_constant(weight) || !is_float(l.type(weight).dtype))
    return unsupported("the weight",
                       fmt::format("is {}; float constants are supported", to_string(l.type(weight))));
  const Quantization& in = l.type(node.operands[0]).quant;
  const Quantization& out = l.result_type(node).quant;
  const auto positive = make_factor(in.scale() / out.scale());
  if (!positive) return tl::unexpected(positive.error());
  std::vector<int32_t> multipliers;
  std::vector<int32_t> shifts;
  const Tensor& slopes = l.graph().constant(weight);
  for (int64_t c = 0; c < slopes.elements(); ++c) {
    kernels::Factor factor{0, 0};
    if (slopes.at(c) != 0) {
      const auto exact = make_factor(std::abs(slopes.at(c)) * in.scale() / out.scale());
      if (!exact) return tl::unexpected(exact.error());
      factor = *exact;
    }
    multipliers.push_back(slopes.at(c) < 0 ? -factor.multiplier : factor.multiplier);
    shifts.push_back(factor.shift);
  }
  const Lines lines = lines_along(l.result_type(node), 1);
  return l.call(node, "quantized_prelu",
                kernels::PreluParams{lines.outer, lines.count, lines.inner, in.zero_point(), *positive,
                                     output_range(node.clamp.lo, node.clamp.hi, out)},
                {l.bind(node.operands[0]), l.constant(node, "multipliers", multipliers),
                 l.constant(node, "shifts", shifts), l.bind(node.result())},
                {0, l.overwritable(node)});
}

Status lookup(Lowering& l, const Node& node) {
  std::vector<int> overwrites;
  for (int argument : l.overwritable(node))
    if (argument == 0) overwrites.push_back(argument);
  return l.call(node, "lookup", kernels::LookupParams{count(l, node)},
                {l.bind(node.operands[0]), l.bind(node.operands[1]), l.bind(node.result())}, {0, overwrites});
}

Status binary(Lowering& l, const Node& node) {
  auto loops = broadcast_loops(l, node);
  if (!loops) return forward(loops);
  // "aten.maximum" runs as maximum_s8 or maximum_s16.
  const std::string_view op = name(node.op);
  return l.call(node, op.substr(op.find('.') + 1), kernels::BinaryParams{*loops},
                {l.bind(node.operands[0]), l.bind(node.operands[1]), l.bind(node.result())},
                {0, l.overwritable(node)});
}

Status requantize(Lowering& l, const Node& node) {
  const Quantization& in = l.type(node.operands[0]).quant;
  const Quantization& out = l.result_type(node).quant;
  const kernels::OutputRange range = output_range(node.clamp.lo, node.clamp.hi, out);
  const std::vector<Binding> arguments = {l.bind(node.operands[0]), l.bind(node.result())};
  const Lowering::CallOptions options{0, l.overwritable(node)};
  const DType from = l.type(node.operands[0]).dtype;
  if (from == l.element(node) && in.scale() == out.scale() && in.zero_point() == out.zero_point()) {
    return l.call(node, "clamp", kernels::ClampParams{count(l, node), range.lo, range.hi}, arguments,
                  options);
  }
  const auto factor = make_factor(in.scale() / out.scale());
  if (!factor) return tl::unexpected(factor.error());
  // "requantize_s8_s16" from int8 to int16.
  const std::string_view kernel = from == l.element(node) ? "requantize"
                                  : from == DType::int8   ? "requantize_s8"
                                                          : "requantize_s16";
  return l.call(node, kernel, kernels::RequantizeParams{count(l, node), in.zero_point(), *factor, range},
                arguments, options);
}

Status quantize(Lowering& l, const Node& node) {
  const Quantization& out = l.result_type(node).quant;
  return l.call(
      node, "quantize_per_tensor",
      kernels::QuantizeParams{
          count(l, node), bits(static_cast<float>(1.0 / out.scale())), {out.zero_point(), out.lo, out.hi}},
      {l.bind(node.operands[0]), l.bind(node.result())});
}

Status dequantize(Lowering& l, const Node& node) {
  const TensorType& in = l.type(node.operands[0]);
  const bool is_activation = in.dtype == DType::int8 || in.dtype == DType::int16;
  if (!is_activation || in.quant.per_channel())
    return unsupported("the operand",
                       fmt::format("is {}; int8 or int16 per tensor is supported", to_string(in)));
  return l.call(node, "dequantize_per_tensor",
                kernels::DequantizeParams{count(l, node), bits(static_cast<float>(in.quant.scale())),
                                          in.quant.zero_point()},
                {l.bind(node.operands[0]), l.bind(node.result())});
}

}  // namespace rushlight::lowering
