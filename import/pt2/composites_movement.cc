// SPDX-License-Identifier: Apache-2.0
// split, chunk, select, repeat and the shuffles, as slices, views, permutations and expansions.
#include <fmt/format.h>

#include <numeric>

#include "import/pt2/composites.h"

namespace rushlight::pt2 {
namespace {

using Values = Result<std::vector<ValueId>>;

// Slices of the given lengths along dim.
Values sections(Steps& steps, ValueId input, size_t axis, const Integers& lengths) {
  std::vector<ValueId> results;
  int64_t start = 0;
  for (const int64_t length : lengths) {
    results.push_back(steps.slice(input, static_cast<int64_t>(axis), start, start + length));
    start += length;
  }
  return steps.done(std::move(results));
}

// Sections of `length`, the last one shorter where it does not divide the extent.
Integers equal_lengths(int64_t extent, int64_t length) {
  Integers lengths;
  for (int64_t start = 0; start < extent; start += length)
    lengths.push_back(std::min(length, extent - start));
  return lengths;
}

Values split(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const bool chunks = call.target == "aten.chunk.default";
  const int64_t number = steps.integer(chunks ? "chunks" : "split_size");
  const size_t axis = steps.axis(steps.integer("dim", 0), input);
  if (!steps.failed() && number < 1)
    steps.fail(input_error(chunks ? "argument 'chunks'" : "argument 'split_size'",
                           fmt::format("is {}; it must be at least 1", number)));
  if (steps.failed()) return steps.done(ValueId::none);
  const int64_t extent = steps.shape(input)[axis];
  return sections(steps, input, axis,
                  equal_lengths(extent, chunks ? (extent + number - 1) / number : number));
}

Values split_with_sizes(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const Integers sizes = steps.integers("split_sizes");
  const size_t axis = steps.axis(steps.integer("dim", 0), input);
  if (steps.failed()) return steps.done(ValueId::none);
  for (const int64_t size : sizes)
    if (size < 1 || size > steps.shape(input)[axis])
      return input_error("argument 'split_sizes'",
                         fmt::format("has the entry {} for an extent of {}", size, steps.shape(input)[axis]));
  return sections(steps, input, axis, sizes);
}

// One element along an axis, which disappears.
ValueId pick(Steps& steps, ValueId input, size_t axis, int64_t index) {
  if (steps.failed()) return ValueId::none;
  Shape size = steps.shape(input);
  size.erase(size.begin() + static_cast<std::ptrdiff_t>(axis));
  return steps.view(steps.slice(input, static_cast<int64_t>(axis), index, index + 1), std::move(size));
}

Values select(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const size_t axis = steps.axis(steps.integer("dim"), input);
  int64_t index = steps.integer("index");
  if (steps.failed()) return steps.done(ValueId::none);
  const int64_t extent = steps.shape(input)[axis];
  if (index < -extent || index >= extent)
    return input_error("argument 'index'", fmt::format("is {} on an axis of extent {}", index, extent));
  if (index < 0) index += extent;
  return steps.done(pick(steps, input, axis, index));
}

Values unbind(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const size_t axis = steps.axis(steps.integer("dim", 0), input);
  if (steps.failed()) return steps.done(ValueId::none);
  std::vector<ValueId> results;
  for (int64_t i = 0; i < steps.shape(input)[axis]; ++i) results.push_back(pick(steps, input, axis, i));
  return steps.done(std::move(results));
}

Values narrow(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const int64_t dim = steps.integer("dim");
  const int64_t start = steps.integer("start");
  const int64_t length = steps.integer("length");
  return steps.done(steps.slice(input, dim, start, start + length));
}

Values stack(Call& call) {
  std::vector<ValueId> tensors = call.tensors["tensors"];
  call.drop("tensors");
  Steps steps(call);
  const int64_t dim = steps.integer("dim", 0);
  if (steps.failed() || tensors.empty()) return steps.done(ValueId::none);
  Shape size = call.type(tensors.front()).shape;
  const auto axis = shapes::normalized_axis(dim, size.size() + 1);
  if (!axis) return tl::unexpected(axis.error());
  size.insert(size.begin() + *axis, 1);
  for (ValueId& tensor : tensors) tensor = steps.view(tensor, size);
  return steps.done(steps.add("aten.cat"_op, std::move(tensors), {{"dim", *axis}}));
}

// repeat(x, [r0, r1, ...]): every axis in two, the first of which is expanded.
Values repeat(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  Integers repeats = steps.integers(call.target == "aten.tile.default" ? "dims" : "repeats");
  if (steps.failed()) return steps.done(ValueId::none);
  Shape shape = steps.shape(input);
  while (repeats.size() < shape.size()) repeats.insert(repeats.begin(), 1);
  while (shape.size() < repeats.size()) shape.insert(shape.begin(), 1);
  Shape apart;
  Shape expanded;
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (repeats[d] < 1 || repeats[d] > kMaxElements)
      return input_error("argument 'repeats'", fmt::format("has the entry {}", repeats[d]));
    if (repeats[d] != 1) {
      apart.push_back(1);
      expanded.push_back(repeats[d]);
    }
    apart.push_back(shape[d]);
    expanded.push_back(shape[d]);
    result.push_back(repeats[d] * shape[d]);
  }
  const ValueId split_axes = steps.view(input, apart);
  return steps.done(steps.view(steps.add("aten.expand"_op, {split_axes}, {{"size", expanded}}), result));
}

Values expand(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const Integers size = steps.integers("size");
  if (steps.failed()) return steps.done(ValueId::none);
  Shape shape = steps.shape(input);
  ValueId aligned = input;
  if (shape.size() < size.size()) {
    shape.insert(shape.begin(), size.size() - shape.size(), 1);
    aligned = steps.view(input, shape);
  }
  return steps.done(steps.add("aten.expand"_op, {aligned}, {{"size", size}}));
}

// The two leading or trailing factors of the channels trade places with space.
Values pixel_shuffle(Call& call) {
  Steps steps(call);
  const bool undo = call.target == "aten.pixel_unshuffle.default";
  const ValueId input = steps.tensor("self");
  const int64_t r = steps.integer(undo ? "downscale_factor" : "upscale_factor");
  if (steps.failed()) return steps.done(ValueId::none);
  const Shape in = steps.shape(input);
  const bool fits = in.size() >= 3 && r >= 1 && r <= kMaxElements &&
                    (undo ? in[in.size() - 2] % r == 0 && in.back() % r == 0
                          : in[in.size() - 3] % r == 0 && in[in.size() - 3] / r % r == 0);
  if (!fits)
    return input_error("argument 'self'",
                       fmt::format("has shape {}, which the factor {} does not divide", to_string(in), r));
  const size_t lead = in.size() - 3;
  const int64_t c = in[lead];
  const int64_t h = in[lead + 1];
  const int64_t w = in[lead + 2];
  const Shape batch(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(lead));
  const auto with_batch = [&](std::initializer_list<int64_t> rest) {
    Shape shape = batch;
    shape.insert(shape.end(), rest);
    return shape;
  };
  const Shape apart = undo ? with_batch({c, h / r, r, w / r, r}) : with_batch({c / (r * r), r, r, h, w});
  Integers dims(lead);
  std::iota(dims.begin(), dims.end(), 0);
  for (const int64_t d : undo ? Integers{0, 2, 4, 1, 3} : Integers{0, 3, 1, 4, 2})
    dims.push_back(static_cast<int64_t>(lead) + d);
  const Shape out = undo ? with_batch({c * r * r, h / r, w / r}) : with_batch({c / (r * r), h * r, w * r});
  return steps.done(steps.view(steps.permute(steps.view(input, apart), dims), out));
}

Values channel_shuffle(Call& call) {
  Steps steps(call);
  const ValueId input = steps.tensor("self");
  const int64_t groups = steps.integer("groups");
  if (steps.failed()) return steps.done(ValueId::none);
  const Shape in = steps.shape(input);
  if (in.size() < 2 || groups < 1 || groups > kMaxElements || in[1] % groups != 0)
    return input_error("argument 'groups'",
                       fmt::format("is {}, which does not divide the channels of {}", groups, to_string(in)));
  Shape apart = {in[0], groups, in[1] / groups};
  Integers dims = {0, 2, 1};
  for (size_t d = 2; d < in.size(); ++d) {
    apart.push_back(in[d]);
    dims.push_back(static_cast<int64_t>(d) + 1);
  }
  return steps.done(steps.view(steps.permute(steps.view(input, apart), dims), in));
}

constexpr Composite kComposites[] = {
    {"aten.split.Tensor", split},
    {"aten.chunk.default", split},
    {"aten.split_with_sizes.default", split_with_sizes},
    {"aten.split.sizes", split_with_sizes},
    {"aten.select.int", select},
    {"aten.unbind.int", unbind},
    {"aten.narrow.default", narrow},
    {"aten.stack.default", stack},
    {"aten.repeat.default", repeat},
    {"aten.tile.default", repeat},
    {"aten.expand.default", expand},
    {"aten.pixel_shuffle.default", pixel_shuffle},
    {"aten.pixel_unshuffle.default", pixel_shuffle},
    {"aten.channel_shuffle.default", channel_shuffle},
};

}  // namespace

const std::span<const Composite> kMovementComposites = kComposites;

}  // namespace rushlight::pt2
