// SPDX-License-Identifier: Apache-2.0
#include "quant/calibrate.h"

#include <fmt/format.h>

#include <cmath>

#include "eval/evaluator.h"

namespace rushlight {

Result<std::vector<Range>> observe_ranges(const Graph& graph, const std::vector<Sample>& samples) {
  std::vector<Range> ranges(graph.value_count());
  Evaluator evaluator(graph);
  ValueId not_finite = ValueId::none;
  const auto observe = [&](ValueId id, const Tensor& tensor) {
    if (tensor.dtype() != DType::float32) return;
    float lo = 0;
    float hi = 0;
    bool finite = true;
    for (float x : tensor.as<float>()) {
      lo = std::min(lo, x);
      hi = std::max(hi, x);
      finite = finite && std::isfinite(x);
    }
    if (!finite && not_finite == ValueId::none) not_finite = id;
    ranges[static_cast<size_t>(id)].include(Range{lo, hi});
  };
  for (size_t i = 0; i < samples.size(); ++i) {
    auto outputs = evaluator.run(samples[i], observe);
    if (!outputs) return forward(outputs);
    if (not_finite != ValueId::none)
      return input_error(
          fmt::format("calibration sample {}", i),
          fmt::format("makes %{} infinite or not a number; check the sample and the model in float",
                      graph.value(not_finite).name));
  }
  return ranges;
}

}  // namespace rushlight
