// SPDX-License-Identifier: Apache-2.0
// Quantize and dequantize nodes into types. Four rewrites, each correct by itself:
//   constants   dequantize(constant)                 => a constant with a quantized type
//   movement    dequantize above and quantize below ops that only move elements change places with them
//   nodes       an op between dequantize and quantize becomes an op on integers
//   boundary    a quantize of an input, a dequantize of an output become the port's type
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "eval/evaluator.h"
#include "passes/passes.h"

namespace rushlight {
namespace {

// Ops that move one tensor's elements and nothing else: the same integers under the same parameters.
bool moves_one_tensor(const Node& node) {
  return node.row().quant == QuantRule::same && node.row().operand_count() == 1 && !node.row().variadic() &&
         node.results.size() == 1;
}

class QdqFolding {
 public:
  explicit QdqFolding(Graph& graph) : graph_(graph) {}

  Status run() {
    // Types and Q/DQ nodes disagree from here to the end: no pass boundary may lie between.
    if (Status s = read_quantization(graph_); !s) return s;
    // Reshaped weights are constants again.
    if (Status s = fold_constants(graph_); !s) return s;
    if (Status s = fold_hardsigmoid(graph_); !s) return s;
    move_dequantize_down();
    while (move_quantize_up()) {
    }
    fold_nodes();
    fold_pairs();
    absorb_boundary();
    constants_of_float_nodes();
    graph_.remove_dead();
    return {};
  }

 private:
  // Null also for values made since producers_ was taken: those are integers.
  const Node* producer(ValueId id) const {
    if (static_cast<size_t>(id) >= producers_.size()) return nullptr;
    const int index = producers_[static_cast<size_t>(id)];
    return index < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(index)];
  }
  bool dequantized(ValueId id) const {
    const Node* node = id == ValueId::none ? nullptr : producer(id);
    return node && node->op == "dequantize_per_tensor"_op;
  }

  // Nodes stand in execution order, so one sweep carries a dequantize through a whole chain of movements.
  void move_dequantize_down() {
    std::vector<Node> nodes;
    for (Node& node : graph_.nodes) {
      nodes.push_back(std::move(node));
      Node& moved = nodes.back();
      if (!moves_one_tensor(moved)) continue;
      const auto above = std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) {
        return n.op == "dequantize_per_tensor"_op && n.result() == moved.operands[0];
      });
      if (above == nodes.end()) continue;
      Node dequantize = *above;
      const ValueId integers = above->operands[0];
      const ValueId reals = moved.results[0];
      TensorType type = graph_.type(reals);
      type.dtype = graph_.type(integers).dtype;
      type.quant = graph_.type(integers).quant;
      const ValueId moved_integers =
          graph_.add_result(graph_.unique_name(graph_.value(reals).name + ".q"), type);
      moved.operands[0] = integers;
      moved.results[0] = moved_integers;
      dequantize.operands[0] = moved_integers;
      dequantize.results[0] = reals;
      nodes.push_back(std::move(dequantize));
    }
    graph_.nodes = std::move(nodes);
  }

  // quantize(view(x)) where x is no dequantize: view(quantize(x)). One change a call.
  bool move_quantize_up() {
    producers_ = graph_.producers();
    const std::vector<int> uses = graph_.use_counts();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].op != "quantize_per_tensor"_op) continue;
      const ValueId moved = graph_.nodes[i].operands[0];
      const int above = producers_[static_cast<size_t>(moved)];
      if (above < 0 || uses[static_cast<size_t>(moved)] != 1) continue;
      Node& movement = graph_.nodes[static_cast<size_t>(above)];
      if (!moves_one_tensor(movement) || dequantized(movement.operands[0])) continue;
      Node& quantize = graph_.nodes[i];
      TensorType type = graph_.type(quantize.result());
      type.shape = graph_.type(movement.operands[0]).shape;
      const ValueId integers = graph_.add_result(graph_.unique_name(graph_.value(moved).name + ".q"), type);
      quantize.operands[0] = movement.operands[0];
      movement.operands[0] = integers;
      std::swap(movement.results[0], quantize.results[0]);
      quantize.results[0] = integers;
      // The quantize now feeds the movement: it must stand before it.
      std::rotate(graph_.nodes.begin() + above, graph_.nodes.begin() + static_cast<std::ptrdiff_t>(i),
                  graph_.nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return true;
    }
    return false;
  }

  static bool can_be_activation(DType dtype) { return dtype == DType::int8 || dtype == DType::int16; }

  // All activations come from integers (or are constants, quantized later), at least one of them; all else is
  // constant.
  bool reads_integers(const Node& node) const {
    bool any = false;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (node.operands[i] == ValueId::none) continue;
      if (node.row().operand(i).role == Role::index) continue;
      if (node.row().operand(i).role == Role::activation && dequantized(node.operands[i])) {
        any = true;
        if (!can_be_activation(graph_.type(producer(node.operands[i])->operands[0]).dtype)) return false;
      } else if (!graph_.is_constant(node.operands[i])) {
        return false;
      } else {
        // Rows of a table are integers where the table is.
        any = any ||
              (node.row().operand(i).role == Role::activation && graph_.type(node.operands[i]).quantized());
      }
    }
    return any;
  }

  // The quantize nodes that read a value, if nothing else does and all make what can be an activation.
  std::vector<Node*> only_quantizes(ValueId id) {
    std::vector<Node*> found;
    int uses = 0;
    for (Node& node : graph_.nodes)
      for (ValueId operand : node.operands) {
        if (operand != id) continue;
        ++uses;
        if (node.op == "quantize_per_tensor"_op && can_be_activation(graph_.type(node.result()).dtype))
          found.push_back(&node);
      }
    const bool others =
        uses != use_counts_[static_cast<size_t>(id)] || found.size() != static_cast<size_t>(uses);
    return others ? std::vector<Node*>{} : found;
  }

  void fold_nodes() {
    producers_ = graph_.producers();
    use_counts_ = graph_.use_counts();
    std::vector<Node> nodes;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      if (node.row().quant == QuantRule::none || node.results.size() != 1 || !reads_integers(node)) {
        nodes.push_back(node);
        continue;
      }
      // The greatest integer stands where the greatest real does.
      if (node.row().quant == QuantRule::position) {
        node.operands[0] = producer(node.operands[0])->operands[0];
        nodes.push_back(node);
        continue;
      }
      const std::vector<Node*> quantizes = only_quantizes(node.result());
      if (quantizes.empty()) {
        nodes.push_back(node);
        continue;
      }
      emit_on_integers(node, quantizes, nodes);
    }
    graph_.nodes = std::move(nodes);
    graph_.remove_dead();
  }

  // One copy of the node for each distinct quantization that the model asks of its result: exact, where
  // requantizing one from another would round twice.
  void emit_on_integers(const Node& node, const std::vector<Node*>& quantizes, std::vector<Node>& nodes) {
    std::vector<std::pair<TensorType, ValueId>> done;
    for (Node* quantize : quantizes) {
      TensorType type = graph_.type(node.result());
      const TensorType& wanted = graph_.type(quantize->result());
      type.dtype = wanted.dtype;
      type.quant = wanted.quant;
      const auto same =
          std::find_if(done.begin(), done.end(), [&](const auto& d) { return d.first == type; });
      if (same != done.end()) {
        graph_.replace_uses(quantize->result(), same->second);
        continue;
      }
      Node copy = node;
      for (size_t i = 0; i < copy.operands.size(); ++i)
        if (dequantized(copy.operands[i])) copy.operands[i] = producer(copy.operands[i])->operands[0];
      if (node.row().quant == QuantRule::same) requantize_operands(copy, type, nodes);
      const ValueId integers =
          graph_.add_result(graph_.unique_name(graph_.value(node.result()).name + ".q"), type);
      copy.results[0] = integers;
      nodes.push_back(std::move(copy));
      graph_.replace_uses(quantize->result(), integers);
      done.emplace_back(std::move(type), integers);
    }
  }

  // An op that only compares or moves integers needs all of them under the result's parameters.
  void requantize_operands(Node& node, const TensorType& result, std::vector<Node>& nodes) {
    for (ValueId& operand : node.operands) {
      if (operand == ValueId::none || !graph_.type(operand).quantized()) continue;
      TensorType type = graph_.type(operand);
      if (type.quant == result.quant && type.dtype == result.dtype) continue;
      type.dtype = result.dtype;
      type.quant = result.quant;
      const std::string& name = graph_.value(operand).name;
      const ValueId same_parameters = graph_.add_result(graph_.unique_name(name + ".requantized"), type);
      nodes.push_back({"requantize"_op, node.name, {operand}, {}, {same_parameters}, {}, node.source});
      operand = same_parameters;
    }
  }

  // quantize(dequantize(x)): x itself, or x under other parameters. A quantized constant has lost its
  // dequantize.
  void fold_pairs() {
    producers_ = graph_.producers();
    for (Node& node : graph_.nodes) {
      if (node.op != "quantize_per_tensor"_op) continue;
      const ValueId integers =
          dequantized(node.operands[0]) ? producer(node.operands[0])->operands[0] : node.operands[0];
      const TensorType& source = graph_.type(integers);
      if (!source.quantized() || !can_be_activation(source.dtype) || source.quant.per_channel()) continue;
      node.operands[0] = integers;
      node.op = "requantize"_op;
      node.attributes.clear();
      if (source.quant == graph_.type(node.result()).quant)
        graph_.replace_uses(node.result(), node.operands[0]);
    }
    graph_.remove_dead();
  }

  void absorb_boundary() {
    producers_ = graph_.producers();
    use_counts_ = graph_.use_counts();
    for (ValueId input : graph_.inputs) {
      // A state is read as what the run before left there.
      const auto is_state = [&](const State& s) { return s.input == input; };
      if (std::any_of(graph_.states.begin(), graph_.states.end(), is_state)) continue;
      const std::vector<Node*> quantizes = only_quantizes(input);
      if (quantizes.empty()) continue;
      const TensorType type = graph_.type(quantizes.front()->result());
      if (!std::all_of(quantizes.begin(), quantizes.end(),
                       [&](const Node* q) { return graph_.type(q->result()) == type; }))
        continue;
      graph_.value(input).type = type;
      for (Node* quantize : quantizes) {
        graph_.replace_uses(quantize->result(), input);
        quantize->operands[0] = input;
      }
    }
    for (ValueId& output : graph_.outputs)
      if (dequantized(output)) output = producer(output)->operands[0];
    // Quantize nodes of absorbed inputs are dead now, but would fail verification as operands changed type.
    std::erase_if(graph_.nodes, [&](const Node& n) {
      return n.op == "quantize_per_tensor"_op && graph_.type(n.operands[0]).quantized();
    });
  }

  // What computes in float reads a quantized constant as its reals; weights wait for the quantizer as they
  // are.
  void constants_of_float_nodes() {
    for (Node& node : graph_.nodes) {
      const bool on_integers = node.results.empty() || graph_.type(node.result()).quantized() ||
                               node.row().quant == QuantRule::none;
      for (size_t i = 0; !on_integers && i < node.operands.size(); ++i) {
        const ValueId id = node.operands[i];
        if (!graph_.is_constant(id) || !graph_.type(id).quantized()) continue;
        if (node.row().operand(i).role != Role::activation && node.row().operand(i).role != Role::parameter)
          continue;
        const std::string name = graph_.unique_name(graph_.value(id).name + ".reals");
        node.operands[i] =
            graph_.add_constant(name, rushlight::dequantized(graph_.constant(id), graph_.type(id).quant));
      }
    }
  }

  Graph& graph_;
  std::vector<int> producers_;
  std::vector<int> use_counts_;
};

}  // namespace

Status fold_qdq(Graph& graph) { return QdqFolding(graph).run(); }

}  // namespace rushlight
