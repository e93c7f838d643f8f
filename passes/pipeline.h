// SPDX-License-Identifier: Apache-2.0
// The passes in order, each with the reason for its place.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "ir/graph.h"
#include "passes/passes.h"
#include "types/result.h"

namespace rushlight {

struct Pass {
  std::string_view name;  // of `inspect --after`
  Status (*run)(Graph&);
  std::string_view reason;  // why it stands here
};

// From the importer's graph to one where a node is what one integer kernel will compute.
inline constexpr auto kCanonicalPasses = std::to_array<Pass>({
    {"remove-identities", remove_identities, "first: nothing else has to look through them"},
    {"fold-constants", fold_constants,
     "shape arithmetic and reshaped weights are constants for all that follows"},
    {"simplify-movement", simplify_movement,
     "layers, norms and activations stand next to each other for the rules below"},
    {"canonicalize-clamps", canonicalize_clamps, "one clamp op, before rules that look for it"},
    {"fold-batch-norm", fold_batch_norm,
     "before clamps are fused: batch-norm stands between layer and clamp"},
    {"expand-batch-norm", expand_batch_norm,
     "those that are left, while clamps behind them can still be fused"},
    {"fuse-clamps", fuse_clamps,
     "before Q/DQ folding: a quantized model has no Q/DQ between layer and activation"},
    {"fold-qdq", fold_qdq, "all float patterns are gone; from here types carry the quantization"},
    {"fuse-quantized-clamps", fuse_clamps, "activations that had Q/DQ of their own with the same parameters"},
    {"fuse-elementwise", fuse_elementwise,
     "after clamps have gone into their producers; what is still float will get one quantization"},
    {"fuse-padding", fuse_padding, "needs the types: padding and image must share their parameters"},
    {"remove-requantizations", remove_identities, "those that Q/DQ folding made between equal parameters"},
});

// On graphs whose types are all quantized.
inline constexpr auto kIntegerPasses = std::to_array<Pass>({
    {"build-lookups", build_lookups, "needs every parameter; before layouts, as there are fewer nodes then"},
    {"assign-layouts", assign_layouts, "needs the final nodes: conversions go between them"},
    {"absorb-layouts", absorb_layouts, "removes conversions that a constant weight can undo"},
});

// Called after each pass with its name; false stops the pipeline.
using PassObserver = std::function<bool(std::string_view pass, const Graph&)>;

// Runs the passes; the graph is verified after each, and a violation is an internal error that names the
// pass. Returns whether all passes ran.
Result<bool> run_passes(Graph& graph, std::span<const Pass> passes, const PassObserver& observe = {});

}  // namespace rushlight
