// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace rushlight {

// "%x: i8[1,4]<0.5:-3>", without the list of a type that has a scale for each of many channels.
std::string label(const Graph& graph, ValueId id);

// How the quantizations of a node's operands and results break its row's rule; each message says where. The
// node's ids, roles, shapes and types by themselves have been checked before.
std::vector<Diagnostic> quantization_violations(const Graph& graph, const Node& node);

}  // namespace rushlight
