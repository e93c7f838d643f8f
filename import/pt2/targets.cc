// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/targets.h"

#include <algorithm>

namespace rushlight::pt2 {

namespace {

// Of "aten.add_.Tensor": "add_", with where it starts.
struct OpName {
  std::string_view text;
  size_t at;
};

OpName op_name(std::string_view target) {
  const size_t first = target.find('.');
  if (first == std::string_view::npos) return {target, 0};
  const std::string_view rest = target.substr(first + 1);
  return {rest.substr(0, rest.find('.')), first + 1};
}

// Views, ops that return their operand when there is nothing to do, and the renaming detach_.
constexpr std::string_view kAliasing[] = {
    "alias",
    "chunk",
    "contiguous",
    "detach",
    "detach_",
    "diagonal",
    "dropout",
    "expand",
    "expand_as",
    "feature_dropout",
    "alpha_dropout",
    "flatten",
    "movedim",
    "narrow",
    "numpy_T",
    "permute",
    "reshape",
    "select",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "swapaxes",
    "t",
    "to",
    "transpose",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "view",
    "view_as",
    "_unsafe_view",
    "lift",
};

}  // namespace

std::optional<std::string> functional_form(std::string_view target) {
  const auto [name, at] = op_name(target);
  if (name.size() < 2 || !name.ends_with('_') || name.ends_with("__") || may_alias(target))
    return std::nullopt;
  std::string functional(target);
  functional.erase(at + name.size() - 1, 1);
  return functional;
}

bool may_alias(std::string_view target) {
  return std::ranges::find(kAliasing, op_name(target).text) != std::end(kAliasing);
}

}  // namespace rushlight::pt2
