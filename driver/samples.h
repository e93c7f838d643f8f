// SPDX-License-Identifier: Apache-2.0
// Samples for calibration and runs, as the command line names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "quant/quantize.h"
#include "types/result.h"
#include "types/tensor.h"

namespace rushlight {

// What an input of the model takes: name, shape, and dtype of one sample.
struct SampleInput {
  std::string name;
  Shape shape;
  DType dtype;  // float32, int8 or int16 with `quant`, or an integer type of indices
  Quantization quant = {};
  bool integers_allowed = false;  // arrays of `dtype` are taken as they are
};

// The inputs of a graph, states left out, as float samples for calibration.
std::vector<SampleInput> sample_inputs(const Graph& graph);

// Reads samples from specifications "file.npz:array", "file.npz", "file.npy", each optionally preceded by
// "input=". The leading axis of an array counts samples; where an input's leading axis is a batch of 1, the
// array may leave it out; where it is a batch of B, B entries of the array make a sample. Floats become
// float32. `option` names the command-line option for messages.
Result<std::vector<Sample>> read_samples(const std::vector<std::string>& specifications,
                                         const std::vector<SampleInput>& inputs, std::string_view option);

// Float tensors quantized as PyTorch does, round_half_even(x * float32(1 / scale)); integers as they are.
Tensor quantized_input(const Tensor& tensor, const SampleInput& input);

}  // namespace rushlight
