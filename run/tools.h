// SPDX-License-Identifier: Apache-2.0
// The programs and files that running on emulated boards takes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rushlight {

inline constexpr const char* kCrossCompiler = "arm-none-eabi-gcc";
inline constexpr const char* kEmulator = "qemu-system-arm";

// RUSHLIGHT_PLUGIN, or rushlight_icount.so beside this program or library, in the folder above, or in
// ../lib/rushlight; empty if it is nowhere.
std::filesystem::path find_plugin();

// The part of missing_tools() (run/board.h) that costs no time: programs and plugin, not the compiler's
// headers.
std::optional<std::string> missing_programs();

}  // namespace rushlight
