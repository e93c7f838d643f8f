// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"

namespace rushlight {

// Checks all that passes may take for granted: every operand is defined before its use and has the role that
// its row demands, attributes fit their rows, result types follow from the shape rule, quantizations are
// valid (finite positive scales, zero points in range, channel counts that match), layouts have the rank they
// need, names are unique. Collects every violation.
Status verify(const Graph& graph);

// The quantization by itself: what is wrong, or nothing.
std::optional<std::string> invalid_quantization(const TensorType& type);

}  // namespace rushlight
