// SPDX-License-Identifier: Apache-2.0
// What the commands share: options, exit codes, output.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "run/board.h"

namespace rushlight::cli {

enum ExitCode : int {
  kGood = 0,
  kNo = 1,             // not equal, not supported, over budget
  kUsage = 2,          // bad input or usage
  kInternalError = 3,  // a bug in rushlight
};

// Options of all commands that compile a model.
struct ModelOptions {
  std::string model;
  std::vector<std::string> calibrate;
  std::string target;
  std::string rounding = "single";
  std::optional<int64_t> batch;
  std::string activations = "int8";
  std::string observer = "minmax";
  bool no_bias_correction = false;
  bool json = false;

  CompileOptions compile_options() const;
};

void add_model_options(CLI::App& command, ModelOptions& options);
void add_target_option(CLI::App& command, ModelOptions& options, bool required);

// Prints an error as text on stderr, or as one JSON object on stdout, and gives its exit code.
int report_error(const Error& error, bool json);

// Says on stderr what takes a while. Quiet where stderr is no terminal.
void progress(const std::string& what);

// Each command adds itself; its callback stores the exit code.
void add_compile(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_targets(CLI::App& app, int& exit_code);
void add_ops(CLI::App& app, int& exit_code);

}  // namespace rushlight::cli
