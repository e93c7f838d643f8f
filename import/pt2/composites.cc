// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/composites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rushlight::pt2 {

std::span<const std::span<const Composite>> composites() {
  static const std::array all = {kWindowComposites, kMovementComposites, kProductComposites};
  return all;
}

const Composite* find_composite(std::string_view torch) {
  for (const std::span<const Composite> list : composites()) {
    const auto found = std::ranges::find(list, torch, &Composite::torch);
    if (found != list.end()) return &*found;
  }
  return nullptr;
}

template <class T>
T Steps::take(std::string_view argument, Result<T> value) {
  call_.drop(argument);
  if (value) return *value;
  fail(std::move(value.error()));
  return {};
}

ValueId Steps::tensor(std::string_view argument) {
  auto value = call_.tensor(argument);
  call_.drop(argument);
  if (value) return *value;
  fail(std::move(value.error()));
  return ValueId::none;
}

ValueId Steps::optional_tensor(std::string_view argument) {
  if (!call_.tensors.contains(argument)) {
    call_.drop(argument);
    return ValueId::none;
  }
  return tensor(argument);
}

int64_t Steps::integer(std::string_view argument, std::optional<int64_t> otherwise) {
  return take(argument, call_.integer(argument, otherwise));
}

Integers Steps::integers(std::string_view argument, std::optional<Integers> otherwise) {
  return take(argument, call_.integers(argument, std::move(otherwise)));
}

bool Steps::boolean(std::string_view argument, bool otherwise) {
  const Attribute given = attribute(argument);
  if (const bool* value = std::get_if<bool>(&given)) return *value;
  if (!std::holds_alternative<std::monostate>(given))
    fail(input_error(fmt::format("argument '{}'", argument),
                     fmt::format("is {}; true or false is needed", to_string(given))));
  return otherwise;
}

Attribute Steps::attribute(std::string_view argument) {
  const auto found = call_.attributes.find(argument);
  Attribute value = found == call_.attributes.end() ? Attribute{} : found->second;
  call_.drop(argument);
  return value;
}

ValueId Steps::add(Op op, std::vector<ValueId> operands, NamedAttributes attributes) {
  if (failed()) return ValueId::none;
  auto node = call_.graph.make_node(op, call_.name, std::move(operands), std::move(attributes));
  if (!node) {
    fail(std::move(node.error()));
    return ValueId::none;
  }
  node->name = call_.node;
  node->source = call_.source;
  call_.graph.nodes.push_back(std::move(*node));
  return call_.graph.nodes.back().result();
}

ValueId Steps::permute(ValueId input, Integers dims) {
  return add("aten.permute"_op, {input}, {{"dims", std::move(dims)}});
}

ValueId Steps::slice(ValueId input, int64_t dim, int64_t start, int64_t end, int64_t step) {
  return add("aten.slice"_op, {input}, {{"dim", dim}, {"start", start}, {"end", end}, {"step", step}});
}

const Shape& Steps::shape(ValueId id) const {
  static const Shape kNone;
  return id == ValueId::none ? kNone : call_.type(id).shape;
}

size_t Steps::axis(int64_t dim, ValueId of) {
  if (failed()) return 0;
  const Result<int64_t> axis = shapes::normalized_axis(dim, shape(of).size());
  if (axis) return static_cast<size_t>(*axis);
  fail(axis.error());
  return 0;
}

void Steps::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

Result<std::vector<ValueId>> Steps::done(std::vector<ValueId> results) {
  if (error_) return tl::unexpected(std::move(*error_));
  return results;
}

}  // namespace rushlight::pt2
