// SPDX-License-Identifier: Apache-2.0
#include "run/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "run/cache.h"
#include "run/elf.h"
#include "run/process.h"
#include "run/temporary_folder.h"
#include "run/tools.h"
#include "types/embedded.h"

namespace rushlight {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kCompileLimit{5};

constexpr std::string_view kCommonFlags =
    "-O2 -ffreestanding -ffunction-sections -fdata-sections -fno-unwind-tables "
    "-fno-asynchronous-unwind-tables "
    "-fno-common -Wall -Wextra";
constexpr std::string_view kCppFlags = "-std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics";
// The second keeps memcpy's loop from becoming a call of memcpy; it also moves words that are other types
// elsewhere.
constexpr std::string_view kCFlags = "-std=c11 -fno-tree-loop-distribute-patterns -fno-strict-aliasing";

void append_words(std::vector<std::string>& words, std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) words.emplace_back(word);
  }
}

std::vector<std::string> compile_arguments(const Unit& unit, const Target& target) {
  std::vector<std::string> arguments = {kCrossCompiler};
  append_words(arguments, target.compiler_flags);
  append_words(arguments, kCommonFlags);
  append_words(arguments, unit.source.ends_with(".c") ? kCFlags : kCppFlags);
  arguments.insert(arguments.end(), unit.flags.begin(), unit.flags.end());
  arguments.insert(arguments.end(), {"-c", unit.source, "-o", unit.object});
  return arguments;
}

std::vector<std::string> link_arguments(const FirmwareSource& source, const Target& target) {
  std::vector<std::string> arguments = {kCrossCompiler};
  append_words(arguments, target.compiler_flags);
  append_words(arguments, "-nostdlib -Wl,--gc-sections -Wl,--no-warn-rwx-segments -Wl,-T,board.ld");
  for (const Unit& unit : source.units) arguments.push_back(unit.object);
  append_words(arguments, "-lgcc -o firmware.elf");
  return arguments;
}

std::string linker_script(const BoardRow& board) {
  std::string text;
  for (const EmbeddedFile& file : embedded_files())
    if (file.path == "run/boards/board.ld.in") text = file.text;
  require(!text.empty(), "the linker script is embedded");
  const std::array<std::pair<std::string_view, uint32_t>, 6> values = {
      {{"@VECTORS_ORIGIN@", board.vectors_origin},
       {"@CODE_ORIGIN@", board.code_origin},
       {"@CODE_BYTES@", board.code_bytes},
       {"@RAM_ORIGIN@", board.ram_origin},
       {"@RAM_BYTES@", board.ram_bytes},
       {"@STACK_BYTES@", board.stack_bytes}}};
  for (const auto& [name, value] : values)
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, name.size(), fmt::format("{:#x}", value));
  return text;
}

Result<std::string> compiler_version(const fs::path& folder) {
  const Command command{{kCrossCompiler, "--version"}, folder, folder / "version.log"};
  const Outcome outcome = run(command, std::chrono::minutes(1));
  if (!outcome.good()) return input_error(kCrossCompiler, to_string(outcome) + ": " + log_tail(command.log));
  return read_text(command.log);
}

std::string cache_key(const FirmwareSource& source, const Target& target, const BoardRow& board,
                      const std::string& version) {
  ContentHash hash;
  hash.add(version);
  hash.add(linker_script(board));
  for (const auto& [name, text] : source.files) {
    hash.add(name);
    hash.add(text);
  }
  for (const Unit& unit : source.units)
    for (const std::string& argument : compile_arguments(unit, target)) hash.add(argument);
  for (const std::string& argument : link_arguments(source, target)) hash.add(argument);
  hash.add(source.library_may_use_floats ? "floats" : "integers");
  return hash.hex();
}

Status compile(const FirmwareSource& source, const Target& target, const fs::path& folder) {
  for (const auto& [name, text] : source.files)
    if (auto written = write_text(folder / name, text); !written) return written;
  std::vector<Command> commands;
  for (const Unit& unit : source.units)
    commands.push_back({compile_arguments(unit, target), folder, folder / (unit.object + ".log")});
  const std::vector<Outcome> outcomes = run_all(commands, kCompileLimit);
  for (size_t i = 0; i < commands.size(); ++i)
    if (!outcomes[i].good())
      return input_error(source.name, fmt::format("{} {} while compiling {} for {}:\n{}", kCrossCompiler,
                                                  to_string(outcomes[i]), source.units[i].source, target.name,
                                                  log_tail(commands[i].log)));
  return {};
}

constexpr std::array<std::string_view, 26> kAllowedSymbols = {
    "memcpy",          "memset",           "__aeabi_memcpy",  "__aeabi_memcpy4", "__aeabi_memcpy8",
    "__aeabi_memset",  "__aeabi_memset4",  "__aeabi_memset8", "__aeabi_memclr",  "__aeabi_memclr4",
    "__aeabi_memclr8", "__aeabi_idiv",     "__aeabi_uidiv",   "__aeabi_idivmod", "__aeabi_uidivmod",
    "__aeabi_ldivmod", "__aeabi_uldivmod", "__aeabi_lmul",    "__aeabi_llsl",    "__aeabi_llsr",
    "__aeabi_lasr",    "__aeabi_lcmp",     "__aeabi_ulcmp",   "__clzsi2",        "__clzdi2",
    "__ctzsi2"};
constexpr std::array<std::string_view, 11> kFloatSymbols = {
    "__aeabi_fmul", "__aeabi_fadd",   "__aeabi_fsub",   "__aeabi_fdiv",   "__aeabi_i2f",   "__aeabi_ui2f",
    "__aeabi_f2iz", "__aeabi_fcmplt", "__aeabi_fcmpgt", "__aeabi_fcmple", "__aeabi_fcmpge"};

bool allowed(std::string_view symbol, bool floats) {
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), symbol) != list.end(); };
  return in(kAllowedSymbols) || symbol.starts_with("__gnu_thumb1_case_") || (floats && in(kFloatSymbols));
}

// The charter of device code: nothing but memcpy, memset and what the compiler itself calls for integers.
Status check_symbols(const FirmwareSource& source, const fs::path& folder) {
  std::vector<std::string> defined, undefined;
  for (const Unit& unit : source.units) {
    if (!unit.object.starts_with("library_")) continue;
    auto bytes = read_text(folder / unit.object);
    if (!bytes) return forward(bytes);
    auto object = read_elf(*bytes, unit.object);
    if (!object) return forward(object);
    defined.insert(defined.end(), object->defined.begin(), object->defined.end());
    undefined.insert(undefined.end(), object->undefined.begin(), object->undefined.end());
  }
  std::string offending;
  for (const std::string& symbol : undefined)
    if (!allowed(symbol, source.library_may_use_floats) &&
        std::find(defined.begin(), defined.end(), symbol) == defined.end())
      offending += " " + symbol;
  if (offending.empty()) return {};
  return input_error(source.name, "the device library calls what a device need not have:" + offending);
}

// What the linker said about memory, or nothing if it failed for another reason.
bool does_not_fit(const std::string& log) {
  return log.find("will not fit in region") != std::string::npos ||
         log.find("overflowed by") != std::string::npos;
}

}  // namespace

void add_embedded_files(FirmwareSource& source, std::string_view folder, std::string_view under) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.starts_with(folder))
      source.files[std::string(under) + file.path.substr(folder.size())] = file.text;
}

std::vector<const BoardRow*> boards_of(const Target& target) {
  const BoardRow* board = find_board(target.board);
  require(board != nullptr, "a target's board is in the table");
  if (const BoardRow* stricter = find_board(board->stricter)) return {stricter, board};
  return {board};
}

Result<Firmware> build_firmware(const FirmwareSource& source, const Target& target,
                                std::span<const BoardRow* const> boards, const fs::path& folder) {
  const auto version = compiler_version(folder);
  if (!version) return tl::unexpected(version.error());
  const fs::path elf = folder / "firmware.elf";
  for (const BoardRow* board : boards)
    if (fetch_cached(cache_key(source, target, *board, *version), elf)) return Firmware{board, elf};

  if (auto compiled = compile(source, target, folder); !compiled) return forward(compiled);
  if (auto checked = check_symbols(source, folder); !checked) return forward(checked);
  std::string log;
  for (const BoardRow* board : boards) {
    if (auto written = write_text(folder / "board.ld", linker_script(*board)); !written)
      return forward(written);
    const Command link{link_arguments(source, target), folder, folder / "link.log"};
    const Outcome outcome = run(link, kCompileLimit);
    if (outcome.good()) {
      store_cached(cache_key(source, target, *board, *version), elf);
      return Firmware{board, elf};
    }
    log = log_tail(link.log);
    if (!does_not_fit(log))
      return input_error(source.name, fmt::format("{} {} while linking for {}:\n{}", kCrossCompiler,
                                                  to_string(outcome), target.name, log));
  }
  return unsupported(source.name, fmt::format("does not fit the memory of the emulated board {}:\n{}",
                                              boards.back()->name, log));
}

}  // namespace rushlight
