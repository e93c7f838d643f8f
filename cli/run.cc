// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/runs.h"
#include "eval/evaluator.h"
#include "import/npz/npz.h"
#include "report/report.h"

namespace rushlight::cli {
namespace {

struct Options : ModelOptions {
  std::vector<std::string> input;
  std::string output;
  std::string labels;
  size_t samples = 0;
};

// Raw outputs and, as <name>_float, dequantized ones, samples stacked along the leading axis.
std::map<std::string, Tensor> stacked(const Program& program,
                                      const std::vector<std::vector<Tensor>>& outputs) {
  std::map<std::string, Tensor> arrays;
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    const Port& port = program.outputs[o];
    Shape shape = port.type.shape;
    shape.insert(shape.begin(), static_cast<int64_t>(outputs.size()));
    Tensor all(port.type.dtype, shape);
    auto at = all.bytes().begin();
    for (const auto& sample : outputs) at = std::copy(sample[o].bytes().begin(), sample[o].bytes().end(), at);
    if (port.type.quantized()) arrays.emplace(port.name + "_float", dequantized(all, port.type.quant));
    arrays.emplace(port.name, std::move(all));
  }
  return arrays;
}

Result<double> accuracy(const std::string& specification, const std::vector<int64_t>& predictions) {
  const size_t colon = specification.rfind(".npz:");
  if (colon == std::string::npos)
    return input_error("--labels " + specification, "is not of the form file.npz:array");
  auto arrays = read_npz(specification.substr(0, colon + 4));
  if (!arrays) return forward(arrays);
  const auto found = arrays->find(specification.substr(colon + 5));
  if (found == arrays->end()) return input_error("--labels " + specification, "names no array of the file");
  const Tensor& labels = found->second;
  if (labels.elements() < static_cast<int64_t>(predictions.size()))
    return input_error("--labels " + specification,
                       fmt::format("has {} labels for {} samples", labels.elements(), predictions.size()));
  int64_t right = 0;
  for (size_t i = 0; i < predictions.size(); ++i)
    right += predictions[i] == static_cast<int64_t>(labels.at(static_cast<int64_t>(i))) ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(predictions.size());
}

std::vector<int64_t> argmax(const std::vector<std::vector<Tensor>>& outputs) {
  std::vector<int64_t> found;
  for (const auto& sample : outputs) {
    int64_t best = 0;
    for (int64_t i = 1; i < sample[0].elements(); ++i)
      if (sample[0].at(i) > sample[0].at(best)) best = i;
    found.push_back(best);
  }
  return found;
}

void print_summary(const Compiled& compiled, const RunSummary& summary) {
  const size_t shown = std::min<size_t>(summary.predictions.size(), 20);
  fmt::print("{} on {}: {} samples\n", compiled.program.name, summary.where, summary.samples);
  fmt::print("  largest output of the first {}: {}\n", shown,
             fmt::join(summary.predictions.begin(),
                       summary.predictions.begin() + static_cast<std::ptrdiff_t>(shown), " "));
  if (summary.accuracy) fmt::print("  accuracy {:.2f} %\n", 100 * *summary.accuracy);
  if (!summary.device) return;
  const DeviceRun& device = *summary.device;
  fmt::print(
      "  RAM {} bytes (arena) + {} bytes of stack, flash {} bytes (code {}), {} instructions an inference\n",
      device.ram_bytes, device.stack_bytes, device.flash_bytes, device.code_bytes, device.instructions);
  fmt::print("{}", call_table(compiled.program, &device));
}

int run(const Options& options) {
  Result<Compiled> compiled = compile_model(options.compile_options());
  if (!compiled) return report_error(compiled.error(), options.json);
  auto samples = program_samples(*compiled, options.input, options.samples);
  if (!samples) return report_error(samples.error(), options.json);
  RunSummary summary;
  summary.where = options.target.empty() ? "simulator" : options.target;
  summary.samples = samples->size();
  std::vector<std::vector<Tensor>> outputs;
  DeviceRun device;
  if (options.target.empty()) {
    auto simulated = simulate(*compiled, *samples);
    if (!simulated) return report_error(simulated.error(), options.json);
    outputs = std::move(*simulated);
  } else {
    progress("cross-compiling and running on " + options.target);
    auto ran = run_on_board(compiled->program, compiled->plan, firmware_files(*compiled), *samples);
    if (!ran) return report_error(ran.error(), options.json);
    device = std::move(*ran);
    outputs = device.outputs;
    summary.device = &device;
  }
  summary.predictions = argmax(outputs);
  if (!options.labels.empty()) {
    Result<double> measured = accuracy(options.labels, summary.predictions);
    if (!measured) return report_error(measured.error(), options.json);
    summary.accuracy = *measured;
  }
  if (!options.output.empty())
    if (Status written = write_npz(options.output, stacked(compiled->program, outputs)); !written)
      return report_error(written.error(), options.json);
  if (options.json) {
    fmt::print("{}", json_run(*compiled, summary));
  } else {
    print_summary(*compiled, summary);
  }
  return kGood;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("run", "Run samples in the simulator, or on the emulated core with --target");
  command->footer(
      "Example:\n  rushlight run digits.pt2 --calibrate digits_calib.npz:x --input digits_test.npz:x "
      "--labels digits_test.npz:y --target cortex-m55");
  add_model_options(*command, *options);
  add_target_option(*command, *options, false);
  command
      ->add_option("--input", options->input,
                   "Samples: file.npz:array, file.npz or file.npy, or name=S for each input")
      ->required();
  command->add_option("--output", options->output,
                      "Write the outputs, raw and as <name>_float, to this .npz");
  command->add_option("--labels", options->labels, "Right classes, file.npz:array: prints the accuracy");
  command->add_option("--samples", options->samples, "Use only the first N samples");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace rushlight::cli
