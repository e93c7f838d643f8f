// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cortex_m/lower.h"
#include "ir/text.h"

namespace rushlight::cli {
namespace {

struct Options : ModelOptions {
  std::string after = "import";
  bool all_constants = false;
};

constexpr std::string_view kLower = "lower";

void show(const Options& options, const std::string& text) {
  fmt::print("{}", options.json ? json_inspected(options.after, text) : text);
}

int run(const Options& options) {
  const PrintOptions print_options{.max_constant_elements = options.all_constants ? -1 : 8};
  if (options.after == kLower) {
    Result<Compiled> compiled = compile_model(options.compile_options());
    if (!compiled) return report_error(compiled.error(), options.json);
    show(options, print(compiled->program));
    return kGood;
  }
  const auto observe = [&](std::string_view stage, const Graph& graph) {
    if (stage != options.after) return true;
    show(options, print(graph, print_options));
    return false;
  };
  Result<std::optional<Graph>> graph = compile_graph(options.compile_options(), observe);
  return graph ? static_cast<int>(kGood) : report_error(graph.error(), options.json);
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "Print the model's graph as text");
  command->footer("Example:\n  rushlight inspect digits.pt2 --after fuse-clamps");
  add_model_options(*command, *options);
  add_target_option(*command, *options, false);
  std::vector<std::string> names;
  for (std::string_view stage : stages()) names.emplace_back(stage);
  names.emplace_back(kLower);
  command->add_option("--after", options->after, "The stage after which to print (default: import)")
      ->check(CLI::IsMember(names));
  command->add_flag("--all-constants", options->all_constants, "Print every element of every constant");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace rushlight::cli
