// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "ops/expression.h"
#include "passes/passes.h"

namespace rushlight {
namespace {

// A value as a function of another one of the same shape.
struct Function {
  ValueId of;
  std::string expression;
  int ops;
};

// Longer ones would only slow the compiler down.
constexpr int kMostOps = 24;

class Fusion {
 public:
  explicit Fusion(Graph& graph) : graph_(graph) {}

  Status run() {
    for (Node& node : graph_.nodes) {
      std::optional<Function> function = function_of(node);
      if (!function) continue;
      functions_.insert_or_assign(node.result(), *function);
      // A single function of one tensor says as much by itself, and clamps fuse better as clamps.
      if (function->ops < 2 && node.row().unary) continue;
      node.op = "elementwise"_op;
      node.operands = {function->of};
      node.attributes = {std::move(function->expression)};
      node.clamp = {};
    }
    graph_.remove_dead();
    return {};
  }

 private:
  bool is_float_value(ValueId id) const {
    return is_float(graph_.type(id).dtype) && !graph_.type(id).quantized();
  }

  std::optional<Function> argument(ValueId id) const {
    if (const auto found = functions_.find(id); found != functions_.end()) return found->second;
    return Function{id, "x", 0};
  }

  std::optional<Function> function_of(const Node& node) const {
    if (node.results.size() != 1 || !is_float_value(node.result())) return std::nullopt;
    if (node.op == "elementwise"_op || (!node.row().unary && !node.row().binary)) return std::nullopt;
    std::optional<ValueId> root;
    std::vector<std::string> arguments;
    int ops = 1;
    for (ValueId id : node.operands) {
      if (id == ValueId::none || !is_float_value(id)) return std::nullopt;
      if (graph_.is_constant(id)) {
        if (graph_.type(id).elements() != 1) return std::nullopt;
        arguments.push_back(to_string(Attribute(graph_.constant(id).at(0))));
        continue;
      }
      const Function f = *argument(id);
      if (root && *root != f.of) return std::nullopt;
      root = f.of;
      ops += f.ops;
      arguments.push_back(f.expression);
    }
    if (!root || ops > kMostOps || graph_.type(*root).shape != graph_.type(node.result()).shape)
      return std::nullopt;
    return Function{*root, expression_of(node, arguments), ops};
  }

  static std::string expression_of(const Node& node, const std::vector<std::string>& arguments) {
    std::string text = arguments[0];
    if (node.op != "requantize"_op) text = call_expression(node.op, arguments, node.attributes);
    if (!node.clamp.is_set()) return text;
    return call_expression("aten.clamp"_op, {text}, {Attribute(node.clamp.lo), Attribute(node.clamp.hi)});
  }

  Graph& graph_;
  std::map<ValueId, Function> functions_;
};

}  // namespace

Status fuse_elementwise(Graph& graph) { return Fusion(graph).run(); }

}  // namespace rushlight
