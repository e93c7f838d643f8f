// SPDX-License-Identifier: Apache-2.0
#include "run/emulator.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "run/elf.h"
#include "run/process.h"
#include "run/temporary_folder.h"
#include "run/tools.h"

namespace rushlight {
namespace {

namespace fs = std::filesystem;

// The records of run/boards/marks.h as the plugin's lines. Marks of code that the linker dropped are at
// address 0.
std::string marks_text(std::string_view records) {
  std::string text;
  for (size_t at = 0; at + 12 <= records.size(); at += 12) {
    uint32_t record[3];
    std::memcpy(record, records.data() + at, sizeof record);
    if (record[0] != 0)
      text += fmt::format("{:x} {} {}\n", record[0], static_cast<char>(record[1]), record[2]);
  }
  return text;
}

// A comma in an option's value is written twice.
std::string option_value(const std::string& value) {
  std::string text;
  for (const char c : value) text += c == ',' ? ",," : std::string(1, c);
  return text;
}

std::vector<std::string> arguments(const BoardRow& board, const fs::path& elf) {
  return {kEmulator,
          "-machine",
          std::string(board.machine),
          "-display",
          "none",
          "-monitor",
          "none",
          "-serial",
          "none",
          "-parallel",
          "none",
          "-nodefaults",
          "-chardev",
          "file,id=semihosting,path=semihosting.log",
          "-semihosting-config",
          "enable=on,target=native,chardev=semihosting",
          "-plugin",
          option_value(find_plugin().string()) + ",marks=marks.txt,out=counts.txt",
          "-kernel",
          elf.string()};
}

Result<std::vector<RegionCount>> read_counts(const fs::path& file) {
  std::ifstream in(file);
  if (!in) return input_error(file.string(), "the instruction counter left no counts");
  std::vector<RegionCount> counts;
  for (RegionCount count; in >> count.region >> count.instructions;) counts.push_back(count);
  return counts;
}

std::string joined_logs(const fs::path& folder) {
  std::string text = log_tail(folder / "semihosting.log");
  const std::string emulator = log_tail(folder / "emulator.log");
  return text + "\n" + emulator;
}

}  // namespace

Result<std::vector<RegionCount>> run_emulator(const BoardRow& board, const fs::path& elf,
                                              const fs::path& folder, std::chrono::milliseconds limit) {
  auto bytes = read_text(elf);
  if (!bytes) return forward(bytes);
  auto file = read_elf(*bytes, elf.string());
  if (!file) return forward(file);
  const ElfSection* marks = file->find(".rushlight_marks");
  if (auto written =
          write_text(folder / "marks.txt", marks_text(marks ? marks->contents : std::string_view()));
      !written)
    return forward(written);

  const Command command{arguments(board, elf), folder, folder / "emulator.log"};
  const Outcome outcome = run(command, limit);
  const std::string where = fmt::format("{} -machine {}", kEmulator, board.machine);
  if (outcome.how == Outcome::How::timed_out)
    return unsupported(where, fmt::format("the firmware did not end within {:.1f} s:\n{}",
                                          std::chrono::duration<double>(limit).count(), joined_logs(folder)));
  if (!outcome.good())
    return unsupported(where, fmt::format("{}:\n{}", to_string(outcome), joined_logs(folder)));
  return read_counts(folder / "counts.txt");
}

}  // namespace rushlight
