// SPDX-License-Identifier: Apache-2.0
#include "driver/operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "cortex_m/lower.h"
#include "import/import.h"
#include "ops/table.h"

namespace rushlight {
namespace {

std::string_view rule(const OpRow& op) {
  if (op.unary || op.name == "elementwise") return "a table of 256 entries, or a clamp";
  switch (op.quant) {
    case QuantRule::none:
      return "at the float outside";
    case QuantRule::free:
      return "parameters of its own";
    case QuantRule::same:
      return "integers as they are, one set of parameters";
    case QuantRule::fixed:
      return "fixed parameters, unless the model file has others";
    case QuantRule::position:
      return "gives positions, int32 on the device";
    case QuantRule::boundary:
      return "quantized at its boundary";
  }
  return "";
}

// In a table a bar would end the cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string operators_page() {
  std::string page =
      "# Operators\n\n"
      "Generated from the op table (`rushlight ops --markdown`); a test compares them. What is not here "
      "stops the\n"
      "compile with an error that names it.\n\n"
      "| op | what it computes | quantization |\n|---|---|---|\n";
  for (const OpRow& op : kOps)
    page += fmt::format("| `{}` | {} | {} |\n", op.name, cell(op.summary), rule(op));
  page += fmt::format(
      "\n## int16\n\nWith `--activations int16`, and where a model file has it, these have kernels: {}. "
      "Functions of one "
      "tensor are\ntables with straight lines between 513 points.\n",
      fmt::join(int16_operators(), ", "));
  page += "\n## PyTorch operators\n\nTheir in-place forms are read too.\n\n";
  for (const std::string& torch : supported_torch_ops()) page += fmt::format("- `{}`\n", torch);
  return page;
}

}  // namespace rushlight
