// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cli/json.h"
#include "report/report.h"

namespace rushlight::cli {
namespace {

struct Options : ModelOptions {
  std::string output;
};

std::string describe(const Port& port) {
  return port.type.quantized()
             ? fmt::format("{} {} scale {} zero point {}", port.name, to_string(port.type.shape),
                           port.type.quant.scale(), port.type.quant.zero_point())
             : fmt::format("{} {} f32", port.name, to_string(port.type.shape));
}

void print_summary(const Compiled& compiled, const std::string& folder, double seconds) {
  const Program& program = compiled.program;
  fmt::print("{} for {}, {} rounding, {} calibration samples, {:.3f} s\n", program.name,
             program.target ? program.target->name : "any core", name(program.rounding),
             compiled.calibration_samples, seconds);
  for (const Port& input : program.inputs) fmt::print("  input  {}\n", describe(input));
  for (const Port& output : program.outputs) fmt::print("  output {}\n", describe(output));
  fmt::print("  arena {} bytes of RAM, constants {} bytes of flash, {} multiply-accumulates\n",
             compiled.plan.arena_bytes, constant_bytes(program), total_macs(program));
  fmt::print("{}", call_table(program));
  for (const Note& note : program.notes)
    fmt::print("note: node '{}'{}: {}\n", note.node, note.source.empty() ? "" : " at " + note.source,
               note.text);
  fmt::print("library in {}\n", folder);
}

int run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  Result<Compiled> compiled = compile_model(options.compile_options());
  if (!compiled) return report_error(compiled.error(), options.json);
  const std::string folder = options.output.empty() ? compiled->program.name + "_rushlight" : options.output;
  if (Status written = write_folder(firmware_files(*compiled), folder); !written)
    return report_error(written.error(), options.json);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (options.json) {
    fmt::print("{}", json_compiled(*compiled, folder, seconds.count()));
  } else {
    print_summary(*compiled, folder, seconds.count());
  }
  return kGood;
}

}  // namespace

void add_compile(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("compile", "Write the device library of a model");
  command->footer(
      "Example:\n  rushlight compile digits.pt2 --calibrate digits_calib.npz:x --target cortex-m4 -o out/");
  add_model_options(*command, *options);
  add_target_option(*command, *options, false);
  command->add_option("-o,--output", options->output, "Folder to write (default: <model>_rushlight)");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace rushlight::cli
