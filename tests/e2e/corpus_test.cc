// SPDX-License-Identifier: Apache-2.0
// Models of a corpus outside of the source tree (RUSHLIGHT_SHARED, or ../shared); skipped where there is
// none.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "import/npz/npz.h"
#include "tests/e2e/programs.h"

namespace rushlight::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

#define RUSHLIGHT_NEEDS_CORPUS() \
  if (shared_folder().empty()) GTEST_SKIP() << "no corpus: neither RUSHLIGHT_SHARED nor ../shared holds one"

std::string corpus(const std::string& path) { return (shared_folder() / "corpus" / path).string(); }

struct FloatModel {
  const char* name;
  const char* arrays;
  const char* output;  // PyTorch's, an array
  double least_sqnr;   // dB
};
constexpr FloatModel kFloatModels[] = {
    {"et_kws_dscnn_bn", "et_kws_dscnn_bn", "y_torch", 20},
    {"mlperf_ad_autoencoder", "mlperf_ad_autoencoder", "y_torch", 40},
    {"mlperf_ad_autoencoder_bn", "mlperf_ad_autoencoder", "y_torch", 40},
};

Result<Compiled> compile(const FloatModel& model, Rounding rounding, const Target* target) {
  CompileOptions options;
  options.model = corpus(std::string("models/torch/") + model.name + ".pt2");
  options.calibrate = {corpus(std::string("models/torch/") + model.arrays + "_io.npz:x")};
  options.rounding = rounding;
  options.target = target;
  return compile_model(options);
}

Result<Samples> samples_of(const FloatModel& model, const Compiled& compiled, size_t limit = 0) {
  return program_samples(compiled, {corpus(std::string("models/torch/") + model.arrays + "_io.npz:x")},
                         limit);
}

TEST(Corpus, CalibratedModelsKeepTheirAnswers) {
  RUSHLIGHT_NEEDS_CORPUS();
  for (const FloatModel& model : kFloatModels)
    for (const Rounding rounding : {Rounding::single, Rounding::double_rounding}) {
      SCOPED_TRACE(model.name);
      const auto compiled = compile(model, rounding, nullptr);
      ASSERT_TRUE(compiled) << compiled.error().text();
      const auto samples = samples_of(model, *compiled);
      ASSERT_TRUE(samples) << samples.error().text();
      const Tensor torch =
          read_npz(corpus(std::string("models/torch/") + model.arrays + "_io.npz")).value().at(model.output);
      const std::vector<double> want = numbers(torch),
                                got = output_reals(*compiled, simulate(*compiled, *samples), 0);
      const auto columns = static_cast<size_t>(torch.shape().back());
      const std::vector<int64_t> wanted = argmax(want, columns), found = argmax(got, columns);
      int64_t same = 0;
      for (size_t i = 0; i < wanted.size(); ++i) same += wanted[i] == found[i] ? 1 : 0;
      fmt::print("{:<26} {:<7} SQNR {:>5.1f} dB, argmax kept {} of {}\n", model.name, name(rounding),
                 sqnr(want, got), same, wanted.size());
      EXPECT_GE(sqnr(want, got), model.least_sqnr);
      if (columns == 12) {
        EXPECT_EQ(found, wanted);
      }
    }
}

TEST(Corpus, CoresGiveTheSimulatorsIntegers) {
  RUSHLIGHT_NEEDS_CORPUS();
  RUSHLIGHT_NEEDS_BOARDS();
  for (const FloatModel& model : kFloatModels)
    for (const char* target : {"cortex-m4", "cortex-m55"}) {
      SCOPED_TRACE(fmt::format("{} {}", model.name, target));
      const auto compiled = compile(model, Rounding::single, find_target(target));
      ASSERT_TRUE(compiled) << compiled.error().text();
      const auto samples = samples_of(model, *compiled, 4);
      ASSERT_TRUE(samples) << samples.error().text();
      const auto device =
          run_on_board(compiled->program, compiled->plan, firmware_files(*compiled), *samples);
      ASSERT_TRUE(device) << device.error().text();
      EXPECT_TRUE(device->selftest_passed);
      expect_equal(*compiled, simulate(*compiled, *samples), device->outputs);
    }
}

TEST(Corpus, RefusalsNameExactlyWhatIsMissing) {
  RUSHLIGHT_NEEDS_CORPUS();
  using Ops = std::vector<std::string>;
  const std::pair<const char*, Ops> models[] = {
      {"mlperf_ic_resnet8", {"aten.pad", "aten.softmax"}},
      {"mlperf_ic_resnet8_bn", {"aten.pad", "aten.softmax"}},
      {"mlperf_kws_dscnn", {"aten.pad", "aten.softmax"}},
      {"mlperf_kws_dscnn_bn", {"aten.pad", "aten.softmax"}},
      {"mlperf_kws_dscnn_int8twin", {"aten.pad", "aten.softmax"}},
      {"mlperf_sww", {"aten.softmax"}},
      {"mlperf_sww_bn", {"aten.softmax"}},
      {"mlperf_vww_mobilenetv1", {"aten.pad", "aten.softmax"}},
  };
  for (const auto& [model, ops] : models) {
    CompileOptions options;
    options.model = corpus(std::string("models/torch/") + model + ".pt2");
    const Status checked = check_model(options);
    ASSERT_FALSE(checked) << model;
    EXPECT_EQ(checked.error().fault, Fault::no);
    ASSERT_EQ(checked.error().diagnostics.size(), ops.size()) << checked.error().text();
    for (size_t i = 0; i < ops.size(); ++i) {
      EXPECT_THAT(checked.error().text(), HasSubstr(ops[i]));
      EXPECT_THAT(checked.error().diagnostics[i].what, HasSubstr("torch_models.py:"));
    }
  }
}

// Every PT2E archive that can be compiled; "in<S>_<I>", "out<S>_<J>": sample S, input or output.
TEST(Corpus, QuantizedModelsAreWithinAFewStepsOfPyTorch) {
  RUSHLIGHT_NEEDS_CORPUS();
  fmt::print("{:<32} {:<7} {:>8} {:>10} {:>9} {:>13}\n", "archive", "mode", "outputs", "max steps", "equal %",
             "SQNR float dB");
  std::vector<fs::path> archives;
  for (const auto& entry : fs::directory_iterator(corpus("pt2e")))
    if (entry.path().extension() == ".pt2") archives.push_back(entry.path());
  std::ranges::sort(archives);
  int compiled_models = 0;
  for (const fs::path& archive : archives)
    for (const Rounding rounding : {Rounding::single, Rounding::double_rounding}) {
      SCOPED_TRACE(archive.filename().string());
      CompileOptions options;
      options.model = archive.string();
      options.rounding = rounding;
      const auto compiled = compile_model(options);
      if (!compiled) {
        EXPECT_EQ(compiled.error().fault, Fault::no) << compiled.error().text();
        continue;
      }
      ++compiled_models;
      const auto arrays = read_npz(fs::path(archive).replace_extension(".npz").string()).value();
      const std::vector<SampleInput> inputs = compiled->inputs();
      std::vector<double> want, in_float;
      Samples samples;
      for (int s = 0; arrays.contains(fmt::format("in{}_0", s)); ++s) {
        std::vector<Tensor>& sample = samples.emplace_back();
        for (size_t i = 0; i < inputs.size(); ++i)
          sample.push_back(quantized_input(arrays.at(fmt::format("in{}_{}", s, i)), inputs[i]));
        for (const auto& [prefix, list] : {std::pair{"out", &want}, std::pair{"float", &in_float}}) {
          const std::vector<double> one = numbers(arrays.at(fmt::format("{}{}_0", prefix, s)));
          list->insert(list->end(), one.begin(), one.end());
        }
      }
      const std::vector<double> got = output_reals(*compiled, simulate(*compiled, samples), 0);
      ASSERT_EQ(got.size(), want.size());
      const TensorType& type = compiled->program.outputs[0].type;
      const double step = type.quant.is_set() ? type.quant.scale() : 0;
      int64_t equal = 0;
      for (size_t i = 0; i < got.size(); ++i) equal += std::abs(got[i] - want[i]) < step / 2 ? 1 : 0;
      fmt::print("{:<32} {:<7} {:>8} {:>10.2f} {:>9.2f} {:>13.1f}\n", archive.stem().string(), name(rounding),
                 got.size(), greatest_difference(want, got) / step,
                 100.0 * static_cast<double>(equal) / static_cast<double>(got.size()), sqnr(in_float, got));
      // Rounding differences of single layers add up with depth.
      EXPECT_GE(sqnr(want, got), rounding == Rounding::single ? 30 : 24);
    }
  EXPECT_GE(compiled_models, 2 * 7);
}

}  // namespace
}  // namespace rushlight::e2e
