// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/json.h"

namespace rushlight::cli {
namespace {

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) names.emplace_back(target.name);
  return names;
}

}  // namespace

CompileOptions ModelOptions::compile_options() const {
  CompileOptions options;
  options.model = model;
  options.calibrate = calibrate;
  options.target = target.empty() ? nullptr : find_target(target);
  options.rounding = rounding == "double" ? Rounding::double_rounding : Rounding::single;
  options.batch = batch;
  options.quantize.observer = observer == "percentile" ? Observer::percentile
                              : observer == "mse"      ? Observer::mse
                                                       : Observer::minmax;
  options.quantize.activations = activations == "int16" ? DType::int16 : DType::int8;
  options.quantize.bias_correction = !no_bias_correction;
  return options;
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("MODEL", options.model, "A model that torch.export.save wrote (.pt2)")->required();
  command.add_option(
      "--calibrate", options.calibrate,
      "Samples to choose integer ranges from, for float models: file.npz:array, file.npz or file.npy; the "
      "leading axis counts samples. Several inputs: --calibrate name=S for each");
  command
      .add_option(
          "--rounding", options.rounding,
          "single: one rounding a requantization (default). double: as TFLite Micro and CMSIS-NN round")
      ->check(CLI::IsMember({"single", "double"}));
  command
      .add_option(
          "--activations", options.activations,
          "Integers that calibration gives to activations. int8 (default). int16: far closer to the float "
          "model, twice the arena, slower; weights stay int8")
      ->check(CLI::IsMember({"int8", "int16"}));
  command
      .add_option(
          "--observer", options.observer,
          "What of the calibration values the integers cover. minmax: all (default). percentile: all but the "
          "outermost 0.005 %. mse: the part with the least squared error")
      ->check(CLI::IsMember({"minmax", "percentile", "mse"}));
  command.add_flag("--no-bias-correction", options.no_bias_correction,
                   "Leave biases as they are instead of moving each channel's mean to the float model's");
  command.add_option("--batch", options.batch, "Extent of a dynamic batch axis")->check(CLI::PositiveNumber);
  command.add_flag("--json", options.json, "Print one JSON object instead of text");
}

void add_target_option(CLI::App& command, ModelOptions& options, bool required) {
  command.add_option("--target", options.target, "The core; see `rushlight targets`")
      ->check(CLI::IsMember(target_names()))
      ->required(required);
}

int report_error(const Error& error, bool json) {
  if (json) {
    fmt::print("{}", json_error(error));
  } else {
    for (const Diagnostic& d : error.diagnostics) fmt::print(stderr, "error: {}: {}\n", d.where, d.what);
    if (error.diagnostics.size() > 1) fmt::print(stderr, "{} problems\n", error.diagnostics.size());
  }
  return error.fault == Fault::no ? kNo : kUsage;
}

void progress(const std::string& what) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "{} ...\n", what);
}

}  // namespace rushlight::cli
