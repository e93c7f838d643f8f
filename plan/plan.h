// SPDX-License-Identifier: Apache-2.0
// Places a program's buffers in one arena. Greedy best fit by size; elementwise kernels write over an input
// that dies with the call. Persistent buffers stand at the arena's start and share with nothing.
#pragma once

#include "cortex_m/program.h"
#include "types/result.h"

namespace rushlight {

// Every buffer starts at a multiple of this, and the arena itself must.
inline constexpr int64_t kArenaAlignment = 16;

struct Plan {
  std::vector<int64_t> offsets;  // of each buffer, in bytes from the arena's start
  int64_t arena_bytes = 0;
  int64_t persistent_bytes = 0;  // at the arena's start; what reset() clears
  // Whether run() leaves each input's buffer as it was.
  std::vector<bool> input_preserved;
};

Plan plan(const Program& program);

// Independent of how a plan was made: follows every byte of the arena through the calls and fails if a call
// could read a byte that is not the one its argument's writer left there, or if alignment, bounds, offset
// constraints or a kernel's overlap rule are violated.
Status check(const Program& program, const Plan& plan);

}  // namespace rushlight
