// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes, and what looks along one axis.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "cortex_m/lowering.h"

namespace rushlight::lowering {
namespace {

// The kept axes run in the order of the result, which is row-major; the reduced ones in any.
struct Reduction {
  Loops kept, reduced;
  int64_t count = 1;  // elements of a group
};

Result<Reduction> reduction_of(const Lowering& l, const Node& node) {
  const TensorType& in = l.type(node.operands[0]);
  const auto rank = static_cast<int64_t>(in.shape.size());
  const Attributes attrs = node.attrs();
  const Integers dims = attrs.is_none("dim") ? Integers{} : attrs.integers("dim");
  std::vector<bool> reduced(in.shape.size(), dims.empty());
  for (int64_t d : dims) reduced[static_cast<size_t>(d < 0 ? d + rank : d)] = true;
  const std::vector<int64_t> own = strides(in);
  std::vector<int64_t> extents[2];
  std::vector<std::vector<int64_t>> steps[2] = {{{}}, {{}}};
  Reduction result;
  for (size_t d = 0; d < in.shape.size(); ++d) {
    const size_t which = reduced[d] ? 1 : 0;
    extents[which].push_back(in.shape[d]);
    steps[which][0].push_back(own[d]);
    if (reduced[d]) result.count *= in.shape[d];
  }
  result.kept = collapse(extents[0], steps[0]);
  result.reduced = collapse(extents[1], steps[1]);
  if (result.kept.extent.size() > kernels::kMaxLoops || result.reduced.extent.size() > kernels::kMaxLoops)
    return unsupported("the reduction", fmt::format("needs more than {} nested loops", kernels::kMaxLoops));
  return result;
}

template <class Params>
void fill_loops(Params& p, const Reduction& r) {
  fill(p.kept_extent, r.kept.extent, 1);
  fill(p.kept_stride, r.kept.strides[0], 0);
  fill(p.reduced_extent, r.reduced.extent, 1);
  fill(p.reduced_stride, r.reduced.strides[0], 0);
}

// E[d] = 2^bits exp(-d s_in), for differences d to the greatest element; sums of `count` of them stay below
// 2^31.
struct Exponentials {
  std::vector<int32_t> table;
  int bits;
};

Exponentials exponentials(double input_scale, int64_t count) {
  const int headroom =
      static_cast<int>(std::ceil(std::log2(static_cast<double>(std::max<int64_t>(count, 2)))));
  Exponentials e{{}, std::min(24, 31 - headroom)};
  for (int d = 0; d < 256; ++d)
    e.table.push_back(static_cast<int32_t>(std::nearbyint(std::ldexp(std::exp(-d * input_scale), e.bits))));
  return e;
}

// The constants of TFLite's int8 softmax: differences in Q5.26.
constexpr int kDifferenceBits = 26;
// Its sum of exponentials has 12 integer bits; longer lines overflow there, and take the table here.
constexpr int32_t kLongestTfliteLine = 4096;

Result<kernels::SoftmaxTfliteParams> tflite_params(const Lines& lines, double input_scale) {
  const double scaled = std::min(std::ldexp(input_scale, kDifferenceBits), 2147483647.0);
  const auto factor = make_factor(scaled);
  if (!factor) return tl::unexpected(factor.error());
  const double greatest = std::ldexp(31.0, kDifferenceBits - factor->shift);
  return kernels::SoftmaxTfliteParams{lines.outer,   lines.count,
                                      lines.inner,   factor->multiplier,
                                      factor->shift, -static_cast<int32_t>(std::floor(greatest))};
}

// A function at the 513 points of softmax_s16's tables, lo..hi; 32768 stands for 1.
std::vector<int16_t> table_of(double (*function)(double), double lo, double hi) {
  std::vector<int16_t> table;
  for (int k = 0; k <= 512; ++k)
    table.push_back(
        static_cast<int16_t>(std::min(32767.0, std::round(32768 * function(lo + (hi - lo) * k / 512.0)))));
  return table;
}

// Both modes have TFLite's form; its converter's tables differ from these in the last place.
Status softmax_s16(Lowering& l, const Node& node, const Lines& lines) {
  const Quantization& out = l.result_type(node).quant;
  if (out.scale() != 1.0 / 32768)
    return unsupported("the result",
                       fmt::format("has the scale {}; an int16 softmax needs 2^-15", out.scale()));
  if (lines.count > 0xFFFF)
    return unsupported("the axis", fmt::format("has {} elements; 65535 are allowed", lines.count));
  const auto factor = make_factor(l.type(node.operands[0]).quant.scale() * 65535.0 / 10.0);
  if (!factor) return tl::unexpected(factor.error());
  return l.call(
      node, "softmax",
      kernels::SoftmaxS16Params{lines.outer, lines.count, lines.inner, factor->multiplier, factor->shift},
      {l.bind(node.operands[0]),
       l.constant(node, "exponentials", table_of([](double x) { return std::exp(x); }, -10, 0)),
       l.constant(node, "reciprocals", table_of([](double x) { return 1 / (1 + x); }, 0, 1)),
       l.bind(node.result())});
}

}  // namespace

Status sum(Lowering& l, const Node& node) {
  const auto reduction = reduction_of(l, node);
  if (!reduction) return tl::unexpected(reduction.error());
  const int64_t n = reduction->count;
  if (n > most_taps(l.element(node)))
    return unsupported("the reduction", fmt::format("sums {} values; the sum of more than {} can overflow", n,
                                                    most_taps(l.element(node))));
  const Quantization& in = l.type(node.operands[0]).quant;
  const Quantization& out = l.result_type(node).quant;
  const double divisor = node.op == "aten.mean"_op ? static_cast<double>(n) : 1.0;
  const auto factor = make_mean_factor(in.scale() / (out.scale() * divisor), l.rounding());
  if (!factor) return tl::unexpected(factor.error());
  kernels::MeanParams p{};
  fill_loops(p, *reduction);
  p.offset = static_cast<int32_t>(-n * in.zero_point());
  p.factor = *factor;
  p.output = output_range(node.clamp.lo, node.clamp.hi, out);
  return l.call(node, "quantized_mean", p, {l.bind(node.operands[0]), l.bind(node.result())});
}

Status extreme(Lowering& l, const Node& node) {
  const auto reduction = reduction_of(l, node);
  if (!reduction) return tl::unexpected(reduction.error());
  const kernels::OutputRange range = output_range(node.clamp.lo, node.clamp.hi, l.result_type(node).quant);
  kernels::ReduceParams p{};
  fill_loops(p, *reduction);
  p.lo = range.lo;
  p.hi = range.hi;
  return l.call(node, node.op == "aten.amax"_op ? "amax" : "amin", p,
                {l.bind(node.operands[0]), l.bind(node.result())});
}

Status position(Lowering& l, const Node& node) {
  const TensorType& in = l.type(node.operands[0]);
  const bool all = node.attrs().is_none("dim");
  const Lines lines =
      all ? Lines{1, static_cast<int32_t>(in.elements()), 1} : lines_along(in, node.attrs().integer("dim"));
  return l.call(
      node, "argmax",
      kernels::ArgmaxParams{lines.outer, lines.count, lines.inner, node.op == "aten.argmin"_op ? 1 : 0},
      {l.bind(node.operands[0]), l.bind(node.result())});
}

Status softmax(Lowering& l, const Node& node) {
  const Quantization& in = l.type(node.operands[0]).quant;
  const Quantization& out = l.result_type(node).quant;
  const Lines lines = lines_along(l.result_type(node), node.attrs().integer("dim"));
  const std::vector<Binding> ends = {l.bind(node.operands[0]), l.bind(node.result())};
  if (l.element(node) == DType::int16) return softmax_s16(l, node, lines);
  const bool has_tflites_output = out.scale() == 1.0 / 256 && out.zero_point() == -128;
  if (l.rounding() == Rounding::double_rounding && has_tflites_output && lines.count < kLongestTfliteLine) {
    const auto params = tflite_params(lines, in.scale());
    if (!params) return tl::unexpected(params.error());
    return l.call(node, "softmax_tflite", *params, ends);
  }
  const Exponentials e = exponentials(in.scale(), lines.count);
  const auto factor = make_factor(1 / out.scale());
  if (!factor) return tl::unexpected(factor.error());
  if (factor->shift < 0 || factor->shift > 24)
    return unsupported("the result",
                       fmt::format("has the scale {}; a softmax needs one between 2^-24 and 1", out.scale()));
  // A quotient of at most 1 / scale, and the rounding.
  const int bits = static_cast<int>(std::ceil(std::log2(1 / out.scale() + 2)));
  kernels::SoftmaxParams p{};
  p.outer = lines.outer;
  p.count = lines.count;
  p.inner = lines.inner;
  p.multiplier = factor->multiplier;
  p.shift = factor->shift;
  p.quotient_bits = std::max(bits, 1);
  p.output = {out.zero_point(), out.lo, out.hi};
  return l.call(node, "softmax", p, {ends[0], l.constant(node, "exponentials", e.table), ends[1]});
}

// Everything in units of 2^-bits of an output step, with as many bits as fit.
Status log_softmax(Lowering& l, const Node& node) {
  const Quantization& in = l.type(node.operands[0]).quant;
  const Quantization& out = l.result_type(node).quant;
  const Lines lines = lines_along(l.result_type(node), node.attrs().integer("dim"));
  const Exponentials e = exponentials(in.scale(), lines.count);
  const double step = in.scale() / out.scale();
  const double unit = std::numbers::ln2 / out.scale();
  int bits = 24;
  while (bits > 1 && std::ldexp(std::max(step, unit), bits) > 0x1p30) --bits;
  if (std::ldexp(std::max(step, unit), bits) > 0x1p30)
    return unsupported("the result",
                       fmt::format("has the scale {}, too fine for its input's {}", out.scale(), in.scale()));
  const kernels::LogSoftmaxParams p{lines.outer,
                                    lines.count,
                                    lines.inner,
                                    e.bits,
                                    static_cast<int32_t>(std::nearbyint(std::ldexp(step, bits))),
                                    static_cast<int32_t>(std::nearbyint(std::ldexp(unit, bits))),
                                    bits,
                                    {out.zero_point(), out.lo, out.hi}};
  return l.call(node, "log_softmax", p,
                {l.bind(node.operands[0]), l.constant(node, "exponentials", e.table), l.bind(node.result())});
}

}  // namespace rushlight::lowering
