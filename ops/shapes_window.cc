// SPDX-License-Identifier: Apache-2.0
// Convolution: windows that slide over an image.
#include <fmt/format.h>

#include <algorithm>
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

Shapes conv_transpose2d(const OpQuery& query) {
  const Attributes& attributes = query.attributes;
  if (Status ok = check_conv_operands(query); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  const Shape& weight = query.shape(1);
  if (Status ok = check_channels(query, attributes.integer("groups")); !ok) return forward(ok);
  auto stride = bounded_pair(attributes, "stride", 1);
  if (!stride) return forward(stride);
  auto dilation = bounded_pair(attributes, "dilation", 1);
  if (!dilation) return forward(dilation);
  auto pad = bounded_pair(attributes, "padding", 0);
  if (!pad) return forward(pad);
  auto extra = bounded_pair(attributes, "output_padding", 0);
  if (!extra) return forward(extra);
  const auto extent = [](int64_t in, int64_t kernel, int64_t step, int64_t spread, int64_t padding,
                         int64_t more) {
    return (in - 1) * step - 2 * padding + spread * (kernel - 1) + more + 1;
  };
  const int64_t height =
      extent(input[2], weight[2], stride->first, dilation->first, pad->first, extra->first);
  const int64_t width =
      extent(input[3], weight[3], stride->second, dilation->second, pad->second, extra->second);
  if (height < 1 || width < 1)
    return attribute_error("padding", fmt::format("leaves an output of {} by {} pixels", height, width));
  if (extra->first >= std::max(stride->first, dilation->first) ||
      extra->second >= std::max(stride->second, dilation->second))
    return attribute_error("output_padding", "must be below the stride or the dilation");
  return one_result({input[0], weight[0], height, width}, query.operand(0).dtype);
}

}  // namespace rushlight::shapes
