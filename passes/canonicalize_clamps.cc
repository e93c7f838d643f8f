// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "passes/passes.h"

namespace rushlight {
namespace {

std::optional<ClampRange> clamp_range(const Node& node) {
  const Attributes attrs = node.attrs();
  ClampRange range;
  switch (node.op) {
    case "aten.relu"_op:
      return ClampRange{0, range.hi};
    case "aten.relu6"_op:
      return ClampRange{0, 6};
    case "aten.hardtanh"_op:
      return ClampRange{attrs.real("min_val"), attrs.real("max_val")};
    case "aten.clamp"_op:
      if (!attrs.is_none("min")) range.lo = attrs.real("min");
      if (!attrs.is_none("max")) range.hi = attrs.real("max");
      // PyTorch: where the bounds cross, everything becomes the upper one.
      if (range.lo > range.hi) range.lo = range.hi;
      return range;
    default:
      return std::nullopt;
  }
}

}  // namespace

Status canonicalize_clamps(Graph& graph) {
  for (Node& node : graph.nodes) {
    const std::optional<ClampRange> range = clamp_range(node);
    if (!range) continue;
    if (std::isnan(range->lo) || std::isnan(range->hi) || range->lo > range->hi)
      return input_error(graph.describe(node),
                         fmt::format("clamps to [{}, {}]; the lower bound must not be above the "
                                     "upper one",
                                     range->lo, range->hi));
    node.op = "requantize"_op;
    node.attributes.clear();
    node.clamp = *range;
  }
  return {};
}

}  // namespace rushlight
