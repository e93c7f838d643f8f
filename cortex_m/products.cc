// SPDX-License-Identifier: Apache-2.0
// Products of two activations, and rows of a table by index.
#include <algorithm>

#include "cortex_m/lowering.h"

namespace rushlight::lowering {
namespace {

// int8: |a - z| |b - z| is at most 255 * 255, sums are int32. int16: 2^30, sums are int64 and need room for a
// 16-bit multiplier.
constexpr int64_t most_depth(DType element) {
  return element == DType::int8 ? INT32_MAX / (255 * 255) : int64_t{1} << 16;
}

}  // namespace

Status matmul(Lowering& l, const Node& node) {
  const TensorType& a = l.type(node.operands[0]);
  const TensorType& b = l.type(node.operands[1]);
  const TensorType& out = l.result_type(node);
  const size_t rank = out.shape.size();
  const int64_t depth = a.shape.back();
  const DType element = l.element(node);
  if (depth > most_depth(element))
    return unsupported("the product",
                       fmt::format("sums {} terms; more than {} can overflow", depth, most_depth(element)));
  std::vector<std::vector<int64_t>> steps(2);
  const std::vector<int64_t> full[2] = {broadcast_strides(a, out), broadcast_strides(b, out)};
  for (size_t k = 0; k < 2; ++k) steps[k].assign(full[k].begin(), full[k].end() - 2);
  const Loops batch = collapse({out.shape.begin(), out.shape.end() - 2}, std::move(steps));
  kernels::BatchMatmulParams p{};
  if (!fill(p.batch_extent, batch.extent, 1) || !fill(p.batch_stride_a, batch.strides[0], 0) ||
      !fill(p.batch_stride_b, batch.strides[1], 0))
    return unsupported("the product", fmt::format("needs more than {} nested loops", kernels::kMaxLoops));
  const std::vector<int64_t> of_a = strides(a);
  const std::vector<int64_t> of_b = strides(b);
  const auto set = [](int32_t& field, int64_t value) { field = static_cast<int32_t>(value); };
  set(p.rows, out.shape[rank - 2]);
  set(p.columns, out.shape[rank - 1]);
  set(p.depth, depth);
  set(p.a_row_stride, of_a[of_a.size() - 2]);
  set(p.a_depth_stride, of_a.back());
  set(p.b_depth_stride, of_b[of_b.size() - 2]);
  set(p.b_column_stride, of_b.back());
  p.zero_point_a = a.quant.zero_point();
  p.zero_point_b = b.quant.zero_point();
  const auto factor = make_factor(a.quant.scale() * b.quant.scale() / out.quant.scale());
  if (!factor) return tl::unexpected(factor.error());
  p.factor = *factor;
  if (element == DType::int16) {
    const auto narrow = make_sum_factor(a.quant.scale() * b.quant.scale() / out.quant.scale());
    if (!narrow) return tl::unexpected(narrow.error());
    p.factor = *narrow;
  }
  p.output = output_range(node.clamp.lo, node.clamp.hi, out.quant);
  return l.call(node, "quantized_batch_matmul", p,
                {l.bind(node.operands[0]), l.bind(node.operands[1]), l.bind(node.result())},
                {out.elements() * depth, {}});
}

Status embedding(Lowering& l, const Node& node) {
  const TensorType& table = l.type(node.operands[0]);
  if (!l.graph().is_constant(node.operands[0]))
    return unsupported("the weight", "is computed; it must be constant");
  return l.call(
      node, "embedding",
      kernels::EmbeddingParams{static_cast<int32_t>(l.type(node.operands[1]).elements()),
                               static_cast<int32_t>(table.shape[0]), static_cast<int32_t>(table.shape[1])},
      {l.bind(node.operands[1]), l.bind(node.operands[0]), l.bind(node.result())});
}

}  // namespace rushlight::lowering
