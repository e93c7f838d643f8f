// SPDX-License-Identifier: Apache-2.0
// Where the elements of ops that pick, repeat, reverse or pad come from. Every such op works axis by axis:
// element (i, j, ...) of the result is element (map[0][i], map[1][j], ...) of the input. The float evaluator
// and lowering read the same maps.
#pragma once

#include <vector>

#include "ops/attributes.h"
#include "ops/table.h"
#include "types/shape.h"

namespace rushlight {

// Stands in a map for positions that the padding fills.
inline constexpr int64_t kFilled = -1;

// One map an axis of the result.
using AxisMaps = std::vector<std::vector<int64_t>>;

bool has_axis_maps(Op op);

// For aten.slice, aten.expand, aten.flip, aten.pad and aten.upsample_nearest2d, whose shapes have been
// checked. Axes that aten.expand adds in front have maps of zeros.
AxisMaps axis_maps(Op op, const Attributes& attributes, const Shape& input, const Shape& output);

}  // namespace rushlight
