// SPDX-License-Identifier: Apache-2.0
// The text form of a graph. parse(print(g)) is equivalent to g.
//
//   graph @net(%x: f32[1,3,8,8]) {
//     %w: f32[4,3,3,3] = constant [0.5, -1.0, ...]
//     %y: f32[1,4,8,8] = aten.conv2d(%x, %w, none) {stride=[1,1], padding=[1,1]} clamp=[0.0, 6.0]
//     %z: i8[1,4]{channels_last}<0.5:-3> = ...
//     return %y
//   }
//
// Attributes equal to their default are left out. A type ends in its quantization: <scale:zero_point>, with
// "; lo..hi" where the range is not the dtype's own, <axis=0; s:z, s:z> per channel.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace rushlight {

struct PrintOptions {
  // Constants with more elements print as "constant ..." (which does not parse); -1: all elements.
  int64_t max_constant_elements = -1;
};

std::string print(const Graph& graph, PrintOptions options = {});
std::string print_node(const Graph& graph, const Node& node);

// Errors name the line and column. The graph is verified.
Result<Graph> parse_graph(std::string_view text);

}  // namespace rushlight
