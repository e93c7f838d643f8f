// SPDX-License-Identifier: Apache-2.0
// Tensors as views of raw storages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "import/pt2/archive.h"
#include "import/pt2/symbols.h"

namespace rushlight::pt2 {

namespace {

struct ScalarTypeRow {
  int64_t code;
  std::string_view name;
  std::optional<DType> dtype;
};

constexpr ScalarTypeRow kScalarTypes[] = {
    {1, "uint8", DType::uint8},
    {2, "int8", DType::int8},
    {3, "int16", DType::int16},
    {4, "int32", DType::int32},
    {5, "int64", DType::int64},
    {6, "float16", DType::float16},
    {7, "float32", DType::float32},
    {8, "float64", DType::float64},
    {9, "complex32", {}},
    {10, "complex64", {}},
    {11, "complex128", {}},
    {12, "bool", DType::boolean},
    {13, "bfloat16", DType::bfloat16},
    {28, "uint16", {}},
    {34, "uint32", {}},
    {35, "uint64", {}},
};

// In elements of the storage.
struct View {
  DType dtype;
  Shape sizes;
  Shape strides;
  int64_t offset;
  int64_t elements;
  int64_t end;  // one behind the last element that is used
};

// One behind the last element of a view; nothing where that is no 64-bit number.
std::optional<int64_t> storage_end(const Shape& sizes, const Shape& strides, int64_t offset) {
  int64_t last = offset;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    int64_t step = 0;
    if (sizes[axis] == 0) return 0;
    if (sizes[axis] == 1) continue;
    if (__builtin_mul_overflow(sizes[axis] - 1, strides[axis], &step)) return std::nullopt;
    if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
  }
  return checked_add(last, 1);
}

Result<View> checked_view(const TensorMeta& meta, const std::string& where) {
  const auto dtype = dtype_of_scalar_type(meta.dtype);
  if (!dtype) return unsupported(where, fmt::format("has elements of type {}", scalar_type_name(meta.dtype)));
  const auto sizes = evaluate(meta.sizes, {});
  const auto strides = evaluate(meta.strides, {});
  const auto offset = evaluate(meta.storage_offset, {});
  if (!sizes || !strides || !offset) return input_error(where, "has a size that is not a number");
  if (sizes->size() != strides->size())
    return input_error(where, fmt::format("has {} sizes, but {} strides", sizes->size(), strides->size()));
  const auto elements = checked_element_count(*sizes);
  if (!elements)
    return input_error(where,
                       fmt::format("has the sizes [{}]; none may be negative, and at most {} axes and {} "
                                   "elements are allowed",
                                   fmt::join(*sizes, ","), kMaxRank, kMaxElements));
  if (*offset < 0) return input_error(where, fmt::format("starts at element {} of its storage", *offset));

  for (size_t axis = 0; axis < sizes->size(); ++axis)
    if ((*sizes)[axis] > 1 && (*strides)[axis] <= 0)
      return input_error(
          where, fmt::format("has the stride {} along axis {}; it must be above 0", (*strides)[axis], axis));
  const auto end = storage_end(*sizes, *strides, *offset);
  if (!end || !checked_multiply(*end, size_of(*dtype)))
    return input_error(
        where, fmt::format("has the strides [{}], which reach beyond any storage", fmt::join(*strides, ",")));
  if (*elements > 0 && *elements > *end - *offset)
    return input_error(where, fmt::format("has the strides [{}], with which its elements overlap",
                                          fmt::join(*strides, ",")));
  return View{*dtype, *sizes, *strides, *offset, *elements, *end};
}

// Copies along the axes from `axis` on; returns where the next element goes.
std::byte* gather(const View& view, size_t axis, const std::byte* from, std::byte* to) {
  const auto bytes = static_cast<size_t>(size_of(view.dtype));
  if (axis == view.sizes.size()) {
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  for (int64_t i = 0; i < view.sizes[axis]; ++i)
    to = gather(view, axis + 1, from + i * view.strides[axis] * size_of(view.dtype), to);
  return to;
}

Tensor materialize(const View& view, const std::vector<std::byte>& storage) {
  Tensor tensor(view.dtype, view.sizes);
  if (view.elements == 0) return tensor;
  const std::byte* first = storage.data() + view.offset * size_of(view.dtype);
  if (view.strides == row_major_strides(view.sizes))
    std::memcpy(tensor.bytes().data(), first, tensor.bytes().size());
  else
    gather(view, 0, first, tensor.bytes().data());
  return tensor;
}

}  // namespace

std::optional<DType> dtype_of_scalar_type(int64_t code) {
  const auto found = std::ranges::find(kScalarTypes, code, &ScalarTypeRow::code);
  return found == std::end(kScalarTypes) ? std::nullopt : found->dtype;
}

std::string scalar_type_name(int64_t code) {
  const auto found = std::ranges::find(kScalarTypes, code, &ScalarTypeRow::code);
  return found == std::end(kScalarTypes) ? fmt::format("number {}", code) : std::string(found->name);
}

Result<std::shared_ptr<const Tensor>> Archive::load(const TensorMeta& meta, const std::string& path,
                                                    const std::string& where) {
  const auto view = checked_view(meta, where);
  if (!view) return tl::unexpected(view.error());
  auto& kept = tensors_[{path, view->dtype, view->sizes, view->strides, view->offset}];
  if (kept != nullptr) return kept;
  const auto bytes = storage(path);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto found = static_cast<int64_t>((*bytes)->size());
  const int64_t needed = view->end * size_of(view->dtype);
  if (found < needed)
    return input_error(where, fmt::format("needs {} bytes of '{}', which has only {}", needed, path, found));
  // Many views of one large storage would multiply it.
  tensor_bytes_ += view->elements * size_of(view->dtype);
  if (tensor_bytes_ > static_cast<int64_t>(kMaxFileBytes))
    return input_error(where,
                       fmt::format("brings the model's constants to more than {} bytes", kMaxFileBytes));
  Tensor tensor = materialize(*view, **bytes);
  if (tensor.dtype() == DType::boolean &&
      std::ranges::any_of(tensor.bytes(), [](std::byte b) { return b > std::byte{1}; }))
    return input_error(where, "has truth values other than 0 and 1");
  kept = std::make_shared<const Tensor>(std::move(tensor));
  return kept;
}

}  // namespace rushlight::pt2
