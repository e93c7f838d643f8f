// SPDX-License-Identifier: Apache-2.0
// Evaluates graphs in reals: float32 tensors, sums in a fixed order. Constant folding and calibration share
// it. A quantized value stands for its reals: quantized constants are read as such, results with a
// quantization are rounded to it (half to even, as PyTorch's fake quantization does).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "types/tensor.h"

namespace rushlight {

// Called with every value that is not a constant, once a run, in order.
using ValueObserver = std::function<void(ValueId, const Tensor&)>;

// The results of one node; operands as reals (float32) or as integers where the value is an index, null where
// absent.
Result<std::vector<Tensor>> evaluate_node(const Graph& graph, const Node& node,
                                          std::span<const Tensor* const> operands);

// A node's first result before its clamp, and before it is rounded to its quantization.
Result<Tensor> evaluate_unclamped(const Graph& graph, const Node& node,
                                  std::span<const Tensor* const> operands);
// The clamp and the rounding.
void clamp_and_round(const Graph& graph, const Node& node, Tensor& result);

// Called with the unclamped result of every node that has one, once a run.
using UnclampedObserver = std::function<void(const Node&, const Tensor&)>;

class Evaluator {
 public:
  explicit Evaluator(const Graph& graph);

  // `inputs` in the order of graph.inputs, of the inputs' shapes, float32 for quantized inputs.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const ValueObserver& observe = {},
                                  const UnclampedObserver& observe_unclamped = {});

 private:
  const Graph& graph_;
  std::vector<Tensor> values_;  // by ValueId
};

// The reals of a constant, row-major float32.
Tensor dequantized(const Tensor& integers, const Quantization& quant);

}  // namespace rushlight
