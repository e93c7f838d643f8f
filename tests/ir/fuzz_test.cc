// SPDX-License-Identifier: Apache-2.0
// Mutated texts: the parser answers with a graph or an error, and what it accepts survives a round trip.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "ir/text.h"
#include "tests/ir/sample_graphs.h"

namespace rushlight {
namespace {

constexpr std::array<std::string_view, 30> kTokens = {"%x",
                                                      "none",
                                                      "[",
                                                      "]",
                                                      "{",
                                                      "}",
                                                      "(",
                                                      ")",
                                                      "<",
                                                      ">",
                                                      "=",
                                                      ",",
                                                      ";",
                                                      ":",
                                                      "..",
                                                      "\"",
                                                      "\\",
                                                      "//",
                                                      "splat ",
                                                      "constant ",
                                                      "state ",
                                                      "return ",
                                                      "axis=0; ",
                                                      "clamp=[0.0, inf]",
                                                      "9223372036854775807",
                                                      "-1",
                                                      "nan",
                                                      "i8",
                                                      "f32[1]",
                                                      "aten.cat("};

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  size_t below(size_t end) {
    return end == 0 ? 0 : std::uniform_int_distribution<size_t>(0, end - 1)(random_);
  }

  void mutate(std::string& text) {
    const size_t at = below(text.size() + 1);
    const size_t length = std::min(below(12), text.size() - at);
    switch (below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kTokens[below(kTokens.size())]);
        break;
      case 2:
        text.replace(at, length, kTokens[below(kTokens.size())]);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      default:
        // Digits are where shapes, axes and offsets hide.
        if (const size_t digit = text.find_first_of("0123456789", at); digit != std::string::npos)
          text[digit] = static_cast<char>('0' + below(10));
    }
  }

 private:
  std::mt19937_64 random_;
};

TEST(TextFuzz, MutatedGraphsParseOrFailCleanly) {
  const char* chosen = std::getenv("RUSHLIGHT_SEED");
  const uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 20240607;
  SCOPED_TRACE("RUSHLIGHT_SEED=" + std::to_string(seed));
  Mutator mutator(seed);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text(kSampleGraphs[mutator.below(kSampleGraphs.size())]);
    for (size_t n = 1 + mutator.below(3); n > 0; --n) mutator.mutate(text);
    const Result<Graph> graph = parse_graph(text);
    if (!graph) {
      ASSERT_FALSE(graph.error().text().empty());
      continue;
    }
    ++accepted;
    const std::string printed = print(*graph);
    const Result<Graph> again = parse_graph(printed);
    ASSERT_TRUE(again) << again.error().text() << "\n" << text;
    ASSERT_EQ(print(*again), printed) << text;
  }
  EXPECT_GT(accepted, 1000) << "mutations that leave nothing valid test only the first lines of the parser";
}

}  // namespace
}  // namespace rushlight
