// SPDX-License-Identifier: Apache-2.0
#include "types/real_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace rushlight {
namespace {

TEST(RealText, AlwaysLooksLikeAReal) {
  EXPECT_EQ(real_text(1.0), "1.0");
  EXPECT_EQ(real_text(-0.0), "-0.0");
  EXPECT_EQ(real_text(0.1), "0.1");
  EXPECT_EQ(real_text(0.1F), "0.1");
  EXPECT_EQ(real_text(1e300), "1e+300");
  EXPECT_EQ(real_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(real_text(-std::numeric_limits<float>::infinity()), "-inf");
  EXPECT_EQ(real_text(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(RealText, ReadsBackAsTheSameBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random();
    const auto x = std::bit_cast<double>(bits);
    const auto y = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!std::isnan(x)) {
      EXPECT_EQ(read_double(real_text(x)), x) << real_text(x);
    }
    if (!std::isnan(y)) {
      EXPECT_EQ(read_float(real_text(y)), y) << real_text(y);
    }
  }
  EXPECT_EQ(read_double(real_text(5e-324)), 5e-324);
  EXPECT_TRUE(std::signbit(read_double(real_text(-0.0)).value()));
  EXPECT_TRUE(std::isnan(read_double("nan").value()));
}

TEST(RealText, RefusesAnythingElse) {
  for (const char* text :
       {"", "1.5x", "infinity", "nan(1)", "0x1p3", "1,5", " 1", "1 ", "+1", "--1", "1e999", "e", "."})
    EXPECT_FALSE(read_double(text).has_value()) << text;
  EXPECT_FALSE(read_float("1e39").has_value());
}

}  // namespace
}  // namespace rushlight
