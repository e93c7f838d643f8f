// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "ir/graph.h"
#include "quant/parameters.h"
#include "quant/quantize.h"

namespace rushlight {

// What the float graph does on the samples.
struct Calibration {
  // The least and greatest real of every value, by ValueId (0 included).
  std::vector<Range> ranges;
  // Of each layer with constant weights, by its result: the mean of every output channel before the clamp.
  std::map<ValueId, std::vector<double>> channel_means;
};

Result<Calibration> calibrate(const Graph& graph, const std::vector<Sample>& samples,
                              Observer observer = Observer::minmax);

// Has weights, so that a bias can be corrected.
bool is_layer(const Node& node);

// Adds up every channel of a layer's output.
class ChannelSums {
 public:
  void add(const Node& node, const Tensor& output);
  std::vector<double> means() const;

 private:
  std::vector<double> sums_;
  int64_t count_ = 0;  // elements a channel
};

}  // namespace rushlight
