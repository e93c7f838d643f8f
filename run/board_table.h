// SPDX-License-Identifier: Apache-2.0
// The emulated boards: one row each. Addresses are those of QEMU's models; run/boards/board.ld.in is filled
// from here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rushlight {

struct BoardRow {
  std::string_view name;     // of Target::board
  std::string_view machine;  // of QEMU
  uint32_t vectors_origin;   // 1 KB
  uint32_t code_origin, code_bytes;
  uint32_t ram_origin, ram_bytes;
  uint32_t stack_bytes;
  // A board that is tried first because it models the core more strictly, but has less memory; or none.
  std::string_view stricter;
};

inline constexpr uint32_t kKB = 1024, kMB = 1024 * kKB;

inline constexpr std::array<BoardRow, 7> kBoards = {{
    // A Cortex-M0 that faults on unaligned access as the chip does.
    {"microbit", "microbit", 0, 0x400, 255 * kKB, 0x20000000, 16 * kKB, 2 * kKB, ""},
    // ARMv6-M code on a Cortex-M3: no such faults, but room.
    {"mps2-an385-v6m", "mps2-an385", 0, 0x400, 4 * kMB - kKB, 0x20000000, 4 * kMB, 32 * kKB, "microbit"},
    {"mps2-an385", "mps2-an385", 0, 0x400, 4 * kMB - kKB, 0x20000000, 4 * kMB, 32 * kKB, ""},
    {"mps2-an386", "mps2-an386", 0, 0x400, 4 * kMB - kKB, 0x20000000, 4 * kMB, 32 * kKB, ""},
    {"mps2-an500", "mps2-an500", 0, 0x400, 4 * kMB - kKB, 0x20000000, 4 * kMB, 32 * kKB, ""},
    // Secure aliases: the core starts in secure state.
    {"mps2-an505", "mps2-an505", 0x10000000, 0x10000400, 4 * kMB - kKB, 0x38000000, 4 * kMB, 32 * kKB, ""},
    // The vector table lies in ITCM.
    {"mps3-an547", "mps3-an547", 0, 0x01000000, 2 * kMB, 0x21000000, 4 * kMB, 32 * kKB, ""},
}};

constexpr const BoardRow* find_board(std::string_view name) {
  for (const BoardRow& board : kBoards)
    if (board.name == name) return &board;
  return nullptr;
}

}  // namespace rushlight
