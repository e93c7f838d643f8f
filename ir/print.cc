// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "ir/text.h"
#include "types/real_text.h"

namespace rushlight {
namespace {

std::string join(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

std::string reference(const Graph& graph, ValueId id) {
  return id == ValueId::none ? "none" : "%" + graph.value(id).name;
}
std::string references(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> parts;
  for (const ValueId id : ids) parts.push_back(reference(graph, id));
  return join(parts);
}
std::string declaration(const Graph& graph, ValueId id) {
  return fmt::format("%{}: {}", graph.value(id).name, to_string(graph.type(id)));
}
std::string declarations(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> parts;
  for (const ValueId id : ids) parts.push_back(declaration(graph, id));
  return join(parts);
}

std::string element(const Tensor& data, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (data.dtype()) {
    case DType::boolean:
      return data.at(i) != 0 ? "true" : "false";
    case DType::int64:
      return fmt::format("{}", data.as<int64_t>()[at]);
    case DType::float64:
      return real_text(data.at(i));
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
      return real_text(static_cast<float>(data.at(i)));
    default:
      return fmt::format("{}", static_cast<int64_t>(data.at(i)));
  }
}

// Whether all elements have one text. NaNs of different bits do, zeros of different sign don't.
bool is_splat(const Tensor& data) {
  const int64_t count = data.elements();
  if (count == 0) return false;
  const auto size = static_cast<size_t>(size_of(data.dtype()));
  const std::byte* bytes = data.bytes().data();
  for (int64_t i = 1; i < count; ++i) {
    const bool same_bits = std::memcmp(bytes, bytes + static_cast<size_t>(i) * size, size) == 0;
    if (!same_bits && element(data, i) != element(data, 0)) return false;
  }
  return true;
}

std::string constant(const Tensor& data, const PrintOptions& options) {
  if (options.max_constant_elements >= 0 && data.elements() > options.max_constant_elements)
    return "constant ...";
  if (is_splat(data)) return "constant splat " + element(data, 0);
  std::string text = "constant [";
  for (int64_t i = 0; i < data.elements(); ++i) {
    if (i != 0) text += ", ";
    text += element(data, i);
  }
  return text + "]";
}

// Attributes whose text differs from their default's; zeros of different sign differ.
std::string attributes(const Node& node) {
  const std::span<const AttributeRow> rows = node.row().attribute_rows();
  std::vector<std::string> parts;
  for (size_t i = 0; i < rows.size() && i < node.attributes.size(); ++i) {
    const std::string value = to_string(node.attributes[i]);
    if (value != rows[i].default_value) parts.push_back(fmt::format("{}={}", rows[i].name, value));
  }
  return parts.empty() ? "" : fmt::format(" {{{}}}", join(parts));
}

}  // namespace

std::string print_node(const Graph& graph, const Node& node) {
  std::string text = fmt::format("{} = {}({}){}", declarations(graph, node.results), name(node.op),
                                 references(graph, node.operands), attributes(node));
  if (node.clamp.is_set())
    text += fmt::format(" clamp=[{}, {}]", real_text(node.clamp.lo), real_text(node.clamp.hi));
  return text;
}

std::string print(const Graph& graph, PrintOptions options) {
  std::string text =
      fmt::format("graph @{}({}) {{\n", identifier(graph.name), declarations(graph, graph.inputs));
  for (const ValueId id : graph.value_ids()) {
    if (!graph.is_constant(id)) continue;
    text += fmt::format("  {} = {}\n", declaration(graph, id), constant(graph.constant(id), options));
  }
  for (const Node& node : graph.nodes) text += fmt::format("  {}\n", print_node(graph, node));
  for (const State& state : graph.states)
    text += fmt::format("  state {} -> {}\n", reference(graph, state.input), reference(graph, state.update));
  const std::string outputs = references(graph, graph.outputs);
  return text + (outputs.empty() ? "  return\n}\n" : fmt::format("  return {}\n}}\n", outputs));
}

}  // namespace rushlight
