// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "passes/passes.h"
#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using namespace testing_support;

constexpr std::string_view kNorm = R"(
    %gamma: f32[2] = constant [2.0, -0.5]
    %beta: f32[2] = constant [0.25, 1.0]
    %mean: f32[2] = constant [1.0, -3.0]
    %var: f32[2] = constant [4.0, 0.25]
)";

std::string with_norm(std::string_view head, std::string_view body) {
  return fmt::format("{} {{ {} {} }}", head, kNorm, body);
}

// weight[c] * factor[c] and (bias[c] - mean[c]) * factor[c] + beta[c], in double.
void expect_folded(const Graph& g, const std::vector<double>& weight, const std::vector<double>& bias) {
  ASSERT_EQ(g.nodes.size(), 1U) << print(g);
  const Tensor& w = g.constant(g.nodes[0].operands[1]);
  const Tensor& b = g.constant(g.nodes[0].operands[2]);
  const double factors[] = {2.0 / std::sqrt(4.0 + 0.5), -0.5 / std::sqrt(0.25 + 0.5)};
  const double means[] = {1.0, -3.0};
  const double betas[] = {0.25, 1.0};
  const size_t inner = weight.size() / 2;
  for (size_t i = 0; i < weight.size(); ++i)
    EXPECT_EQ(w.at(static_cast<int64_t>(i)), static_cast<float>(weight[i] * factors[i / inner]));
  for (size_t c = 0; c < 2; ++c)
    EXPECT_EQ(b.at(static_cast<int64_t>(c)),
              static_cast<float>((bias[c] - means[c]) * factors[c] + betas[c]));
}

TEST(FoldBatchNorm, BehindAConvolutionWithoutBias) {
  const Graph g = after(fold_batch_norm, with_norm("graph @g(%x: f32[1,1,2,2])", R"(
    %w: f32[2,1,1,2] = constant [1.0, 2.0, 3.0, 4.0]
    %c: f32[1,2,2,1] = aten.conv2d(%x, %w)
    %y: f32[1,2,2,1] = aten.batch_norm(%c, %gamma, %beta, %mean, %var) {eps=0.5}
    return %y)"));
  expect_folded(g, {1, 2, 3, 4}, {0, 0});
}

TEST(FoldBatchNorm, BehindALinearLayerOfRankTwo) {
  const Graph g = after(fold_batch_norm, with_norm("graph @g(%x: f32[3,1])", R"(
    %w: f32[2,1] = constant [0.5, -7.0]
    %b: f32[2] = constant [10.0, 20.0]
    %c: f32[3,2] = aten.linear(%x, %w, %b)
    %y: f32[3,2] = aten.batch_norm(%c, %gamma, %beta, %mean, %var) {eps=0.5}
    return %y)"));
  expect_folded(g, {0.5, -7}, {10, 20});
}

TEST(FoldBatchNorm, WithoutAffineParameters) {
  const Graph g = after(fold_batch_norm, with_norm("graph @g(%x: f32[1,1])", R"(
    %w: f32[2,1] = constant [3.0, 3.0]
    %c: f32[1,2] = aten.linear(%x, %w)
    %y: f32[1,2] = aten.batch_norm(%c, none, none, %mean, %var) {eps=0.0}
    return %y)"));
  ASSERT_EQ(op_names(g), "aten.linear");
  EXPECT_EQ(g.constant(g.nodes[0].operands[1]).at(1), 6.0);
  EXPECT_EQ(g.constant(g.nodes[0].operands[2]).at(0), -0.5);
}

TEST(FoldBatchNorm, WhatMustNotMatch) {
  // Two readers of the layer.
  expect_stays(fold_batch_norm, with_norm("graph @g(%x: f32[1,1])", R"(
    %w: f32[2,1] = constant [3.0, 3.0]
    %c: f32[1,2] = aten.linear(%x, %w)
    %y: f32[1,2] = aten.batch_norm(%c, %gamma, %beta, %mean, %var)
    %z: f32[1,2] = aten.add(%c, %y)
    return %z)"));
  // Batch-norm's channels are on axis 1, the layer's outputs on axis 2.
  expect_stays(fold_batch_norm, with_norm("graph @g(%x: f32[1,2,1])", R"(
    %w: f32[2,1] = constant [3.0, 3.0]
    %c: f32[1,2,2] = aten.linear(%x, %w)
    %y: f32[1,2,2] = aten.batch_norm(%c, %gamma, %beta, %mean, %var)
    return %y)"));
  // A clamp between the two.
  expect_stays(fold_batch_norm, with_norm("graph @g(%x: f32[1,1])", R"(
    %w: f32[2,1] = constant [3.0, 3.0]
    %c: f32[1,2] = aten.linear(%x, %w) clamp=[0.0, inf]
    %y: f32[1,2] = aten.batch_norm(%c, %gamma, %beta, %mean, %var)
    return %y)"));
  // Weights that are computed.
  expect_stays(fold_batch_norm, with_norm("graph @g(%x: f32[1,1], %w: f32[2,1])", R"(
    %c: f32[1,2] = aten.linear(%x, %w)
    %y: f32[1,2] = aten.batch_norm(%c, %gamma, %beta, %mean, %var)
    return %y)"));
  // No layer at all.
  expect_stays(fold_batch_norm, with_norm("graph @g(%x: f32[1,2])", R"(
    %y: f32[1,2] = aten.batch_norm(%x, %gamma, %beta, %mean, %var)
    return %y)"));
}

// The op's own rule: no pass sees such a graph.
TEST(FoldBatchNorm, TrainingModeIsRefused) {
  const Result<Graph> graph = parse_graph(with_norm("graph @g(%x: f32[1,2])", R"(
    %y: f32[1,2] = aten.batch_norm(%x, %gamma, %beta, %mean, %var) {training=true}
    return %y)"));
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().text(), testing::HasSubstr("found true, must be false; call model.eval()"));
}

TEST(FoldBatchNorm, DamagedStatisticsAreRefused) {
  expect_refused(fold_batch_norm, R"(graph @g(%x: f32[1,2]) {
    %w: f32[2,2] = constant splat 3.0
    %m: f32[2] = constant splat 0.0
    %v: f32[2] = constant [1.0, -1.0]
    %c: f32[1,2] = aten.linear(%x, %w)
    %y: f32[1,2] = aten.batch_norm(%c, none, none, %m, %v)
    return %y })",
                 "has a running variance below -eps");
}

}  // namespace
}  // namespace rushlight
