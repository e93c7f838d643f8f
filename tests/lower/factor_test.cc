// SPDX-License-Identifier: Apache-2.0
#include "cortex_m/factor.h"

#include <cmath>
#include <limits>

#include "tests/support/graphs.h"

namespace rushlight {
namespace {

using testing_support::Random;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_factor(double factor, int32_t multiplier, int32_t shift) {
  const auto found = make_factor(factor);
  ASSERT_TRUE(found) << factor;
  EXPECT_EQ(found->multiplier, multiplier) << factor;
  EXPECT_EQ(found->shift, shift) << factor;
}

TEST(Factors, Table) {
  constexpr int32_t kHalf = 1 << 30;
  expect_factor(1.0, kHalf, 1);
  expect_factor(0.5, kHalf, 0);
  expect_factor(0.75, 1610612736, 0);
  expect_factor(4.0 / 3, 1431655765, 1);
  // Rounds up to 2^31, which is 2^30 one exponent above.
  expect_factor(1.0 - 0x1p-33, kHalf, 1);
  expect_factor(1.0 - 0x1p-32, kHalf, 1);  // a tie: away from zero
  expect_factor(1.0 - 0x1p-31, INT32_MAX, 0);
  expect_factor(0x1p30 - 1, 2147483646, 30);
  expect_factor(0x1p-32, kHalf, -31);
  expect_factor(0x1p-32 * (1 - 0x1p-40), kHalf, -31);
  expect_factor(0x1p-32 * 0.99, 0, 0);
  expect_factor(5e-324, 0, 0);
}

TEST(Factors, WhatIsRefused) {
  for (const double bad : {0x1p30, 0x1p30 * (1 - 0x1p-40), 1e300, kInfinity, 0.0, -0.0, -1.0, std::nan("")})
    EXPECT_FALSE(make_factor(bad)) << bad;
  EXPECT_THAT(make_factor(0x1p30).error().text(), testing::HasSubstr("the greatest allowed is below 2^30"));
}

TEST(OutputRanges, ClampsInTheOutputsIntegers) {
  Quantization q = Quantization::per_tensor(0.5, -10);
  q.lo = -127;
  const auto expect = [&](double lo, double hi, int32_t least, int32_t most) {
    const kernels::OutputRange range = output_range(lo, hi, q);
    EXPECT_EQ(range.zero_point, -10);
    EXPECT_EQ(range.lo, least);
    EXPECT_EQ(range.hi, most);
  };
  expect(-kInfinity, kInfinity, -127, 127);
  expect(0, kInfinity, -10, 127);
  expect(0, 6, -10, 2);
  expect(-1e9, 1e9, -127, 127);
  expect(100, 200, 127, 127);
  expect(-kInfinity, -kInfinity, -127, -127);
  expect(kInfinity, kInfinity, 127, 127);
  expect(0.25, 0.75, -10, -8);  // ties to even
}

struct Addition {
  Quantization a, b, out;
  double alpha;
};

Addition random_addition(Random& random) {
  const auto any = [&](double scale) {
    return Quantization::per_tensor(static_cast<float>(scale),
                                    static_cast<int32_t>(random.integer(-128, 127)));
  };
  const auto factor = [&] { return std::exp2(random.real(-6, 6)); };
  const double base = std::exp2(random.real(-10, 2));
  return {any(base * factor()), any(base * factor()), any(base), random.one_in(3) ? -1.0 : factor()};
}

// floor(n / d + 1/2) for d > 0.
__int128 round_half_up(__int128 n, __int128 d) {
  const __int128 twice = 2 * n + d;
  const __int128 quotient = twice / (2 * d);
  return quotient - (twice % (2 * d) < 0 ? 1 : 0);
}

// A product of two float32 values as an integer times 2^-90; exact for the scales here.
__int128 exact(double x) {
  int exponent = 0;
  const auto fraction = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const int shift = exponent - 53 + 90;
  return shift >= 0 ? static_cast<__int128>(fraction) << shift : static_cast<__int128>(fraction) >> -shift;
}

// All pairs of integers, in the order of the kernel's sums: nothing leaves int32, and the result is that of
// exact rational arithmetic rounded half up, but for near ties that the multipliers' rounding tips over: by
// one, and rarely.
TEST(AddFactors, NoOverflowAndNearlyExact) {
  constexpr uint64_t kSeed = 42;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  int64_t pairs = 0;
  int64_t different = 0;
  for (int i = 0; i < 24; ++i) {
    Addition t = random_addition(random);
    t.alpha = static_cast<float>(t.alpha);
    const auto factors = make_add_factors(t.a, t.b, t.alpha, t.out);
    ASSERT_TRUE(factors) << factors.error().text();
    ASSERT_LE(factors->shift, 22);
    const __int128 unit_a = exact(t.a.scale());
    const __int128 unit_b = exact(t.b.scale() * t.alpha);
    const __int128 unit_out = exact(t.out.scale());
    for (int a = -128; a <= 127; ++a)
      for (int b = -128; b <= 127; ++b) {
        const int64_t first = int64_t{factors->multiplier_a} * a + factors->offset;
        const int64_t sum = first + int64_t{factors->multiplier_b} * b;
        ASSERT_TRUE(first == static_cast<int32_t>(first) && sum == static_cast<int32_t>(sum));
        const int64_t found = std::clamp<int64_t>(sum >> factors->shift, -128, 127);
        const __int128 real = (a - t.a.zero_point()) * unit_a + (b - t.b.zero_point()) * unit_b;
        const auto expected = static_cast<int64_t>(
            std::clamp<__int128>(round_half_up(real, unit_out) + t.out.zero_point(), -128, 127));
        ++pairs;
        different += found == expected ? 0 : 1;
        ASSERT_LE(std::abs(found - expected), 1) << i << ": " << a << ", " << b;
      }
  }
  EXPECT_LE(different * 10000, pairs) << different << " of " << pairs;
}

TEST(AddFactors, TheLargestShiftThatFits) {
  const Quantization one = Quantization::per_tensor(1, 0);
  const auto same = make_add_factors(one, one, 1, one);
  // (1 + 1) * 2^F * 128 + 2^(F-1) < 2^31: F = 22.
  EXPECT_EQ(same->shift, 22);
  EXPECT_EQ(same->multiplier_a, 1 << 22);
  EXPECT_EQ(same->offset, 1 << 21);
  EXPECT_EQ(make_add_factors(Quantization::per_tensor(64, 0), one, 1, one)->shift, 17);
  EXPECT_FALSE(make_add_factors(Quantization::per_tensor(0x1p30, 0), one, 1, one));
  EXPECT_EQ(make_add_factors(one, one, -1, one)->multiplier_b, -(1 << 22));
}

// A range that a type states doesn't bind the integers of a program's input.
TEST(AddFactors, RangesOfTypesAreNotTrusted) {
  const Quantization one = Quantization::per_tensor(1, 0);
  Quantization narrow = one;
  narrow.lo = narrow.hi = 1;
  EXPECT_EQ(make_add_factors(narrow, narrow, 1, one)->shift, make_add_factors(one, one, 1, one)->shift);
}

}  // namespace
}  // namespace rushlight
