// SPDX-License-Identifier: Apache-2.0
// Ranges that leave out rare values, and biases that take back what quantization moves.
#include "quant/histogram.h"

#include "eval/evaluator.h"
#include "quant/calibrate.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

// 100,000 values spread evenly over -1..1, and one far away.
Histogram with_outlier() {
  Histogram histogram({-1, 100});
  for (int i = 0; i < 100000; ++i) histogram.add(-1 + 2.0 * i / 100000);
  histogram.add(100);
  return histogram;
}

TEST(Histogram, PercentileLeavesOutAnOutlier) {
  const Range kept = with_outlier().percentile(5e-5);
  EXPECT_NEAR(kept.lo, -1, 0.1);
  EXPECT_NEAR(kept.hi, 1, 0.1);
}

TEST(Histogram, LeastSquaresWeighsClippingAgainstSteps) {
  // Cutting the outlier costs its square; keeping it costs steps of 0.4 for 100,000 values.
  EXPECT_LT(with_outlier().least_squares().hi, 100);
  Histogram even({-1, 1});
  for (int i = 0; i < 1000; ++i) even.add(-1 + 0.002 * i);
  EXPECT_GT(even.least_squares().hi, 0.9);
}

// Weights that all round the same way: without correction every output is off by the same amount.
TEST(BiasCorrection, MeansAreThoseOfTheFloatGraph) {
  const char* text = R"(graph @g(%x: f32[1,4]) {
    %w: f32[2,4] = constant [1.0, 0.2514, 0.2514, 0.2514, -1.0, 0.0126, 0.0126, 0.0126]
    %b: f32[2] = constant [0.1, -0.3]
    %y: f32[1,2] = aten.linear(%x, %w, %b) clamp=[0.0, inf]
    return %y })";
  std::vector<Sample> samples;
  for (int i = 0; i < 16; ++i) {
    const auto x = [&](int k) { return static_cast<float>((i * 7 + k * 3) % 16) / 8.0F; };
    samples.push_back({Tensor::of<float>({1, 4}, {x(0), x(1), x(2), x(3)})});
  }
  const Graph original = parsed(text);
  const auto mean_error = [&](bool corrects) {
    Graph g = original;
    QuantizeOptions options;
    options.bias_correction = corrects;
    EXPECT_TRUE(quantize(g, samples, options));
    const auto want = calibrate(original, samples)->channel_means.begin()->second;
    const auto found = calibrate(g, samples)->channel_means.begin()->second;
    return std::abs(want[0] - found[0]) + std::abs(want[1] - found[1]);
  };
  EXPECT_GT(mean_error(false), 1e-3);
  EXPECT_LT(mean_error(true), 1e-4);
}

}  // namespace
}  // namespace rushlight
