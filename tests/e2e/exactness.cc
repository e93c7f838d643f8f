// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/exactness.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "cortex_m/lower.h"
#include "ir/text.h"
#include "passes/pipeline.h"
#include "plan/plan.h"
#include "sim/simulator.h"
#include "types/real_text.h"

namespace rushlight::e2e {

constexpr double kLeastEqual = 0.995;
constexpr double kTie =
    1e-10;  // of a step: far above the error of double, far below the distance of any other sum

std::string Quant::text() const { return fmt::format("<{}:{}>", real_text(scale), zero_point); }

Quant random_quant(Random& random, double greatest_real) {
  const double scale = greatest_real / 127 * std::exp2(random.unit() * 1.6 - 0.8);
  return {random.chance(50) ? scale : static_cast<double>(static_cast<float>(scale)),
          random.pick({-128, 127, 0, random.in(-100, 100), random.in(-20, 20)})};
}

std::string Clamp::text() const {
  if (std::isinf(lo) && std::isinf(hi)) return "";
  return fmt::format(" clamp=[{}, {}]", real_text(lo), real_text(hi));
}

// Bounds become integers as PyTorch's quantization makes them, half to even.
kernels::OutputRange Clamp::range(const Quant& out) const {
  const auto integer = [&](double bound, int32_t unbounded) {
    if (std::isinf(bound)) return unbounded;
    const double q = reference::round_half_even(bound / out.scale) + out.zero_point;
    return static_cast<int32_t>(std::fmax(-128, std::fmin(127, q)));
  };
  return {out.zero_point, integer(lo, -128), integer(hi, 127)};
}

Clamp random_clamp(Random& random, const Quant& out) {
  const double infinite = std::numeric_limits<double>::infinity();
  switch (random.in(0, 4)) {
    case 0:
      return {0, infinite};  // relu
    case 1:
      return {0, out.scale * random.in(20, 120)};  // relu6
    case 2:
      return {-out.scale * random.in(1, 60), out.scale * random.in(1, 60)};  // hardtanh
    default:
      return {-infinite, infinite};
  }
}

kernels::Factor exact_factor(double real) {
  int e = 0;
  auto q = static_cast<int64_t>(std::round(std::ldexp(std::frexp(real, &e), 31)));
  if (q == int64_t{1} << 31) q = int64_t{1} << 30, ++e;
  return real < 0x1p-32 ? kernels::Factor{0, 0} : kernels::Factor{static_cast<int32_t>(q), e};
}

kernels::Factor exact_mean_factor(double real, Rounding rounding) {
  if (rounding == Rounding::double_rounding) return exact_factor(real);
  int e = 0;
  auto q = static_cast<int64_t>(std::ceil(std::ldexp(std::frexp(real, &e), 31)));
  if (q == int64_t{1} << 31) q = int64_t{1} << 30, ++e;
  return {static_cast<int32_t>(q), e};
}

Fake fake_quantize(double real, const Quant& out, const kernels::OutputRange& range) {
  const double q = std::floor(real / out.scale + 0.5 + kTie) + out.zero_point;
  return {static_cast<int8_t>(std::fmax(range.lo, std::fmin(range.hi, q)))};
}

std::string shape_text(const reference::Ints& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

Tensor int8_tensor(const reference::Ints& shape, const reference::Bytes& values) {
  return Tensor::of<int8_t>(Shape(shape.begin(), shape.end()), values);
}

Tensor run_graph(const std::string& text, Rounding rounding, const std::vector<Tensor>& inputs) {
  Result<Graph> graph = parse_graph(text);
  if (!graph) throw std::logic_error(graph.error().text());
  if (const Result<bool> done = run_passes(*graph, kIntegerPasses); !done)
    throw std::logic_error(done.error().text());
  const Result<Program> program = lower(*graph, {rounding, nullptr});
  if (!program) throw std::logic_error(program.error().text());
  const Plan planned = plan(*program);
  if (const Status checked = check(*program, planned); !checked)
    throw std::logic_error(checked.error().text());
  Simulator simulator(*program, planned);
  return simulator.run(inputs).value().front();
}

void Tally::run(const Trial& trial, Rounding rounding) {
  SCOPED_TRACE(trial.graph);
  Count& count = counts_[{trial.op, rounding}];
  const Tensor result = run_graph(trial.graph, rounding, trial.inputs);
  const auto got = result.as<int8_t>();
  ASSERT_EQ(got.size(), trial.exact.size());
  ASSERT_EQ(got.size(), trial.fake.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Fake fake = trial.fake[i];
    ++count.outputs;
    count.equal_exact += got[i] == trial.exact[i] ? 1 : 0;
    count.ties += fake.tie ? 1 : 0;
    count.equal_fake += !fake.tie && got[i] == fake.integer ? 1 : 0;
    ASSERT_EQ(int{got[i]}, int{trial.exact[i]}) << "element " << i << " in " << name(rounding) << " rounding";
    ASSERT_LE(std::abs(got[i] - fake.integer), 1)
        << "element " << i << " in " << name(rounding) << " rounding: " << int{got[i]}
        << ", fake quantization gives " << int{fake.integer};
  }
}

void Tally::finish() const {
  fmt::print("{:<24} {:<7} {:>8} {:>15} {:>8} {:>28}\n", "operator", "mode", "outputs", "exact, equal %",
             "ties %", "double fake, others equal %");
  for (const auto& [key, count] : counts_) {
    const auto percent = [](int64_t part, int64_t of) {
      return 100 * static_cast<double>(part) / static_cast<double>(of);
    };
    const double equal = percent(count.equal_fake, count.outputs - count.ties);
    fmt::print("{:<24} {:<7} {:>8} {:>15.3f} {:>8.3f} {:>28.3f}\n", key.first, name(key.second),
               count.outputs, percent(count.equal_exact, count.outputs), percent(count.ties, count.outputs),
               equal);
    EXPECT_EQ(count.equal_exact, count.outputs) << key.first;
    if (key.second == Rounding::single) {
      EXPECT_GE(equal, 100 * kLeastEqual) << key.first;
    }
  }
}

uint64_t test_seed() {
  const char* text = std::getenv("RUSHLIGHT_TEST_SEED");
  const uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 20260102;
  fmt::print("RUSHLIGHT_TEST_SEED={}\n", seed);
  return seed;
}

}  // namespace rushlight::e2e
