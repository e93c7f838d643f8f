// SPDX-License-Identifier: Apache-2.0
#include "types/shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace rushlight {

std::optional<int64_t> checked_element_count(const Shape& shape) {
  if (shape.size() > static_cast<size_t>(kMaxRank)) return std::nullopt;
  // Extents of 0 count as 1 in the bound, so that strides of such a shape can't overflow either.
  int64_t bound = 1;
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0 || extent > kMaxElements) return std::nullopt;
    empty = empty || extent == 0;
    bound *= std::max<int64_t>(extent, 1);
    if (bound > kMaxElements) return std::nullopt;
  }
  return empty ? 0 : bound;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  const auto extent = [rank](const Shape& shape, size_t axis) {
    const size_t missing = rank - shape.size();
    return axis < missing ? 1 : shape[axis - missing];
  };
  Shape result(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = extent(a, i);
    const int64_t y = extent(b, i);
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[i] = x == 1 ? y : x;
  }
  return result;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

}  // namespace rushlight
