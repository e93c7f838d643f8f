// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "cortex_m/lowering.h"
#include "ops/windows.h"

namespace rushlight::lowering {
namespace {

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

Status check_image(const Lowering& l, const Node& node) {
  if (l.type(node.operands[0]).shape.size() == 4) return {};
  return unsupported("the input", fmt::format("is {}; a batch axis is needed: N,C,H,W",
                                              to_string(l.type(node.operands[0]))));
}

PoolWindows windows_of(const Lowering& l, const Node& node) {
  return pool_windows(node.op, node.attrs(), l.type(node.operands[0]).shape, l.result_type(node).shape);
}

}  // namespace

Status average_pool(Lowering& l, const Node& node) {
  if (Status s = check_image(l, node); !s) return s;
  const Attributes attrs = node.attrs();
  const bool overrides = node.op == "aten.avg_pool2d"_op && !attrs.is_none("divisor_override");
  const int64_t divisor_override = overrides ? attrs.integer("divisor_override") : 0;
  if (divisor_override < 0)
    return unsupported("divisor_override", fmt::format("is {}; it must be above 0", divisor_override));
  const PoolWindows windows = windows_of(l, node);
  const WindowTable rows = make_table(windows.rows);
  const WindowTable columns = make_table(windows.columns);
  const Quantization& in = l.type(node.operands[0]).quant;
  const Quantization& out = l.result_type(node).quant;
  // TFLite's pool, where input and output share parameters, divides the stored integers.
  const bool divides = l.rounding() == Rounding::double_rounding && in.scale() == out.scale() &&
                       in.zero_point() == out.zero_point();
  std::vector<int32_t> table;
  for (const auto& [row_taps, row_divisor] : rows.classes)
    for (const auto& [column_taps, column_divisor] : columns.classes) {
      if (row_taps * column_taps > most_taps(l.element(node)))
        return unsupported("the window", fmt::format("has {} taps; the sum of more than {} can overflow",
                                                     row_taps * column_taps, most_taps(l.element(node))));
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
  return l.call(node, divides ? "quantized_avg_pool2d_divide" : "quantized_avg_pool2d",
                pool_params(l, node, columns),
                {l.bind(node.operands[0]), l.constant(node, "rows", rows.entries),
                 l.constant(node, "columns", columns.entries),
                 l.constant(node, divides ? "divisors" : "factors", table), l.bind(node.result())});
}

Status max_pool(Lowering& l, const Node& node) {
  if (Status s = check_image(l, node); !s) return s;
  const TensorType& in = l.type(node.operands[0]);
  const TensorType& out = l.result_type(node);
  const PoolWindows windows = windows_of(l, node);
  const auto table = [](const std::vector<Window>& all) {
    std::vector<int32_t> entries;
    for (const Window& w : all) {
      entries.push_back(static_cast<int32_t>(w.first));
      entries.push_back(static_cast<int32_t>(w.taps));
    }
    return entries;
  };
  for (const auto* all : {&windows.rows, &windows.columns})
    for (const Window& w : *all)
      if (w.taps == 0) return unsupported("a window", "lies outside the input, where there is no maximum");
  const kernels::OutputRange range = output_range(node.clamp.lo, node.clamp.hi, out.quant);
  kernels::MaxPool2dParams p{};
  p.batch = static_cast<int32_t>(in.shape[0]);
  p.channels = static_cast<int32_t>(in.shape[1]);
  p.input_height = static_cast<int32_t>(in.shape[2]);
  p.input_width = static_cast<int32_t>(in.shape[3]);
  p.output_height = static_cast<int32_t>(out.shape[2]);
  p.output_width = static_cast<int32_t>(out.shape[3]);
  p.dilation_height = static_cast<int32_t>(windows.row_dilation);
  p.dilation_width = static_cast<int32_t>(windows.column_dilation);
  p.lo = range.lo;
  p.hi = range.hi;
  return l.call(node, "max_pool2d", p,
                {l.bind(node.operands[0]), l.constant(node, "rows", table(windows.rows)),
                 l.constant(node, "columns", table(windows.columns)), l.bind(node.result())});
}

Status upsample_bilinear2d(Lowering& l, const Node& node) {
  const TensorType& in = l.type(node.operands[0]);
  const TensorType& out = l.result_type(node);
  const Attributes attrs = node.attrs();
  const bool align = attrs.boolean("align_corners");
  const Blends rows = linear_blends(in.shape[2], out.shape[2], attrs.real("scale_h"), align);
  const Blends columns = linear_blends(in.shape[3], out.shape[3], attrs.real("scale_w"), align);
  const auto table = [](const Blends& blends) {
    std::vector<int32_t> entries;
    for (const Blend& b : blends.entries)
      for (int64_t field : {b.first, b.second, b.weight}) entries.push_back(static_cast<int32_t>(field));
    return entries;
  };
  const auto divisor = static_cast<double>(rows.denominator * columns.denominator);
  const auto factor = make_mean_factor(in.quant.scale() / (out.quant.scale() * divisor), l.rounding());
  if (!factor) return tl::unexpected(factor.error());
  kernels::UpsampleBilinear2dParams p{};
  p.batch = static_cast<int32_t>(in.shape[0]);
  p.channels = static_cast<int32_t>(in.shape[1]);
  p.input_height = static_cast<int32_t>(in.shape[2]);
  p.input_width = static_cast<int32_t>(in.shape[3]);
  p.output_height = static_cast<int32_t>(out.shape[2]);
  p.output_width = static_cast<int32_t>(out.shape[3]);
  p.row_denominator = static_cast<int32_t>(rows.denominator);
  p.column_denominator = static_cast<int32_t>(columns.denominator);
  p.input_zero_point = in.quant.zero_point();
  p.factor = *factor;
  p.output = output_range(node.clamp.lo, node.clamp.hi, out.quant);
  return l.call(node, "upsample_bilinear2d", p,
                {l.bind(node.operands[0]), l.constant(node, "rows", table(rows)),
                 l.constant(node, "columns", table(columns)), l.bind(node.result())});
}

}  // namespace rushlight::lowering
