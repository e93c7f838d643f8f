// SPDX-License-Identifier: Apache-2.0
#include "ir/parse_type.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "types/real_text.h"

namespace rushlight {
namespace {

bool parse_dtype(Scanner& in, DType& dtype) {
  const size_t position = in.mark();
  std::string_view text;
  if (!in.name(text, "a type such as f32[1,8]")) return false;
  const std::optional<DType> found = dtype_from_name(text);
  if (!found)
    return in.fail(position,
                   fmt::format("unknown dtype '{}', must be one of bool, u8, i8, i16, i32, i64, f16, bf16, "
                               "f32, f64",
                               text.substr(0, 40)));
  dtype = *found;
  return true;
}

bool parse_shape(Scanner& in, Shape& shape) {
  if (!in.expect("[")) return false;
  if (in.accept("]")) return true;
  do {
    if (shape.size() == static_cast<size_t>(kMaxRank))
      return in.fail(fmt::format("a tensor has at most {} axes", kMaxRank));
    if (!in.integer(shape.emplace_back(), 0, kMaxElements, "an extent")) return false;
  } while (in.accept(","));
  return in.expect("]");
}

bool parse_int32(Scanner& in, int32_t& into, std::string_view what) {
  int64_t value = 0;
  if (!in.integer(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), what))
    return false;
  into = static_cast<int32_t>(value);
  return true;
}

// What follows "<", e.g. "axis=0; 0.5:0, 0.25:0; -127..127>".
bool parse_quantization(Scanner& in, DType dtype, Quantization& quant) {
  int64_t axis = -1;
  if (in.accept("axis") &&
      !(in.expect("=") && in.integer(axis, 0, kMaxRank - 1, "an axis") && in.expect(";")))
    return false;
  quant.axis = static_cast<int>(axis);
  do {
    if (!in.real(quant.scales.emplace_back(), "a scale") || !in.expect(":")) return false;
    if (!parse_int32(in, quant.zero_points.emplace_back(), "a zero point")) return false;
  } while (in.accept(","));
  quant.lo = static_cast<int32_t>(lowest(dtype));
  quant.hi = static_cast<int32_t>(highest(dtype));
  if (in.accept(";") && !(parse_int32(in, quant.lo, "the least integer") && in.expect("..") &&
                          parse_int32(in, quant.hi, "the greatest integer")))
    return false;
  return in.expect(">");
}

bool parse_boolean(Scanner& in, Tensor& data, int64_t i) {
  const bool one = in.accept("true") || in.accept("1");
  if (!one && !in.accept("false") && !in.accept("0")) return in.fail("expected true, false, 0 or 1");
  data.set(i, one ? 1 : 0);
  return true;
}

bool parse_float(Scanner& in, Tensor& data, int64_t i) {
  const size_t position = in.mark();
  std::string_view text;
  if (!in.word(text, ",]%}", "a real")) return false;
  // float16 values print as floats. Read as doubles, floats could be rounded twice.
  const std::optional<double> value =
      data.dtype() == DType::float64 ? read_double(text) : std::optional<double>(read_float(text));
  if (!value) return in.fail(position, fmt::format("expected a real, found '{}'", text.substr(0, 40)));
  data.set(i, *value);
  return true;
}

bool parse_element(Scanner& in, Tensor& data, int64_t i) {
  const DType dtype = data.dtype();
  if (dtype == DType::boolean) return parse_boolean(in, data, i);
  if (is_float(dtype)) return parse_float(in, data, i);
  const bool wide = dtype == DType::int64;  // a double would not hold all of its values
  const int64_t lo = wide ? std::numeric_limits<int64_t>::min() : lowest(dtype);
  const int64_t hi = wide ? std::numeric_limits<int64_t>::max() : highest(dtype);
  int64_t value = 0;
  if (!in.integer(value, lo, hi, "an integer")) return false;
  if (wide) data.as<int64_t>()[static_cast<size_t>(i)] = value;
  if (!wide) data.set(i, static_cast<double>(value));
  return true;
}

}  // namespace

bool parse_type(Scanner& in, TensorType& type) {
  if (!parse_dtype(in, type.dtype) || !parse_shape(in, type.shape)) return false;
  if (in.accept("{")) {
    if (!in.expect("channels_last") || !in.expect("}")) return false;
    type.layout = Layout::channels_last;
  }
  return !in.accept("<") || parse_quantization(in, type.dtype, type.quant);
}

bool parse_splat(Scanner& in, Tensor& data) {
  if (!parse_element(in, data, 0)) return false;
  const auto size = static_cast<size_t>(size_of(data.dtype()));
  const std::span<std::byte> bytes = data.bytes();
  for (size_t at = size; at < bytes.size(); at += size) std::memcpy(bytes.data() + at, bytes.data(), size);
  return true;
}

bool parse_list(Scanner& in, Tensor& data) {
  const int64_t count = data.elements();
  if (!in.expect("[")) return false;
  for (int64_t i = 0; i < count; ++i) {
    if (i != 0 && !in.accept(","))
      return in.fail(fmt::format("found {} elements, the type says {}", i, count));
    if (!parse_element(in, data, i)) return false;
  }
  return in.accept("]") ||
         in.fail(fmt::format("expected ']' after the {} elements that the type says", count));
}

}  // namespace rushlight
