// SPDX-License-Identifier: Apache-2.0
// Graphs as text in tests: read, changed by one pass, compared with text; and values looked up by name.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "types/tensor.h"

namespace rushlight::testing_support {

// Q(%x, 0.5, -3) and DQ(%x, 0.5, -3) are short for int8 quantize and dequantize nodes.
inline std::string expanded(std::string_view text) {
  std::string result;
  for (size_t at = text.find("Q(%"); at != std::string_view::npos; at = text.find("Q(%")) {
    const bool reads = at > 0 && text[at - 1] == 'D';
    const size_t end = text.find(')', at);
    const size_t first = text.find(',', at);
    const size_t second = text.find(',', first + 1);
    result += text.substr(0, reads ? at - 1 : at);
    result += reads ? "dequantize_per_tensor(" : "quantize_per_tensor(";
    result += text.substr(at + 2, first - at - 2);
    result +=
        fmt::format(") {{scale={}, zero_point={}, quant_min=-128, quant_max=127, dtype=\"i8\"}}",
                    text.substr(first + 1, second - first - 1), text.substr(second + 1, end - second - 1));
    text.remove_prefix(end + 1);
  }
  return result += text;
}

inline Graph parsed(std::string_view text) {
  Result<Graph> graph = parse_graph(expanded(text));
  if (!graph) ADD_FAILURE() << graph.error().text() << "\n" << text;
  return graph ? *std::move(graph) : Graph{};
}

using PassFunction = Status (*)(Graph&);

// The graph after one pass, verified; a graph with the error as its name where the pass refuses.
inline Graph after(PassFunction pass, std::string_view text) {
  Graph graph = parsed(text);
  if (const Status done = pass(graph); !done) {
    graph = {};
    graph.name = done.error().text();
    return graph;
  }
  const Status valid = verify(graph);
  EXPECT_TRUE(valid) << valid.error().text() << "\n" << print(graph);
  return graph;
}

inline void expect_becomes(PassFunction pass, std::string_view before, std::string_view expected) {
  EXPECT_EQ(print(after(pass, before)), print(parsed(expected)));
}
inline void expect_stays(PassFunction pass, std::string_view text) { expect_becomes(pass, text, text); }
inline void expect_refused(PassFunction pass, std::string_view text, std::string_view error) {
  Graph graph = parsed(text);
  const Status done = pass(graph);
  ASSERT_FALSE(done) << print(graph);
  EXPECT_THAT(done.error().text(), testing::HasSubstr(std::string(error)));
}

inline ValueId find(const Graph& graph, std::string_view name) {
  for (const ValueId id : graph.value_ids())
    if (graph.value(id).name == name) return id;
  ADD_FAILURE() << "no value %" << name << "\n" << print(graph);
  return ValueId::none;
}

// "aten.conv2d requantize": the nodes in order.
inline std::string op_names(const Graph& graph) {
  std::string names;
  for (const Node& node : graph.nodes) names += (names.empty() ? "" : " ") + std::string(name(node.op));
  return names;
}

// Noise that is the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t integer(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(engine_() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool one_in(int64_t n) { return integer(1, n) == 1; }
  double real(double lo, double hi) {
    return lo + (hi - lo) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  Tensor floats(Shape shape, double lo, double hi) {
    Tensor tensor(DType::float32, std::move(shape));
    for (float& x : tensor.as<float>()) x = static_cast<float>(real(lo, hi));
    return tensor;
  }
  Tensor integers(DType dtype, Shape shape, int64_t lo, int64_t hi) {
    Tensor tensor(dtype, std::move(shape));
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, static_cast<double>(integer(lo, hi)));
    return tensor;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace rushlight::testing_support
