// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/problems.h"

#include <fmt/format.h>

namespace rushlight::pt2 {

namespace {

std::string more_nodes(const std::vector<std::pair<std::string, std::string>>& nodes) {
  constexpr size_t kNamed = 4;
  std::string text;
  for (size_t i = 1; i < nodes.size() && i <= kNamed; ++i) {
    const auto& [name, source] = nodes[i];
    text += fmt::format("{}'{}'{}", i == 1 ? "" : ", ", name, source.empty() ? "" : " at " + source);
  }
  if (nodes.size() > kNamed + 1) text += fmt::format(" and {} more", nodes.size() - kNamed - 1);
  return text;
}

}  // namespace

void Problems::add(const NodeSpec& node, std::string what) {
  const auto [at, fresh] = index_.emplace(what, found_.size());
  if (fresh) found_.push_back({std::move(what), {}});
  found_[at->second].nodes.emplace_back(node.name, node.source);
}

Error Problems::error(const std::string& file) const {
  Error error{Fault::no, {}};
  for (const Problem& problem : found_) {
    const auto& [name, source] = problem.nodes.front();
    std::string what = problem.what;
    if (!source.empty()) what += fmt::format(", at {}", source);
    if (problem.nodes.size() > 1) what += fmt::format("; also {}", more_nodes(problem.nodes));
    error.diagnostics.push_back({fmt::format("{}: node '{}'", file, name), std::move(what)});
  }
  return error;
}

}  // namespace rushlight::pt2
