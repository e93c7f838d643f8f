// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "ops/axis_maps.h"
#include "passes/passes.h"

namespace rushlight {
namespace {

bool is_view(const Node& node) { return node.op == "aten.view"_op || node.op == "aten.flatten"_op; }

// One element of the result from the same element of the input, whatever the shape.
bool is_pointwise(const Node& node) {
  return node.row().unary != nullptr || node.op == "elementwise"_op || node.op == "quantize_per_tensor"_op ||
         node.op == "dequantize_per_tensor"_op;
}
// Pointwise but for the channel on axis 1.
bool is_channelwise(const Node& node) {
  return node.op == "aten.batch_norm"_op || node.op == "aten.prelu"_op;
}

class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph) {}

  Status run() {
    std::vector<Node> old = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : old) {
      for (ValueId& operand : node.operands) operand = renamed(operand);
      if (Status s = place(std::move(node)); !s) return s;
    }
    for (ValueId& output : graph_.outputs) output = renamed(output);
    for (State& state : graph_.states) state.update = renamed(state.update);
    graph_.remove_dead();
    return {};
  }

 private:
  ValueId renamed(ValueId id) const {
    const auto found = renamed_.find(id);
    return found == renamed_.end() ? id : found->second;
  }
  const Node* producer(ValueId id) const {
    const auto found = placed_.find(id);
    return found == placed_.end() ? nullptr : &graph_.nodes[found->second];
  }
  const Node* view_of(ValueId id) const {
    const Node* node = id == ValueId::none ? nullptr : producer(id);
    return node && is_view(*node) ? node : nullptr;
  }

  void push(Node node) {
    for (ValueId id : node.results) placed_[id] = graph_.nodes.size();
    graph_.nodes.push_back(std::move(node));
  }

  Status place(Node node) {
    look_through(node);
    if (does_nothing(node)) {
      renamed_[node.result()] = node.operands[0];
      return {};
    }
    if (const std::optional<Shape> shape = shape_before_views(node))
      return place_above_views(std::move(node), *shape);
    if (node.row().binary) skip_expansions(node);
    push(std::move(node));
    return {};
  }

  // view(view(x)) is a view of x, permute(permute(x)) one permutation.
  void look_through(Node& node) const {
    const Node* above =
        node.operands.empty() || node.operands[0] == ValueId::none ? nullptr : producer(node.operands[0]);
    if (!above) return;
    if (is_view(node) && is_view(*above)) node.operands[0] = above->operands[0];
    if (node.op == "aten.permute"_op && above->op == "aten.permute"_op) {
      const Integers& first = above->attrs().integers("dims");
      Integers dims;
      for (const size_t d : axes(node)) dims.push_back(first[d]);
      node.attributes = {std::move(dims)};
      node.operands[0] = above->operands[0];
    }
  }

  std::vector<size_t> axes(const Node& permute) const {
    std::vector<size_t> all;
    const auto rank = static_cast<int64_t>(graph_.type(permute.result()).shape.size());
    for (const int64_t d : permute.attrs().integers("dims"))
      all.push_back(static_cast<size_t>(d < 0 ? d + rank : d));
    return all;
  }

  bool does_nothing(const Node& node) const {
    if (node.operands.empty() || node.operands[0] == ValueId::none || node.results.size() != 1) return false;
    const Shape& in = graph_.type(node.operands[0]).shape;
    const Shape& out = graph_.type(node.result()).shape;
    if (in != out || node.clamp.is_set()) return false;
    if (is_view(node)) return true;
    if (node.op == "aten.permute"_op) {
      std::vector<size_t> all = axes(node);
      return std::ranges::is_sorted(all);
    }
    if (!has_axis_maps(node.op) || node.op == "aten.upsample_nearest2d"_op)
      return node.op == "aten.cat"_op && node.operands.size() == 1;
    const AxisMaps maps = axis_maps(node.op, node.attrs(), in, out);
    return std::ranges::all_of(maps, [](const std::vector<int64_t>& map) {
      for (size_t i = 0; i < map.size(); ++i)
        if (map[i] != static_cast<int64_t>(i)) return false;
      return true;
    });
  }

  // The shape under which the node could compute, where all its tensors come from views of one shape.
  std::optional<Shape> shape_before_views(const Node& node) const {
    const bool pointwise = is_pointwise(node) || (node.row().binary && node.results.size() == 1);
    if ((!pointwise && !is_channelwise(node)) || node.results.size() != 1) return std::nullopt;
    std::optional<Shape> shape;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId id = node.operands[i];
      if (id == ValueId::none || node.row().operand(i).role == Role::parameter) continue;
      if (graph_.is_constant(id) && graph_.type(id).elements() == 1) continue;
      const Node* view = view_of(id);
      if (!view || graph_.type(id).shape != graph_.type(node.result()).shape) return std::nullopt;
      const Shape& before = graph_.type(view->operands[0]).shape;
      if (shape && *shape != before) return std::nullopt;
      shape = before;
    }
    const Shape& after = graph_.type(node.result()).shape;
    if (shape && is_channelwise(node) &&
        (shape->size() < 2 || after.size() < 2 || (*shape)[0] != after[0] || (*shape)[1] != after[1]))
      return std::nullopt;
    return shape;
  }

  Status place_above_views(Node node, const Shape& shape) {
    for (ValueId& id : node.operands)
      if (const Node* view = view_of(id)) {
        id = view->operands[0];
      } else if (graph_.is_constant(id) && graph_.type(id).elements() == 1 &&
                 graph_.type(id).shape.size() > shape.size()) {
        id = graph_.add_constant(graph_.value(id).name, graph_.constant(id).reshaped({}));
      }
    const ValueId viewed = node.result();
    TensorType type = graph_.type(viewed);
    const Shape size = type.shape;
    type.shape = shape;
    const ValueId computed = graph_.add_result(graph_.value(viewed).name, std::move(type));
    node.results[0] = computed;
    const std::string name = node.name;
    const std::string source = node.source;
    push(std::move(node));
    push({"aten.view"_op, name, {computed}, {Integers(size)}, {viewed}, {}, source});
    return {};
  }

  // Elementwise ops of two tensors broadcast by themselves.
  void skip_expansions(Node& node) {
    for (size_t i = 0; i < 2; ++i) {
      const Node* expand = node.operands[i] == ValueId::none ? nullptr : producer(node.operands[i]);
      if (!expand || expand->op != "aten.expand"_op) continue;
      std::vector<ValueId> operands = node.operands;
      operands[i] = expand->operands[0];
      const std::optional<Shape> shape =
          broadcast(graph_.type(operands[0]).shape, graph_.type(operands[1]).shape);
      if (shape && *shape == graph_.type(node.result()).shape) node.operands = operands;
    }
  }

  Graph& graph_;
  std::map<ValueId, ValueId> renamed_;
  std::map<ValueId, size_t> placed_;  // node of graph_.nodes that gives a value
};

}  // namespace

Status simplify_movement(Graph& graph) { return Simplifier(graph).run(); }

}  // namespace rushlight
