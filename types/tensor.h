// SPDX-License-Identifier: Apache-2.0
// A dense row-major tensor on the host: constants, samples, results.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "types/dtype.h"
#include "types/result.h"
#include "types/shape.h"

namespace rushlight {

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::uint8;
}
template <>
constexpr DType dtype_of<int8_t>() {
  return DType::int8;
}
template <>
constexpr DType dtype_of<int16_t>() {
  return DType::int16;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::int32;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::int64;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::float32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::float64;
}

class Tensor {
 public:
  Tensor() = default;
  // Zero-filled. The shape must have a checked element count.
  Tensor(DType dtype, Shape shape)
      : dtype_(dtype), shape_(std::move(shape)), bytes_(element_count(shape_) * size_of(dtype)) {}

  template <class T>
  static Tensor of(Shape shape, std::span<const T> values) {
    Tensor t(dtype_of<T>(), std::move(shape));
    require(t.elements() == static_cast<int64_t>(values.size()),
            "a tensor has as many values as its shape says");
    if (!values.empty()) std::memcpy(t.bytes_.data(), values.data(), values.size_bytes());
    return t;
  }
  template <class T>
  static Tensor of(Shape shape, const std::vector<T>& values) {
    return of<T>(std::move(shape), std::span<const T>(values));
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t elements() const { return element_count(shape_); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }

  // Storage comes from the default allocator, aligned for every element type.
  template <class T>
  std::span<const T> as() const {
    require(dtype_ == dtype_of<T>(), "a tensor is read as the type it has");
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(elements())};
  }
  template <class T>
  std::span<T> as() {
    require(dtype_ == dtype_of<T>(), "a tensor is written as the type it has");
    return {reinterpret_cast<T*>(bytes_.data()), static_cast<size_t>(elements())};
  }

  // Element i as a double, whatever the dtype. Exact but for int64 beyond 2^53.
  double at(int64_t i) const;
  // Sets element i, converting as a C++ cast does.
  void set(int64_t i, double value);

  // The same elements under another shape of equal element count.
  Tensor reshaped(Shape shape) const;
  // Axis k of the result is axis order[k] of this tensor.
  Tensor permuted(std::span<const int> order) const;
  Tensor converted(DType dtype) const;

  bool operator==(const Tensor&) const = default;

 private:
  DType dtype_ = DType::float32;
  Shape shape_ = {0};
  std::vector<std::byte> bytes_;
};

}  // namespace rushlight
