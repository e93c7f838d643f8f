// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"
#include "passes/rules.h"

namespace rushlight {
namespace {

// One rounding or none between the two: floats, or integers that the clamp leaves as they are.
bool same_numbers(const Graph& graph, const Node& producer, const Node& clamp) {
  return graph.type(producer.result()).quant == graph.type(clamp.result()).quant;
}

constexpr ChainRule kRules[] = {
    {.name = "clamp into its producer",
     .producer = can_clamp,
     .consumer = is<"requantize"_op>,
     .guard = same_numbers,
     .rewrite = [](Graph&, Node& producer, const Node& clamp) -> Status {
       producer.clamp = producer.clamp.then(clamp.clamp);
       return {};
     }},
};

}  // namespace

Status fuse_clamps(Graph& graph) { return apply(graph, kRules); }

}  // namespace rushlight
