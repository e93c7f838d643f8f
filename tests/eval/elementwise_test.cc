// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, movement and quantization.
#include <cmath>

#include "tests/eval/reference.h"

namespace rushlight {
namespace {

using namespace testing_support;

Tensor evaluated(std::string_view text, const std::vector<Tensor>& inputs) {
  const Graph g = parsed(text);
  const auto results = Evaluator(g).run(inputs);
  EXPECT_TRUE(results);
  return results->front();
}

TEST(EvalBinary, BroadcastsAsNumPy) {
  const std::pair<Shape, Shape> cases[] = {{{2, 3}, {2, 3}},
                                           {{2, 3}, {3}},
                                           {{2, 3}, {}},
                                           {{2, 1, 4}, {3, 1}},
                                           {{1}, {2, 2, 2}},
                                           {{2, 3, 1, 5}, {1, 4, 5}},
                                           {{5, 1, 1, 2}, {1, 3, 4, 1}}};
  uint64_t seed = 0;
  for (const auto& [a, b] : cases)
    for (const bool add : {true, false}) {
      SCOPED_TRACE(testing::Message() << "seed " << ++seed);
      const double alpha = add ? 2.5 : 1;
      const OneNode n = one_node(add ? "aten.add"_op : "aten.sub"_op, {a, b}, {{"alpha", alpha}}, seed);
      const Tensor found = n.run();
      std::vector<double> expected;
      const auto operand = [](const Tensor& t, const Shape& index) {
        Shape own(index.end() - static_cast<std::ptrdiff_t>(t.shape().size()), index.end());
        for (size_t d = 0; d < own.size(); ++d)
          if (t.shape()[d] == 1) own[d] = 0;
        return at(t, own);
      };
      for_each_index(found.shape(), [&](const Shape& index) {
        expected.push_back(operand(n.inputs[0], index) +
                           (add ? alpha : -alpha) * operand(n.inputs[1], index));
      });
      expect_near(found, expected, 1);
    }
}

TEST(EvalMovement, PermuteAndCat) {
  const OneNode p = one_node("aten.permute"_op, {{2, 3, 4}}, {{"dims", Integers{-1, 0, 1}}}, 1);
  const Tensor permuted = p.run();
  for_each_index({4, 2, 3},
                 [&](const Shape& i) { EXPECT_EQ(at(permuted, i), at(p.inputs[0], {i[1], i[2], i[0]})); });

  const OneNode c = one_node("aten.cat"_op, {{2, 1, 3}, {2, 4, 3}, {2, 2, 3}}, {{"dim", int64_t{-2}}}, 2);
  const Tensor joined = c.run();
  for_each_index({2, 7, 3}, [&](const Shape& i) {
    const size_t from = i[1] < 1 ? 0 : i[1] < 5 ? 1 : 2;
    const int64_t start[] = {0, 1, 5};
    EXPECT_EQ(at(joined, i), at(c.inputs[from], {i[0], i[1] - start[from], i[2]}));
  });
}

TEST(EvalClamps, AllKinds) {
  const Tensor x = Tensor::of<float>({6}, {-7, -0.5F, 0, 0.25F, 5, 9});
  const auto of = [&](std::string_view node) {
    return evaluated(fmt::format("graph @g(%x: f32[6]) {{ %y: f32[6] = {} return %y }}", node), {x});
  };
  EXPECT_EQ(of("aten.relu(%x)"), Tensor::of<float>({6}, {0, 0, 0, 0.25F, 5, 9}));
  EXPECT_EQ(of("aten.relu6(%x)"), Tensor::of<float>({6}, {0, 0, 0, 0.25F, 5, 6}));
  EXPECT_EQ(of("aten.hardtanh(%x)"), Tensor::of<float>({6}, {-1, -0.5F, 0, 0.25F, 1, 1}));
  EXPECT_EQ(of("aten.clamp(%x) {min=-2}"), Tensor::of<float>({6}, {-2, -0.5F, 0, 0.25F, 5, 9}));
  EXPECT_EQ(of("aten.clamp(%x) {min=3, max=1}"), Tensor::of<float>({6}, {1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(of("aten.add(%x, %x) clamp=[-3.0, 1.5]"), Tensor::of<float>({6}, {-3, -1, 0, 0.5F, 1.5F, 1.5F}));
}

TEST(EvalQuantize, IntegersWithoutQuantizedTypes) {
  const Tensor x = Tensor::of<float>({5}, {0.25F, 0.75F, -0.25F, 100, -100});
  EXPECT_EQ(evaluated("graph @g(%x: f32[5]) { %q: i8[5] = Q(%x, 0.5, 3) return %q }", {x}),
            Tensor::of<int8_t>({5}, {3, 5, 3, 127, -128}));
  EXPECT_EQ(
      evaluated("graph @g(%x: f32[5]) { %q: i8[5] = Q(%x, 0.5, 3) %d: f32[5] = DQ(%q, 0.5, 3) return %d }",
                {x}),
      Tensor::of<float>({5}, {0, 1, 0, 62, -65.5F}));
}

// Under quantized types every value is a real on both sides of the nodes.
TEST(EvalQuantize, RealsUnderQuantizedTypes) {
  const Tensor x = Tensor::of<float>({5}, {0.25F, 0.75F, -0.25F, 100, -100});
  EXPECT_EQ(evaluated(R"(graph @g(%x: f32[5]) {
    %q: i8[5]<0.5:3> = Q(%x, 0.5, 3)
    %a: i8[5]<1.0:0> = aten.add(%q, %q)
    %d: f32[5] = DQ(%a, 1.0, 0)
    return %d })",
                      {x}),
            Tensor::of<float>({5}, {0, 2, 0, 124, -128}));
}

// The reciprocal is that of the scale as stored, in double, as PyTorch's decomposition computes it.
TEST(EvalQuantize, ScalesOfDoublePrecision) {
  constexpr uint64_t kSeed = 3;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 200; ++i) {
    const double scale = random.real(0.01, 1);
    const Tensor x = random.floats({50}, -100, 100);
    const Tensor q =
        evaluated(fmt::format("graph @g(%x: f32[50]) {{ %q: i8[50] = Q(%x, {}, 0) return %q }}", scale), {x});
    const auto inverse = static_cast<float>(1.0 / scale);
    for (int64_t k = 0; k < 50; ++k) {
      const float scaled = static_cast<float>(x.at(k)) * inverse;
      ASSERT_EQ(q.at(k), std::clamp(std::nearbyint(double{scaled}), -128.0, 127.0));
    }
  }
}

TEST(EvalDequantize, ChannelsOnAnyAxis) {
  EXPECT_EQ(evaluated(R"(graph @g() {
    %q: i8[2,2] = constant [1, 2, 3, 4]
    %s: f32[2] = constant [0.5, 2.0]
    %z: i64[2] = constant [0, 1]
    %d: f32[2,2] = dequantize_per_channel(%q, %s, %z) {axis=-1, quant_min=-128, quant_max=127, dtype="i8"}
    return %d })",
                      {}),
            Tensor::of<float>({2, 2}, {0.5F, 2, 1.5F, 6}));
}

}  // namespace
}  // namespace rushlight
