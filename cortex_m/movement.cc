// SPDX-License-Identifier: Apache-2.0
// Ops that only move integers: no call at all where the bytes are the same, one strided copy otherwise.
#include "cortex_m/lowering.h"

namespace rushlight::lowering {
namespace {

Status copy(Lowering& l, const Node& node, Binding source, ValueId result, const std::vector<int64_t>& extent,
            std::vector<int64_t> input_stride, std::vector<int64_t> output_stride, int64_t output_offset) {
  const Loops loops = collapse(extent, {std::move(input_stride), std::move(output_stride)});
  kernels::CopyParams p{};
  if (!fill(p.extent, loops.extent, 1) || !fill(p.input_stride, loops.strides[0], 0) ||
      !fill(p.output_stride, loops.strides[1], 0))
    return unsupported("the copy", fmt::format("needs {} nested loops; {} are allowed", loops.extent.size(),
                                               kernels::kMaxLoops));
  p.output_offset = static_cast<int32_t>(output_offset);
  l.call(node, "copy_s8", p, {source, l.bind(result)});
  return {};
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
              std::move(output_stride), 0);
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
                        std::move(output_stride), position * to[axis]);
        !s)
      return s;
    position += in.shape[axis];
  }
  return {};
}

}  // namespace rushlight::lowering
