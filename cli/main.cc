// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"

int main(int argc, char** argv) {
  using namespace rushlight;
  int exit_code = cli::kGood;
  CLI::App app{"Compiles PyTorch models to int8 C++ for Arm Cortex-M, ahead of time, and shows on emulated cores that "
               "what runs there is bit for bit what the simulator computes.",
               "rushlight"};
  app.footer("Start here:\n"
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
    return app.exit(error) == 0 ? cli::kGood : cli::kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\nThis is a bug in rushlight; please report it with the model's `rushlight inspect`.\n",
               error.what());
    return cli::kInternalError;
  }
  return exit_code;
}
