// SPDX-License-Identifier: Apache-2.0
// Products, transposed convolution, sums, softmax and functions of one tensor, in both rounding modes.
#include <algorithm>
#include <functional>

#include "tests/e2e/trials.h"

namespace rushlight::e2e {
namespace {

// Two activations of given shapes.
struct Pair {
  Quant a, b, out;
  Clamp clamp;
  Bytes left, right;

  Pair(Random& random, const Ints& of_a, const Ints& of_b, double terms)
      : a(random_quant(random, 3)),
        b(random_quant(random, 2)),
        out(random_quant(random, 73 * 73 * std::sqrt(terms) * a.scale * b.scale)),
        clamp(random_clamp(random, out)),
        left(random.bytes(reference::count(of_a))),
        right(random.bytes(reference::count(of_b))) {}

  Trial trial(const std::string& op, const Ints& of_a, const Ints& of_b, const Ints& result) const {
    return {op,
            fmt::format("graph @g(%a: i8{}{}, %b: i8{}{}) {{\n  %o: i8{}{} = {}(%a, %b){}\n  return %o\n}}\n",
                        shape_text(of_a), a.text(), shape_text(of_b), b.text(), shape_text(result),
                        out.text(), op, clamp.text()),
            {int8_tensor(of_a, left), int8_tensor(of_b, right)},
            {},
            {}};
  }
  void push(Trial& trial, Rounding rounding, Wide acc) const {
    const double factor = a.scale * b.scale;
    trial.exact.push_back(
        reference::requantize(mode_of(rounding), acc, exact_factor(factor / out.scale), clamp.range(out)));
    trial.fake.push_back(fake_quantize(static_cast<double>(acc) * factor, out, clamp.range(out)));
  }
};

Trial mul(Random& random, Rounding rounding) {
  const Ints of_a = {2, random.in(1, 4), random.in(1, 5)};
  const Ints of_b = random.pick<Ints>({of_a, {of_a[1], 1}, {1}, {2, 1, of_a[2]}});
  const Pair pair(random, of_a, of_b, 1);
  Trial trial = pair.trial("aten.mul", of_a, of_b, of_a);
  reference::for_each_index(of_a, [&](const Ints& at) {
    const Ints strides = reference::row_major(of_b);
    int32_t offset = 0;
    for (size_t d = 0; d < of_b.size(); ++d)
      offset += of_b[d] == 1 ? 0 : strides[d] * at[at.size() - of_b.size() + d];
    const Wide x = pair.left[trial.exact.size()] - pair.a.zero_point;
    pair.push(trial, rounding, x * (pair.right[static_cast<size_t>(offset)] - pair.b.zero_point));
  });
  return trial;
}

Trial matmul(Random& random, Rounding rounding) {
  const int32_t batch = random.in(1, 3), rows = random.in(1, 4), depth = random.in(1, 40),
                columns = random.in(1, 5);
  const bool shared = random.chance(40);
  const Ints of_a = {batch, rows, depth}, of_b = {shared ? 1 : batch, depth, columns};
  const Pair pair(random, of_a, of_b, depth);
  Trial trial = pair.trial("aten.matmul", of_a, of_b, {batch, rows, columns});
  reference::for_each_index({batch, rows, columns}, [&](const Ints& at) {
    Wide acc = 0;
    for (int32_t k = 0; k < depth; ++k)
      acc += Wide{pair.left[static_cast<size_t>((at[0] * rows + at[1]) * depth + k)] - pair.a.zero_point} *
             (pair.right[static_cast<size_t>(((shared ? 0 : at[0]) * depth + k) * columns + at[2])] -
              pair.b.zero_point);
    pair.push(trial, rounding, acc);
  });
  return trial;
}

// Scattered from the inputs, as the operator is defined.
Trial conv_transpose(Random& random, Rounding rounding) {
  const int32_t groups = random.pick({1, 1, 2, 3}), depth = random.in(1, 3), per_group = random.in(1, 3);
  const int32_t kernel[2] = {random.in(1, 4), random.in(1, 4)},
                stride[2] = {random.in(1, 3), random.in(1, 3)};
  const int32_t dilation[2] = {random.in(1, 2), random.in(1, 2)};
  int32_t in[2], pad[2], extra[2], out[2];
  for (int d = 0; d < 2; ++d) {
    in[d] = random.in(2, 5);
    pad[d] = random.in(0, dilation[d] * (kernel[d] - 1) / 2);
    extra[d] = random.in(0, std::max(stride[d], dilation[d]) - 1);
    out[d] = (in[d] - 1) * stride[d] - 2 * pad[d] + dilation[d] * (kernel[d] - 1) + extra[d] + 1;
  }
  const int32_t channels = groups * per_group;
  const Quant from = random_quant(random, 3);
  const Weights w(random, channels, depth * kernel[0] * kernel[1], from.scale);
  const Unary u(random, {1, groups * depth, in[0], in[1]}, {1, channels, out[0], out[1]}, from,
                random_quant(random, w.reach()));
  Trial trial = u.trial(
      "aten.conv_transpose2d",
      fmt::format(
          "({}) {{stride=[{},{}], padding=[{},{}], output_padding=[{},{}], groups={}, dilation=[{},{}]}}",
          w.operands(), stride[0], stride[1], pad[0], pad[1], extra[0], extra[1], groups, dilation[0],
          dilation[1]),
      w.constants({channels, depth, kernel[0], kernel[1]}));
  std::vector<Wide> sums(static_cast<size_t>(channels * out[0] * out[1]));
  reference::for_each_index({channels, depth, in[0], in[1], kernel[0], kernel[1]}, [&](const Ints& k) {
    const int32_t y = k[2] * stride[0] - pad[0] + k[4] * dilation[0];
    const int32_t x = k[3] * stride[1] - pad[1] + k[5] * dilation[1];
    if (y < 0 || x < 0 || y >= out[0] || x >= out[1]) return;
    sums[static_cast<size_t>((k[0] * out[0] + y) * out[1] + x)] +=
        Wide{u.tap(0, k[0] / per_group * depth + k[1], k[2], k[3])} *
        w.weight(k[0], (k[1] * kernel[0] + k[4]) * kernel[1] + k[5]);
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto c = static_cast<int32_t>(i) / (out[0] * out[1]);
    const Wide acc = sums[i] + w.added(c);
    const double product = from.scale * w.scale(c);
    u.push(trial, rounding, acc, product / u.out.scale, static_cast<double>(acc) * product);
  }
  return trial;
}

Trial sum(Random& random, Rounding rounding) {
  const int32_t rows = random.in(1, 6), n = random.in(1, 20);
  const Quant in = random_quant(random, 3);
  const Unary u(random, {rows, n}, {rows}, in, random_quant(random, 3 * std::sqrt(n)));
  Trial trial = u.trial("aten.sum", "(%x) {dim=[1]}");
  for (int32_t r = 0; r < rows; ++r) {
    Wide acc = 0;
    for (int32_t i = 0; i < n; ++i) acc += u.values[static_cast<size_t>(r * n + i)] - in.zero_point;
    u.push_mean(trial, rounding, acc, in.scale / u.out.scale, static_cast<double>(acc) * in.scale);
  }
  return trial;
}

// The table's integers: the real function, rounded half to even.
Trial function(Random& random, Rounding /*rounding*/) {
  struct Function {
    const char* op;
    double (*real)(double);
  };
  const Function f = random.pick<Function>({{"aten.sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
                                            {"aten.tanh", [](double x) { return std::tanh(x); }},
                                            {"aten.exp", [](double x) { return std::exp(x); }},
                                            {"aten.square", [](double x) { return x * x; }}});
  const Quant in = random_quant(random, 3);
  Unary u(random, {64}, {64}, in, random_quant(random, 2));
  u.clamp = {-INFINITY, INFINITY};
  Trial trial = u.trial(f.op, "(%x)");
  trial.op = "functions";
  for (const int8_t q : u.values) {
    const double real = f.real(in.real(q));
    const double scaled = std::nearbyint(real / u.out.scale) + u.out.zero_point;
    trial.exact.push_back(static_cast<int8_t>(std::fmin(127, std::fmax(-128, scaled))));
    trial.fake.push_back(fake_quantize(real, u.out, u.range()));
  }
  return trial;
}

// `single`: exponentials as integers, the quotient rounded half up. TFLite's own fixed point in `double` is
// compared with CMSIS-NN's vectors and in the kernel's cases.
Trial softmax(Random& random) {
  const int32_t rows = random.in(1, 3), n = random.in(1, 20);
  Unary u(random, {rows, n}, {rows, n}, random_quant(random, random.pick({1.0, 4.0, 12.0})),
          {1.0 / 256, -128});
  u.clamp = {-INFINITY, INFINITY};
  Trial trial = u.trial("aten.softmax", "(%x) {dim=-1}");
  const int bits = std::min(24, 31 - static_cast<int>(std::ceil(std::log2(std::max(n, 2)))));
  for (int32_t r = 0; r < rows; ++r) {
    const auto row = u.values.begin() + r * n;
    const int32_t greatest = *std::max_element(row, row + n);
    std::vector<int64_t> e;
    Wide total = 0;
    double real_total = 0;
    for (int32_t i = 0; i < n; ++i) {
      const double exponential = std::exp(-(greatest - row[i]) * u.in.scale);
      e.push_back(std::llround(std::ldexp(exponential, bits)));
      total += e.back();
      real_total += exponential;
    }
    for (int32_t i = 0; i < n; ++i) {
      trial.exact.push_back(reference::clamp(
          reference::round_half_up(Wide{e[static_cast<size_t>(i)]} * 256, total) - 128, -128, 127));
      trial.fake.push_back(
          fake_quantize(std::exp(-(greatest - row[i]) * u.in.scale) / real_total, u.out, {-128, -128, 127}));
    }
  }
  return trial;
}

TEST(ProductsExactness, EveryOperatorInBothModes) {
  Random random{test_seed()};
  const std::function<Trial(Random&, Rounding)> makers[] = {mul, matmul, conv_transpose, sum, function};
  Tally tally;
  for (const auto& make : makers)
    for (int round = 0; round < 250; ++round)
      for (const Rounding rounding : {Rounding::single, Rounding::double_rounding}) {
        tally.run(make(random, rounding), rounding);
        if (HasFatalFailure()) return;
      }
  for (int round = 0; round < 250; ++round) {
    tally.run(softmax(random), Rounding::single);
    if (HasFatalFailure()) return;
  }
  tally.finish();
}

}  // namespace
}  // namespace rushlight::e2e
