// SPDX-License-Identifier: Apache-2.0
// The digits model, float with calibration and PT2E: accuracy against PyTorch, every core against the
// simulator, and how long a compile takes.
#include <fmt/format.h>

#include <chrono>

#include "import/npz/npz.h"
#include "tests/e2e/programs.h"

namespace rushlight::e2e {
namespace {

constexpr size_t kDigits = 10;
constexpr double kAccuracySlack = 0.005;
constexpr size_t kBoardSamples = 50;

enum class Kind { calibrated, pt2e };

std::string file(const char* name) { return source_file(std::string("models/digits/") + name); }

CompileOptions options(Kind kind, Rounding rounding, const Target* target) {
  CompileOptions options;
  options.model = file(kind == Kind::calibrated ? "digits.pt2" : "digits_pt2e.pt2");
  if (kind == Kind::calibrated) options.calibrate = {file("digits_calib.npz:x")};
  options.rounding = rounding;
  options.target = target;
  return options;
}

double accuracy(const std::vector<int64_t>& predictions, const Tensor& labels) {
  int64_t right = 0;
  for (size_t i = 0; i < predictions.size(); ++i)
    right += predictions[i] == static_cast<int64_t>(labels.at(static_cast<int64_t>(i))) ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(predictions.size());
}

TEST(Digits, AccuracyIsThatOfPyTorch) {
  const auto arrays = read_npz(file("digits_test.npz")).value();
  const Tensor& labels = arrays.at("y");
  const auto torch = [&](const char* name) { return argmax(numbers(arrays.at(name)), kDigits); };
  const double in_float = accuracy(torch("logits_float"), labels),
               converted = accuracy(torch("logits_pt2e"), labels);
  for (const Kind kind : {Kind::calibrated, Kind::pt2e})
    for (const Rounding rounding : {Rounding::single, Rounding::double_rounding}) {
      const auto compiled = compile_model(options(kind, rounding, nullptr));
      ASSERT_TRUE(compiled) << compiled.error().text();
      const auto samples = program_samples(*compiled, {file("digits_test.npz:x")});
      ASSERT_TRUE(samples) << samples.error().text();
      ASSERT_EQ(samples->size(), 450u);
      const std::vector<double> logits = output_reals(*compiled, simulate(*compiled, *samples), 0);
      const double measured = accuracy(argmax(logits, kDigits), labels);
      const double noise =
          sqnr(numbers(arrays.at(kind == Kind::calibrated ? "logits_float" : "logits_pt2e")), logits);
      fmt::print(
          "digits {:<10} {:<6}: {:.2f} % (float {:.2f} %, PT2E {:.2f} %), logits within {:.1f} dB of "
          "torch's\n",
          kind == Kind::calibrated ? "calibrated" : "pt2e", name(rounding), 100 * measured, 100 * in_float,
          100 * converted, noise);
      EXPECT_GE(measured, in_float - kAccuracySlack);
      EXPECT_GE(measured, converted - kAccuracySlack);
    }
}

class DigitsOn : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(AllCores, DigitsOn, testing::ValuesIn(kTargets), test_name);

void expect_simulators_integers(Kind kind, Rounding rounding, const Target& target) {
  SCOPED_TRACE(fmt::format("{} {}", kind == Kind::calibrated ? "calibrated" : "pt2e", name(rounding)));
  const auto compiled = compile_model(options(kind, rounding, find_target(target.name)));
  ASSERT_TRUE(compiled) << compiled.error().text();
  const auto samples = program_samples(*compiled, {file("digits_test.npz:x")}, kBoardSamples);
  ASSERT_TRUE(samples) << samples.error().text();
  const auto device = run_on_board(compiled->program, compiled->plan, firmware_files(*compiled), *samples);
  ASSERT_TRUE(device) << device.error().text();
  EXPECT_TRUE(device->selftest_passed);
  EXPECT_EQ(device->instructions_per_call.size(), compiled->program.calls.size());
  expect_equal(*compiled, simulate(*compiled, *samples), device->outputs);
}

TEST_P(DigitsOn, EqualsTheSimulator) {
  RUSHLIGHT_NEEDS_BOARDS();
  for (const Kind kind : {Kind::calibrated, Kind::pt2e})
    expect_simulators_integers(kind, Rounding::single, GetParam());
}

// One core of each ISA level.
class DigitsInDoubleRoundingOn : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Cores, DigitsInDoubleRoundingOn,
                         testing::Values(*find_target("cortex-m0"), *find_target("cortex-m4"),
                                         *find_target("cortex-m55")),
                         test_name);

TEST_P(DigitsInDoubleRoundingOn, EqualsTheSimulator) {
  RUSHLIGHT_NEEDS_BOARDS();
  for (const Kind kind : {Kind::calibrated, Kind::pt2e})
    expect_simulators_integers(kind, Rounding::double_rounding, GetParam());
}

TEST(Digits, CompilesInAFifthOfASecond) {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "times are those of release builds";
#endif
  for (const Kind kind : {Kind::calibrated, Kind::pt2e}) {
    double best = 1e9;
    // The least of several: the machine may be busy.
    for (int attempt = 0; attempt < 8; ++attempt) {
      const auto start = std::chrono::steady_clock::now();
      const auto compiled = compile_model(options(kind, Rounding::single, find_target("cortex-m4")));
      ASSERT_TRUE(compiled) << compiled.error().text();
      EXPECT_FALSE(firmware_files(*compiled).empty());
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      best = std::min(best, seconds.count());
    }
    fmt::print("digits {} compiles in {:.3f} s\n", kind == Kind::calibrated ? "calibrated" : "pt2e", best);
    EXPECT_LT(best, 0.2);
  }
}

}  // namespace
}  // namespace rushlight::e2e
