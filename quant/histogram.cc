// SPDX-License-Identifier: Apache-2.0
#include "quant/histogram.h"

#include <algorithm>
#include <numeric>

#include "eval/evaluator.h"

namespace rushlight {
namespace {

constexpr double kTail = 5e-5;
constexpr double kSteps = 255;

}  // namespace

void Histogram::add(double x) {
  if (!(width() > 0)) return;
  const double bin = (x - range_.lo) / width();
  ++counts_[static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(kBins - 1)))];
}

Range Histogram::percentile(double fraction) const {
  const double total = static_cast<double>(std::accumulate(counts_.begin(), counts_.end(), int64_t{0}));
  Range kept;
  double below = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    const double above = total - below - static_cast<double>(counts_[bin]);
    below += static_cast<double>(counts_[bin]);
    if (below > fraction * total && above > fraction * total && counts_[bin] > 0) {
      kept.include(center(bin) - width() / 2);
      kept.include(center(bin) + width() / 2);
    }
  }
  return kept;
}

Range Histogram::least_squares() const {
  Range best = range_;
  double least = -1;
  for (int percent = 100; percent >= 20; percent -= 2) {
    const Range candidate{range_.lo * percent / 100, range_.hi * percent / 100};
    const double step = (candidate.hi - candidate.lo) / kSteps;
    double error = 0;
    for (size_t bin = 0; bin < kBins; ++bin) {
      const double outside = center(bin) - std::clamp(center(bin), candidate.lo, candidate.hi);
      error += static_cast<double>(counts_[bin]) * (outside != 0 ? outside * outside : step * step / 12);
    }
    if (least < 0 || error < least) {
      least = error;
      best = candidate;
    }
  }
  return best;
}

Status narrow_ranges(const Graph& graph, const std::vector<Sample>& samples, Observer observer,
                     std::vector<Range>& ranges) {
  std::vector<Histogram> histograms(ranges.begin(), ranges.end());
  Evaluator evaluator(graph);
  const auto observe = [&](ValueId id, const Tensor& tensor) {
    if (tensor.dtype() != DType::float32) return;
    for (const float x : tensor.as<float>()) histograms[static_cast<size_t>(id)].add(x);
  };
  for (const Sample& sample : samples)
    if (auto outputs = evaluator.run(sample, observe); !outputs) return forward(outputs);
  for (size_t i = 0; i < ranges.size(); ++i)
    ranges[i] =
        observer == Observer::percentile ? histograms[i].percentile(kTail) : histograms[i].least_squares();
  return {};
}

}  // namespace rushlight
