// SPDX-License-Identifier: Apache-2.0
// Trained networks of the corpus: accuracy against float, and the emulated cores against the simulator.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "eval/evaluator.h"
#include "import/import.h"
#include "tests/e2e/corpus.h"

namespace rushlight::e2e {
namespace {

enum class Rule {
  every_argmax,    // each sample keeps its class
  clear_argmax,    // each sample whose two best float logits are more than 1 apart keeps its class
  reconstruction,  // no classes
};

struct FloatModel {
  const char* name;
  const char* arrays;
  Rule rule;
  double least_sqnr;  // dB, of what stands before a softmax
};
// Bars measured with plain per-channel quantization on the same samples.
constexpr FloatModel kFloatModels[] = {
    {"et_kws_dscnn_bn", "et_kws_dscnn_bn", Rule::every_argmax, 20},
    {"mlperf_kws_dscnn", "mlperf_kws_dscnn", Rule::every_argmax, 20},
    {"mlperf_kws_dscnn_bn", "mlperf_kws_dscnn", Rule::every_argmax, 20},
    {"mlperf_kws_dscnn_int8twin", "mlperf_kws_dscnn_int8twin", Rule::every_argmax, 20},
    {"mlperf_sww", "mlperf_sww", Rule::every_argmax, 30},
    {"mlperf_sww_bn", "mlperf_sww", Rule::every_argmax, 30},
    {"mlperf_vww_mobilenetv1", "mlperf_vww_mobilenetv1", Rule::every_argmax, 28},
    {"mlperf_ic_resnet8", "mlperf_ic_resnet8", Rule::clear_argmax, 28},
    {"mlperf_ic_resnet8_bn", "mlperf_ic_resnet8", Rule::clear_argmax, 28},
    {"mlperf_ad_autoencoder", "mlperf_ad_autoencoder", Rule::reconstruction, 40},
    {"mlperf_ad_autoencoder_bn", "mlperf_ad_autoencoder", Rule::reconstruction, 40},
};

CompileOptions options_of(const FloatModel& model, Rounding rounding, const Target* target) {
  CompileOptions options;
  options.model = corpus(std::string("models/torch/") + model.name + ".pt2");
  options.calibrate = {corpus(std::string("models/torch/") + model.arrays + "_io.npz:x")};
  options.rounding = rounding;
  options.target = target;
  return options;
}

Result<Samples> samples_of(const FloatModel& model, const Compiled& compiled, size_t limit = 0) {
  return program_samples(compiled, {corpus(std::string("models/torch/") + model.arrays + "_io.npz:x")},
                         limit);
}

// The graph without a softmax at its end.
Graph up_to_logits(Graph graph) {
  for (const Node& node : graph.nodes)
    if (node.op == "aten.softmax"_op && node.result() == graph.outputs[0])
      graph.outputs[0] = node.operands[0];
  graph.remove_dead();
  return graph;
}

std::vector<double> float_logits(const FloatModel& model) {
  const CompileOptions options = options_of(model, Rounding::single, nullptr);
  const Graph graph = up_to_logits(import_model(options.model, {}).value());
  Evaluator evaluator(graph);
  std::vector<double> all;
  const auto samples = read_samples(options.calibrate, sample_inputs(graph), "").value();
  for (const Sample& sample : samples) {
    const std::vector<double> one = numbers(evaluator.run(sample).value()[0]);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

double top_two_margin(const std::vector<double>& logits, size_t row, size_t columns) {
  std::vector<double> sorted(logits.begin() + static_cast<std::ptrdiff_t>(row * columns),
                             logits.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns));
  std::ranges::sort(sorted, std::greater<>());
  return sorted[0] - sorted[1];
}

class CorpusModel : public testing::TestWithParam<FloatModel> {};
std::string model_name(const testing::TestParamInfo<FloatModel>& tested) { return tested.param.name; }
INSTANTIATE_TEST_SUITE_P(Trained, CorpusModel, testing::ValuesIn(kFloatModels), model_name);

void PrintTo(const FloatModel& model, std::ostream* out) { *out << model.name; }

TEST_P(CorpusModel, KeepsItsAnswers) {
  RUSHLIGHT_NEEDS_CORPUS();
  const FloatModel& model = GetParam();
  const std::vector<double> logits = float_logits(model);
  const Tensor torch =
      read_npz(corpus(std::string("models/torch/") + model.arrays + "_io.npz")).value().at("y_torch");
  const auto columns = static_cast<size_t>(torch.shape().back());
  const std::vector<int64_t> wanted = argmax(numbers(torch), columns);
  for (const Rounding rounding : {Rounding::single, Rounding::double_rounding}) {
    const CompileOptions options = options_of(model, rounding, nullptr);
    auto graph = compile_graph(options);
    ASSERT_TRUE(graph) << graph.error().text();
    const auto compiled = compile_program(**graph, options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    const auto to_logits = compile_program(up_to_logits(**graph), options);
    ASSERT_TRUE(to_logits) << to_logits.error().text();
    const auto samples = samples_of(model, *compiled);
    ASSERT_TRUE(samples) << samples.error().text();
    const std::vector<double> found_logits = output_reals(*to_logits, simulate(*to_logits, *samples), 0);
    const std::vector<int64_t> found =
        argmax(output_reals(*compiled, simulate(*compiled, *samples), 0), columns);
    int64_t same = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      same += wanted[i] == found[i] ? 1 : 0;
      if (model.rule == Rule::reconstruction || wanted[i] == found[i]) continue;
      EXPECT_TRUE(model.rule == Rule::clear_argmax && top_two_margin(logits, i, columns) <= 1.0)
          << "sample " << i << " changed its class with a float margin of "
          << top_two_margin(logits, i, columns);
    }
    fmt::print("{:<28} {:<7} SQNR {:>5.1f} dB, argmax kept {} of {}\n", model.name, name(rounding),
               sqnr(logits, found_logits), same, wanted.size());
    EXPECT_GE(sqnr(logits, found_logits), model.least_sqnr);
  }
}

TEST_P(CorpusModel, CoresGiveTheSimulatorsIntegers) {
  RUSHLIGHT_NEEDS_CORPUS();
  RUSHLIGHT_NEEDS_BOARDS();
  const FloatModel& model = GetParam();
  std::vector<const char*> targets = {"cortex-m4", "cortex-m55"};
  if (run_everything()) targets = {"cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55"};
  for (const char* target : targets) {
    SCOPED_TRACE(target);
    const auto compiled = compile_model(options_of(model, Rounding::single, find_target(target)));
    ASSERT_TRUE(compiled) << compiled.error().text();
    const auto samples = samples_of(model, *compiled, run_everything() ? 0 : 1);
    ASSERT_TRUE(samples) << samples.error().text();
    const auto device = run_on_board(compiled->program, compiled->plan, firmware_files(*compiled), *samples);
    ASSERT_TRUE(device) << device.error().text();
    EXPECT_TRUE(device->selftest_passed);
    expect_equal(*compiled, simulate(*compiled, *samples), device->outputs);
  }
}

// int16 activations leave the error of int8 weights alone: 3 to 35 dB less than int8 activations do.
TEST_P(CorpusModel, Int16Activations) {
  RUSHLIGHT_NEEDS_CORPUS();
  RUSHLIGHT_NEEDS_BOARDS();
  const FloatModel& model = GetParam();
  std::vector<const char*> targets = {"cortex-m4", "cortex-m55"};
  if (run_everything()) targets = {"cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55"};
  for (const char* target : targets) {
    SCOPED_TRACE(target);
    CompileOptions options = options_of(model, Rounding::single, find_target(target));
    options.quantize.activations = DType::int16;
    auto graph = compile_graph(options);
    ASSERT_TRUE(graph) << graph.error().text();
    const auto compiled = compile_program(up_to_logits(**graph), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    const auto samples = samples_of(model, *compiled);
    ASSERT_TRUE(samples) << samples.error().text();
    const Samples outputs = simulate(*compiled, *samples);
    const double found = sqnr(float_logits(model), output_reals(*compiled, outputs, 0));
    fmt::print("{:<28} int16 activations: SQNR {:>5.1f} dB\n", model.name, found);
    EXPECT_GE(found, model.least_sqnr + 6);
    const Samples first(samples->begin(), samples->begin() + 1);
    const auto device = run_on_board(compiled->program, compiled->plan, firmware_files(*compiled), first);
    ASSERT_TRUE(device) << device.error().text();
    EXPECT_TRUE(device->selftest_passed);
    expect_equal(*compiled, {outputs[0]}, device->outputs);
  }
}

}  // namespace
}  // namespace rushlight::e2e
