// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "ir/verify_quant.h"

namespace rushlight {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph), defined_(graph.value_count(), 0), sound_(graph.value_count(), 0) {}

  Status run() {
    check_values();
    check_inputs();
    for (const Node& node : graph_.nodes) check_node(node);
    for (const ValueId id : graph_.outputs) check_use(id, "output");
    check_states();
    if (error_.diagnostics.empty()) return {};
    return tl::unexpected(std::move(error_));
  }

 private:
  void report(std::string where, std::string what) {
    error_.diagnostics.push_back({std::move(where), std::move(what)});
  }
  bool exists(ValueId id) const {
    return static_cast<size_t>(id) < graph_.value_count() && graph_.value(id).kind != ValueKind::removed;
  }
  std::string label(ValueId id) const { return rushlight::label(graph_, id); }

  void check_values() {
    std::unordered_set<std::string_view> names;
    for (const ValueId id : graph_.value_ids()) {
      const Value& value = graph_.value(id);
      if (identifier(value.name) != value.name)
        report(fmt::format("value '{}'", value.name), "a name must consist of A-Z, a-z, 0-9, '_' and '.'");
      if (!names.insert(value.name).second)
        report(label(id), "the name is taken by another value; unique_name() finds a free one");
      const std::optional<std::string> wrong = invalid_type(value.type);
      if (wrong) report(label(id), *wrong);
      sound_[static_cast<size_t>(id)] = wrong ? 0 : 1;
      if (value.kind == ValueKind::constant) check_constant(id);
    }
  }

  static std::optional<std::string> invalid_type(const TensorType& type) {
    if (checked_element_count(type.shape).value_or(0) == 0)
      return fmt::format("the shape must have 1 to {} elements and a rank of at most {}", kMaxElements,
                         kMaxRank);
    if (type.layout == Layout::channels_last && type.shape.size() != 3 && type.shape.size() != 4)
      return fmt::format("channels_last is a layout of rank 3 or 4, not {}", type.shape.size());
    return invalid_quantization(type);
  }

  void check_constant(ValueId id) {
    defined_[static_cast<size_t>(id)] = 1;
    const Value& value = graph_.value(id);
    if (value.data == nullptr) return report(label(id), "a constant must have data");
    if (value.data->dtype() != value.type.dtype || value.data->shape() != value.type.shape)
      report(label(id), fmt::format("the constant's data is {}{}", name(value.data->dtype()),
                                    to_string(value.data->shape())));
  }

  void check_inputs() {
    for (const ValueId id : graph_.inputs) {
      if (!exists(id)) {
        report("graph inputs", fmt::format("value {} does not exist", static_cast<uint32_t>(id)));
      } else if (graph_.value(id).kind != ValueKind::input) {
        report(label(id), "is listed as a graph input but is of another kind");
      } else if (defined_[static_cast<size_t>(id)] != 0) {
        report(label(id), "is listed twice as a graph input");
      } else {
        defined_[static_cast<size_t>(id)] = 1;
      }
    }
  }

  bool check_use(ValueId id, const std::string& where) {
    if (!exists(id)) {
      report(where, fmt::format("value {} does not exist", static_cast<uint32_t>(id)));
      return false;
    }
    if (defined_[static_cast<size_t>(id)] == 0) {
      report(where, fmt::format("%{} is used before it is defined", graph_.value(id).name));
      return false;
    }
    return sound_[static_cast<size_t>(id)] != 0;
  }

  void check_states() {
    std::unordered_set<uint32_t> seen;
    for (const State& state : graph_.states) {
      if (!exists(state.input) || graph_.value(state.input).kind != ValueKind::input ||
          defined_[static_cast<size_t>(state.input)] == 0) {
        report("state", "is not read through a graph input");
        continue;
      }
      if (!seen.insert(static_cast<uint32_t>(state.input)).second)
        report(label(state.input), "is a state twice");
      if (!check_use(state.update, "state " + label(state.input))) continue;
      if (graph_.type(state.update) != graph_.type(state.input))
        report("state " + label(state.input),
               fmt::format("the update must have the same type, found {}", label(state.update)));
    }
  }

  void check_node(const Node& node) {
    if (static_cast<size_t>(node.op) >= kOps.size())
      return report(fmt::format("node '{}'", node.name), "the op has no row in the table");
    const std::string where = graph_.describe(node);
    // Each is checked, whatever the others say.
    const bool operands = check_operands(node, where);
    const bool attributes = check_attributes(node, where);
    const bool results = check_results(node, where);
    check_clamp(node, where);
    if (operands && attributes && results) check_types(node, where);
  }

  bool check_operands(const Node& node, const std::string& where) {
    const OpRow& row = node.row();
    const size_t declared = row.operand_count();
    const bool count_fits =
        node.operands.size() == declared || (row.variadic() && node.operands.size() > declared);
    if (!count_fits) {
      report(where, fmt::format("found {} operands, must be {}{}", node.operands.size(), declared,
                                row.variadic() ? " or more" : ""));
      return false;
    }
    bool good = true;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const Operand& operand = row.operand(i);
      if (node.operands[i] == ValueId::none) {
        if (!operand.optional) report(where, fmt::format("operand '{}' is missing", operand.name));
        good = good && operand.optional;
      } else {
        good = check_use(node.operands[i], fmt::format("{}, operand '{}'", where, operand.name)) && good;
      }
    }
    return good;
  }

  bool check_attributes(const Node& node, const std::string& where) {
    const std::span<const AttributeRow> rows = node.row().attribute_rows();
    if (node.attributes.size() != rows.size()) {
      report(where, fmt::format("found {} attributes, must be {}", node.attributes.size(), rows.size()));
      return false;
    }
    bool good = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (fits(node.attributes[i], rows[i])) continue;
      report(
          fmt::format("{}, attribute {}", where, rows[i].name),
          fmt::format("found {}, which is of another kind than the row says", to_string(node.attributes[i])));
      good = false;
    }
    return good;
  }

  bool check_results(const Node& node, const std::string& where) {
    const OpRow& row = node.row();
    bool good = row.results == OpRow::kVariadic ? !node.results.empty()
                                                : node.results.size() == static_cast<size_t>(row.results);
    if (!good)
      report(where, fmt::format("found {} results, the row says {}", node.results.size(), row.results));
    for (const ValueId id : node.results) {
      if (!exists(id) || graph_.value(id).kind != ValueKind::result) {
        report(where, fmt::format("value {} is not a result", static_cast<uint32_t>(id)));
        good = false;
        continue;
      }
      char& defined = defined_[static_cast<size_t>(id)];
      if (defined != 0) report(where, fmt::format("%{} is defined twice", graph_.value(id).name));
      defined = 1;
      good = good && sound_[static_cast<size_t>(id)] != 0;
    }
    return good;
  }

  void check_clamp(const Node& node, const std::string& where) {
    if (!node.clamp.is_set()) return;
    if (!node.row().clamps)
      report(where, "has a clamp range, but the op can't clamp; use a node of aten.clamp");
    if (!(node.clamp.lo <= node.clamp.hi))  // false for NaN as well
      report(where, fmt::format("clamp range [{}, {}] must be ascending", node.clamp.lo, node.clamp.hi));
  }

  void check_types(const Node& node, const std::string& where) {
    const std::vector<const TensorType*> types = operand_types(graph_, node);
    const auto shapes = node.row().shape({types, node.attrs()});
    if (!shapes) {
      for (const Diagnostic& d : shapes.error().diagnostics)
        report(fmt::format("{}, {}", where, d.where), d.what);
      return;
    }
    if (shapes->size() != node.results.size())
      return report(where, fmt::format("found {} results, must be {}", node.results.size(), shapes->size()));
    bool good = true;
    for (size_t i = 0; i < node.results.size(); ++i)
      good = check_result_type(node, node.results[i], (*shapes)[i], where) && good;
    if (!good) return;
    for (const Diagnostic& d : quantization_violations(graph_, node))
      report(fmt::format("{}, {}", where, d.where), d.what);
  }

  bool check_result_type(const Node& node, ValueId id, const ResultShape& expected,
                         const std::string& where) {
    const TensorType& type = graph_.type(id);
    const bool stands_for_real = type.quantized() && node.row().quant != QuantRule::none &&
                                 (type.dtype == DType::int8 || type.dtype == DType::int16);
    if (type.shape == expected.shape && (type.dtype == expected.dtype || stands_for_real)) return true;
    report(where, fmt::format("the result is {}, must be {}{}", label(id), name(expected.dtype),
                              to_string(expected.shape)));
    return false;
  }

  const Graph& graph_;
  std::vector<char> defined_;  // by value id: can be used here
  std::vector<char> sound_;    // by value id: the type by itself is valid
  Error error_;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace rushlight
