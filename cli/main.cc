// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "cli/command.h"
#include "cli/json.h"

namespace rushlight {
namespace {

bool wants_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](const char* argument) { return argument == std::string_view("--json"); });
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  std::string what = error.what();
  // The parser sees a word that is no command only as a command that is missing.
  if (app.get_subcommands().empty())
    what = argc > 1 && argv[1][0] != '-' ? fmt::format("'{}' is not a command", argv[1])
                                         : "a command is required";
  if (wants_json(argc, argv)) {
    fmt::print("{}", cli::json_error({Fault::input, {{"command line", what}}}));
  } else {
    fmt::print(stderr, "error: {}\nRun with --help for more information.\n", what);
  }
  return cli::kUsage;
}

}  // namespace
}  // namespace rushlight

int main(int argc, char** argv) {
  using namespace rushlight;
  int exit_code = cli::kGood;
  CLI::App app{
      "Compiles PyTorch models to int8 C++ for Arm Cortex-M, ahead of time, and shows on emulated cores that "
      "what runs there is bit for bit what the simulator computes.",
      "rushlight"};
  app.footer(
      "Start here:\n"
      "  rushlight check   model.pt2                                  can it be compiled?\n"
      "  rushlight compile model.pt2 --calibrate samples.npz:x -o out the device library\n"
      "  rushlight verify  model.pt2 --calibrate samples.npz:x --target cortex-m4\n"
      "Exit codes: 0 good, 1 the answer is no, 2 bad input or usage, 3 a bug in rushlight.");
  app.set_version_flag("--version", "rushlight " RUSHLIGHT_VERSION);
  app.require_subcommand(1);
  for (const auto add : {cli::add_compile, cli::add_run, cli::add_verify, cli::add_check, cli::add_inspect,
                         cli::add_targets, cli::add_ops})
    add(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  } catch (const std::exception& error) {
    if (wants_json(argc, argv)) {
      fmt::print("{}", cli::json_internal_error(error.what()));
    } else {
      fmt::print(stderr,
                 "{}\nThis is a bug in rushlight; please report it with the model's `rushlight inspect`.\n",
                 error.what());
    }
    return cli::kInternalError;
  }
  return exit_code;
}
