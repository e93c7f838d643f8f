// SPDX-License-Identifier: Apache-2.0
// Integers that PyTorch computes from sizes: known here, because every size is.
#include <fmt/format.h>

#include <algorithm>

#include "import/pt2/converter.h"

namespace rushlight::pt2 {

namespace {

struct IntegerOperator {
  std::string_view target;
  std::optional<int64_t> (*apply)(int64_t, int64_t);
};

constexpr IntegerOperator kOperators[] = {
    {"_operator.add", checked_add},      {"_operator.sub", checked_subtract},
    {"_operator.mul", checked_multiply}, {"_operator.floordiv", checked_floor_divide},
    {"_operator.mod", checked_modulo},
};
constexpr std::string_view kSize = "aten.sym_size.int";

}  // namespace

bool Converter::is_integer_node(const NodeSpec& node) const {
  return node.target == kSize ||
         std::ranges::find(kOperators, node.target, &IntegerOperator::target) != std::end(kOperators);
}

Result<int64_t> Converter::integer_of(const NodeSpec& node, const IntOrName& value) const {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  const std::string& name = std::get<std::string>(value);
  if (const auto* number = std::get_if<int64_t>(&bound(name))) return *number;
  return at(node, fmt::format("takes '{}' for an integer, which it is not", name));
}

Result<int64_t> Converter::integer_of(const NodeSpec& node, const Argument& argument) const {
  if (const auto* number = std::get_if<int64_t>(&argument)) return *number;
  if (const auto* symbol = std::get_if<SymIntArgument>(&argument)) return integer_of(node, symbol->value);
  return at(node, "takes something else than an integer");
}

Status Converter::fold_integers(const NodeSpec& node) {
  const auto* output =
      node.outputs.size() == 1 ? std::get_if<SymIntArgument>(&node.outputs.front()) : nullptr;
  const auto* output_name = output == nullptr ? nullptr : std::get_if<std::string>(&output->value);
  if (output_name == nullptr || node.inputs.size() != 2)
    return at(node, "is not two operands and one integer");
  auto second = integer_of(node, node.inputs[1].value);
  if (!second) return forward(second);
  std::optional<int64_t> value;
  if (node.target == kSize) {
    const auto* tensor = std::get_if<TensorName>(&node.inputs[0].value);
    const auto* id = tensor == nullptr ? nullptr : std::get_if<ValueId>(&bound(tensor->name));
    if (id == nullptr) return at(node, "asks for the size of something else than a tensor");
    const Shape& shape = graph_.type(*id).shape;
    const auto axis = shapes::normalized_axis(*second, shape.size());
    if (!axis) return at(node, axis.error());
    value = shape[static_cast<size_t>(*axis)];
  } else {
    auto first = integer_of(node, node.inputs[0].value);
    if (!first) return forward(first);
    value = std::ranges::find(kOperators, node.target, &IntegerOperator::target)->apply(*first, *second);
    if (!value) return at(node, fmt::format("{}({}, {}) has no 64-bit value", node.target, *first, *second));
  }
  bound(*output_name) = *value;
  return {};
}

}  // namespace rushlight::pt2
