// SPDX-License-Identifier: Apache-2.0
// The cores: one row each.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace rushlight {

// The best kernel bodies a core can run. A core runs those of every level before its own.
enum class IsaLevel : unsigned char { scalar, dsp, mve };

struct Target {
  std::string_view name;  // of --target
  std::string_view core;
  IsaLevel isa;
  std::string_view compiler_flags;  // of arm-none-eabi-gcc
  std::string_view board;           // the emulated board's name in run/board.h
};

inline constexpr std::array<Target, 7> kTargets = {{
    {"cortex-m0", "Cortex-M0/M0+", IsaLevel::scalar, "-mcpu=cortex-m0 -mthumb -mfloat-abi=soft",
     "mps2-an385-v6m"},
    {"cortex-m3", "Cortex-M3", IsaLevel::scalar, "-mcpu=cortex-m3 -mthumb -mfloat-abi=soft", "mps2-an385"},
    {"cortex-m4", "Cortex-M4F", IsaLevel::dsp, "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
     "mps2-an386"},
    {"cortex-m7", "Cortex-M7", IsaLevel::dsp, "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard",
     "mps2-an500"},
    {"cortex-m33", "Cortex-M33", IsaLevel::dsp, "-mcpu=cortex-m33 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard",
     "mps2-an505"},
    {"cortex-m55", "Cortex-M55", IsaLevel::mve, "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547"},
    // GCC 12 has no -mcpu=cortex-m85; code for the M55 runs there unchanged.
    {"cortex-m85", "Cortex-M85", IsaLevel::mve, "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547"},
}};

constexpr const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

}  // namespace rushlight
