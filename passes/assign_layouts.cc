// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "passes/passes.h"

namespace rushlight {
namespace {

// What an op asks of the order in memory of its activations and gives its result.
enum class Order : uint8_t {
  channels_last,  // kernels that walk pixels
  row_major,      // the shape changes: only the row-major order is defined
  follows,        // any order, by strides: the result takes an operand's
};

Order order_of(Op op) {
  switch (op) {
    case "aten.conv2d"_op:
    case "aten.avg_pool2d"_op:
    case "aten.adaptive_avg_pool2d"_op:
      return Order::channels_last;
    case "aten.view"_op:
    case "aten.flatten"_op:
    case "aten.linear"_op:
    case "aten.mean"_op:
    case "aten.permute"_op:
    case "quantize_per_tensor"_op:
    case "dequantize_per_tensor"_op:
      return Order::row_major;
    default:
      return Order::follows;
  }
}

// Ops that read any order by strides, though their result is row-major.
bool reads_any_order(Op op) { return op == "aten.mean"_op || op == "aten.permute"_op || op == "aten.cat"_op; }

class LayoutAssignment {
 public:
  explicit LayoutAssignment(Graph& graph) : graph_(graph) {}

  Status run() {
    for (Node& node : graph_.nodes) {
      // Layout conversions written by an earlier run stay.
      if (node.op != "to_layout"_op) assign(node);
      nodes_.push_back(std::move(node));
    }
    for (ValueId& output : graph_.outputs) output = in_layout(output, Layout::row_major);
    for (State& state : graph_.states) state.update = in_layout(state.update, Layout::row_major);
    graph_.nodes = std::move(nodes_);
    graph_.remove_dead();
    return {};
  }

 private:
  void assign(Node& node) {
    const Order order = order_of(node.op);
    const Layout result = order == Order::channels_last ? Layout::channels_last
                          : order == Order::row_major   ? Layout::row_major
                                                        : followed(node);
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const bool activation = node.row().operand(i).role == Role::activation;
      if (node.operands[i] == ValueId::none || !activation) continue;
      // Elementwise ops of two read either operand by strides; with one operand the orders must agree.
      const bool by_strides =
          reads_any_order(node.op) || (order == Order::follows && node.row().binary != nullptr);
      if (!by_strides) node.operands[i] = in_layout(node.operands[i], result);
    }
    for (ValueId id : node.results)
      if (result == Layout::row_major || graph_.type(id).shape.size() == 4)
        graph_.value(id).type.layout = result;
  }

  // The order of the first activation that is channels-last and has the result's rank.
  Layout followed(const Node& node) const {
    const size_t rank = graph_.type(node.results.front()).shape.size();
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (node.operands[i] == ValueId::none || graph_.is_constant(node.operands[i])) continue;
      const TensorType& type = graph_.type(node.operands[i]);
      if (type.layout == Layout::channels_last && type.shape.size() == rank) return Layout::channels_last;
    }
    return Layout::row_major;
  }

  // The value itself, or a conversion of it; one for all its users.
  ValueId in_layout(ValueId id, Layout layout) {
    const TensorType& type = graph_.type(id);
    if (type.layout == layout || (layout == Layout::channels_last && type.shape.size() != 4)) return id;
    for (const Node& node : nodes_)
      if (node.op == "to_layout"_op && node.operands[0] == id && graph_.type(node.result()).layout == layout)
        return node.result();
    TensorType converted = type;
    converted.layout = layout;
    const std::string name = graph_.value(id).name;
    const ValueId result = graph_.add_result(graph_.unique_name(name + ".layout"), std::move(converted));
    nodes_.push_back({"to_layout"_op, name, {id}, {}, {result}, {}, ""});
    return result;
  }

  Graph& graph_;
  std::vector<Node> nodes_;
};

}  // namespace

Status assign_layouts(Graph& graph) { return LayoutAssignment(graph).run(); }

}  // namespace rushlight
