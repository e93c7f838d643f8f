// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "import/pt2/symbols.h"

namespace rushlight::pt2 {

namespace {

std::string bounds(const Range& range) {
  if (range.min && range.max) return fmt::format("{} to {}", *range.min, *range.max);
  if (range.max) return fmt::format("up to {}", *range.max);
  return fmt::format("at least {}", range.min.value_or(0));
}

// PyTorch treats 0 and 1 apart while it traces, so it writes 2 as the lower bound of every axis that was
// given none, and does not hold callers to it.
bool allows(const Range& range, int64_t batch) {
  return batch >= 1 && (!range.min || *range.min <= 2 || batch >= *range.min) &&
         (!range.max || batch <= *range.max);
}

struct Leading {
  std::string input;
  Range range;
};

// The user inputs with their types.
std::map<std::string, const TensorMeta*> user_inputs(const Program& program) {
  std::map<std::string, const TensorMeta*> inputs;
  for (const InputSpec& spec : program.inputs) {
    const auto* tensor = std::get_if<TensorName>(&spec.argument);
    if (spec.kind != InputKind::user_input || tensor == nullptr) continue;
    if (const auto meta = program.tensors.find(tensor->name); meta != program.tensors.end())
      inputs.emplace(tensor->name, &meta->second);
  }
  return inputs;
}

}  // namespace

Result<Binding> bind_batch(const Program& program, std::optional<int64_t> batch, const std::string& file) {
  const auto inputs = user_inputs(program);
  std::map<std::string, Leading> leading;  // by symbol
  for (const auto& [name, meta] : inputs) {
    if (meta->sizes.empty()) continue;
    const auto* expression = std::get_if<std::string>(&meta->sizes.front());
    const auto symbol = expression == nullptr ? std::nullopt : only_symbol(*expression);
    if (!symbol) continue;
    const auto range = program.ranges.find(*symbol);
    leading.emplace(*symbol, Leading{name, range == program.ranges.end() ? Range{} : range->second});
  }
  for (const auto& [name, meta] : inputs)
    for (size_t axis = 0; axis < meta->sizes.size(); ++axis) {
      const auto* expression = std::get_if<std::string>(&meta->sizes[axis]);
      const auto symbol = expression == nullptr ? std::nullopt : only_symbol(*expression);
      if (expression != nullptr && (!symbol || !leading.contains(*symbol)))
        return unsupported(
            fmt::format("{}: input '{}'", file, name),
            fmt::format("axis {} is dynamic; only a leading batch axis may be. Export the model with a "
                        "fixed size there",
                        axis));
    }

  Binding binding;
  for (const auto& [symbol, first] : leading) {
    const std::string where = fmt::format("{}: input '{}'", file, first.input);
    if (!batch)
      return input_error(
          where, fmt::format("the leading axis is dynamic ({}, {}): say how many samples one run takes "
                             "with --batch N",
                             symbol, bounds(first.range)));
    if (!allows(first.range, *batch))
      return input_error(where, fmt::format("--batch {} is outside of the range of its leading axis ({}, {})",
                                            *batch, symbol, bounds(first.range)));
    binding.emplace(symbol, *batch);
  }
  if (!batch || !leading.empty()) return binding;
  for (const auto& [name, meta] : inputs) {
    const auto* extent = meta->sizes.empty() ? nullptr : std::get_if<int64_t>(&meta->sizes.front());
    if (extent != nullptr && *extent != *batch)
      return input_error(
          fmt::format("{}: input '{}'", file, name),
          fmt::format("--batch {} does not fit: the leading axis was exported with the fixed size {}. "
                      "Leave the option out, or export with torch.export.Dim",
                      *batch, *extent));
  }
  return binding;
}

}  // namespace rushlight::pt2
