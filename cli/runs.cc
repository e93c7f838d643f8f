// SPDX-License-Identifier: Apache-2.0
#include "cli/runs.h"

#include <algorithm>
#include <random>

#include "sim/simulator.h"

namespace rushlight::cli {

Result<std::vector<std::vector<Tensor>>> program_samples(const Compiled& compiled,
                                                         const std::vector<std::string>& specifications,
                                                         size_t limit) {
  const std::vector<SampleInput> inputs = compiled.inputs();
  auto samples = read_samples(specifications, inputs, "--input");
  if (!samples) return samples;
  if (limit > 0 && samples->size() > limit) samples->resize(limit);
  for (std::vector<Tensor>& sample : *samples)
    for (size_t i = 0; i < sample.size(); ++i) sample[i] = quantized_input(sample[i], inputs[i]);
  return samples;
}

std::vector<std::vector<Tensor>> random_samples(const Compiled& compiled, size_t count) {
  std::mt19937 generator(1);
  std::vector<std::vector<Tensor>> samples(count);
  for (std::vector<Tensor>& sample : samples)
    for (const Port& port : compiled.program.inputs) {
      Tensor tensor(port.type.dtype, port.type.shape);
      for (int64_t i = 0; i < tensor.elements(); ++i) {
        const auto byte = static_cast<double>(generator() % 256) - 128;
        tensor.set(i, port.type.dtype == DType::float32
                          ? byte / 64
                          : std::clamp<double>(byte, port.type.quant.lo, port.type.quant.hi));
      }
      sample.push_back(std::move(tensor));
    }
  return samples;
}

Result<std::vector<std::vector<Tensor>>> simulate(const Compiled& compiled,
                                                  const std::vector<std::vector<Tensor>>& samples) {
  Simulator simulator(compiled.program, compiled.plan);
  std::vector<std::vector<Tensor>> outputs;
  for (const std::vector<Tensor>& sample : samples) {
    auto result = simulator.run(sample);
    if (!result) return forward(result);
    outputs.push_back(std::move(*result));
  }
  return outputs;
}

}  // namespace rushlight::cli
