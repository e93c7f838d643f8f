// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "ops/expression.h"
#include "passes/passes.h"

namespace rushlight {
namespace {

// Entry q + 128 is the result for the integer q.
using Table = std::array<int8_t, 256>;

struct Function {
  ValueId of;
  Table table;
  bool is_requantize;  // nothing but moves to other parameters, which has a kernel without a table
};

Table identity() {
  Table table{};
  for (int q = -128; q < 128; ++q) table[static_cast<size_t>(q + 128)] = static_cast<int8_t>(q);
  return table;
}

double real_of(int8_t q, const Quantization& quant) { return quant.scale() * (q - quant.zero_point()); }

// What is undefined (log of 0, 0 times infinity) gives the zero point; infinities saturate.
int8_t integer_of(double real, const Quantization& quant) {
  return static_cast<int8_t>(quantize(std::isnan(real) ? 0.0 : real, quant));
}

class Lookups {
 public:
  explicit Lookups(Graph& graph) : graph_(graph) {}

  Status run() {
    for (Node& node : graph_.nodes) {
      Result<std::optional<Function>> function = function_of(node);
      if (!function) return forward(function);
      if (!*function) continue;
      functions_.insert_or_assign(node.result(), **function);
      if ((*function)->is_requantize) continue;
      replace(node, **function);
    }
    graph_.remove_dead();
    return {};
  }

 private:
  bool is_int8(ValueId id) const {
    return graph_.type(id).quantized() && graph_.type(id).dtype == DType::int8;
  }
  static bool is_elementwise(const Node& node) {
    return node.row().unary || node.row().binary || node.op == "elementwise"_op;
  }

  Result<std::optional<Function>> function_of(const Node& node) const {
    if (node.results.size() != 1 || !is_int8(node.result()) || !is_elementwise(node)) return std::nullopt;
    std::optional<Function> root;
    std::vector<Table> arguments;  // of every operand, by the root's integer
    std::vector<const Quantization*> quants;
    for (ValueId id : node.operands) {
      if (id == ValueId::none || !is_int8(id)) return std::nullopt;
      quants.push_back(&graph_.type(id).quant);
      if (graph_.is_constant(id)) {
        if (graph_.type(id).elements() != 1) return std::nullopt;
        Table table;
        table.fill(static_cast<int8_t>(graph_.constant(id).at(0)));
        arguments.push_back(table);
        continue;
      }
      const auto known = functions_.find(id);
      const Function f = known == functions_.end() ? Function{id, identity(), true} : known->second;
      if (root && root->of != f.of) return std::nullopt;
      root = f;
      arguments.push_back(f.table);
    }
    if (!root || graph_.type(root->of).shape != graph_.type(node.result()).shape) return std::nullopt;
    return compose(node, *root, arguments, quants);
  }

  Result<std::optional<Function>> compose(const Node& node, const Function& root,
                                          const std::vector<Table>& arguments,
                                          const std::vector<const Quantization*>& quants) const {
    std::optional<Expression> expression;
    if (node.op == "elementwise"_op) {
      auto parsed = Expression::parse(node.attrs().text("expression"));
      if (!parsed) return forward(parsed);
      expression = std::move(*parsed);
    }
    const Quantization& out = graph_.type(node.result()).quant;
    const bool first_is_root = functions_.find(node.operands[0]) == functions_.end();
    Function made{root.of, {}, node.op == "requantize"_op && first_is_root};
    for (size_t i = 0; i < made.table.size(); ++i) {
      const double a = real_of(arguments[0][i], *quants[0]);
      double y = expression ? (*expression)(a)
                 : node.row().unary
                     ? node.row().unary(a, node.attrs())
                     : node.row().binary(a, real_of(arguments[1][i], *quants[1]), node.attrs());
      y = std::min(std::max(y, node.clamp.lo), node.clamp.hi);
      made.table[i] = integer_of(y, out);
    }
    return made;
  }

  void replace(Node& node, const Function& function) {
    const std::vector<int8_t> values(function.table.begin(), function.table.end());
    const ValueId table =
        graph_.add_constant(graph_.value(node.result()).name + ".table", Tensor::of<int8_t>({256}, values));
    node.op = "lookup"_op;
    node.operands = {function.of, table};
    node.attributes.clear();
    node.clamp = {};
  }

  Graph& graph_;
  std::map<ValueId, Function> functions_;
};

}  // namespace

Status build_lookups(Graph& graph) { return Lookups(graph).run(); }

}  // namespace rushlight
