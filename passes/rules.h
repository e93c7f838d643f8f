// SPDX-License-Identifier: Apache-2.0
// Fusions as data: a rule names a producer, a consumer of its result, a condition and a rewrite.
#pragma once

#include <span>
#include <string_view>

#include "ir/graph.h"

namespace rushlight {

// Matches where the consumer's operand 0 is the only result of `producer` and nobody else uses it.
struct ChainRule {
  std::string_view name;
  bool (*producer)(const Node&);
  bool (*consumer)(const Node&);
  bool (*guard)(const Graph&, const Node& producer, const Node& consumer);
  // Changes the producer so that it computes the consumer's result too. The driver then lets the consumer's
  // uses read the producer's result and drops the consumer.
  Status (*rewrite)(Graph&, Node& producer, const Node& consumer);
};

// Applies the rules until none matches, then drops what is dead.
Status apply(Graph& graph, std::span<const ChainRule> rules);

// For patterns.
template <Op... ops>
bool is(const Node& node) {
  return ((node.op == ops) || ...);
}
inline bool can_clamp(const Node& node) { return node.row().clamps; }

}  // namespace rushlight
