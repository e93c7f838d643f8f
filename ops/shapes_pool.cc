// SPDX-License-Identifier: Apache-2.0
// Pooling: windows that slide over an image or tile it.
#include <fmt/format.h>

#include "ops/shape_checks.h"

namespace rushlight::shapes {
namespace {

Status check_pool_input(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return ok;
  const size_t rank = query.shape(0).size();
  if (rank != 3 && rank != 4)
    return operand_error("input", fmt::format("found shape {}, must have rank 3 (C,H,W) or 4 (N,C,H,W)",
                                              to_string(query.shape(0))));
  return check_real(query, 0, "input");
}

// The input's shape with these extents for the last two axes.
Shapes image_result(const OpQuery& query, int64_t height, int64_t width) {
  Shape shape = query.shape(0);
  shape[shape.size() - 2] = height;
  shape[shape.size() - 1] = width;
  return one_result(std::move(shape), query.operand(0).dtype);
}

// Windows of `kernel_size` with the attributes stride, padding and ceil_mode.
Shapes windows(const OpQuery& query, std::pair<int64_t, int64_t> dilation) {
  const Attributes& attributes = query.attributes;
  if (Status ok = check_pool_input(query); !ok) return forward(ok);
  auto kernel = bounded_pair(attributes, "kernel_size", 1);
  if (!kernel) return forward(kernel);
  auto stride = attributes.integers("stride").empty() ? kernel : bounded_pair(attributes, "stride", 1);
  if (!stride) return forward(stride);
  auto pad = bounded_pair(attributes, "padding", 0);
  if (!pad) return forward(pad);
  if (pad->first > kernel->first / 2 || pad->second > kernel->second / 2)
    return attribute_error("padding", fmt::format("found [{},{}], must be at most half the kernel [{},{}]",
                                                  pad->first, pad->second, kernel->first, kernel->second));

  const Shape& input = query.shape(0);
  const bool ceil_mode = attributes.boolean("ceil_mode");
  auto height = window_extent(input[input.size() - 2], kernel->first, stride->first, pad->first, pad->first,
                              dilation.first, ceil_mode);
  if (!height) return forward(height);
  auto width = window_extent(input.back(), kernel->second, stride->second, pad->second, pad->second,
                             dilation.second, ceil_mode);
  if (!width) return forward(width);
  return image_result(query, *height, *width);
}

}  // namespace

Shapes avg_pool2d(const OpQuery& query) {
  const Attributes& attributes = query.attributes;
  if (!attributes.is_none("divisor_override") && attributes.integer("divisor_override") == 0)
    return attribute_error("divisor_override", "found 0, must not be 0; none divides by the window's size");
  return windows(query, {1, 1});
}

Shapes max_pool2d(const OpQuery& query) {
  auto dilation = bounded_pair(query.attributes, "dilation", 1);
  if (!dilation) return forward(dilation);
  return windows(query, *dilation);
}

Shapes adaptive_pool2d(const OpQuery& query) {
  if (Status ok = check_pool_input(query); !ok) return forward(ok);
  auto size = bounded_pair(query.attributes, "output_size", 1);
  if (!size) return forward(size);
  return image_result(query, size->first, size->second);
}

}  // namespace rushlight::shapes
