// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "import/pt2/composites.h"

namespace rushlight::pt2 {

namespace {

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

Status without_half(Call& call) {
  call.drop("half_to_float");
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
    {"aten._native_batch_norm_legit_no_training.default", "aten.batch_norm"_op},
    {"aten.rsub.Scalar", "aten.sub"_op, swap_operands},
    {"aten.rsub.Tensor", "aten.sub"_op, swap_operands},
    {"aten.clamp_min.default", "aten.clamp"_op},
    {"aten.clamp_max.default", "aten.clamp"_op},
    {"aten.mean.default", "aten.mean"_op},
    {"aten.sum.default", "aten.sum"_op},
    {"aten.max.default", "aten.amax"_op},
    {"aten.min.default", "aten.amin"_op},
    {"aten.max.dim", "aten.amax"_op},
    {"aten.min.dim", "aten.amin"_op},
    {"aten._softmax.default", "aten.softmax"_op, without_half},
    {"aten._log_softmax.default", "aten.log_softmax"_op, without_half},
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

constexpr std::string_view kConstantMakers[] = {
    "aten.zeros.default",  "aten.ones.default", "aten.full.default",      "aten.scalar_tensor.default",
    "aten.arange.default", "aten.arange.start", "aten.arange.start_step",
};
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
  return find_adapter(torch) != nullptr || find_composite(torch) != nullptr || find_torch_op(torch) ||
         std::ranges::find(kConstantMakers, torch) != std::end(kConstantMakers);
}

std::span<const std::string_view> constant_makers() { return kConstantMakers; }

namespace {

Result<Tensor> filled(const Call& call, const Integers& size, double value) {
  const auto count = checked_element_count(size);
  if (!count || *count > kMaxFilled)
    return input_error("argument 'size'", fmt::format("is {}; at most {} elements are allowed",
                                                      to_string(Attribute(size)), kMaxFilled));
  Tensor tensor(call.result.dtype, size);
  if (value != 0)
    for (int64_t i = 0; i < *count; ++i) tensor.set(i, value);
  return tensor;
}

Result<Tensor> arange(const Call& call) {
  const auto start = call.real("start", 0);
  if (!start) return tl::unexpected(start.error());
  const auto step = call.real("step", 1);
  if (!step) return tl::unexpected(step.error());
  auto tensor = filled(call, call.result.shape, 0);
  if (!tensor) return tensor;
  if (tensor->shape().size() != 1) return input_error("", "gives a result that is not a vector");
  for (int64_t i = 0; i < tensor->elements(); ++i) tensor->set(i, *start + static_cast<double>(i) * *step);
  return tensor;
}

}  // namespace

std::optional<Result<Tensor>> constant_of(const Call& call) {
  if (std::ranges::find(kConstantMakers, call.target) == std::end(kConstantMakers)) return std::nullopt;
  if (call.target.starts_with("aten.arange")) return arange(call);
  const bool scalar = call.target == "aten.scalar_tensor.default";
  const auto given = call.real(scalar ? "s" : "fill_value", call.target == "aten.ones.default" ? 1 : 0);
  if (!given) return tl::unexpected(given.error());
  const auto size = scalar ? Result<Integers>(Integers{}) : call.integers("size");
  if (!size) return tl::unexpected(size.error());
  return filled(call, *size, *given);
}

}  // namespace rushlight::pt2
