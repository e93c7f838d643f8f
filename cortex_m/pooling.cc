// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "cortex_m/lowering.h"

namespace rushlight::lowering {
namespace {

// One output position's window along one axis.
struct Window {
  int64_t first;    // first tap inside the input
  int64_t taps;     // inside the input
  int64_t divisor;  // taps that count in the mean
};

// Windows along one axis, and the distinct (taps, divisor) pairs among them.
struct WindowTable {
  std::vector<int32_t> entries;  // first, taps, class
  std::vector<std::pair<int64_t, int64_t>> classes;
};

WindowTable make_table(const std::vector<Window>& windows) {
  WindowTable table;
  for (const Window& w : windows) {
    const std::pair key{w.taps, w.divisor};
    const auto found = std::find(table.classes.begin(), table.classes.end(), key);
    const auto index = found - table.classes.begin();
    if (found == table.classes.end()) table.classes.push_back(key);
    table.entries.push_back(static_cast<int32_t>(w.first));
    table.entries.push_back(static_cast<int32_t>(w.taps));
    table.entries.push_back(static_cast<int32_t>(index));
  }
  return table;
}

kernels::AveragePool2dParams pool_params(const Lowering& l, const Node& node, const WindowTable& columns) {
  const TensorType& in = l.type(node.operands[0]);
  const TensorType& out = l.result_type(node);
  kernels::AveragePool2dParams p{};
  p.batch = static_cast<int32_t>(in.shape[0]);
  p.channels = static_cast<int32_t>(in.shape[1]);
  p.input_height = static_cast<int32_t>(in.shape[2]);
  p.input_width = static_cast<int32_t>(in.shape[3]);
  p.output_height = static_cast<int32_t>(out.shape[2]);
  p.output_width = static_cast<int32_t>(out.shape[3]);
  p.column_classes = static_cast<int32_t>(columns.classes.size());
  p.input_zero_point = in.quant.zero_point();
  p.output = output_range(node.clamp.lo, node.clamp.hi, out.quant);
  return p;
}

// Sums of at most this many int8 stay within int32.
constexpr int64_t kMostTaps = int64_t{1} << 23;

Status pool(Lowering& l, const Node& node, const std::vector<Window>& row_windows,
            const std::vector<Window>& column_windows, int64_t divisor_override) {
  if (l.type(node.operands[0]).shape.size() != 4)
    return unsupported("the input", fmt::format("is {}; a batch axis is needed: N,C,H,W",
                                                to_string(l.type(node.operands[0]))));
  const WindowTable rows = make_table(row_windows);
  const WindowTable columns = make_table(column_windows);
  const Quantization& in = l.type(node.operands[0]).quant;
  const Quantization& out = l.result_type(node).quant;
  // TFLite's pool, where input and output share parameters, divides the stored integers.
  const bool divides = l.rounding() == Rounding::double_rounding && in.scale() == out.scale() &&
                       in.zero_point() == out.zero_point();
  std::vector<int32_t> table;
  for (const auto& [row_taps, row_divisor] : rows.classes)
    for (const auto& [column_taps, column_divisor] : columns.classes) {
      if (row_taps * column_taps > kMostTaps)
        return unsupported("the window", fmt::format("has {} taps; the sum of more than {} can overflow",
                                                     row_taps * column_taps, kMostTaps));
      const int64_t divisor = divisor_override != 0 ? divisor_override : row_divisor * column_divisor;
      if (divides) {
        table.push_back(static_cast<int32_t>(divisor));
        continue;
      }
      const auto factor =
          make_mean_factor(in.scale() / (out.scale() * static_cast<double>(divisor)), l.rounding());
      if (!factor) return tl::unexpected(factor.error());
      table.push_back(factor->multiplier);
      table.push_back(factor->shift);
    }
  l.call(node, divides ? "quantized_avg_pool2d_divide_s8" : "quantized_avg_pool2d_s8",
         pool_params(l, node, columns),
         {l.bind(node.operands[0]), l.constant(node, "rows", rows.entries),
          l.constant(node, "columns", columns.entries),
          l.constant(node, divides ? "divisors" : "factors", table), l.bind(node.result())});
  return {};
}

}  // namespace

Status mean(Lowering& l, const Node& node) {
  const TensorType& in = l.type(node.operands[0]);
  const TensorType& out = l.result_type(node);
  const auto rank = in.shape.size();
  std::vector<bool> reduced(rank, false);
  const bool all = node.attrs().is_none("dim") || node.attrs().integers("dim").empty();
  if (all) reduced.assign(rank, true);
  if (!all)
    for (int64_t d : node.attrs().integers("dim"))
      reduced[static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(rank) : d)] = true;
  const std::vector<int64_t> own = strides(in);
  // The kept axes run in the order of the result, which is row-major; the reduced ones in any.
  std::vector<int64_t> extents[2];
  std::vector<std::vector<int64_t>> steps[2] = {{{}}, {{}}};
  int64_t n = 1;
  for (size_t d = 0; d < rank; ++d) {
    const size_t which = reduced[d] ? 1 : 0;
    extents[which].push_back(in.shape[d]);
    steps[which][0].push_back(own[d]);
    if (reduced[d]) n *= in.shape[d];
  }
  const Loops kept = collapse(extents[0], steps[0]);
  const Loops summed = collapse(extents[1], steps[1]);
  kernels::MeanParams p{};
  if (!fill(p.kept_extent, kept.extent, 1) || !fill(p.kept_stride, kept.strides[0], 0) ||
      !fill(p.reduced_extent, summed.extent, 1) || !fill(p.reduced_stride, summed.strides[0], 0))
    return unsupported("the mean", fmt::format("needs more than {} nested loops", kernels::kMaxLoops));
  if (n > kMostTaps)
    return unsupported("the mean",
                       fmt::format("sums {} values; the sum of more than {} can overflow", n, kMostTaps));
  const auto factor =
      make_mean_factor(in.quant.scale() / (out.quant.scale() * static_cast<double>(n)), l.rounding());
  if (!factor) return tl::unexpected(factor.error());
  p.offset = static_cast<int32_t>(-n * in.quant.zero_point());
  p.factor = *factor;
  p.output = output_range(node.clamp.lo, node.clamp.hi, out.quant);
  l.call(node, "quantized_mean_s8", p, {l.bind(node.operands[0]), l.bind(node.result())});
  return {};
}

Status avg_pool2d(Lowering& l, const Node& node) {
  const Attributes attrs = node.attrs();
  const auto kernel = attrs.pair("kernel_size");
  const auto stride = attrs.integers("stride").empty() ? kernel : attrs.pair("stride");
  const auto pad = attrs.pair("padding");
  const bool count_padding = attrs.boolean("count_include_pad");
  const Shape& in = l.type(node.operands[0]).shape;
  const Shape& out = l.result_type(node).shape;
  const auto windows = [&](int64_t input, int64_t outputs, int64_t length, int64_t step, int64_t padding) {
    std::vector<Window> all;
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t begin = o * step - padding;
      const int64_t end = std::min(begin + length, input + padding);
      const int64_t first = std::max<int64_t>(begin, 0);
      const int64_t taps = std::min(end, input) - first;
      all.push_back({first, taps, count_padding ? end - begin : taps});
    }
    return all;
  };
  const size_t rank = in.size();
  const int64_t divisor = attrs.is_none("divisor_override") ? 0 : attrs.integer("divisor_override");
  if (divisor < 0) return unsupported("divisor_override", fmt::format("is {}; it must be above 0", divisor));
  return pool(l, node, windows(in[rank - 2], out[rank - 2], kernel.first, stride.first, pad.first),
              windows(in[rank - 1], out[rank - 1], kernel.second, stride.second, pad.second), divisor);
}

Status adaptive_avg_pool2d(Lowering& l, const Node& node) {
  const auto windows = [](int64_t input, int64_t outputs) {
    std::vector<Window> all;
    for (int64_t o = 0; o < outputs; ++o) {
      const int64_t first = o * input / outputs;
      const int64_t last = ((o + 1) * input + outputs - 1) / outputs;
      all.push_back({first, last - first, last - first});
    }
    return all;
  };
  const Shape& in = l.type(node.operands[0]).shape;
  const Shape& out = l.result_type(node).shape;
  const size_t rank = in.size();
  return pool(l, node, windows(in[rank - 2], out[rank - 2]), windows(in[rank - 1], out[rank - 1]), 0);
}

}  // namespace rushlight::lowering
