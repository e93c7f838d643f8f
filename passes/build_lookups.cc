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
int32_t integer_of(double real, const Quantization& quant) {
  return quantize(std::isnan(real) ? 0.0 : real, quant);
}

// Elementwise ops that have an int16 kernel, which is better than straight lines between 513 points.
constexpr Op kExactInInt16[] = {
    "aten.add"_op, "aten.sub"_op, "aten.mul"_op, "aten.maximum"_op, "aten.minimum"_op, "requantize"_op,
};

class Lookups {
 public:
  explicit Lookups(Graph& graph) : graph_(graph) {}

  Status run() {
    for (Node& node : graph_.nodes) {
      if (Status s = interpolate(node); !s) return s;
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

  // A function of int16 becomes its values at 513 points, unless a kernel computes it exactly.
  Status interpolate(Node& node) {
    const bool is_exact =
        std::find(std::begin(kExactInInt16), std::end(kExactInInt16), node.op) != std::end(kExactInInt16);
    if (node.results.size() != 1 || graph_.type(node.result()).dtype != DType::int16 ||
        !graph_.type(node.result()).quantized() || !is_elementwise(node) || is_exact)
      return {};
    std::optional<size_t> variable;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId id = node.operands[i];
      if (id == ValueId::none || !graph_.type(id).quantized()) return {};
      const bool is_constant = graph_.is_constant(id) && graph_.type(id).elements() == 1;
      if (!is_constant && variable) return {};
      if (!is_constant) variable = i;
    }
    if (!variable) return {};
    const ValueId of = node.operands[*variable];
    if (graph_.type(of).dtype != DType::int16 || graph_.type(of).shape != graph_.type(node.result()).shape)
      return {};
    auto function = function_text(node);
    if (!function) return forward(function);
    std::vector<int16_t> table;
    for (int32_t q = INT16_MIN; q <= INT16_MAX + 1; q += 128)
      table.push_back(static_cast<int16_t>(integer_of(value_of(node, *function, reals_of(node, *variable, q)),
                                                      graph_.type(node.result()).quant)));
    replace(node, of, Tensor::of<int16_t>({513}, table));
    return {};
  }

  // The reals of a node's operands where operand `variable` is the integer q and the others are constants.
  std::vector<double> reals_of(const Node& node, size_t variable, int32_t q) const {
    std::vector<double> reals;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Quantization& quant = graph_.type(node.operands[i]).quant;
      const double integer = i == variable ? q : graph_.constant(node.operands[i]).at(0);
      reals.push_back(quant.scale() * (integer - quant.zero_point()));
    }
    return reals;
  }

  static Result<std::optional<Expression>> function_text(const Node& node) {
    if (node.op != "elementwise"_op) return std::nullopt;
    auto parsed = Expression::parse(node.attrs().text("expression"));
    if (!parsed) return forward(parsed);
    return std::optional(std::move(*parsed));
  }

  static double value_of(const Node& node, const std::optional<Expression>& expression,
                         const std::vector<double>& reals) {
    const double y = expression         ? (*expression)(reals[0])
                     : node.row().unary ? node.row().unary(reals[0], node.attrs())
                                        : node.row().binary(reals[0], reals[1], node.attrs());
    return std::min(std::max(y, node.clamp.lo), node.clamp.hi);
  }

  Result<std::optional<Function>> compose(const Node& node, const Function& root,
                                          const std::vector<Table>& arguments,
                                          const std::vector<const Quantization*>& quants) const {
    auto expression = function_text(node);
    if (!expression) return forward(expression);
    const Quantization& out = graph_.type(node.result()).quant;
    const bool first_is_root = functions_.find(node.operands[0]) == functions_.end();
    Function made{root.of, {}, node.op == "requantize"_op && first_is_root};
    for (size_t i = 0; i < made.table.size(); ++i) {
      std::vector<double> reals;
      for (size_t k = 0; k < arguments.size(); ++k) reals.push_back(real_of(arguments[k][i], *quants[k]));
      made.table[i] = static_cast<int8_t>(integer_of(value_of(node, *expression, reals), out));
    }
    return made;
  }

  void replace(Node& node, const Function& function) {
    const std::vector<int8_t> values(function.table.begin(), function.table.end());
    replace(node, function.of, Tensor::of<int8_t>({256}, values));
  }

  void replace(Node& node, ValueId of, Tensor values) {
    const ValueId table = graph_.add_constant(graph_.value(node.result()).name + ".table", std::move(values));
    node.op = "lookup"_op;
    node.operands = {of, table};
    node.attributes.clear();
    node.clamp = {};
  }

  Graph& graph_;
  std::map<ValueId, Function> functions_;
};

}  // namespace

Status build_lookups(Graph& graph) { return Lookups(graph).run(); }

}  // namespace rushlight
