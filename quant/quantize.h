// SPDX-License-Identifier: Apache-2.0
// Gives every value of a graph a quantization. Works from the op table's quantization rules alone: an op
// needs no code here. Values that are quantized already keep their parameters exactly.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "types/tensor.h"

namespace rushlight {

// One tensor for each graph input.
using Sample = std::vector<Tensor>;

// What of the values seen on the samples the integers cover.
enum class Observer : uint8_t {
  minmax,      // all of them
  percentile,  // all but the outermost 0.005 % on either side
  mse,         // the part that gives the least squared error
};

struct QuantizeOptions {
  Observer observer = Observer::minmax;
  // One quantized pass over the samples; costs about as much as calibration itself.
  bool bias_correction = true;
  // int8, or int16 for activations of two bytes: weights stay int8. Where the model file quantizes a value,
  // the file decides.
  DType activations = DType::int8;
};

// Without samples: only constants may still be float; an error otherwise, which names the nodes that have no
// quantization and says to calibrate.
Status quantize(Graph& graph, const std::vector<Sample>& samples, const QuantizeOptions& options = {});

}  // namespace rushlight
