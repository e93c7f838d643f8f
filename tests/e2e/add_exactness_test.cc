// SPDX-License-Identifier: Apache-2.0
// Additions and subtractions with alpha, over twelve ways of broadcasting.
#include <fmt/format.h>

#include <cmath>

#include "tests/e2e/exactness.h"
#include "types/real_text.h"

namespace rushlight::e2e {
namespace {

using reference::Bytes;
using reference::Ints;
using reference::Wide;

struct Broadcast {
  Ints a, b, out;
};

const std::vector<Broadcast> kBroadcasts = {
    {{1, 5, 7, 3}, {1, 5, 7, 3}, {1, 5, 7, 3}},
    {{1, 8, 5, 5}, {1, 8, 1, 1}, {1, 8, 5, 5}},
    {{2, 3, 4, 5}, {5}, {2, 3, 4, 5}},
    {{1, 2, 2, 2}, {2}, {1, 2, 2, 2}},
    {{1, 2, 2, 2}, {1, 2, 1, 2}, {1, 2, 2, 2}},
    {{1}, {1, 8, 5, 5}, {1, 8, 5, 5}},
    {{3, 1}, {1, 4}, {3, 4}},
    {{4, 1, 3, 1, 2}, {2, 1, 5, 1}, {4, 2, 3, 5, 2}},
    {{2, 1, 6}, {1, 6}, {2, 1, 6}},
    {{77}, {77}, {77}},
    {{1, 1, 1, 1}, {1, 3, 5, 7}, {1, 3, 5, 7}},
    {{1, 16}, {}, {1, 16}},
};

struct Sum {
  Quant a, b, out;
  double alpha;  // sign included
  Rounding rounding;
  kernels::OutputRange range;

  int8_t exact(int32_t qa, int32_t qb) const {
    const Wide value = rounding == Rounding::single ? exact_single(qa, qb) : exact_double(qa, qb);
    return reference::clamp(out.zero_point + value, range.lo, range.hi);
  }

  // One F <= 22 for both multipliers: the largest with |m1| 128 + |m2| 128 + |constant| within int32.
  Wide exact_single(int32_t qa, int32_t qb) const {
    for (int f = 22;; --f) {
      const auto m1 = static_cast<int64_t>(std::round(std::ldexp(a.scale / out.scale, f)));
      const auto m2 = static_cast<int64_t>(std::round(std::ldexp(b.scale / out.scale * alpha, f)));
      const Wide half = f == 0 ? 0 : reference::power_of_two(f) / 2;
      const Wide constant = half + Wide{out.zero_point} * reference::power_of_two(f) -
                            Wide{m1} * a.zero_point - Wide{m2} * b.zero_point;
      const Wide reach =
          Wide{std::abs(m1)} * 128 + Wide{std::abs(m2)} * 128 + (constant < 0 ? -constant : constant);
      if (reach > INT32_MAX) continue;
      const Wide sum = Wide{m1} * (qa - a.zero_point) + Wide{m2} * (qb - b.zero_point);
      return reference::round_half_up(sum, reference::power_of_two(f));
    }
  }

  // TFLite's: both << 20, rescaled to twice the larger scale, added, rescaled.
  Wide exact_double(int32_t qa, int32_t qb) const {
    const double scale_b = b.scale * std::abs(alpha), twice = 2 * std::fmax(a.scale, scale_b);
    const auto rescaled = [](int32_t q, int32_t zero_point, double factor) {
      return reference::rescale(kernels::Mode::double_, Wide{q - zero_point} << 20, exact_factor(factor));
    };
    const Wide left = rescaled(qa, a.zero_point, a.scale / twice),
               right = rescaled(qb, b.zero_point, scale_b / twice);
    const double back = twice / (std::exp2(20) * out.scale);
    return reference::rescale(kernels::Mode::double_, alpha < 0 ? left - right : left + right,
                              exact_factor(back));
  }

  Fake fake(int32_t qa, int32_t qb) const {
    return fake_quantize(a.real(qa) + alpha * b.real(qb), out, range);
  }
};

// The operand's element at an index of the result: aligned at the last axis, extents of 1 stretch.
int32_t element(const Bytes& values, const Ints& shape, const Ints& at) {
  const Ints strides = reference::row_major(shape);
  int32_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    offset += shape[d] == 1 ? 0 : strides[d] * at[at.size() - shape.size() + d];
  return values[static_cast<size_t>(offset)];
}

Trial make_trial(Random& random, Rounding rounding, const Broadcast& shapes) {
  Trial trial;
  const bool subtract = random.chance(50);
  trial.op = subtract ? "aten.sub" : "aten.add";
  const double alpha = random.chance(50) ? 1 : random.pick({0.5, -2.0, 3.0, -0.37});
  const Quant a = random_quant(random, std::exp2(random.unit() * 6 - 3));
  const Quant b = random_quant(random, std::exp2(random.unit() * 6 - 3));
  const Quant out = random_quant(random, 100 * (a.scale + b.scale * std::abs(alpha)));
  const Clamp clamp = random_clamp(random, out);
  const Sum sum{a, b, out, subtract ? -alpha : alpha, rounding, clamp.range(out)};
  const Bytes in_a = random.bytes(reference::count(shapes.a)),
              in_b = random.bytes(reference::count(shapes.b));
  trial.graph = fmt::format(
      "graph @g(%a: i8{}{}, %b: i8{}{}) {{\n  %o: i8{}{} = {}(%a, %b) {{alpha={}}}{}\n  return %o\n}}\n",
      shape_text(shapes.a), a.text(), shape_text(shapes.b), b.text(), shape_text(shapes.out), out.text(),
      trial.op, real_text(alpha), clamp.text());
  trial.inputs = {int8_tensor(shapes.a, in_a), int8_tensor(shapes.b, in_b)};
  reference::for_each_index(shapes.out, [&](const Ints& at) {
    const int32_t qa = element(in_a, shapes.a, at), qb = element(in_b, shapes.b, at);
    trial.exact.push_back(sum.exact(qa, qb));
    trial.fake.push_back(sum.fake(qa, qb));
  });
  return trial;
}

TEST(AddExactness, EveryBroadcastInBothModes) {
  Random random{test_seed()};
  Tally tally;
  for (int round = 0; round < 60; ++round)
    for (const Broadcast& shapes : kBroadcasts)
      for (const Rounding rounding : {Rounding::single, Rounding::double_rounding}) {
        tally.run(make_trial(random, rounding, shapes), rounding);
        if (HasFatalFailure()) return;
      }
  tally.finish();
}

}  // namespace
}  // namespace rushlight::e2e
