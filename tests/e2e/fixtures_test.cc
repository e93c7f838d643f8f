// SPDX-License-Identifier: Apache-2.0
// Every archive of tests/fixtures: compiled, run in the simulator against PyTorch's outputs, and on every
// core, in both rounding modes, against the simulator.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "import/npz/npz.h"
#include "tests/e2e/programs.h"

namespace rushlight::e2e {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  std::string name;  // "conv/linear_pt2e"
  bool quantized;    // PT2E

  std::string model() const { return source_file("tests/fixtures/" + name + ".pt2"); }
  std::string arrays() const { return source_file("tests/fixtures/" + name + ".npz"); }
};

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<Fixture> all_fixtures() {
  std::vector<Fixture> all;
  for (const char* folder : {"add", "add_pt2e", "conv", "import", "ops"})
    for (const auto& entry : fs::directory_iterator(source_file("tests/fixtures/") + folder)) {
      if (entry.path().extension() != ".pt2" || entry.path().stem() == "unsupported_three") continue;
      const std::string name = folder + ("/" + entry.path().stem().string());
      all.push_back({name, ends_with(folder, "_pt2e") || ends_with(name, "_pt2e")});
    }
  std::ranges::sort(all, {}, &Fixture::name);
  return all;
}

Result<Compiled> compile(const Fixture& fixture, Rounding rounding, const Target* target = nullptr) {
  CompileOptions options;
  options.model = fixture.model();
  if (!fixture.quantized) options.calibrate = {fixture.arrays()};
  if (fixture.name == "import/dynamic_batch") options.batch = 2;
  options.rounding = rounding;
  options.target = target;
  return compile_model(options);
}

constexpr Rounding kRoundings[] = {Rounding::single, Rounding::double_rounding};

// Bars for the ratio of signal to quantization noise against the float program. int8 over just the range of
// the data gives 40 to 50 dB for one tensor; a layer sums the noise of its input, weights and output.
double least_sqnr(const std::string& fixture, size_t output) {
  if (fixture.starts_with("add")) return 41;
  // floor, ceil, round and sign jump: where an input's rounding crosses a jump, the error is a whole step.
  if (fixture == "ops/functions" && output >= 30 && output <= 33) return 24;
  // Functions that are steep or flat over parts of the range lose what one scale for all of it costs.
  return fixture.starts_with("ops") ? 35 : 39;
}

// PT2E: PyTorch computes between the quantized tensors in float32 and rounds once; one rounding gives the
// same integers on all of these samples. Two roundings, and the means that TFLite folds, may be a step off.
double most_steps(Rounding rounding) { return rounding == Rounding::single ? 0 : 1; }

TEST(Fixtures, AreAllFound) { EXPECT_EQ(all_fixtures().size(), 122u); }

TEST(Fixtures, OutputsArePyTorchs) {
  fmt::print("{:<46} {:<7} {:>9} {:>8} {:>9}\n", "fixture", "rounding", "SQNR dB", "steps", "equal %");
  for (const Fixture& fixture : all_fixtures())
    for (const Rounding rounding : kRoundings) {
      SCOPED_TRACE(fixture.name + " " + std::string(name(rounding)));
      const auto compiled = compile(fixture, rounding);
      ASSERT_TRUE(compiled) << compiled.error().text();
      const auto samples = program_samples(*compiled, {fixture.arrays()});
      ASSERT_TRUE(samples) << samples.error().text();
      ASSERT_EQ(samples->size(), 8u);
      const Samples outputs = simulate(*compiled, *samples);
      const auto arrays = read_npz(fixture.arrays()).value();
      for (size_t o = 0; o < compiled->program.outputs.size(); ++o) {
        const std::string suffix = compiled->program.outputs.size() == 1 ? "" : std::to_string(o);
        if (!compiled->program.outputs[o].type.quantized()) continue;  // positions: below
        const std::vector<double> got = output_reals(*compiled, outputs, o);
        const std::vector<double> in_float =
            numbers(arrays.at((fixture.quantized ? "out_float" : "out") + suffix));
        ASSERT_EQ(got.size(), in_float.size());
        const double noise = sqnr(in_float, got);
        EXPECT_GE(noise, least_sqnr(fixture.name, o)) << "output " << o;
        if (!fixture.quantized) {
          fmt::print("{:<46} {:<7} {:>9.1f}\n", fixture.name + suffix, name(rounding), noise);
          continue;
        }
        const Quantization& quant = compiled->program.outputs[o].type.quant;
        ASSERT_TRUE(quant.is_set());
        const std::vector<double> converted = numbers(arrays.at("out" + suffix));
        const double steps = greatest_difference(converted, got) / quant.scale();
        int64_t equal = 0;
        for (size_t i = 0; i < got.size(); ++i)
          equal += std::abs(converted[i] - got[i]) < quant.scale() / 2 ? 1 : 0;
        fmt::print("{:<46} {:<7} {:>9.1f} {:>8.3f} {:>9.2f}\n", fixture.name + suffix, name(rounding), noise,
                   steps, 100.0 * static_cast<double>(equal) / static_cast<double>(got.size()));
        EXPECT_LT(steps, most_steps(rounding) + 0.01);
      }
    }
}

// argmax over integers finds an element that is the greatest but for the rounding of the input: half a step
// each.
TEST(Fixtures, PositionsAreOfTheGreatestElement) {
  const Fixture fixture{"ops/positions", false};
  const auto compiled = compile(fixture, Rounding::single).value();
  const auto samples = program_samples(compiled, {fixture.arrays()}).value();
  const Samples outputs = simulate(compiled, samples);
  const auto arrays = read_npz(fixture.arrays()).value();
  const double step = compiled.program.inputs[0].type.quant.scale();
  for (size_t s = 0; s < samples.size(); ++s) {
    // Output 0 is argmax(x, 1) of x [2, 5, 7].
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t c = 0; c < 7; ++c) {
        const auto at = static_cast<int64_t>(s) * 14 + n * 7 + c;
        const auto element = [&](double k) {
          return arrays.at(compiled.program.inputs[0].name)
              .at(static_cast<int64_t>(s) * 70 + (n * 5 + static_cast<int64_t>(k)) * 7 + c);
        };
        const double found = outputs[s][0].at(n * 7 + c);
        EXPECT_GE(element(found), element(arrays.at("out0").at(at)) - step) << "sample " << s;
      }
    EXPECT_EQ(outputs[s][0].dtype(), DType::int32);
  }
}

TEST(Fixtures, UnsupportedOpsAreRefused) {
  const auto compiled = compile({"import/unsupported_three", false}, Rounding::single);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().fault, Fault::no);
  for (const char* op : {"aten.erfinv", "aten.cumprod", "aten.fft_rfft"})
    EXPECT_THAT(compiled.error().text(), testing::HasSubstr(op));
  for (const Diagnostic& found : compiled.error().diagnostics)
    EXPECT_THAT(found.what, testing::HasSubstr("make_fixtures.py:"));
}

class FixturesOn : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(AllCores, FixturesOn, testing::ValuesIn(kTargets), test_name);

TEST_P(FixturesOn, EveryKernelCallGivesTheSimulatorsIntegers) {
  RUSHLIGHT_NEEDS_BOARDS();
  Recorder recorder;
  for (const Fixture& fixture : all_fixtures())
    for (const Rounding rounding : kRoundings) {
      const auto compiled = compile(fixture, rounding, find_target(GetParam().name));
      ASSERT_TRUE(compiled) << compiled.error().text();
      const auto samples = program_samples(*compiled, {fixture.arrays()});
      ASSERT_TRUE(samples) << samples.error().text();
      recorder.add(*compiled, *samples, fixture.name + " " + std::string(name(rounding)));
    }
  RecordProperty("calls", static_cast<int>(recorder.calls().size()));
  EXPECT_GT(recorder.calls().size(), 2000u);
  expect_same_on(GetParam(), recorder.calls());
}

// Whole libraries, emitted, cross-compiled and booted.
struct Whole {
  const char* fixture;
  Rounding rounding;
};
constexpr Whole kWhole[] = {
    {"add/rank_five_relu6", Rounding::single},
    {"add_pt2e/rank_mismatch_sub_alpha_three", Rounding::double_rounding},
    {"conv/adaptive_pool_uneven_pt2e", Rounding::double_rounding},
    {"conv/conv_odd", Rounding::single},
    {"conv/conv_stem_pt2e", Rounding::double_rounding},
    {"conv/depthwise_multiplier", Rounding::single},
    {"conv/linear_rank_three_relu_pt2e", Rounding::single},
    {"conv/mean_hw_keepdim", Rounding::double_rounding},
    {"import/cat_relu_pt2e", Rounding::single},
    {"import/dynamic_batch", Rounding::single},
    {"import/intermediate_output_pt2e", Rounding::single},
    {"import/two_inputs", Rounding::double_rounding},
    {"ops/conv_transpose", Rounding::double_rounding},
    {"ops/embedding", Rounding::single},
    {"ops/positions", Rounding::single},
    {"ops/softmaxes", Rounding::double_rounding},
    {"ops/upsample", Rounding::single},
};

TEST_P(FixturesOn, WholeLibrariesGiveTheSimulatorsIntegers) {
  RUSHLIGHT_NEEDS_BOARDS();
  for (const auto& [name, rounding] : kWhole) {
    const bool in_folder = std::string_view(name).starts_with("add_pt2e/");
    const Fixture fixture{name, in_folder || ends_with(name, "_pt2e")};
    SCOPED_TRACE(fixture.name);
    const auto compiled = compile(fixture, rounding, find_target(GetParam().name));
    ASSERT_TRUE(compiled) << compiled.error().text();
    const auto samples = program_samples(*compiled, {fixture.arrays()});
    ASSERT_TRUE(samples) << samples.error().text();
    const auto device = run_on_board(compiled->program, compiled->plan, firmware_files(*compiled), *samples);
    ASSERT_TRUE(device) << device.error().text();
    EXPECT_TRUE(device->selftest_passed);
    expect_equal(*compiled, simulate(*compiled, *samples), device->outputs);
  }
}

}  // namespace
}  // namespace rushlight::e2e
