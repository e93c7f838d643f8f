// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.h"

namespace rushlight {
namespace {

struct Flattening {
  Node* view = nullptr;
  Node* conversion = nullptr;
};

// x (channels-last) -> to_layout -> view that makes all but the batch one axis, nobody else reading in
// between.
Flattening find(Graph& graph, const Node& linear, const std::vector<int>& producers,
                const std::vector<int>& uses) {
  const auto only_producer = [&](ValueId id) -> Node* {
    const int index = producers[static_cast<size_t>(id)];
    return index < 0 || uses[static_cast<size_t>(id)] != 1 ? nullptr
                                                           : &graph.nodes[static_cast<size_t>(index)];
  };
  Flattening found;
  found.view = only_producer(linear.operands[0]);
  if (!found.view || (found.view->op != "aten.view"_op && found.view->op != "aten.flatten"_op)) return {};
  found.conversion = only_producer(found.view->operands[0]);
  if (!found.conversion || found.conversion->op != "to_layout"_op) return {};
  const TensorType& image = graph.type(found.conversion->operands[0]);
  const Shape& flat = graph.type(found.view->result()).shape;
  const bool flattens = flat.size() == 2 && image.shape.size() == 4 && flat[0] == image.shape[0];
  return image.layout == Layout::channels_last && flattens ? found : Flattening{};
}

// Columns of the weight from C,H,W order to H,W,C.
Tensor columns_in_memory_order(const Tensor& weight, const Shape& image) {
  const int order[] = {0, 2, 3, 1};
  return weight.reshaped({weight.shape()[0], image[1], image[2], image[3]})
      .permuted(order)
      .reshaped(weight.shape());
}

}  // namespace

Status absorb_layouts(Graph& graph) {
  const std::vector<int> producers = graph.producers();
  const std::vector<int> uses = graph.use_counts();
  for (Node& linear : graph.nodes) {
    if (linear.op != "aten.linear"_op || !graph.is_constant(linear.operands[1])) continue;
    const Flattening flattening = find(graph, linear, producers, uses);
    if (!flattening.view) continue;
    const ValueId source = flattening.conversion->operands[0];
    const Value weight = graph.value(linear.operands[1]);
    linear.operands[1] = graph.add_constant(
        graph.unique_name(weight.name + ".nhwc"), weight.type,
        std::make_shared<const Tensor>(columns_in_memory_order(*weight.data, graph.type(source).shape)));
    // The conversion becomes a permutation that names the axes as they lie in memory, and so moves nothing.
    Node& permute = *flattening.conversion;
    permute.op = "aten.permute"_op;
    permute.attributes = {Integers{0, 2, 3, 1}};
    TensorType& type = graph.value(permute.result()).type;
    const Shape image = type.shape;
    type.shape = {image[0], image[2], image[3], image[1]};
    type.layout = Layout::row_major;
  }
  graph.remove_dead();
  return {};
}

}  // namespace rushlight
