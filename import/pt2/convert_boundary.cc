// SPDX-License-Identifier: Apache-2.0
// Inputs, constants, outputs and states of a program.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/pt2/converter.h"

namespace rushlight::pt2 {

namespace {

bool is_constant_kind(InputKind kind) {
  return kind == InputKind::parameter || kind == InputKind::buffer || kind == InputKind::tensor_constant;
}

}  // namespace

Result<TensorType> Converter::file_type(std::string_view name, const std::string& where) const {
  const auto meta = program_.tensors.find(name);
  if (meta == program_.tensors.end())
    return input_error(where, fmt::format("'{}' has no type in the file", name));
  const auto dtype = dtype_of_scalar_type(meta->second.dtype);
  if (!dtype)
    return unsupported(
        where, fmt::format("elements of type {} are not supported", scalar_type_name(meta->second.dtype)));
  auto shape = evaluate(meta->second.sizes, binding_);
  if (!shape) return unsupported(where, fmt::format("'{}': {}", name, shape.error()));
  if (!checked_element_count(*shape))
    return input_error(where,
                       fmt::format("'{}' has the shape {}; none of its sizes may be negative, and at most {} "
                                   "axes and {} elements are allowed",
                                   name, to_string(*shape), kMaxRank, kMaxElements));
  return TensorType{.dtype = *dtype, .shape = std::move(*shape)};
}

Status Converter::add_inputs() {
  // User inputs come first: the first value to ask for a name gets it.
  for (const InputSpec& spec : program_.inputs) {
    if (spec.kind != InputKind::user_input) continue;
    if (auto added = add_user_input(spec); !added) return added;
  }
  for (const InputSpec& spec : program_.inputs) {
    if (spec.kind == InputKind::other)
      return unsupported(file_, fmt::format("inputs of the kind '{}' are not supported", spec.target));
    if (!is_constant_kind(spec.kind)) continue;
    const int id = names_.id(std::get<TensorName>(spec.argument).name);
    if (!names_.live(id)) continue;
    if (auto added = names_.state(id) ? add_state(spec) : add_constant(spec); !added) return added;
  }
  return {};
}

Status Converter::add_user_input(const InputSpec& spec) {
  const auto* tensor = std::get_if<TensorName>(&spec.argument);
  if (tensor == nullptr) {
    // None and numbers that were fixed at the export are no inputs of what was exported.
    if (!std::holds_alternative<OtherArgument>(spec.argument) &&
        !std::holds_alternative<SymIntArgument>(spec.argument))
      return {};
    return unsupported(file_, "an input is neither a tensor nor a constant");
  }
  const std::string where = fmt::format("{}: input '{}'", file_, tensor->name);
  auto type = file_type(tensor->name, where);
  if (!type) return forward(type);
  if (type->elements() == 0)
    return unsupported(where, fmt::format("has the shape {}, without any element", to_string(type->shape)));
  bound(tensor->name) = graph_.add_input(tensor->name, std::move(*type));
  return {};
}

Status Converter::add_constant(const InputSpec& spec) {
  const std::string& name = std::get<TensorName>(spec.argument).name;
  auto data = archive_.tensor(spec);
  if (!data) return forward(data);
  const std::string where = fmt::format("{}: tensor '{}'", file_, spec.target);
  auto type = file_type(name, where);
  if (!type) return forward(type);
  if ((*data)->dtype() != type->dtype || (*data)->shape() != type->shape)
    return input_error(
        where, fmt::format("is {}{} in its table, but {} in the graph", rushlight::name((*data)->dtype()),
                           to_string((*data)->shape()), to_string(*type)));
  // Names in the model, which users know; but values keep the names that the graph gives them.
  const std::string& shown = names_.contains(spec.target) ? name : spec.target;
  bound(name) = graph_.add_constant(shown, std::move(*type), std::move(*data));
  return {};
}

Status Converter::add_state(const InputSpec& spec) {
  const std::string where = fmt::format("{}: buffer '{}'", file_, spec.target);
  auto data = archive_.tensor(spec);
  if (!data) return forward(data);
  for (int64_t i = 0; i < (*data)->elements(); ++i)
    if ((*data)->at(i) != 0)
      return unsupported(
          where, "changes while the model runs and does not start from zero, which is not supported yet");
  TensorType type{.dtype = (*data)->dtype(), .shape = (*data)->shape()};
  if (type.elements() == 0) return unsupported(where, "has no element");
  const std::string& name = std::get<TensorName>(spec.argument).name;
  bound(name) = graph_.add_input(name, std::move(type));
  graph_.states.push_back({std::get<ValueId>(bound(name)), ValueId::none});
  return {};
}

Status Converter::add_outputs() {
  const std::string where = file_ + ": graph outputs";
  for (const OutputSpec& spec : program_.outputs) {
    if (spec.kind == OutputKind::other)
      return unsupported(where, fmt::format("outputs of the kind '{}' are not supported", spec.target));
    if (spec.kind != OutputKind::user_output || std::holds_alternative<None>(spec.argument)) continue;
    const auto* tensor = std::get_if<TensorName>(&spec.argument);
    if (tensor == nullptr) return unsupported(where, "one is not a tensor");
    const auto* id = std::get_if<ValueId>(&bound(tensor->name));
    if (id == nullptr)
      return unsupported(where,
                         fmt::format("'{}' is a secondary result, which is not computed", tensor->name));
    graph_.outputs.push_back(*id);
  }
  if (graph_.outputs.empty()) return input_error(where, "there is no tensor among them");
  return {};
}

// The value that each buffer is left with: the one that the signature names, or else what in-place ops made
// of it.
Status Converter::add_states() {
  size_t next = 0;
  for (const InputSpec& spec : program_.inputs) {
    if (spec.kind != InputKind::buffer) continue;
    const int buffer = names_.id(std::get<TensorName>(spec.argument).name);
    if (!names_.state(buffer)) continue;
    State& state = graph_.states[next++];
    const std::string where = fmt::format("{}: buffer '{}'", file_, spec.target);
    const auto* id =
        std::get_if<ValueId>(&bound(names_.update(buffer) >= 0 ? names_.update(buffer) : buffer));
    if (id == nullptr) return unsupported(where, "becomes a secondary result, which is not computed");
    if (graph_.type(*id) != graph_.type(state.input))
      return input_error(where, fmt::format("is {}, but becomes {}", to_string(graph_.type(state.input)),
                                            to_string(graph_.type(*id))));
    state.update = *id;
  }
  return {};
}

Status Converter::check_constants() const {
  for (const ValueId id : graph_.value_ids()) {
    if (!graph_.is_constant(id) || !is_float(graph_.type(id).dtype)) continue;
    const Tensor& tensor = graph_.constant(id);
    for (int64_t i = 0; i < tensor.elements(); ++i)
      if (!std::isfinite(tensor.at(i)))
        return input_error(
            fmt::format("{}: tensor '{}'", file_, graph_.value(id).name),
            fmt::format("element {} is {}; only finite numbers can be quantized", i, tensor.at(i)));
  }
  return {};
}

}  // namespace rushlight::pt2
