// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/eval/reference.h"

namespace rushlight {
namespace {

using namespace testing_support;

struct Conv {
  Shape input, weight;
  bool bias;
  Integers stride, padding, dilation;
  int64_t groups;
};

std::vector<double> convolved(const OneNode& n, const Conv& c, const Shape& out) {
  const auto both = [](const Integers& list) {
    return std::pair{list.front(), list.size() > 1 ? list[1] : list[0]};
  };
  const auto [stride_h, stride_w] = both(c.stride);
  const auto [pad_h, pad_w] = both(c.padding);  // top and left come first in either form
  const auto [dilation_h, dilation_w] = both(c.dilation);
  std::vector<double> result;
  for_each_index(out, [&, sh = stride_h, sw = stride_w, ph = pad_h, pw = pad_w, dh = dilation_h,
                       dw = dilation_w](const Shape& o) {
    double sum = c.bias ? at(n.inputs[2], {o[1]}) : 0;
    for_each_index({c.weight[1], c.weight[2], c.weight[3]}, [&](const Shape& k) {
      const int64_t channel = o[1] / (c.weight[0] / c.groups) * c.weight[1] + k[0];
      const int64_t y = o[2] * sh - ph + k[1] * dh;
      const int64_t x = o[3] * sw - pw + k[2] * dw;
      if (y < 0 || x < 0 || y >= c.input[2] || x >= c.input[3]) return;
      sum += at(n.inputs[0], {o[0], channel, y, x}) * at(n.inputs[1], {o[1], k[0], k[1], k[2]});
    });
    result.push_back(sum);
  });
  return result;
}

TEST(EvalConv2d, AgainstDirectLoops) {
  const Conv cases[] = {
      {{1, 1, 1, 1}, {1, 1, 1, 1}, false, {1}, {0}, {1}, 1},
      {{2, 3, 5, 7}, {4, 3, 3, 2}, true, {1, 1}, {0, 0}, {1, 1}, 1},
      {{1, 2, 7, 5}, {3, 2, 3, 3}, true, {2, 3}, {1, 2}, {1, 1}, 1},
      {{1, 2, 9, 8}, {2, 2, 3, 2}, false, {1, 2}, {2, 1}, {2, 3}, 1},
      {{1, 4, 5, 5}, {6, 2, 3, 3}, true, {1}, {1}, {1}, 2},
      {{2, 3, 4, 6}, {6, 1, 2, 3}, true, {2}, {1}, {1}, 3},
      {{1, 1, 5, 6}, {2, 1, 4, 4}, true, {1, 1}, {1, 0, 2, 3}, {1, 1}, 1},
      {{1, 1, 1, 5}, {1, 1, 1, 4}, true, {1, 1}, {0, 1, 0, 2}, {1, 1}, 1},
      {{1, 1, 2, 2}, {1, 1, 3, 3}, false, {3}, {5}, {2}, 1},
  };
  uint64_t seed = 0;
  for (const Conv& c : cases) {
    SCOPED_TRACE(testing::Message() << "case and seed " << ++seed);
    std::vector<Shape> shapes = {c.input, c.weight};
    if (c.bias) shapes.push_back({c.weight[0]});
    const OneNode n = one_node(
        "aten.conv2d"_op, shapes,
        {{"stride", c.stride}, {"padding", c.padding}, {"dilation", c.dilation}, {"groups", c.groups}}, seed);
    const Tensor found = n.run();
    expect_near(found, convolved(n, c, found.shape()), static_cast<double>(element_count(c.weight)));
  }
}

TEST(EvalLinear, OfAnyRank) {
  const Shape inputs[] = {{5}, {3, 7}, {2, 3, 4}, {2, 1, 3, 6}};
  uint64_t seed = 100;
  for (const Shape& input : inputs)
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(testing::Message() << "seed " << ++seed);
      std::vector<Shape> shapes = {input, {3, input.back()}};
      if (bias) shapes.push_back({3});
      const OneNode n = one_node("aten.linear"_op, shapes, {}, seed);
      const Tensor found = n.run();
      std::vector<double> expected;
      for_each_index(found.shape(), [&](Shape index) {
        const int64_t o = index.back();
        double sum = bias ? n.inputs[2].at(o) : 0;
        for (int64_t i = 0; i < input.back(); ++i) {
          index.back() = i;
          sum += at(n.inputs[0], index) * at(n.inputs[1], {o, i});
        }
        expected.push_back(sum);
      });
      expect_near(found, expected, static_cast<double>(input.back()));
    }
}

TEST(EvalBatchNorm, NormalisesByChannel) {
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 3, 4}, Shape{1, 3, 2, 2}}) {
    OneNode n = one_node("aten.batch_norm"_op, {shape, {3}, {3}, {3}, {3}}, {{"eps", 0.25}}, 5);
    for (float& variance : n.inputs[4].as<float>()) variance = std::abs(variance);
    const Tensor found = n.run();
    std::vector<double> expected;
    for_each_index(shape, [&](const Shape& index) {
      const int64_t c = index[1];
      expected.push_back((at(n.inputs[0], index) - n.inputs[3].at(c)) / std::sqrt(n.inputs[4].at(c) + 0.25) *
                             n.inputs[1].at(c) +
                         n.inputs[2].at(c));
    });
    expect_near(found, expected, 4);
  }
}

}  // namespace
}  // namespace rushlight
