// SPDX-License-Identifier: Apache-2.0
#include "ops/axis_maps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rushlight {
namespace {

std::vector<int64_t> counted(int64_t extent, int64_t start = 0, int64_t step = 1) {
  std::vector<int64_t> map(static_cast<size_t>(extent));
  for (size_t i = 0; i < map.size(); ++i) map[i] = start + static_cast<int64_t>(i) * step;
  return map;
}

size_t axis_of(int64_t dim, const Shape& shape) {
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim);
}

// The input's element for position i, which is outside 0..extent-1 in the padding.
int64_t padded_source(const std::string& mode, int64_t i, int64_t extent) {
  if (i >= 0 && i < extent) return i;
  if (mode == "replicate") return std::clamp<int64_t>(i, 0, extent - 1);
  if (mode == "circular") return i < 0 ? i + extent : i - extent;
  if (mode == "reflect") return i < 0 ? -i : 2 * (extent - 1) - i;
  return kFilled;
}

// As PyTorch computes it: the product in float32, cut towards 0.
std::vector<int64_t> nearest(int64_t input, int64_t output, double scale) {
  std::vector<int64_t> map;
  for (int64_t o = 0; o < output; ++o) {
    const float at = static_cast<float>(o) * static_cast<float>(scale);
    map.push_back(std::min(static_cast<int64_t>(std::floor(at)), input - 1));
  }
  return map;
}

}  // namespace

bool has_axis_maps(Op op) {
  return op == "aten.slice"_op || op == "aten.expand"_op || op == "aten.flip"_op || op == "aten.pad"_op ||
         op == "aten.upsample_nearest2d"_op;
}

AxisMaps axis_maps(Op op, const Attributes& attributes, const Shape& input, const Shape& output) {
  AxisMaps maps;
  const size_t lead = output.size() - input.size();
  for (size_t d = 0; d < output.size(); ++d) {
    const bool repeats = op == "aten.expand"_op && (d < lead || input[d - lead] != output[d]);
    maps.push_back(repeats ? std::vector<int64_t>(static_cast<size_t>(output[d]), 0) : counted(output[d]));
  }
  switch (op) {
    case "aten.slice"_op: {
      const size_t axis = axis_of(attributes.integer("dim"), input);
      maps[axis] = counted(output[axis], shapes::slice_bounds(attributes, input[axis]).first,
                           attributes.integer("step"));
      break;
    }
    case "aten.flip"_op:
      for (const int64_t dim : attributes.integers("dims")) std::ranges::reverse(maps[axis_of(dim, input)]);
      break;
    case "aten.pad"_op: {
      const Integers& pads = attributes.integers("pad");
      for (size_t k = 0; k < pads.size() / 2; ++k) {
        const size_t axis = input.size() - 1 - k;
        for (int64_t i = 0; i < output[axis]; ++i)
          maps[axis][static_cast<size_t>(i)] =
              padded_source(attributes.text("mode"), i - pads[2 * k], input[axis]);
      }
      break;
    }
    case "aten.upsample_nearest2d"_op:
      maps[2] = nearest(input[2], output[2], attributes.real("scale_h"));
      maps[3] = nearest(input[3], output[3], attributes.real("scale_w"));
      break;
    default:
      break;
  }
  return maps;
}

}  // namespace rushlight
