// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace rushlight::pt2 {

namespace {

// "same" pads so that the extent stays; where the sum is odd, the extra zero stands at the end. "valid" pads
// nothing.
Status padding_as_numbers(Call& call) {
  const auto given = call.attributes.find("padding");
  if (given == call.attributes.end()) return {};
  const auto* text = std::get_if<std::string>(&given->second);
  if (text == nullptr || (*text != "same" && *text != "valid"))
    return input_error("argument 'padding'",
                       fmt::format("is {}; \"same\" or \"valid\" is needed", to_string(given->second)));
  const bool same = *text == "same";
  const auto weight = call.tensor("weight");
  const auto dilation = call.integers("dilation", Integers{1, 1});
  if (!weight) return tl::unexpected(weight.error());
  if (!dilation) return tl::unexpected(dilation.error());
  const Shape& kernel = call.type(*weight).shape;
  if (kernel.size() != 4 || dilation->empty() || dilation->size() > 2)
    return input_error("argument 'weight'", "has no two spatial axes");
  Integers padding = {0, 0, 0, 0};  // top, left, bottom, right
  for (size_t axis = 0; axis < 2 && same; ++axis) {
    const int64_t step = axis == 0 ? dilation->front() : dilation->back();
    // Beyond this the convolution's own check refuses the dilation.
    if (step < 1 || step > kMaxElements) break;
    const int64_t total = step * (kernel[axis + 2] - 1);
    padding[axis] = total / 2;
    padding[axis + 2] = total - total / 2;
  }
  given->second = std::move(padding);
  return {};
}

Status plain_convolution(Call& call) {
  const auto transposed = call.attributes.find("transposed");
  if (transposed != call.attributes.end() && transposed->second != Attribute(false))
    return unsupported("argument 'transposed'", "is true; transposed convolutions are not supported");
  call.drop("transposed");
  call.drop("output_padding");
  return {};
}

Status size_from_result(Call& call) {
  call.attributes = {{"size", call.result.shape}};
  call.others.clear();
  return {};
}

Status swap_axes(Call& call) {
  const auto input = call.tensor("self");
  if (!input) return tl::unexpected(input.error());
  const size_t rank = call.type(*input).shape.size();
  const bool matrix = call.target == "aten.t.default";
  const auto dim0 = call.integer("dim0", matrix ? std::optional<int64_t>(0) : std::nullopt);
  const auto dim1 = call.integer("dim1", matrix ? std::optional<int64_t>(1) : std::nullopt);
  if (!dim0) return tl::unexpected(dim0.error());
  if (!dim1) return tl::unexpected(dim1.error());
  Integers dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  // A vector's transpose is the vector.
  if (!matrix || rank > 1) {
    const auto first = shapes::normalized_axis(*dim0, rank);
    const auto second = shapes::normalized_axis(*dim1, rank);
    if (!first) return tl::unexpected(first.error());
    if (!second) return tl::unexpected(second.error());
    std::swap(dims[static_cast<size_t>(*first)], dims[static_cast<size_t>(*second)]);
  }
  call.drop("dim0");
  call.drop("dim1");
  call.attributes["dims"] = std::move(dims);
  return {};
}

const Node* producer(const Graph& graph, ValueId id) {
  const auto makes = [id](const Node& node) {
    return std::ranges::find(node.results, id) != node.results.end();
  };
  const auto found = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(), makes);
  return found == graph.nodes.rend() ? nullptr : &*found;
}

// x W^T, or x W^T + b as addmm(b, x, permute(W)): what decompositions make of a linear layer.
Status product_as_linear(Call& call) {
  const bool biased = call.target == "aten.addmm.default";
  const std::string_view left = biased ? "mat1" : "self";
  const auto input = call.tensor(left);
  const auto right = call.tensor("mat2");
  if (!input) return tl::unexpected(input.error());
  if (!right) return tl::unexpected(right.error());
  for (const std::string_view factor : {"alpha", "beta"}) {
    const auto value = call.real(factor, 1);
    if (!value) return tl::unexpected(value.error());
    if (*value != 1) return unsupported(fmt::format("argument '{}'", factor), "is not 1");
    call.drop(factor);
  }
  ValueId weight = ValueId::none;
  const Node* transpose = producer(call.graph, *right);
  if (transpose != nullptr && transpose->op == "aten.permute"_op && call.type(*right).shape.size() == 2 &&
      transpose->attrs().integers("dims") == Integers{1, 0}) {
    weight = transpose->operands.front();
  } else if (call.graph.is_constant(*right) && call.type(*right).shape.size() == 2) {
    constexpr int kSwapped[] = {1, 0};
    weight = call.graph.add_constant(call.name + ".weight", call.graph.constant(*right).permuted(kSwapped));
  } else {
    return unsupported("argument 'mat2'",
                       "is not a constant matrix; products of two activations are not supported");
  }
  std::map<std::string, std::vector<ValueId>, std::less<>> tensors = {{"input", {*input}},
                                                                      {"weight", {weight}}};
  if (biased) tensors["bias"] = call.tensors["self"];
  call.tensors = std::move(tensors);
  return {};
}

Status swap_operands(Call& call) {
  const auto self = call.tensor("self");
  if (!self) return tl::unexpected(self.error());
  call.tensors.erase("self");
  if (const auto number = call.attributes.extract("other")) {
    call.attributes["input"] = number.mapped();
  } else {
    call.tensors["input"] = call.tensors["other"];
  }
  call.tensors["other"] = {*self};
  return {};
}

// A cast that keeps the dtype is the identity; a constant is cast here.
Status cast(Call& call) {
  auto input = call.tensor("self");
  if (!input) return tl::unexpected(input.error());
  const DType from = call.type(*input).dtype, to = call.result.dtype;
  if (from != to && !(call.graph.is_constant(*input) && is_float(from) && is_float(to)))
    return unsupported("", fmt::format("converts {} to {}, which is not supported", name(from), name(to)));
  if (from != to)
    input = call.graph.add_constant(call.name + ".self", call.graph.constant(*input).converted(to));
  call.attributes.clear();
  call.others.clear();
  call.tensors = {{"self", {*input}}};
  return {};
}

constexpr Adapter kAdapters[] = {
    {"aten.conv2d.padding", "aten.conv2d"_op, padding_as_numbers},
    {"aten.convolution.default", "aten.conv2d"_op, plain_convolution},
    {"aten.addmm.default", "aten.linear"_op, product_as_linear},
    {"aten.mm.default", "aten.linear"_op, product_as_linear},
    {"aten._native_batch_norm_legit_no_training.default", "aten.batch_norm"_op},
    {"aten.rsub.Scalar", "aten.sub"_op, swap_operands},
    {"aten.rsub.Tensor", "aten.sub"_op, swap_operands},
    {"aten.clamp_min.default", "aten.clamp"_op},
    {"aten.clamp_max.default", "aten.clamp"_op},
    {"aten.mean.default", "aten.mean"_op},
    {"aten.transpose.int", "aten.permute"_op, swap_axes},
    {"aten.t.default", "aten.permute"_op, swap_axes},
    {"aten.view.default", "aten.view"_op, size_from_result},
    {"aten.reshape.default", "aten.view"_op, size_from_result},
    {"aten._unsafe_view.default", "aten.view"_op, size_from_result},
    {"aten.unflatten.int", "aten.view"_op, size_from_result},
    {"aten.unsqueeze.default", "aten.view"_op, size_from_result},
    {"aten.squeeze.default", "aten.view"_op, size_from_result},
    {"aten.squeeze.dim", "aten.view"_op, size_from_result},
    {"aten.squeeze.dims", "aten.view"_op, size_from_result},
    {"aten.detach_.default", "aten.alias"_op},
    {"aten.to.dtype", "aten.alias"_op, cast},
    {"aten.to.dtype_layout", "aten.alias"_op, cast},
    {"aten.to.device", "aten.alias"_op, cast},
    {"aten._to_copy.default", "aten.alias"_op, cast},
};

constexpr std::string_view kConstantMakers[] = {"aten.zeros.default", "aten.ones.default",
                                                "aten.full.default"};
constexpr int64_t kMaxFilled = int64_t{1} << 22;

}  // namespace

std::span<const Adapter> adapters() { return kAdapters; }

const Adapter* find_adapter(std::string_view torch) {
  const auto found = std::ranges::find(kAdapters, torch, &Adapter::torch);
  return found == std::end(kAdapters) ? nullptr : &*found;
}

std::optional<Op> find_torch_op(std::string_view torch) {
  for (size_t i = 0; i < kOps.size(); ++i)
    if (!torch.empty() && std::ranges::find(kOps[i].torch, torch) != kOps[i].torch.end())
      return static_cast<Op>(i);
  return std::nullopt;
}

bool is_supported(std::string_view torch) {
  return find_adapter(torch) != nullptr || find_torch_op(torch) ||
         std::ranges::find(kConstantMakers, torch) != std::end(kConstantMakers);
}

std::span<const std::string_view> constant_makers() { return kConstantMakers; }

std::optional<Result<Tensor>> constant_of(const Call& call) {
  if (std::ranges::find(kConstantMakers, call.target) == std::end(kConstantMakers)) return std::nullopt;
  double value = call.target == "aten.ones.default" ? 1 : 0;
  if (call.target == "aten.full.default") {
    const auto given = call.real("fill_value", 0);
    if (!given) return tl::unexpected(given.error());
    value = *given;
  }
  const auto size = call.integers("size");
  if (!size) return tl::unexpected(size.error());
  const auto count = checked_element_count(*size);
  if (!count || *count > kMaxFilled)
    return input_error("argument 'size'", fmt::format("is {}; at most {} elements are allowed",
                                                      to_string(Attribute(*size)), kMaxFilled));
  Tensor tensor(call.result.dtype, *size);
  if (value != 0)
    for (int64_t i = 0; i < *count; ++i) tensor.set(i, value);
  return tensor;
}

}  // namespace rushlight::pt2
