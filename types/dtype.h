// SPDX-License-Identifier: Apache-2.0
// Element types: one row each, from which names and sizes come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rushlight {

enum class DType : uint8_t { boolean, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64 };

struct DTypeRow {
  DType dtype;
  std::string_view name;   // in the text form of graphs and in messages
  std::string_view numpy;  // the type code of an .npy header, without byte order; empty: numpy has none
  int bytes;
  bool is_float;
};

inline constexpr std::array<DTypeRow, 10> kDTypes = {{
    {DType::boolean, "bool", "b1", 1, false},
    {DType::uint8, "u8", "u1", 1, false},
    {DType::int8, "i8", "i1", 1, false},
    {DType::int16, "i16", "i2", 2, false},
    {DType::int32, "i32", "i4", 4, false},
    {DType::int64, "i64", "i8", 8, false},
    {DType::float16, "f16", "f2", 2, true},
    {DType::bfloat16, "bf16", "", 2, true},
    {DType::float32, "f32", "f4", 4, true},
    {DType::float64, "f64", "f8", 8, true},
}};

constexpr const DTypeRow& row(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }
constexpr std::string_view name(DType dtype) { return row(dtype).name; }
constexpr int size_of(DType dtype) { return row(dtype).bytes; }
constexpr bool is_float(DType dtype) { return row(dtype).is_float; }

constexpr std::optional<DType> dtype_from_name(std::string_view text) {
  for (const DTypeRow& r : kDTypes)
    if (r.name == text) return r.dtype;
  return std::nullopt;
}

// The least and greatest integer of an integer dtype of at most 32 bits.
constexpr int64_t lowest(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return -128;
    case DType::int16:
      return -32768;
    case DType::int32:
      return INT32_MIN;
    default:
      return 0;
  }
}
constexpr int64_t highest(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return 1;
    case DType::uint8:
      return 255;
    case DType::int8:
      return 127;
    case DType::int16:
      return 32767;
    default:
      return INT32_MAX;
  }
}

}  // namespace rushlight
