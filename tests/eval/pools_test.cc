// SPDX-License-Identifier: Apache-2.0
#include "tests/eval/reference.h"

namespace rushlight {
namespace {

using namespace testing_support;

struct Pool {
  Shape input;
  Integers kernel, stride, padding;
  bool ceil_mode, count_include_pad;
  int64_t divisor;  // 0: none
};

// PyTorch's definition over one axis: [begin, end) with padding, before it is cut to the input.
std::pair<int64_t, int64_t> window(int64_t o, int64_t kernel, int64_t stride, int64_t pad, int64_t extent) {
  const int64_t begin = o * stride - pad;
  return {begin, std::min(begin + kernel, extent + pad)};
}

std::vector<double> pooled(const OneNode& n, const Pool& p, const Shape& out) {
  const Integers& stride = p.stride.empty() ? p.kernel : p.stride;
  std::vector<double> result;
  for_each_index(out, [&](Shape index) {
    const size_t h = index.size() - 2;
    const auto [y0, y1] = window(index[h], p.kernel[0], stride[0], p.padding[0], p.input[h]);
    const auto [x0, x1] = window(index[h + 1], p.kernel[1], stride[1], p.padding[1], p.input[h + 1]);
    double sum = 0;
    int64_t taps = 0;
    for (int64_t y = std::max<int64_t>(y0, 0); y < std::min(y1, p.input[h]); ++y)
      for (int64_t x = std::max<int64_t>(x0, 0); x < std::min(x1, p.input[h + 1]); ++x) {
        index[h] = y;
        index[h + 1] = x;
        sum += at(n.inputs[0], index);
        ++taps;
      }
    const int64_t counted = p.count_include_pad ? (y1 - y0) * (x1 - x0) : taps;
    result.push_back(sum / static_cast<double>(p.divisor != 0 ? p.divisor : counted));
  });
  return result;
}

TEST(EvalAveragePool, AgainstDirectLoops) {
  const Pool cases[] = {
      {{1, 2, 6, 6}, {2, 2}, {}, {0, 0}, false, true, 0},
      {{2, 1, 7, 5}, {3, 2}, {2, 3}, {1, 1}, false, true, 0},
      {{2, 1, 7, 5}, {3, 2}, {2, 3}, {1, 1}, false, false, 0},
      {{1, 1, 7, 6}, {3, 3}, {2, 2}, {1, 1}, true, true, 0},
      {{1, 1, 7, 6}, {3, 3}, {2, 2}, {1, 1}, true, false, 0},
      {{1, 1, 5, 5}, {2, 2}, {3, 3}, {1, 1}, true, true, 0},
      {{1, 1, 6, 6}, {3, 2}, {2, 2}, {0, 1}, true, false, 5},
      {{1, 1, 6, 6}, {3, 2}, {2, 2}, {0, 1}, false, true, -3},
      {{3, 4, 5}, {2, 3}, {1, 1}, {1, 0}, false, true, 0},
  };
  uint64_t seed = 0;
  for (const Pool& p : cases) {
    SCOPED_TRACE(testing::Message() << "case and seed " << ++seed);
    NamedAttributes attributes = {{"kernel_size", p.kernel},
                                  {"stride", p.stride},
                                  {"padding", p.padding},
                                  {"ceil_mode", p.ceil_mode},
                                  {"count_include_pad", p.count_include_pad}};
    if (p.divisor != 0) attributes["divisor_override"] = p.divisor;
    const OneNode n = one_node("aten.avg_pool2d"_op, {p.input}, attributes, seed);
    const Tensor found = n.run();
    expect_near(found, pooled(n, p, found.shape()), 9);
  }
}

TEST(EvalAdaptivePool, UnevenWindows) {
  const std::pair<int64_t, int64_t> sizes[] = {{1, 1}, {2, 3}, {5, 7}, {6, 8}, {4, 5}};
  for (const auto& [height, width] : sizes) {
    const OneNode n = one_node("aten.adaptive_avg_pool2d"_op, {{2, 3, 5, 7}},
                               {{"output_size", Integers{height, width}}}, 3);
    const Tensor found = n.run();
    std::vector<double> expected;
    for_each_index({2, 3, height, width}, [&, h = height, w = width](const Shape& o) {
      double sum = 0;
      int64_t taps = 0;
      for (int64_t y = 0; y < 5; ++y)
        for (int64_t x = 0; x < 7; ++x) {
          // Position y lies in window o where floor(o H / n) <= y < ceil((o + 1) H / n).
          const bool inside =
              y >= o[2] * 5 / h && y * h < (o[2] + 1) * 5 && x >= o[3] * 7 / w && x * w < (o[3] + 1) * 7;
          if (!inside) continue;
          sum += at(n.inputs[0], {o[0], o[1], y, x});
          ++taps;
        }
      expected.push_back(sum / static_cast<double>(taps));
    });
    expect_near(found, expected, 35);
  }
}

TEST(EvalMean, OverAnyDims) {
  const Shape shape = {2, 3, 4, 5};
  const Attribute all[] = {Attribute{},  Integers{},      Integers{2, 3},
                           Integers{-1}, Integers{0, -2}, Integers{0, 1, 2, 3}};
  for (const Attribute& dims : all)
    for (const bool keep : {false, true}) {
      SCOPED_TRACE(to_string(dims));
      const OneNode n = one_node("aten.mean"_op, {shape}, {{"dim", dims}, {"keepdim", keep}}, 11);
      const Tensor found = n.run();
      const Integers* list = std::get_if<Integers>(&dims);
      const auto reduced = [&](int64_t d) {
        return list == nullptr || list->empty() ||
               std::any_of(list->begin(), list->end(), [&](int64_t e) { return e == d || e + 4 == d; });
      };
      Shape kept = shape;
      Shape squeezed;
      for (int64_t d = 0; d < 4; ++d) {
        if (reduced(d)) kept[static_cast<size_t>(d)] = 1;
        if (!reduced(d)) squeezed.push_back(shape[static_cast<size_t>(d)]);
      }
      EXPECT_EQ(found.shape(), keep ? kept : squeezed);
      std::vector<double> sums(static_cast<size_t>(element_count(kept)), 0);
      for_each_index(shape, [&](const Shape& index) {
        int64_t flat = 0;
        for (size_t d = 0; d < 4; ++d) flat = flat * kept[d] + (kept[d] == 1 ? 0 : index[d]);
        sums[static_cast<size_t>(flat)] +=
            at(n.inputs[0], index) * static_cast<double>(element_count(kept)) / 120;
      });
      expect_near(found, sums, 120);
    }
}

}  // namespace
}  // namespace rushlight
