// SPDX-License-Identifier: Apache-2.0
// What becomes of a converted node's results: names that stand for them, and checks against what the file
// says.
#include <fmt/format.h>

#include <algorithm>

#include "import/pt2/converter.h"
#include "import/pt2/targets.h"

namespace rushlight::pt2 {

namespace {

std::vector<std::string> output_names(const NodeSpec& node) {
  std::vector<std::string> names;
  for (const Argument& output : node.outputs)
    for_each_name(output, [&](const std::string& name) { names.push_back(name); });
  return names;
}

}  // namespace

// Weights, biases and parameters must be known when the model is compiled: constants, or computed from
// constants alone (as dequantized weights are).
Status Converter::check_roles(const Node& node) {
  fixed_.resize(graph_.value_count());
  const auto is_fixed = [&](ValueId id) {
    return id == ValueId::none || graph_.is_constant(id) || fixed_[static_cast<size_t>(id)] != 0;
  };
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Operand& operand = node.row().operand(i);
    const bool must_be =
        operand.role == Role::weight || operand.role == Role::bias || operand.role == Role::parameter;
    if (must_be && !is_fixed(node.operands[i]))
      return unsupported(
          "", fmt::format("has a {} that depends on the model's inputs; it must be constant", operand.name));
  }
  if (!node.row().attribute_rows().empty() && node.op == "aten.dropout"_op && node.attrs().boolean("train"))
    return unsupported("", "is in training mode; call model.eval() before the export");
  const bool fixed = std::ranges::all_of(node.operands, is_fixed);
  for (const ValueId id : node.results) fixed_[static_cast<size_t>(id)] = fixed;
  return {};
}

// A list of tensors takes one value each; of several outputs the first is the op's result, and ops here
// compute no others.
Status Converter::bind_results(const NodeSpec& node, const std::vector<ValueId>& values) {
  std::vector<std::string> outputs = output_names(node);
  if (outputs.empty()) return unsupported("", "does not give a tensor");
  if (std::get_if<TensorName>(&node.outputs.front()) != nullptr) outputs.resize(1);
  if (outputs.size() != values.size())
    return input_error("",
                       fmt::format("gives {} tensors, but the file names {}", values.size(), outputs.size()));
  for (size_t i = 0; i < values.size(); ++i)
    if (auto ok = bind_result(outputs[i], values[i]); !ok) return ok;
  return {};
}

Status Converter::bind_result(const std::string& name, ValueId value) {
  const auto expected = file_type(name, "result");
  if (!expected) return tl::unexpected(expected.error());
  const TensorType& computed = graph_.type(value);
  if (computed.shape != expected->shape)
    return input_error("", fmt::format("gives the shape {}, but the file says {}", to_string(computed.shape),
                                       to_string(expected->shape)));
  if (computed.dtype != expected->dtype)
    return unsupported("", fmt::format("would give {} here, but gives {} in PyTorch",
                                       rushlight::name(computed.dtype), rushlight::name(expected->dtype)));
  bound(name) = value;
  return {};
}

bool Converter::reads_placeholder(const NodeSpec& node) const {
  bool reads = false;
  for (const NamedArgument& input : node.inputs)
    for_each_name(input.value, [&](const std::string& name) {
      reads = reads || placeholder_[slot_[names_.id(name)]] != 0;
    });
  return reads;
}

void Converter::bind_placeholders(const NodeSpec& node) {
  for (const std::string& output : output_names(node)) {
    const int id = names_.id(output);
    const auto type = file_type(output, "");
    const ValueId value = graph_.add_result(output, type ? *type : TensorType{});
    bound(id) = value;
    placeholder_[slot_[id]] = 1;
    fixed_.resize(graph_.value_count());
    fixed_[static_cast<size_t>(value)] = 1;  // nothing more is to be said about it
  }
}

// From here on every name of the written value means the node's result. A view of the same memory that is
// read later would have to change too, which values can't express.
Status Converter::write_in_place(const NodeSpec& node, int index) {
  const std::string* written = first_tensor(node);
  const std::vector<std::string> outputs = output_names(node);
  if (written == nullptr || outputs.empty()) return unsupported("", "writes in place, but gives no result");
  if (names_.shares_parameter(names_.id(*written)))
    return unsupported("", fmt::format("writes into '{}', which is a parameter or a view of one", *written));
  const int target = names_.id(*written), result = names_.id(outputs.front());
  for (const int id : names_.sharing(target)) {
    if (slot_[id] == slot_[target] || id == result || names_.last_use(id) <= index) continue;
    if (!std::holds_alternative<ValueId>(bound(id))) continue;
    return unsupported(
        "", fmt::format("writes into '{}', which shares memory with '{}' that is read later; use the "
                        "form that is not in place, or clone first",
                        *written, names_.name(id)));
  }
  bound(target) = bound(result);
  placeholder_[slot_[target]] = placeholder_[slot_[result]];
  slot_[result] = slot_[target];
  return {};
}

}  // namespace rushlight::pt2
