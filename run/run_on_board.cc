// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "run/board.h"
#include "run/build.h"
#include "run/elf.h"
#include "run/emulator.h"
#include "run/temporary_folder.h"
#include "run/tools.h"

namespace rushlight {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMagic = 0x444e4c52;

// As run/boards/model_runner.cpp writes it, behind the outputs.
struct Summary {
  uint32_t magic, stack_bytes, selftest_passed, canaries_intact;
};

FirmwareSource firmware_source(const Program& program, const FileSet& library) {
  FirmwareSource source;
  source.name = program.name;
  for (const auto& [name, text] : library) source.files["library/" + name] = text;
  add_embedded_files(source, "run/boards/", "board/");

  const std::string stem = "library/" + program.name;
  const std::vector<std::string> include = {"-Ilibrary"};
  const std::vector<std::string> marked = {"-Ilibrary", "-include", "board/marks.h",
                                           "-DRUSHLIGHT_MARK_CALLS"};
  source.units = {{stem + ".cpp", "library_model.o", marked},
                  {stem + "_weights.cpp", "library_weights.o", include},
                  {stem + "_c.cpp", "c_calls.o", include},
                  {stem + "_selftest.cpp", "selftest.o", include},
                  {"board/startup.c", "startup.o", {}},
                  {"board/model_runner.cpp",
                   "runner.o",
                   {"-Ilibrary", "-include", stem + ".h", "-include", stem + "_c.h",
                    "-DRUSHLIGHT_MODEL=" + program.name}}};
  for (const KernelCall& call : program.calls)
    for (int i = 0; i < call.row().argument_count; ++i)
      if (call.row().arguments[i].element == kernels::Element::f32) source.library_may_use_floats = true;
  return source;
}

Status check_samples(const Program& program, std::span<const std::vector<Tensor>> samples) {
  if (samples.empty()) return input_error(program.name, "at least one sample is needed to run");
  for (size_t s = 0; s < samples.size(); ++s) {
    if (samples[s].size() != program.inputs.size())
      return input_error(program.name, fmt::format("sample {} has {} tensors, the program {} inputs", s,
                                                   samples[s].size(), program.inputs.size()));
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const TensorType& type = program.inputs[i].type;
      const Tensor& tensor = samples[s][i];
      if (tensor.dtype() != type.dtype || tensor.shape() != type.shape)
        return input_error(program.inputs[i].name,
                           fmt::format("sample {} is {}{}, allowed is {}{}", s, name(tensor.dtype()),
                                       to_string(tensor.shape()), name(type.dtype), to_string(type.shape)));
    }
  }
  return {};
}

void append_word(std::string& bytes, uint64_t value) {
  const auto word = static_cast<uint32_t>(value);
  bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
}

void append_port(std::string& bytes, const Port& port, const Plan& plan) {
  append_word(bytes, static_cast<uint64_t>(plan.offsets.at(static_cast<size_t>(port.buffer))));
  append_word(bytes, static_cast<uint64_t>(port.type.bytes()));
}

std::string samples_file(const Program& program, const Plan& plan,
                         std::span<const std::vector<Tensor>> samples) {
  std::string bytes;
  append_word(bytes, samples.size());
  append_word(bytes, program.inputs.size());
  append_word(bytes, program.outputs.size());
  for (const Port& port : program.inputs) append_port(bytes, port, plan);
  for (const Port& port : program.outputs) append_port(bytes, port, plan);
  for (const std::vector<Tensor>& sample : samples)
    for (const Tensor& tensor : sample)
      bytes.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  return bytes;
}

Status read_results(const Program& program, std::string_view bytes, size_t samples, DeviceRun& result) {
  const auto take = [&](void* to, size_t count) {
    if (count > bytes.size()) return false;
    std::memcpy(to, bytes.data(), count);
    bytes.remove_prefix(count);
    return true;
  };
  bool complete = true;
  for (size_t s = 0; s < samples; ++s) {
    std::vector<Tensor>& outputs = result.outputs.emplace_back();
    for (const Port& port : program.outputs) {
      Tensor& tensor = outputs.emplace_back(port.type.dtype, port.type.shape);
      complete = complete && take(tensor.bytes().data(), tensor.bytes().size());
    }
  }
  Summary summary{};
  if (!complete || !take(&summary, sizeof summary) || summary.magic != kMagic)
    return unsupported(program.name, "the firmware ended without complete results");
  if (!summary.canaries_intact)
    return unsupported(program.name, "the library wrote outside its arena on the emulated core");
  result.stack_bytes = summary.stack_bytes;
  result.selftest_passed = summary.selftest_passed != 0;
  return {};
}

// Region 0 is the first sample's run(), region i + 1 is call i, once a run.
Status read_counts(const Program& program, const std::vector<RegionCount>& counts, DeviceRun& result) {
  std::vector<bool> seen(program.calls.size() + 1);
  result.instructions_per_call.resize(program.calls.size());
  for (const auto& [region, instructions] : counts) {
    if (region >= seen.size() || seen[region]) continue;
    seen[region] = true;
    (region == 0 ? result.instructions : result.instructions_per_call[region - 1]) = instructions;
  }
  for (size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) return unsupported(program.name, "the instruction counter saw no end of a kernel call");
  return {};
}

Status read_sizes(const fs::path& elf, const Plan& plan, DeviceRun& result) {
  auto bytes = read_text(elf);
  if (!bytes) return forward(bytes);
  auto file = read_elf(*bytes, elf.string());
  if (!file) return forward(file);
  result.code_bytes = file->size_of(".library_code");
  result.flash_bytes = result.code_bytes + file->size_of(".library_constants");
  result.ram_bytes = plan.arena_bytes + file->size_of(".library_data");
  return {};
}

}  // namespace

Result<DeviceRun> run_on_board(const Program& program, const Plan& plan, const FileSet& firmware,
                               std::span<const std::vector<Tensor>> samples, RunOptions options) {
  require(program.target != nullptr, "a program that runs on a board has a target");
  if (auto checked = check_samples(program, samples); !checked) return forward(checked);
  if (auto missing = missing_programs()) return input_error("this machine", *missing);
  auto folder = TemporaryFolder::create();
  if (!folder) return forward(folder);
  if (options.keep_temporary_files) folder->keep();

  const auto built = build_firmware(firmware_source(program, firmware), *program.target,
                                    boards_of(*program.target), folder->path());
  if (!built) return tl::unexpected(built.error());
  if (auto written = write_text(folder->path() / "samples.bin", samples_file(program, plan, samples));
      !written)
    return forward(written);
  const auto counts = run_emulator(*built->board, built->elf, folder->path(), options.limit);
  if (!counts) return tl::unexpected(counts.error());

  DeviceRun result;
  auto bytes = read_text(folder->path() / "results.bin");
  if (!bytes) return forward(bytes);
  if (auto read = read_results(program, *bytes, samples.size(), result); !read) return forward(read);
  if (auto read = read_counts(program, *counts, result); !read) return forward(read);
  if (auto read = read_sizes(built->elf, plan, result); !read) return forward(read);
  return result;
}

}  // namespace rushlight
