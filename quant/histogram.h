// SPDX-License-Identifier: Apache-2.0
// Ranges that leave out rare values: a second pass over the samples counts how often each part of the range
// occurs.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "quant/parameters.h"
#include "quant/quantize.h"

namespace rushlight {

// Counts of equal parts of a range that holds 0.
class Histogram {
 public:
  explicit Histogram(Range range) : range_(range), counts_(kBins, 0) {}

  void add(double x);
  // Without the outermost `fraction` of the values at either end.
  Range percentile(double fraction) const;
  // The part of the range for which rounding to 255 steps and clipping lose least, in squared error.
  Range least_squares() const;

 private:
  static constexpr size_t kBins = 2048;

  double width() const { return (range_.hi - range_.lo) / kBins; }
  double center(size_t bin) const { return range_.lo + (static_cast<double>(bin) + 0.5) * width(); }

  Range range_;
  std::vector<int64_t> counts_;
};

// Replaces the ranges of values by what `observer` keeps of them.
Status narrow_ranges(const Graph& graph, const std::vector<Sample>& samples, Observer observer,
                     std::vector<Range>& ranges);

}  // namespace rushlight
