// SPDX-License-Identifier: Apache-2.0
// Which input positions each output of a pool or an interpolation reads along one axis. The float evaluator
// and lowering read the same tables.
#pragma once

#include <array>
#include <vector>

#include "ops/attributes.h"
#include "ops/table.h"
#include "types/shape.h"

namespace rushlight {

// Input positions first, first + dilation, ...: `taps` of them, all inside the input.
struct Window {
  int64_t first;
  int64_t taps;
  int64_t divisor;  // taps that count in a mean, with the padding where it is counted
};

struct PoolWindows {
  std::vector<Window> rows, columns;
  int64_t row_dilation = 1, column_dilation = 1;
};

// For the pools of the op table, over the last two axes.
PoolWindows pool_windows(Op op, const Attributes& attributes, const Shape& input, const Shape& output);

// One output between two inputs: (denominator - weight) of `first` and weight of `second`, over denominator.
struct Blend {
  int64_t first, second;
  int64_t weight;
};
struct Blends {
  std::vector<Blend> entries;
  int64_t denominator;
};
// Linear interpolation along one axis. Exact where the positions are fractions with a denominator of at most
// 1024, else to 2^-11 of an input step.
Blends linear_blends(int64_t input, int64_t output, double scale, bool align_corners);

}  // namespace rushlight
