// SPDX-License-Identifier: Apache-2.0
// Boots firmware in QEMU.
#pragma once

#include <chrono>
#include <filesystem>
#include <vector>

#include "run/board_table.h"
#include "types/result.h"

namespace rushlight {

// A marked region that was passed, in the order of the regions' ends.
struct RegionCount {
  uint32_t region = 0;
  uint64_t instructions = 0;
};

// Runs until the firmware ends itself. Its files are in `folder`, where it also leaves what it writes.
Result<std::vector<RegionCount>> run_emulator(const BoardRow& board, const std::filesystem::path& elf,
                                              const std::filesystem::path& folder,
                                              std::chrono::milliseconds limit);

}  // namespace rushlight
