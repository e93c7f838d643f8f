// SPDX-License-Identifier: Apache-2.0
// Convolution, pooling and resizing of signals and images, batched or not, as ops on N,C,H,W: a signal is an
// image of height 1 between two views.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/pt2/composites.h"

namespace rushlight::pt2 {
namespace {

using Values = Result<std::vector<ValueId>>;

// Names as in "aten.conv1d.default".
size_t spatial_axes(const Call& call) { return call.target.find("1d") != std::string::npos ? 1 : 2; }

// The input as N,C,H,W.
ValueId as_image(Steps& steps, ValueId input, size_t spatial) {
  if (steps.failed()) return ValueId::none;
  Shape shape = steps.shape(input);
  if (shape.size() != spatial + 1 && shape.size() != spatial + 2) {
    steps.fail(input_error("argument 'input'", fmt::format("has shape {}; rank {} or {} is needed",
                                                           to_string(shape), spatial + 1, spatial + 2)));
    return ValueId::none;
  }
  if (shape.size() == spatial + 1) shape.insert(shape.begin(), 1);
  if (spatial == 1) shape.insert(shape.begin() + 2, 1);
  return shape == steps.shape(input) ? input : steps.view(input, shape);
}

ValueId from_image(Steps& steps, ValueId image) {
  if (steps.failed() || steps.shape(image) == steps.call().result.shape) return image;
  return steps.view(image, steps.call().result.shape);
}

// One number an axis, with `unused` for the height of a signal.
Integers per_axis(Steps& steps, std::string_view argument, size_t spatial, int64_t otherwise,
                  int64_t unused) {
  Integers given = steps.integers(argument, Integers{otherwise});
  if (given.size() == 1) given.resize(spatial, given.front());
  if (given.size() != spatial && !steps.failed())
    steps.fail(
        input_error(fmt::format("argument '{}'", argument),
                    fmt::format("is {}; {} entries are needed", to_string(Attribute(given)), spatial)));
  if (spatial == 1) given.insert(given.begin(), unused);
  return given;
}

// "same" pads so that the extent stays; where the sum is odd, the extra zero stands at the end. "valid" pads
// nothing.
Integers named_padding(Steps& steps, const std::string& text, const Shape& kernel, const Integers& dilation) {
  Integers padding = {0, 0, 0, 0};  // top, left, bottom, right
  if (text != "same" && text != "valid") {
    steps.fail(
        input_error("argument 'padding'", fmt::format("is \"{}\"; \"same\" or \"valid\" is needed", text)));
    return padding;
  }
  for (size_t axis = 0; axis < 2 && text == "same"; ++axis) {
    // Beyond this the convolution's own check refuses the dilation.
    if (dilation[axis] < 1 || dilation[axis] > kMaxElements) break;
    const int64_t total = dilation[axis] * (kernel[axis + 2] - 1);
    padding[axis] = total / 2;
    padding[axis + 2] = total - total / 2;
  }
  return padding;
}

ValueId kernel_as_image(Steps& steps, ValueId weight, size_t spatial) {
  if (steps.failed()) return ValueId::none;
  Shape shape = steps.shape(weight);
  if (shape.size() != spatial + 2) {
    steps.fail(input_error("argument 'weight'",
                           fmt::format("has shape {}; rank {} is needed", to_string(shape), spatial + 2)));
    return ValueId::none;
  }
  if (spatial == 2) return weight;
  shape.insert(shape.begin() + 2, 1);
  return steps.view(weight, shape);
}

// PyTorch's [in, out / groups, h, w] as [out, in / groups, h, w].
ValueId outputs_first(Steps& steps, ValueId weight, int64_t groups) {
  if (steps.failed()) return ValueId::none;
  if (groups == 1) return steps.permute(weight, {1, 0, 2, 3});
  const Shape w = steps.shape(weight);
  if (groups < 1 || groups > w[0] || w[0] % groups != 0) {
    steps.fail(input_error("argument 'groups'",
                           fmt::format("is {}, which does not divide {} channels", groups, w[0])));
    return ValueId::none;
  }
  const ValueId apart = steps.view(weight, {groups, w[0] / groups, w[1], w[2], w[3]});
  return steps.view(steps.permute(apart, {0, 2, 1, 3, 4}), {groups * w[1], w[0] / groups, w[2], w[3]});
}

struct Convolution {
  size_t spatial;
  bool transposed;
};

Values convolution(Call& call, Convolution kind) {
  Steps steps(call);
  const ValueId input = as_image(steps, steps.tensor("input"), kind.spatial);
  const ValueId weight = kernel_as_image(steps, steps.tensor("weight"), kind.spatial);
  const ValueId bias = steps.optional_tensor("bias");
  NamedAttributes attributes;
  const int64_t groups = steps.integer("groups", 1);
  const Integers dilation = per_axis(steps, "dilation", kind.spatial, 1, 1);
  attributes["stride"] = per_axis(steps, "stride", kind.spatial, 1, 1);
  attributes["groups"] = groups;
  const auto padding = call.attributes.find("padding");
  const bool named = padding != call.attributes.end() && std::holds_alternative<std::string>(padding->second);
  if (named && !steps.failed()) {
    const std::string text = std::get<std::string>(padding->second);
    call.drop("padding");
    attributes["padding"] = named_padding(steps, text, steps.shape(weight), dilation);
  } else {
    attributes["padding"] = per_axis(steps, "padding", kind.spatial, 0, 0);
  }
  attributes["dilation"] = dilation;
  const Integers extra = per_axis(steps, "output_padding", kind.spatial, 0, 0);
  if (!kind.transposed)
    return steps.done(from_image(steps, steps.add("aten.conv2d"_op, {input, weight, bias}, attributes)));
  attributes["output_padding"] = extra;
  return steps.done(
      from_image(steps, steps.add("aten.conv_transpose2d"_op,
                                  {input, outputs_first(steps, weight, groups), bias}, attributes)));
}

Values plain(Call& call) { return convolution(call, {spatial_axes(call), false}); }
Values transposed(Call& call) { return convolution(call, {spatial_axes(call), true}); }

// aten.convolution: everything in one operator.
Values any_convolution(Call& call) {
  const auto weight = call.tensor("weight");
  if (!weight) return tl::unexpected(weight.error());
  const size_t rank = call.type(*weight).shape.size();
  if (rank != 3 && rank != 4)
    return unsupported("argument 'weight'", fmt::format("has rank {}; convolutions along one or two axes are "
                                                        "supported",
                                                        rank));
  const auto given = call.attributes.find("transposed");
  const bool is_transposed = given != call.attributes.end() && given->second == Attribute(true);
  call.drop("transposed");
  return convolution(call, {rank - 2, is_transposed});
}

Values max_pool(Call& call) {
  Steps steps(call);
  const size_t spatial = spatial_axes(call);
  const ValueId input = as_image(steps, steps.tensor("self"), spatial);
  const Integers kernel = per_axis(steps, "kernel_size", spatial, 1, 1);
  NamedAttributes attributes = {{"kernel_size", kernel},
                                {"padding", per_axis(steps, "padding", spatial, 0, 0)},
                                {"dilation", per_axis(steps, "dilation", spatial, 1, 1)},
                                {"ceil_mode", steps.boolean("ceil_mode", false)}};
  const Integers stride = steps.integers("stride", Integers{});
  if (!stride.empty()) {
    call.attributes["stride"] = stride;
    attributes["stride"] = per_axis(steps, "stride", spatial, 1, 1);
  }
  return steps.done(from_image(steps, steps.add("aten.max_pool2d"_op, {input}, std::move(attributes))));
}

Values avg_pool(Call& call) {
  Steps steps(call);
  const size_t spatial = spatial_axes(call);
  const ValueId input = as_image(steps, steps.tensor("self"), spatial);
  NamedAttributes attributes = {{"kernel_size", per_axis(steps, "kernel_size", spatial, 1, 1)},
                                {"padding", per_axis(steps, "padding", spatial, 0, 0)},
                                {"ceil_mode", steps.boolean("ceil_mode", false)},
                                {"count_include_pad", steps.boolean("count_include_pad", true)},
                                {"divisor_override", steps.attribute("divisor_override")}};
  const Integers stride = steps.integers("stride", Integers{});
  if (!stride.empty()) {
    call.attributes["stride"] = stride;
    attributes["stride"] = per_axis(steps, "stride", spatial, 1, 1);
  }
  return steps.done(from_image(steps, steps.add("aten.avg_pool2d"_op, {input}, std::move(attributes))));
}

Values adaptive_pool(Call& call) {
  Steps steps(call);
  const size_t spatial = spatial_axes(call);
  const bool greatest = call.target.find("max") != std::string::npos;
  const ValueId input = as_image(steps, steps.tensor("self"), spatial);
  const Integers size = per_axis(steps, "output_size", spatial, 1, 1);
  const Op op = greatest ? "aten.adaptive_max_pool2d"_op : "aten.adaptive_avg_pool2d"_op;
  return steps.done(from_image(steps, steps.add(op, {input}, {{"output_size", size}})));
}

// The result's extents are those of the file; the factor, where it was given, still decides which input pixel
// an output pixel reads.
Values upsample(Call& call) {
  Steps steps(call);
  const size_t spatial = spatial_axes(call);
  const bool linear = call.target.find("linear") != std::string::npos;
  const ValueId input =
      as_image(steps, steps.tensor(call.tensors.contains("input") ? "input" : "self"), spatial);
  const bool align = linear && steps.boolean("align_corners", false);
  std::vector<double> factors = call.reals["scale_factors"];
  for (const std::string_view name : {"scales", "scales_h", "scales_w"}) {
    const auto factor = call.real(name, 0);
    if (factor && *factor > 0) factors.push_back(*factor);
    call.drop(name);
  }
  call.drop("scale_factors");
  call.drop("output_size");
  if (steps.failed()) return steps.done(ValueId::none);
  Shape size = call.result.shape;
  if (size.size() < spatial) return input_error("", "gives a result without spatial axes");
  size.erase(size.begin(), size.end() - static_cast<std::ptrdiff_t>(spatial));
  if (spatial == 1) size.insert(size.begin(), 1);
  if (spatial == 1 && !factors.empty()) factors.insert(factors.begin(), 1.0);
  const Shape in = steps.shape(input);
  double scale[2];
  for (size_t a = 0; a < 2; ++a) {
    const auto from = static_cast<double>(in[a + 2]);
    const auto to = static_cast<double>(size[a]);
    if (align)
      scale[a] = size[a] > 1 ? (from - 1) / (to - 1) : 0;
    else
      scale[a] = factors.size() == 2 && factors[a] > 0 ? 1 / factors[a] : from / to;
  }
  NamedAttributes attributes = {
      {"output_size", Integers(size)}, {"scale_h", scale[0]}, {"scale_w", scale[1]}};
  if (linear) attributes["align_corners"] = align;
  const Op op = linear ? "aten.upsample_bilinear2d"_op : "aten.upsample_nearest2d"_op;
  return steps.done(from_image(steps, steps.add(op, {input}, std::move(attributes))));
}

constexpr Composite kComposites[] = {
    {"aten.conv1d.default", plain},
    {"aten.conv1d.padding", plain},
    {"aten.conv2d.default", plain},
    {"aten.conv2d.padding", plain},
    {"aten.convolution.default", any_convolution},
    {"aten.conv_transpose1d.default", transposed},
    {"aten.conv_transpose2d.input", transposed},
    {"aten.max_pool1d.default", max_pool},
    {"aten.max_pool2d.default", max_pool},
    {"aten.max_pool2d_with_indices.default", max_pool},
    {"aten.avg_pool1d.default", avg_pool},
    {"aten.avg_pool2d.default", avg_pool},
    {"aten.adaptive_avg_pool1d.default", adaptive_pool},
    {"aten.adaptive_avg_pool2d.default", adaptive_pool},
    {"aten._adaptive_avg_pool2d.default", adaptive_pool},
    {"aten.adaptive_max_pool1d.default", adaptive_pool},
    {"aten.adaptive_max_pool2d.default", adaptive_pool},
    {"aten.upsample_nearest1d.default", upsample},
    {"aten.upsample_nearest1d.vec", upsample},
    {"aten.upsample_nearest2d.default", upsample},
    {"aten.upsample_nearest2d.vec", upsample},
    {"aten.upsample_linear1d.default", upsample},
    {"aten.upsample_linear1d.vec", upsample},
    {"aten.upsample_bilinear2d.default", upsample},
    {"aten.upsample_bilinear2d.vec", upsample},
};

}  // namespace

const std::span<const Composite> kWindowComposites = kComposites;

}  // namespace rushlight::pt2
