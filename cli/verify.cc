// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/runs.h"
#include "report/report.h"

namespace rushlight::cli {
namespace {

struct Options : ModelOptions {
  std::vector<std::string> input;
  size_t samples = 0;
};

constexpr size_t kRandomSamples = 16;

// Counts differing elements and describes the first.
std::string compare(const Program& program, const std::vector<std::vector<Tensor>>& simulated,
                    VerifySummary& summary) {
  std::string first;
  for (size_t s = 0; s < simulated.size(); ++s)
    for (size_t o = 0; o < program.outputs.size(); ++o)
      for (int64_t i = 0; i < simulated[s][o].elements(); ++i) {
        ++summary.integers;
        const double want = simulated[s][o].at(i);
        const double got = summary.device->outputs[s][o].at(i);
        if (want == got) continue;
        if (summary.different++ == 0)
          first = fmt::format("sample {}, output '{}', element {}: simulator {}, device {}", s,
                              program.outputs[o].name, i, want, got);
      }
  return first;
}

int run(const Options& options) {
  Result<Compiled> compiled = compile_model(options.compile_options());
  if (!compiled) return report_error(compiled.error(), options.json);
  std::vector<std::vector<Tensor>> samples;
  if (options.input.empty()) {
    samples = random_samples(*compiled, options.samples == 0 ? kRandomSamples : options.samples);
  } else {
    auto read = program_samples(*compiled, options.input, options.samples);
    if (!read) return report_error(read.error(), options.json);
    samples = std::move(*read);
  }
  auto simulated = simulate(*compiled, samples);
  if (!simulated) return report_error(simulated.error(), options.json);
  progress("cross-compiling and running on " + options.target);
  auto device = run_on_board(compiled->program, compiled->plan, firmware_files(*compiled), samples);
  if (!device) return report_error(device.error(), options.json);
  VerifySummary summary{options.target, samples.size(), 0, 0, &*device};
  const std::string first = compare(compiled->program, *simulated, summary);
  const bool good = summary.different == 0 && device->selftest_passed;
  if (options.json) {
    fmt::print("{}", json_verify(*compiled, summary));
  } else {
    fmt::print("{} on {}: {} samples, {} integers, {} differ from the simulator; self-test {}\n",
               compiled->program.name, options.target, summary.samples, summary.integers, summary.different,
               device->selftest_passed ? "passed" : "FAILED");
    if (!first.empty()) fmt::print("  first difference: {}\n", first);
    fmt::print(
        "  RAM {} bytes (arena) + {} bytes of stack, flash {} bytes (code {}), {} instructions an "
        "inference\n",
        device->ram_bytes, device->stack_bytes, device->flash_bytes, device->code_bytes,
        device->instructions);
  }
  return good ? kGood : kNo;
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Compare simulator and emulated core, bit for bit");
  command->footer(
      "Example:\n  rushlight verify digits.pt2 --calibrate digits_calib.npz:x --input digits_test.npz:x "
      "--samples 50 "
      "--target cortex-m4");
  add_model_options(*command, *options);
  add_target_option(*command, *options, true);
  command->add_option("--input", options->input, "Samples (default: random integers)");
  command->add_option("--samples", options->samples, "Use only the first N samples");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace rushlight::cli
