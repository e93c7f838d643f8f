// SPDX-License-Identifier: Apache-2.0
// Graph to program: one rule an op makes kernel calls whose Params, packed weights and tables are computed
// here, ahead of time.
#pragma once

#include <string>

#include "cortex_m/program.h"
#include "ir/graph.h"
#include "types/result.h"

namespace rushlight {

struct LowerOptions {
  Rounding rounding = Rounding::single;
  const Target* target = nullptr;  // null: portable kernels, as every core runs them
};

// The graph must be quantized throughout, with layouts assigned. Everything that cannot become integer
// kernels is collected into one error.
Result<Program> lower(const Graph& graph, const LowerOptions& options);

// Whether some rule lowers this op (or a pass removes it): for `ops`, and checked for every row of the op
// table.
bool has_lowering(Op op);

// What the device can compute in int16, by its names in the `cortex_m` dialect without the prefix.
std::vector<std::string> int16_operators();

}  // namespace rushlight
