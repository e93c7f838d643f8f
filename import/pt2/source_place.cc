// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/source_place.h"

#include <algorithm>
#include <optional>

namespace rushlight::pt2 {

namespace {

struct Frame {
  std::string place;
  bool of_torch;
};

constexpr size_t kMaxLength = 100;

// The frame in a text that starts behind `File "`.
std::optional<Frame> frame(std::string_view text) {
  const size_t quote = text.find('"');
  if (quote == std::string_view::npos) return std::nullopt;
  const std::string_view path = text.substr(0, quote);
  constexpr std::string_view kLine = ", line ";
  std::string_view rest = text.substr(quote + 1);
  if (!rest.starts_with(kLine)) return std::nullopt;
  rest.remove_prefix(kLine.size());
  const std::string_view line = rest.substr(0, rest.find_first_not_of("0123456789"));
  const std::string_view file = path.substr(path.find_last_of("/\\") + 1);
  const auto shown = [](char c) { return c >= ' ' && c <= '~'; };
  if (line.empty() || file.empty() || file.size() + line.size() > kMaxLength ||
      !std::ranges::all_of(file, shown))
    return std::nullopt;
  const bool of_torch = path.starts_with("torch/") || path.find("/torch/") != std::string_view::npos;
  return Frame{std::string(file) + ":" + std::string(line), of_torch};
}

}  // namespace

std::string source_place(std::string_view stack_trace) {
  constexpr std::string_view kFile = "File \"";
  std::string innermost;
  size_t at = stack_trace.rfind(kFile);
  while (at != std::string_view::npos) {
    if (const auto found = frame(stack_trace.substr(at + kFile.size()))) {
      if (!found->of_torch) return found->place;
      if (innermost.empty()) innermost = found->place;
    }
    if (at == 0) break;
    at = stack_trace.rfind(kFile, at - 1);
  }
  return innermost;
}

}  // namespace rushlight::pt2
