// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling: windows that slide over an image.
#include <fmt/format.h>

#include <array>

#include "ops/shape_checks.h"

namespace rushlight::shapes {
namespace {

struct Padding {
  int64_t top, left, bottom, right;
};

// [h, w] on both sides, one number for all, or [top, left, bottom, right].
Result<Padding> explicit_padding(const Attributes& attributes) {
  const Integers& p = attributes.integers("padding");
  if (p.size() != 4) {
    Result<std::pair<int64_t, int64_t>> both = bounded_pair(attributes, "padding", 0);
    if (both) return Padding{both->first, both->second, both->first, both->second};
    if (p.size() == 1 || p.size() == 2) return forward(both);
    return attribute_error("padding", fmt::format("found {}, must be [h,w] or [top,left,bottom,right]",
                                                  to_string(Attribute(p))));
  }
  for (const int64_t entry : p)
    if (entry < 0 || entry > kMaxElements)
      return attribute_error("padding",
                             fmt::format("found {}, must be between 0 and {}", entry, kMaxElements));
  return Padding{p[0], p[1], p[2], p[3]};
}

Status check_channels(const OpQuery& query, int64_t groups) {
  const Shape& input = query.shape(0);
  const Shape& weight = query.shape(1);
  if (groups < 1) return attribute_error("groups", fmt::format("found {}, must be at least 1", groups));
  if (input[1] % groups != 0 || weight[0] % groups != 0)
    return attribute_error("groups", fmt::format("found {}, must divide the {} input and {} output channels",
                                                 groups, input[1], weight[0]));
  if (weight[1] != input[1] / groups)
    return operand_error("weight",
                         fmt::format("found {} input channels a group in shape {}, must be {} ({} input "
                                     "channels in {} groups)",
                                     weight[1], to_string(weight), input[1] / groups, input[1], groups));
  return check_vector(query, 2, "bias", weight[0], "output channels");
}

Status check_conv_operands(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return ok;
  const size_t rank = query.shape(0).size();
  if (rank != 4)
    return operand_error(
        "input", fmt::format("found shape {}, must have rank 4 (N,C,H,W){}", to_string(query.shape(0)),
                             rank == 3 ? "; give an unbatched image a leading axis of 1" : ""));
  if (query.shape(1).size() != 4)
    return operand_error("weight",
                         fmt::format("found shape {}, must have rank 4 (out channels, in channels a group, "
                                     "height, width)",
                                     to_string(query.shape(1))));
  if (Status ok = check_real(query, 0, "input"); !ok) return ok;
  if (Status ok = check_real(query, 1, "weight"); !ok) return ok;
  if (query.has(2)) return check_real(query, 2, "bias");
  return {};
}

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

int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

Result<int64_t> window_extent(int64_t input, int64_t kernel, int64_t stride, int64_t pad_before,
                              int64_t pad_after, int64_t dilation, bool ceil_mode) {
  struct Bound {
    std::string_view name;
    int64_t value;
    int64_t least;
  };
  const std::array<Bound, 6> bounds = {{{"input extent", input, 1},
                                        {"kernel extent", kernel, 1},
                                        {"stride", stride, 1},
                                        {"padding", pad_before, 0},
                                        {"padding", pad_after, 0},
                                        {"dilation", dilation, 1}}};
  // With every number at most 2^28 the sums and products below stay far from 2^63.
  for (const Bound& b : bounds)
    if (b.value < b.least || b.value > kMaxElements)
      return input_error("window", fmt::format("found {} {}, must be between {} and {}", b.name, b.value,
                                               b.least, kMaxElements));
  const int64_t padded = input + pad_before + pad_after;
  const int64_t reach = dilation * (kernel - 1) + 1;
  int64_t extent = floor_divide(padded - reach + (ceil_mode ? stride - 1 : 0), stride) + 1;
  // PyTorch: the last window must start inside the input or the padding before it.
  if (ceil_mode && (extent - 1) * stride >= input + pad_before) --extent;
  if (extent < 1)
    return input_error(
        "window", fmt::format("a kernel that spans {} (extent {}, dilation {}) is larger than the padded "
                              "input of {} ({} + {} + {})",
                              reach, kernel, dilation, padded, pad_before, input, pad_after));
  return extent;
}

Shapes conv2d(const OpQuery& query) {
  const Attributes& attributes = query.attributes;
  if (Status ok = check_conv_operands(query); !ok) return forward(ok);
  if (Status ok = check_channels(query, attributes.integer("groups")); !ok) return forward(ok);
  auto stride = bounded_pair(attributes, "stride", 1);
  if (!stride) return forward(stride);
  auto dilation = bounded_pair(attributes, "dilation", 1);
  if (!dilation) return forward(dilation);
  Result<Padding> pad = explicit_padding(attributes);
  if (!pad) return forward(pad);

  const Shape& input = query.shape(0);
  const Shape& weight = query.shape(1);
  auto height =
      window_extent(input[2], weight[2], stride->first, pad->top, pad->bottom, dilation->first, false);
  if (!height) return forward(height);
  auto width =
      window_extent(input[3], weight[3], stride->second, pad->left, pad->right, dilation->second, false);
  if (!width) return forward(width);
  return one_result({input[0], weight[0], *height, *width}, query.operand(0).dtype);
}

Shapes avg_pool2d(const OpQuery& query) {
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
  if (!attributes.is_none("divisor_override") && attributes.integer("divisor_override") == 0)
    return attribute_error("divisor_override", "found 0, must not be 0; none divides by the window's size");

  const Shape& input = query.shape(0);
  const bool ceil_mode = attributes.boolean("ceil_mode");
  auto height = window_extent(input[input.size() - 2], kernel->first, stride->first, pad->first, pad->first,
                              1, ceil_mode);
  if (!height) return forward(height);
  auto width =
      window_extent(input.back(), kernel->second, stride->second, pad->second, pad->second, 1, ceil_mode);
  if (!width) return forward(width);
  return image_result(query, *height, *width);
}

Shapes adaptive_avg_pool2d(const OpQuery& query) {
  if (Status ok = check_pool_input(query); !ok) return forward(ok);
  auto size = bounded_pair(query.attributes, "output_size", 1);
  if (!size) return forward(size);
  return image_result(query, size->first, size->second);
}

}  // namespace rushlight::shapes
