// SPDX-License-Identifier: Apache-2.0
// Requantization alone: reported edge cases with their numbers, and the primitives against exact integers.
#include "kernels/fixed_point.h"

#include <gtest/gtest.h>

#include "tests/kernels/random.h"
#include "tests/kernels/reference.h"

namespace rushlight::kernels {
namespace {

constexpr OutputRange kFull{0, -128, 127};

int single(int32_t acc, Factor f, OutputRange range = kFull) {
  return requantize<Single>(acc, f.multiplier, f.shift, range);
}
int twice(int32_t acc, Factor f, OutputRange range = kFull) {
  return requantize<Double>(acc, f.multiplier, f.shift, range);
}

// tensorflow/tensorflow#25087, tflite-micro#3252: 11.499 rounds to 11 once, to 12 twice.
TEST(Requantize, OneAndTwoRoundingsDisagree) {
  EXPECT_EQ(single(7984, {1583594044, -9}), 11);
  EXPECT_EQ(twice(7984, {1583594044, -9}), 12);
}

// tensorflow/tensorflow#102943: 6.5000005, which float32 takes for a tie.
TEST(Requantize, NearTie) {
  const OutputRange range{-126, -128, 127};
  EXPECT_EQ(single(585, {1527099593, -6}, range), -119);
  EXPECT_EQ(twice(585, {1527099593, -6}, range), -119);
}

// ARM-software/CMSIS-NN#220: the scaled accumulator needs 33 bits.
TEST(Requantize, LargeAccumulatorsSaturate) {
  const Factor four_thirds{1431655765, 1};
  EXPECT_EQ(single(1500000000, four_thirds), 127);
  EXPECT_EQ(single(-1500000000, four_thirds), -128);
  EXPECT_EQ(twice(1500000000, four_thirds), 127);
  EXPECT_EQ(twice(-1500000000, four_thirds), -128);
}

// apache/tvm#4828, CMSIS_5#896: -2.5, -1.5, -0.5, 0.5, 1.5.
TEST(Requantize, Ties) {
  const Factor quarter{1 << 30, -1};
  const std::vector<int> accumulators = {-10, -6, -2, 2, 6};
  const std::vector<int> once = {-2, -1, 0, 1, 2};
  const std::vector<int> doubly = {-3, -2, -1, 1, 2};
  for (size_t i = 0; i < accumulators.size(); ++i) {
    EXPECT_EQ(single(accumulators[i], quarter), once[i]);
    EXPECT_EQ(twice(accumulators[i], quarter), doubly[i]);
  }
}

TEST(Requantize, ClampsInTheOutputsIntegers) {
  const Factor one{1 << 30, 1};
  EXPECT_EQ(single(-40, one, {-100, -100, 20}), -100);
  EXPECT_EQ(single(119, one, {-100, -100, 20}), 19);
  EXPECT_EQ(single(121, one, {-100, -100, 20}), 20);
  EXPECT_EQ(single(INT32_MIN, one, {127, -128, 127}), -128);
  EXPECT_EQ(single(INT32_MAX, one, {-128, -128, 127}), 127);
}

// Every shift, with accumulators and multipliers at their ends and on ties.
TEST(Requantize, EqualsExactIntegers) {
  Random random{7};
  for (int32_t shift = -32; shift <= 30; ++shift) {
    for (int i = 0; i < 3000; ++i) {
      const Factor f{random.pick({0, 1 << 30, INT32_MAX, 3 << 29, random.in(1 << 30, INT32_MAX)}), shift};
      int32_t acc = random.pick({INT32_MIN, INT32_MAX, 0, 1, -1, random.in(INT32_MIN, INT32_MAX)});
      const int bits = random.in(0, 30);
      if (random.chance(50)) acc >>= bits;
      // Odd multiples of half a unit in the last place are ties of the power-of-two multiplier.
      if (random.chance(20) && shift < 0)
        acc = static_cast<int32_t>(int64_t{2 * random.in(-128, 127) + 1} << -shift);
      const OutputRange range = random.range();
      ASSERT_EQ(single(acc, f, range), reference::requantize(Mode::single_, acc, f, range))
          << acc << " * " << f.multiplier << " shift " << shift;
      ASSERT_EQ(twice(acc, f, range), reference::requantize(Mode::double_, acc, f, range))
          << acc << " * " << f.multiplier << " shift " << shift;
    }
  }
}

TEST(FixedPoint, DividesWithTiesAwayFromZero) {
  for (int32_t k = 0; k <= 31; ++k)
    for (const int32_t x : {INT32_MIN, INT32_MIN + 1, -3, -2, -1, 0, 1, 2, 3, 1 << 30, -(1 << 30), INT32_MAX})
      EXPECT_EQ(divide_by_power_of_two(x, k), reference::round_half_away(x, reference::power_of_two(k)))
          << x << " / 2^" << k;
}

}  // namespace
}  // namespace rushlight::kernels
