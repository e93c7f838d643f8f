// SPDX-License-Identifier: Apache-2.0
// Cross-compiles firmware for an emulated board.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cortex_m/target.h"
#include "run/board_table.h"
#include "types/result.h"

namespace rushlight {

struct Unit {
  std::string source;              // a path in FirmwareSource::files; C or C++ by its ending
  std::string object;              // "library_*.o": part of the device library, measured and checked
  std::vector<std::string> flags;  // beside those that all units have
};

struct FirmwareSource {
  std::string name;                          // for messages
  std::map<std::string, std::string> files;  // texts by relative path
  std::vector<Unit> units;
  bool library_may_use_floats = false;
};

// The embedded files below `folder` ("run/boards/"), under the same names without it.
void add_embedded_files(FirmwareSource& source, std::string_view folder, std::string_view under);

struct Firmware {
  const BoardRow* board = nullptr;
  std::filesystem::path elf;
};

// Builds in `folder` for the first of `boards` whose memory the firmware fits, or takes the result of an
// earlier build of the same sources by the same compiler (XDG_CACHE_HOME/rushlight or ~/.cache/rushlight).
// Objects of the library must need nothing but memcpy, memset and the compiler's own helpers.
Result<Firmware> build_firmware(const FirmwareSource& source, const Target& target,
                                std::span<const BoardRow* const> boards, const std::filesystem::path& folder);

// The boards to try for a target: the stricter one first.
std::vector<const BoardRow*> boards_of(const Target& target);

}  // namespace rushlight
