// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ir/graph.h"
#include "quant/parameters.h"
#include "quant/quantize.h"

namespace rushlight {

// The least and greatest real of every value over the samples, by ValueId (0 included).
Result<std::vector<Range>> observe_ranges(const Graph& graph, const std::vector<Sample>& samples);

}  // namespace rushlight
