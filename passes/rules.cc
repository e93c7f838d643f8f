// SPDX-License-Identifier: Apache-2.0
#include "passes/rules.h"

namespace rushlight {
namespace {

// One application somewhere in the graph, or none.
Result<bool> apply_once(Graph& graph, const ChainRule& rule) {
  const std::vector<int> producers = graph.producers();
  const std::vector<int> uses = graph.use_counts();
  for (Node& consumer : graph.nodes) {
    if (consumer.operands.empty() || consumer.operands[0] == ValueId::none || !rule.consumer(consumer))
      continue;
    const auto operand = static_cast<size_t>(consumer.operands[0]);
    if (producers[operand] < 0 || uses[operand] != 1) continue;
    Node& producer = graph.nodes[static_cast<size_t>(producers[operand])];
    if (producer.results.size() != 1 || !rule.producer(producer)) continue;
    if (rule.guard && !rule.guard(graph, producer, consumer)) continue;
    if (Status done = rule.rewrite(graph, producer, consumer); !done) return forward(done);
    graph.replace_uses(consumer.result(), producer.result());
    graph.remove_dead();
    return true;
  }
  return false;
}

}  // namespace

Status apply(Graph& graph, std::span<const ChainRule> rules) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ChainRule& rule : rules) {
      Result<bool> applied = apply_once(graph, rule);
      if (!applied) return forward(applied);
      changed |= *applied;
    }
  }
  return {};
}

}  // namespace rushlight
