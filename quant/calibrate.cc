// SPDX-License-Identifier: Apache-2.0
#include "quant/calibrate.h"

#include <fmt/format.h>

#include <cmath>

#include "eval/evaluator.h"
#include "quant/histogram.h"

namespace rushlight {

bool is_layer(const Node& node) {
  return node.operands.size() == 3 && node.row().operand(1).role == Role::weight &&
         node.row().operand(2).role == Role::bias;
}

void ChannelSums::add(const Node& node, const Tensor& output) {
  const Shape& shape = output.shape();
  // Convolutions have their channels on axis 1, linear layers on the last one.
  const size_t axis = node.op == "aten.linear"_op ? shape.size() - 1 : 1;
  const int64_t inner = row_major_strides(shape)[axis];
  const int64_t channels = shape[axis];
  sums_.resize(static_cast<size_t>(channels));
  const auto y = output.as<float>();
  for (size_t begin = 0, block = 0; begin < y.size(); begin += static_cast<size_t>(inner), ++block) {
    double sum = 0;
    for (size_t i = 0; i < static_cast<size_t>(inner); ++i) sum += y[begin + i];
    sums_[block % static_cast<size_t>(channels)] += sum;
  }
  count_ += output.elements() / channels;
}

std::vector<double> ChannelSums::means() const {
  std::vector<double> means;
  for (double sum : sums_) means.push_back(sum / static_cast<double>(count_));
  return means;
}

Result<Calibration> calibrate(const Graph& graph, const std::vector<Sample>& samples, Observer observer) {
  Calibration calibration{std::vector<Range>(graph.value_count()), {}};
  std::vector<Range>& ranges = calibration.ranges;
  std::map<ValueId, ChannelSums> sums;
  const auto observe_layer = [&](const Node& node, const Tensor& output) {
    if (is_layer(node) && output.dtype() == DType::float32) sums[node.result()].add(node, output);
  };
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
    auto outputs = evaluator.run(samples[i], observe, observe_layer);
    if (!outputs) return forward(outputs);
    if (not_finite != ValueId::none)
      return input_error(
          fmt::format("calibration sample {}", i),
          fmt::format("makes %{} infinite or not a number; check the sample and the model in float",
                      graph.value(not_finite).name));
  }
  if (observer != Observer::minmax)
    if (Status s = narrow_ranges(graph, samples, observer, ranges); !s) return forward(s);
  for (const auto& [id, layer] : sums) calibration.channel_means[id] = layer.means();
  return calibration;
}

}  // namespace rushlight
