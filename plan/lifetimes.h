// SPDX-License-Identifier: Apache-2.0
// When buffers hold something, in call indices.
#pragma once

#include <utility>
#include <vector>

#include "cortex_m/program.h"

namespace rushlight {

// From the call that writes first (-1: an input, written before the run) to the call that reads last (the
// number of calls: an output, read after the run).
struct Lifetime {
  int first = -1;
  int last = -1;
  bool overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

std::vector<Lifetime> lifetimes(const Program& program);

// Pairs (input buffer, output buffer) of elementwise calls whose output can take over the memory of an input
// that nobody reads later.
std::vector<std::pair<int, int>> takeovers(const Program& program, const std::vector<Lifetime>& lifetimes);

}  // namespace rushlight
