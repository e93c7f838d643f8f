// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/call.h"

#include <fmt/format.h>

#include <algorithm>

namespace rushlight::pt2 {

namespace {

template <class Map>
void erase(Map& map, std::string_view key) {
  if (const auto found = map.find(key); found != map.end()) map.erase(found);
}

tl::unexpected<Error> wrong_kind(std::string_view argument, const Attribute& found, std::string_view wanted) {
  return input_error(fmt::format("argument '{}'", argument),
                     fmt::format("is {}; {} is needed", to_string(found), wanted));
}

template <class T>
Result<T> read(const Call& call, std::string_view argument, const std::optional<T>& otherwise,
               std::string_view wanted) {
  const auto found = call.attributes.find(argument);
  const bool given = found != call.attributes.end() && !std::holds_alternative<std::monostate>(found->second);
  if (!given && otherwise) return *otherwise;
  if (!given)
    return input_error(fmt::format("argument '{}'", argument),
                       fmt::format("is missing; {} is needed", wanted));
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  if constexpr (!std::is_same_v<T, int64_t>)
    if (const int64_t* value = std::get_if<int64_t>(&found->second)) {
      if constexpr (std::is_same_v<T, Integers>) return Integers{*value};
      if constexpr (std::is_same_v<T, double>) return static_cast<double>(*value);
    }
  return wrong_kind(argument, found->second, wanted);
}

// What decides where and how PyTorch computes, not what. A changed dtype shows in the result, which is
// compared with the file's.
constexpr std::string_view kWithoutMeaning[] = {
    "memory_format", "device",    "layout",   "pin_memory", "non_blocking", "copy",
    "dtype",         "out_dtype", "implicit", "generator",  "cudnn_enable", "cudnn_enabled",
};

// One value for each operand of the row; absent ones at the end are left out.
Result<std::vector<ValueId>> take_operands(Call& call, const OpRow& row) {
  std::vector<ValueId> operands;
  for (size_t i = 0; i < row.operand_count(); ++i) {
    const Operand& operand = row.operands[i];
    std::string_view key = operand.name;
    if (i == 0 && (call.tensors.contains("self") || call.attributes.contains("self"))) key = "self";
    if (const auto given = call.tensors.find(key); given != call.tensors.end()) {
      if (!operand.variadic && given->second.size() != 1)
        return unsupported(fmt::format("argument '{}'", key), "is a list of tensors; a single one is needed");
      operands.insert(operands.end(), given->second.begin(), given->second.end());
    } else if (const auto number = call.attributes.find(key);
               number != call.attributes.end() && !std::holds_alternative<std::monostate>(number->second)) {
      const auto value = call.real(key, 0);
      if (!value) return tl::unexpected(value.error());
      operands.push_back(call.graph.add_constant(fmt::format("{}.{}", call.name, operand.name),
                                                 Tensor::of<float>({}, {static_cast<float>(*value)})));
    } else if (!operand.variadic) {
      operands.push_back(ValueId::none);
    }
    call.drop(key);
  }
  return operands;
}

// The graph names the node in its errors; whoever asked for the node does so too.
Error without_node(Error error, std::string_view node, Op op) {
  const std::string prefix = fmt::format("node '{}' ({})", node, rushlight::name(op));
  for (Diagnostic& d : error.diagnostics) {
    if (!d.where.starts_with(prefix)) continue;
    d.where.erase(0, prefix.size());
    if (d.where.starts_with(", ")) d.where.erase(0, 2);
  }
  return error;
}

}  // namespace

Result<ValueId> Call::tensor(std::string_view argument) const {
  const auto found = tensors.find(argument);
  if (found == tensors.end() || found->second.size() != 1 || found->second.front() == ValueId::none)
    return input_error(fmt::format("argument '{}'", argument), "is missing; a tensor is needed");
  return found->second.front();
}

Result<int64_t> Call::integer(std::string_view argument, std::optional<int64_t> otherwise) const {
  return read<int64_t>(*this, argument, otherwise, "an integer");
}
Result<double> Call::real(std::string_view argument, double otherwise) const {
  return read<double>(*this, argument, otherwise, "a number");
}
Result<Integers> Call::integers(std::string_view argument, std::optional<Integers> otherwise) const {
  return read<Integers>(*this, argument, otherwise, "a list of integers");
}

void Call::drop(std::string_view argument) {
  erase(tensors, argument);
  erase(attributes, argument);
  erase(reals, argument);
  erase(others, argument);
}

Status check_nothing_left(const Call& call) {
  const auto check = [](std::string_view argument, std::string_view what) -> Status {
    if (std::ranges::find(kWithoutMeaning, argument) != std::end(kWithoutMeaning)) return {};
    return unsupported(fmt::format("argument '{}'", argument), std::string(what));
  };
  for (const auto& [argument, values] : call.tensors)
    if (auto known = check(argument, "is not supported"); !known) return known;
  for (const auto& [argument, value] : call.attributes)
    if (!std::holds_alternative<std::monostate>(value))
      if (auto known = check(argument, fmt::format("is {}, which is not supported", to_string(value)));
          !known)
        return known;
  for (const auto& [argument, values] : call.reals)
    if (auto known = check(argument, "is a list of numbers, which is not supported"); !known) return known;
  for (const auto& [argument, tag] : call.others)
    if (auto known = check(argument, fmt::format("is of the kind '{}', which is not supported", tag)); !known)
      return known;
  return {};
}

Result<ValueId> add_node(Call& call, Op op) {
  auto operands = take_operands(call, row(op));
  if (!operands) return forward(operands);
  std::map<std::string, Attribute, std::less<>> attributes;
  for (const AttributeRow& attribute : row(op).attribute_rows()) {
    const auto given = call.attributes.find(attribute.name);
    if (given == call.attributes.end()) continue;
    attributes.insert(*given);
    call.attributes.erase(given);
  }
  if (auto nothing = check_nothing_left(call); !nothing) return forward(nothing);
  auto node = call.graph.make_node(op, call.name, std::move(*operands), std::move(attributes));
  if (!node) return tl::unexpected(without_node(std::move(node.error()), call.name, op));
  node->name = call.node;
  node->source = call.source;
  call.graph.nodes.push_back(std::move(*node));
  return call.graph.nodes.back().result();
}

}  // namespace rushlight::pt2
