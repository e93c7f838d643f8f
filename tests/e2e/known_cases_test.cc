// SPDX-License-Identifier: Apache-2.0
// Cases that other compilers got wrong, each named by its number in the project's collection.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cortex_m/lower.h"
#include "eval/evaluator.h"
#include "ir/text.h"
#include "passes/pipeline.h"
#include "plan/plan.h"
#include "quant/quantize.h"
#include "sim/simulator.h"
#include "tests/e2e/exactness.h"

namespace rushlight::e2e {
namespace {

std::vector<int> integers(const Tensor& tensor) {
  const auto values = tensor.as<int8_t>();
  return {values.begin(), values.end()};
}
Tensor tensor(Shape shape, const std::vector<int8_t>& values) {
  return Tensor::of<int8_t>(std::move(shape), values);
}

constexpr Rounding kRoundings[] = {Rounding::single, Rounding::double_rounding};

// Text of a graph whose constants may be float, quantized with the samples, to a program.
struct Model {
  Graph graph;
  Program program;
};
Model compile_text(const std::string& text, const std::vector<Sample>& samples, Rounding rounding) {
  Graph graph = parse_graph(text).value();
  EXPECT_TRUE(run_passes(graph, kCanonicalPasses).value());
  const Status quantized = quantize(graph, samples);
  EXPECT_TRUE(quantized) << quantized.error().text();
  EXPECT_TRUE(run_passes(graph, kIntegerPasses).value());
  Result<Program> program = lower(graph, {rounding, nullptr});
  if (!program) throw std::logic_error(program.error().text());
  return {std::move(graph), std::move(*program)};
}
Tensor run(const Program& program, const std::vector<Tensor>& inputs) {
  const Plan planned = plan(program);
  return Simulator(program, planned).run(inputs).value().front();
}

// B03: arguments in the wrong order are invisible while both inputs share parameters.
TEST(KnownCases, B03UnequalScales) {
  const std::string graph =
      "graph @g(%a: i8[6]<0.125:5>, %b: i8[6]<0.5:-7>) {\n  %o: i8[6]<0.5:3> = aten.add(%a, %b)\n  return "
      "%o\n}\n";
  const Tensor a = tensor({6}, {25, 5, 6, 5, 127, -128}), b = tensor({6}, {-17, -7, -7, -6, 127, -128});
  for (const Rounding rounding : kRoundings)
    EXPECT_EQ(integers(run_graph(graph, rounding, {a, b})), (std::vector{-2, 3, 3, 4, 127, -128}));
}

// B04: rank-mismatch and middle-axis broadcasts.
TEST(KnownCases, B04Broadcasts) {
  const Tensor a = tensor({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto sum = [&](const Tensor& b, Rounding rounding) {
    return integers(run_graph(fmt::format("graph @g(%a: i8[1,2,2,2]<1.0:0>, %b: i8{}<1.0:0>) {{\n"
                                          "  %o: i8[1,2,2,2]<1.0:0> = aten.add(%a, %b)\n  return %o\n}}\n",
                                          to_string(b.shape())),
                              rounding, {a, b}));
  };
  for (const Rounding rounding : kRoundings) {
    EXPECT_EQ(sum(tensor({2}, {10, 20}), rounding), (std::vector{11, 22, 13, 24, 15, 26, 17, 28}));
    EXPECT_EQ(sum(tensor({1, 2, 1, 2}, {10, 20, 30, 40}), rounding),
              (std::vector{11, 22, 13, 24, 35, 46, 37, 48}));
    EXPECT_EQ(sum(tensor({}, {10}), rounding), (std::vector{11, 12, 13, 14, 15, 16, 17, 18}));
  }
}

// B05: relu clamps at the zero point, not at the integer 0.
TEST(KnownCases, B05ReluClampsAtTheZeroPoint) {
  for (const Rounding rounding : kRoundings) {
    const Model alone =
        compile_text("graph @g(%x: i8[5]<0.1:-10>) {\n  %o: i8[5]<0.1:-10> = aten.relu(%x)\n  return %o\n}\n",
                     {}, rounding);
    EXPECT_EQ(integers(run(alone.program, {tensor({5}, {-50, -10, -3, 0, 5})})),
              (std::vector{-10, -10, -3, 0, 5}));
    const Model fused = compile_text(
        "graph @g(%x: i8[5]<0.1:-10>, %y: i8[5]<0.1:-10>) {\n  %s: i8[5]<0.1:-10> = aten.add(%x, %y)\n"
        "  %o: i8[5]<0.1:-10> = aten.relu(%s)\n  return %o\n}\n",
        {}, rounding);
    EXPECT_EQ(fused.program.calls.size(), 1u);
    const Tensor zeros = tensor({5}, {-10, -10, -10, -10, -10});
    EXPECT_EQ(integers(run(fused.program, {tensor({5}, {-50, -10, -3, 0, 5}), zeros})),
              (std::vector{-10, -10, -3, 0, 5}));
  }
}

// A convolution with three output channels, of which `weights` are those of the second.
std::string three_channels(const std::string& weights) {
  return "graph @g(%x: i8[1,2,2,2]<0.1:0>) {\n  %w: f32[3,2,1,1] = constant [0.5, -0.25, " + weights +
         ", 0.125, 0.5]\n  %b: f32[3] = constant [0.0, 0.5, -0.5]\n"
         "  %o: i8[1,3,2,2]<0.05:-4> = aten.conv2d(%x, %w, %b)\n  return %o\n}\n";
}

// A05: a pruned channel gives its bias, and its neighbours do not notice.
TEST(KnownCases, A05DeadChannel) {
  const Tensor x = tensor({1, 2, 2, 2}, {10, -20, 30, 40, -8, 16, 24, -32});
  for (const Rounding rounding : kRoundings) {
    const auto alive = integers(run(compile_text(three_channels("0.25, 0.25"), {}, rounding).program, {x}));
    for (const char* weights : {"0.0, 0.0", "1e-12, -1e-12", "1e-31, 1e-31", "1e-40, 1e-40"}) {
      SCOPED_TRACE(weights);
      const auto got = integers(run(compile_text(three_channels(weights), {}, rounding).program, {x}));
      ASSERT_EQ(got.size(), 12u);
      for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i / 4 == 1 ? 6 : alive[i]) << i;
    }
  }
}

// A06: a bias far above what its natural scale holds in int32.
TEST(KnownCases, A06LargeBias) {
  const std::string graph =
      "graph @g(%x: i8[1,1]<0.5:0>) {\n  %w: f32[2,1] = constant [9.96e-8, -9.96e-8]\n"
      "  %b: f32[2] = constant [5.0, -4.5]\n  %o: i8[1,2]<0.05:0> = aten.linear(%x, %w, %b)\n  return "
      "%o\n}\n";
  for (const Rounding rounding : kRoundings)
    EXPECT_EQ(integers(run(compile_text(graph, {}, rounding).program, {tensor({1, 1}, {0})})),
              (std::vector{100, -90}));
}

// G01: an activation before a concatenation whose parts share parameters.
TEST(KnownCases, G01ActivationsBeforeConcatenation) {
  const std::string weights =
      "  %w: f32[2,2,1,1] = constant [0.5, -0.75, 0.25, 1.0]\n  %v: f32[2,2,1,1] = constant [-1.0, 0.5, "
      "0.125, 0.5]\n"
      "  %m: f32[2,2] = constant [0.5, -0.75, 0.25, 1.0]\n  %b: f32[2] = constant [0.25, -0.5]\n";
  const std::string image = "graph @g(%x: f32[1,2,3,5], %y: f32[1,2,3,5]) {\n" + weights,
                    type = ": f32[1,2,3,5] = ";
  const std::string end = "  %o: f32[1,4,3,5] = aten.cat(%r, %s) {dim=1}\n  return %o\n}\n";
  const std::string bodies[] = {
      "  %c" + type + "aten.conv2d(%x, %w, %b)\n  %r" + type + "aten.relu(%c)\n  %s" + type +
          "aten.conv2d(%y, %v, none)\n",
      "  %c" + type + "aten.conv2d(%x, %w, %b)\n  %r" + type + "aten.relu(%c)\n  %s" + type +
          "aten.alias(%y)\n",
      "  %c" + type + "aten.add(%x, %y)\n  %r" + type + "aten.relu(%c)\n  %s" + type + "aten.alias(%y)\n",
  };
  std::vector<std::string> graphs;
  for (const std::string& body : bodies) graphs.push_back(image + body + end);
  graphs.push_back("graph @g(%x: f32[7,2], %y: f32[7,2]) {\n" + weights +
                   "  %c: f32[7,2] = aten.linear(%x, %m, %b)\n  %r: f32[7,2] = aten.relu(%c)\n"
                   "  %o: f32[7,4] = aten.cat(%r, %y) {dim=1}\n  return %o\n}\n");
  Random random{test_seed()};
  for (const std::string& text : graphs) {
    SCOPED_TRACE(text);
    const Graph source = parse_graph(text).value();
    std::vector<Sample> samples(16);
    for (Sample& sample : samples)
      for (const ValueId id : source.inputs) {
        Tensor& x = sample.emplace_back(DType::float32, source.type(id).shape);
        for (float& value : x.as<float>()) value = static_cast<float>(random.unit() * 5 - 2);
      }
    for (const Rounding rounding : kRoundings) {
      const Model model = compile_text(text, samples, rounding);
      Evaluator fake(model.graph);
      int64_t outputs = 0, close = 0;
      for (const Sample& sample : samples) {
        std::vector<Tensor> inputs;
        for (size_t i = 0; i < sample.size(); ++i) {
          const TensorType& port = model.program.inputs[i].type;
          Tensor& q = inputs.emplace_back(DType::int8, port.shape);
          for (int64_t k = 0; k < q.elements(); ++k)
            q.set(k, rushlight::quantize(sample[i].at(k), port.quant));
        }
        const Tensor got = run(model.program, inputs);
        const Quantization& quant = model.program.outputs[0].type.quant;
        std::vector<Tensor> reals;
        for (size_t i = 0; i < inputs.size(); ++i)
          reals.push_back(dequantized(inputs[i], model.program.inputs[i].type.quant));
        const Tensor want = fake.run(reals).value().front();
        for (int64_t k = 0; k < got.elements(); ++k) {
          const double real = (got.at(k) - quant.zero_point()) * quant.scale();
          ++outputs;
          close += std::abs(real - want.at(k)) < 1.01 * quant.scale() ? 1 : 0;
        }
      }
      EXPECT_GE(static_cast<double>(close), 0.99 * static_cast<double>(outputs))
          << close << " of " << outputs;
    }
  }
}

}  // namespace
}  // namespace rushlight::e2e
