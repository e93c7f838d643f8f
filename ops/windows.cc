// SPDX-License-Identifier: Apache-2.0
#include "ops/windows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rushlight {
namespace {

struct Sliding {
  int64_t kernel, stride, pad, dilation;
  bool counts_padding;
};

std::vector<Window> sliding(int64_t input, int64_t outputs, const Sliding& s) {
  std::vector<Window> windows;
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t begin = o * s.stride - s.pad;
    int64_t first = begin;
    int64_t taps = 0;
    for (int64_t k = 0; k < s.kernel; ++k) {
      const int64_t at = begin + k * s.dilation;
      if (at < 0 || at >= input) continue;
      if (taps++ == 0) first = at;
    }
    // A window that ceil_mode lets hang over counts only to the end of the padding.
    const int64_t padded = std::min(begin + s.kernel, input + s.pad) - begin;
    windows.push_back({taps == 0 ? 0 : first, taps, s.counts_padding ? padded : taps});
  }
  return windows;
}

std::vector<Window> tiles(int64_t input, int64_t outputs) {
  std::vector<Window> windows;
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t first = o * input / outputs;
    const int64_t last = ((o + 1) * input + outputs - 1) / outputs;
    windows.push_back({first, last - first, last - first});
  }
  return windows;
}

constexpr int64_t kMostExact = 1024;
constexpr int64_t kInexact = 2048;

}  // namespace

PoolWindows pool_windows(Op op, const Attributes& attributes, const Shape& input, const Shape& output) {
  const size_t h = input.size() - 2;
  const size_t w = input.size() - 1;
  if (op == "aten.adaptive_avg_pool2d"_op || op == "aten.adaptive_max_pool2d"_op)
    return {tiles(input[h], output[h]), tiles(input[w], output[w])};
  const auto kernel = attributes.pair("kernel_size");
  const auto stride = attributes.integers("stride").empty() ? kernel : attributes.pair("stride");
  const auto pad = attributes.pair("padding");
  const auto dilation =
      op == "aten.max_pool2d"_op ? attributes.pair("dilation") : std::pair<int64_t, int64_t>{1, 1};
  const bool counts = op == "aten.avg_pool2d"_op && attributes.boolean("count_include_pad");
  return {sliding(input[h], output[h], {kernel.first, stride.first, pad.first, dilation.first, counts}),
          sliding(input[w], output[w], {kernel.second, stride.second, pad.second, dilation.second, counts}),
          dilation.first, dilation.second};
}

Blends linear_blends(int64_t input, int64_t output, double scale, bool align_corners) {
  // position = (o * numerator + offset) / denominator, in whole numbers where the scale is a ratio of the
  // extents.
  std::vector<double> positions;
  for (int64_t o = 0; o < output; ++o) {
    const auto at = static_cast<double>(o);
    positions.push_back(align_corners ? at * scale : std::max(0.0, (at + 0.5) * scale - 0.5));
  }
  const auto is_multiple = [&](int64_t d) {
    return std::ranges::all_of(positions, [&](double p) {
      const double scaled = p * static_cast<double>(d);
      return std::abs(scaled - std::nearbyint(scaled)) <= 1e-9 * static_cast<double>(d);
    });
  };
  Blends blends{{}, 1};
  while (blends.denominator <= kMostExact && !is_multiple(blends.denominator)) ++blends.denominator;
  if (blends.denominator > kMostExact) blends.denominator = kInexact;
  for (const double p : positions) {
    const auto scaled = static_cast<int64_t>(std::nearbyint(p * static_cast<double>(blends.denominator)));
    const int64_t first = std::min(scaled / blends.denominator, input - 1);
    const int64_t second = std::min(first + 1, input - 1);
    blends.entries.push_back({first, second, second == first ? 0 : scaled - first * blends.denominator});
  }
  return blends;
}

}  // namespace rushlight
