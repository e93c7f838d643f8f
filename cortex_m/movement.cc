// SPDX-License-Identifier: Apache-2.0
// Ops that only move integers: no call at all where the bytes are the same, one strided copy otherwise.
#include "cortex_m/lowering.h"
#include "ops/axis_maps.h"

namespace rushlight::lowering {
namespace {

struct Offsets {
  int64_t input, output;
};

Status copy(Lowering& l, const Node& node, Binding source, ValueId result, const std::vector<int64_t>& extent,
            std::vector<int64_t> input_stride, std::vector<int64_t> output_stride, Offsets offsets) {
  const Loops loops = collapse(extent, {std::move(input_stride), std::move(output_stride)});
  kernels::CopyParams p{};
  if (!fill(p.extent, loops.extent, 1) || !fill(p.input_stride, loops.strides[0], 0) ||
      !fill(p.output_stride, loops.strides[1], 0))
    return unsupported("the copy", fmt::format("needs {} nested loops; {} are allowed", loops.extent.size(),
                                               kernels::kMaxLoops));
  p.input_offset = static_cast<int32_t>(offsets.input);
  p.output_offset = static_cast<int32_t>(offsets.output);
  return l.call(node, "copy", p, {source, l.bind(result)});
}

// Moves `input` to the node's result, whose axis k is the input's axis order[k]; or names the result's
// memory.
Status rearrange(Lowering& l, const Node& node, const std::vector<int>& order) {
  const ValueId input = node.operands[0];
  const TensorType& out = l.result_type(node);
  const std::vector<int64_t> from = strides(l.type(input));
  const std::vector<int64_t> to = strides(out);
  std::vector<int64_t> extent;
  std::vector<int64_t> input_stride;
  std::vector<int64_t> output_stride;
  bool same = true;
  for (int axis : memory_order(out.layout, out.shape.size())) {
    const auto d = static_cast<size_t>(axis);
    extent.push_back(out.shape[d]);
    input_stride.push_back(from[static_cast<size_t>(order[d])]);
    output_stride.push_back(to[d]);
    same = same && (out.shape[d] == 1 || input_stride.back() == output_stride.back());
  }
  if (same) {
    l.alias(node.result(), input);
    return {};
  }
  return copy(l, node, l.bind(input), node.result(), extent, std::move(input_stride),
              std::move(output_stride), {0, 0});
}

}  // namespace

Status view(Lowering& l, const Node& node) {
  l.alias(node.result(), node.operands[0]);
  return {};
}

Status permute(Lowering& l, const Node& node) {
  std::vector<int> order;
  const auto rank = static_cast<int64_t>(l.result_type(node).shape.size());
  for (int64_t d : node.attrs().integers("dims")) order.push_back(static_cast<int>(d < 0 ? d + rank : d));
  return rearrange(l, node, order);
}

Status to_layout(Lowering& l, const Node& node) {
  std::vector<int> order;
  for (size_t d = 0; d < l.result_type(node).shape.size(); ++d) order.push_back(static_cast<int>(d));
  return rearrange(l, node, order);
}

Status concat(Lowering& l, const Node& node) {
  const TensorType& out = l.result_type(node);
  const auto rank = static_cast<int64_t>(out.shape.size());
  const int64_t dim = node.attrs().integer("dim");
  const auto axis = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  const std::vector<int64_t> to = strides(out);
  int64_t position = 0;
  for (ValueId operand : node.operands) {
    const TensorType& in = l.type(operand);
    if (in.elements() == 0) continue;
    if (l.placement(operand)) {  // is there already
      position += in.shape[axis];
      continue;
    }
    const std::vector<int64_t> from = strides(in);
    std::vector<int64_t> extent;
    std::vector<int64_t> input_stride;
    std::vector<int64_t> output_stride;
    for (int d : memory_order(out.layout, out.shape.size())) {
      extent.push_back(in.shape[static_cast<size_t>(d)]);
      input_stride.push_back(from[static_cast<size_t>(d)]);
      output_stride.push_back(to[static_cast<size_t>(d)]);
    }
    if (Status s = copy(l, node, l.bind(operand), node.result(), extent, std::move(input_stride),
                        std::move(output_stride), {0, position * to[axis]});
        !s)
      return s;
    position += in.shape[axis];
  }
  return {};
}

namespace {

// One axis of the result, in the order of its memory.
struct MappedAxis {
  std::vector<int64_t> map;
  int64_t step;          // elements of the input between neighbours
  int64_t input_extent;  // 1 for an axis that the input does not have

  bool whole() const {
    for (size_t i = 0; i < map.size(); ++i)
      if (map[i] != static_cast<int64_t>(i)) return false;
    return static_cast<int64_t>(map.size()) == input_extent;
  }
  // start, start + step, ...: what a strided copy can do.
  bool strided() const {
    for (size_t i = 0; i < map.size(); ++i)
      if (map[i] == kFilled || map[i] - map[0] != static_cast<int64_t>(i) * stride()) return false;
    return true;
  }
  int64_t stride() const { return map.size() > 1 ? map[1] - map[0] : 0; }
};

std::vector<MappedAxis> mapped_axes(const Lowering& l, const Node& node) {
  const TensorType& in = l.type(node.operands[0]);
  const TensorType& out = l.result_type(node);
  AxisMaps maps = axis_maps(node.op, node.attrs(), in.shape, out.shape);
  const std::vector<int64_t> own = strides(in);
  const size_t lead = out.shape.size() - in.shape.size();
  std::vector<MappedAxis> axes;
  for (int axis : memory_order(out.layout, out.shape.size())) {
    const auto d = static_cast<size_t>(axis);
    const bool added = d < lead;
    axes.push_back({std::move(maps[d]), added ? 0 : own[d - lead], added ? 1 : in.shape[d - lead]});
  }
  return axes;
}

Status strided(Lowering& l, const Node& node, const std::vector<MappedAxis>& axes) {
  std::vector<int64_t> extent;
  std::vector<int64_t> input_stride;
  int64_t offset = 0;
  for (const MappedAxis& axis : axes) {
    extent.push_back(static_cast<int64_t>(axis.map.size()));
    input_stride.push_back(axis.stride() * axis.step);
    offset += axis.map[0] * axis.step;
  }
  std::vector<int64_t> output_stride = row_major_strides(extent);
  return copy(l, node, l.bind(node.operands[0]), node.result(), extent, std::move(input_stride),
              std::move(output_stride), {offset, 0});
}

Status gathered(Lowering& l, const Node& node, std::vector<MappedAxis> axes) {
  // Axes at the end that are taken whole and lie together in the input are one run.
  int64_t run = 1;
  while (!axes.empty() && axes.back().whole() && (axes.back().step == run || axes.back().map.size() == 1)) {
    run *= static_cast<int64_t>(axes.back().map.size());
    axes.pop_back();
  }
  std::erase_if(axes, [](const MappedAxis& axis) { return axis.map.size() == 1 && axis.map[0] == 0; });
  if (axes.size() > kernels::kMaxLoops)
    return unsupported("the movement",
                       fmt::format("needs {} nested loops; {} are allowed", axes.size(), kernels::kMaxLoops));
  const bool pads = node.op == "aten.pad"_op && !node.attrs().is_none("value");
  kernels::GatherParams p{};
  p.run = static_cast<int32_t>(run);
  p.fill = rushlight::quantize(pads ? node.attrs().real("value") : 0.0, l.result_type(node).quant);
  std::vector<int64_t> extent;
  std::vector<int32_t> offsets(static_cast<size_t>(kernels::kMaxLoops) - axes.size(), 0);
  for (const MappedAxis& axis : axes) {
    extent.push_back(static_cast<int64_t>(axis.map.size()));
    for (int64_t at : axis.map)
      offsets.push_back(at == kFilled ? INT32_MIN : static_cast<int32_t>(at * axis.step));
  }
  fill(p.extent, extent, 1);
  return l.call(node, "gather", p,
                {l.bind(node.operands[0]), l.constant(node, "offsets", offsets), l.bind(node.result())});
}

}  // namespace

Status axis_mapped(Lowering& l, const Node& node) {
  const std::vector<MappedAxis> axes = mapped_axes(l, node);
  for (const MappedAxis& axis : axes)
    if (!axis.strided()) return gathered(l, node, axes);
  return strided(l, node, axes);
}

}  // namespace rushlight::lowering
