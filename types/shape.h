// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rushlight {

// Extents, outermost first. A scalar has rank 0.
using Shape = std::vector<int64_t>;

// More than any tensor of a microcontroller model; bounds what a hostile file can make the compiler allocate.
inline constexpr int64_t kMaxElements = int64_t{1} << 28;
inline constexpr int kMaxRank = 8;

// The product of the extents; nothing for a negative extent, a rank above kMaxRank or a product above
// kMaxElements.
std::optional<int64_t> checked_element_count(const Shape& shape);

// The product of the extents of a shape that was checked before.
int64_t element_count(const Shape& shape);

// Elements between neighbours along each axis of a dense row-major tensor.
std::vector<int64_t> row_major_strides(const Shape& shape);

// NumPy broadcasting: aligned at the last axis, an extent of 1 stretches. Nothing where extents disagree.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// "[1,3,8,8]"
std::string to_string(const Shape& shape);

}  // namespace rushlight
