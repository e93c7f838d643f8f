// SPDX-License-Identifier: Apache-2.0
// `targets` and `ops`: the tables, printed.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "driver/operators.h"
#include "ops/table.h"

namespace rushlight::cli {
namespace {

void print_targets() {
  for (const Target& target : kTargets)
    fmt::print("{:<12} {:<15} emulated on {:<16} {}\n", target.name, target.core, target.board,
               target.compiler_flags);
}

void print_ops() {
  for (const OpRow& op : kOps) {
    fmt::print("{:<26} {}\n", op.name, op.summary);
    for (std::string_view torch : op.torch)
      if (!torch.empty()) fmt::print("{:<26}   torch.ops.{}\n", "", torch);
  }
}

CLI::App* add(CLI::App& app, const char* name, const char* what, void (*text)(), std::string (*json)(),
              int& exit_code) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(name, what);
  command->add_flag("--json", *as_json, "Print one JSON object instead of text");
  command->callback([=, &exit_code] {
    if (*as_json) {
      fmt::print("{}", json());
    } else {
      text();
    }
    exit_code = kGood;
  });
  return command;
}

}  // namespace

void add_targets(CLI::App& app, int& exit_code) {
  add(app, "targets", "List the cores", print_targets, json_targets, exit_code);
}

void add_ops(CLI::App& app, int& exit_code) {
  CLI::App* command =
      add(app, "ops", "List the operators that can be compiled", print_ops, json_ops, exit_code);
  command->add_flag_callback(
      "--markdown",
      [&exit_code] {
        fmt::print("{}", operators_page());
        exit_code = kGood;
        throw CLI::Success();
      },
      "Print the page docs/operators.md");
}

}  // namespace rushlight::cli
