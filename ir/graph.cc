// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/text.h"

namespace rushlight {

ClampRange ClampRange::then(ClampRange next) const {
  const auto clamped = [next](double x) { return std::min(std::max(x, next.lo), next.hi); };
  return {clamped(lo), clamped(hi)};
}

std::string identifier(std::string_view name) {
  std::string result(name.empty() ? "_" : name);
  for (char& c : result) {
    const bool allowed =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (!allowed) c = '_';
  }
  return result;
}

const Tensor& Graph::constant(ValueId id) const {
  require(is_constant(id), "only a constant's data is read");
  return *value(id).data;
}

std::vector<ValueId> Graph::value_ids() const {
  std::vector<ValueId> ids;
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].kind != ValueKind::removed) ids.push_back(static_cast<ValueId>(i));
  return ids;
}

std::string Graph::unique_name(std::string_view wanted) {
  const std::string base = identifier(wanted);
  const auto taken = names_.find(base);
  if (taken == names_.end()) return base;
  std::string candidate;
  do {
    candidate = fmt::format("{}_{}", base, ++taken->second);
  } while (names_.contains(candidate));
  return candidate;
}

ValueId Graph::add(Value value) {
  value.name = unique_name(value.name);
  names_.emplace(value.name, 0);
  values_.push_back(std::move(value));
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_input(std::string_view wanted, TensorType type) {
  inputs.push_back(add({ValueKind::input, std::string(wanted), std::move(type)}));
  return inputs.back();
}

ValueId Graph::add_constant(std::string_view wanted, TensorType type, std::shared_ptr<const Tensor> data) {
  require(data != nullptr && data->shape() == type.shape && data->dtype() == type.dtype,
          "a constant's data has the type's shape and dtype");
  return add({ValueKind::constant, std::string(wanted), std::move(type), std::move(data)});
}

ValueId Graph::add_constant(std::string_view wanted, Tensor data) {
  auto shared = std::make_shared<const Tensor>(std::move(data));
  TensorType type{.dtype = shared->dtype(), .shape = shared->shape()};
  return add_constant(wanted, std::move(type), std::move(shared));
}

ValueId Graph::add_result(std::string_view wanted, TensorType type) {
  return add({ValueKind::result, std::string(wanted), std::move(type)});
}

namespace {

// Absent trailing operands become ValueId::none; what is wrong with the number of operands otherwise.
std::optional<std::string> complete_operands(const OpRow& row, std::vector<ValueId>& operands) {
  const size_t declared = row.operand_count();
  const size_t given = operands.size();
  if (given > declared && !row.variadic())
    return fmt::format("found {} operands, takes at most {}", given, declared);
  for (size_t i = 0; i < std::max(given, declared); ++i) {
    if (i == operands.size() && !row.operand(i).variadic) operands.push_back(ValueId::none);
    const bool absent = i == operands.size() || operands[i] == ValueId::none;
    if (absent && !row.operand(i).optional)
      return fmt::format("operand '{}' is missing", row.operand(i).name);
  }
  return std::nullopt;
}

}  // namespace

Result<Node> Graph::make_node(Op op, std::string_view node_name, std::vector<ValueId> operands,
                              std::map<std::string, Attribute, std::less<>> attributes) {
  Node node{.op = op, .name = std::string(node_name), .operands = std::move(operands)};
  const OpRow& op_row = node.row();
  require(op_row.results == 1, "make_node makes nodes with one result");
  const auto failed = [&](Error error) {
    for (Diagnostic& d : error.diagnostics) d.where = fmt::format("{}, {}", describe(node), d.where);
    return tl::unexpected(std::move(error));
  };
  if (const auto wrong = complete_operands(op_row, node.operands)) return input_error(describe(node), *wrong);
  for (const ValueId id : node.operands) {
    const bool exists = id == ValueId::none ||
                        (static_cast<size_t>(id) < values_.size() && value(id).kind != ValueKind::removed);
    require(exists, "operands of a new node exist");
  }
  auto completed = complete_attributes(op_row.attribute_rows(), std::move(attributes));
  if (!completed) return failed(std::move(completed.error()));
  node.attributes = *std::move(completed);

  const std::vector<const TensorType*> types = operand_types(*this, node);
  auto shapes = op_row.shape({types, node.attrs()});
  if (!shapes) return failed(std::move(shapes.error()));
  require(shapes->size() == 1, "a shape rule gives as many results as the row says");
  node.results = {
      add_result(node_name, {.dtype = shapes->front().dtype, .shape = std::move(shapes->front().shape)})};
  return node;
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& node : nodes) std::replace(node.operands.begin(), node.operands.end(), from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
  for (State& state : states)
    if (state.update == from) state.update = to;
}

void Graph::remove_dead() {
  std::vector<char> used(values_.size(), 0);
  const auto use = [&](ValueId id) {
    if (id != ValueId::none) used[static_cast<size_t>(id)] = 1;
  };
  for (const ValueId id : inputs) use(id);
  for (const ValueId id : outputs) use(id);
  for (const State& state : states) use(state.update);

  std::vector<char> alive(nodes.size(), 0);
  for (size_t n = nodes.size(); n-- > 0;) {
    const auto is_used = [&](ValueId id) { return used[static_cast<size_t>(id)] != 0; };
    if (!std::any_of(nodes[n].results.begin(), nodes[n].results.end(), is_used)) continue;
    alive[n] = 1;
    std::for_each(nodes[n].operands.begin(), nodes[n].operands.end(), use);
  }
  // Only now, so that a result counts as used where something reads it and not for standing beside one that
  // is.
  for (size_t n = 0; n < nodes.size(); ++n)
    if (alive[n] != 0) std::for_each(nodes[n].results.begin(), nodes[n].results.end(), use);

  std::vector<Node> kept;
  for (size_t n = 0; n < nodes.size(); ++n)
    if (alive[n] != 0) kept.push_back(std::move(nodes[n]));
  nodes = std::move(kept);
  names_.clear();
  for (size_t i = 0; i < values_.size(); ++i) {
    if (used[i] == 0) values_[i] = Value{};
    if (used[i] != 0) names_.emplace(values_[i].name, 0);
  }
}

std::vector<int> Graph::producers() const {
  std::vector<int> result(values_.size(), -1);
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const ValueId id : nodes[n].results) result[static_cast<size_t>(id)] = static_cast<int>(n);
  return result;
}

std::vector<int> Graph::use_counts() const {
  std::vector<int> counts(values_.size(), 0);
  for (const Node& node : nodes)
    for (const ValueId id : node.operands)
      if (id != ValueId::none) ++counts[static_cast<size_t>(id)];
  for (const ValueId id : outputs) ++counts[static_cast<size_t>(id)];
  for (const State& state : states) ++counts[static_cast<size_t>(state.update)];
  return counts;
}

std::string Graph::describe(const Node& node) const {
  std::string text = fmt::format("node '{}' ({})", node.name, rushlight::name(node.op));
  if (!node.source.empty()) text += fmt::format(" at {}", node.source);
  return text;
}

std::vector<const TensorType*> operand_types(const Graph& graph, const Node& node) {
  std::vector<const TensorType*> types;
  for (const ValueId id : node.operands) types.push_back(id == ValueId::none ? nullptr : &graph.type(id));
  return types;
}

bool equivalent(const Graph& a, const Graph& b) { return print(a) == print(b); }

}  // namespace rushlight
