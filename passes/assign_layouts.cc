// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "ops/axis_maps.h"
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
    case "aten.conv_transpose2d"_op:
    case "aten.avg_pool2d"_op:
    case "aten.adaptive_avg_pool2d"_op:
    case "aten.max_pool2d"_op:
    case "aten.adaptive_max_pool2d"_op:
    case "aten.upsample_bilinear2d"_op:
      return Order::channels_last;
    case "aten.view"_op:
    case "aten.flatten"_op:
    case "aten.linear"_op:
    case "aten.matmul"_op:
    case "aten.embedding"_op:
    case "aten.mean"_op:
    case "aten.sum"_op:
    case "aten.amax"_op:
    case "aten.amin"_op:
    case "aten.argmax"_op:
    case "aten.argmin"_op:
    case "aten.permute"_op:
    case "quantize_per_tensor"_op:
    case "dequantize_per_tensor"_op:
      return Order::row_major;
    default:
      return Order::follows;
  }
}

bool is_channels_last_rank(size_t rank) { return rank == 3 || rank == 4; }

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
    const Layout result = order == Order::channels_last || keeps_channels_last(node) ? Layout::channels_last
                          : order == Order::row_major                                ? Layout::row_major
                                                                                     : followed(node);
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const bool activation = node.row().operand(i).role == Role::activation;
      if (node.operands[i] == ValueId::none || !activation) continue;
      // Elementwise ops of two read either operand by strides; with one operand the orders must agree.
      const bool by_strides =
          reads_any_order(node) || (order == Order::follows && node.row().binary != nullptr);
      if (!by_strides) node.operands[i] = in_layout(node.operands[i], result);
    }
    for (ValueId id : node.results)
      if (result == Layout::row_major || is_channels_last_rank(graph_.type(id).shape.size()))
        graph_.value(id).type.layout = result;
  }

  // Ops that read any order by strides, though their result is row-major.
  bool reads_any_order(const Node& node) const {
    switch (node.op) {
      case "aten.mean"_op:
      case "aten.sum"_op:
      case "aten.amax"_op:
      case "aten.amin"_op:
      case "aten.permute"_op:
      case "aten.cat"_op:
      case "aten.matmul"_op:
        return true;
      // Over the channels, which are last in memory, positions come out in row-major order.
      case "aten.argmax"_op:
      case "aten.argmin"_op:
        return !node.attrs().is_none("dim") && node.attrs().integer("dim") == 1;
      default:
        return has_axis_maps(node.op);
    }
  }

  // Movements whose result is channels-last in the bytes of their input: a view that only changes how pixels
  // are laid out in rows, a permutation that brings the last axis to the front.
  bool keeps_channels_last(const Node& node) const {
    const TensorType& in = node.operands.empty() ? TensorType{} : graph_.type(node.operands[0]);
    const TensorType& out = graph_.type(node.results.front());
    if (!is_channels_last_rank(out.shape.size())) return false;
    if (node.op == "aten.permute"_op) {
      const Integers& dims = node.attrs().integers("dims");
      const std::vector<int> order = memory_order(Layout::channels_last, dims.size());
      // dims[order[k]] == k: memory of the result in the order of the input's axes.
      for (size_t k = 0; k < dims.size(); ++k) {
        const int64_t d = dims[static_cast<size_t>(order[k])];
        if ((d < 0 ? d + static_cast<int64_t>(dims.size()) : d) != static_cast<int64_t>(k)) return false;
      }
      return in.layout == Layout::row_major;
    }
    if (node.op != "aten.view"_op && node.op != "aten.flatten"_op) return false;
    return in.layout == Layout::channels_last && in.shape[0] == out.shape[0] && in.shape[1] == out.shape[1];
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
    if (type.layout == layout ||
        (layout == Layout::channels_last && !is_channels_last_rank(type.shape.size())))
      return id;
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
