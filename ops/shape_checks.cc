// SPDX-License-Identifier: Apache-2.0
#include "ops/shape_checks.h"

#include <fmt/format.h>

namespace rushlight::shapes {

tl::unexpected<Error> operand_error(std::string_view operand, std::string what) {
  return input_error(fmt::format("operand '{}'", operand), std::move(what));
}
tl::unexpected<Error> attribute_error(std::string_view attribute, std::string what) {
  return input_error(fmt::format("attribute {}", attribute), std::move(what));
}

namespace {

std::string outside_limits(const Shape& shape) {
  return fmt::format("shape {} is outside the limits: 1 to {} elements, rank at most {}", to_string(shape),
                     kMaxElements, kMaxRank);
}

}  // namespace

Status check_operands(const OpQuery& query) {
  for (size_t i = 0; i < query.operands.size(); ++i) {
    if (!query.has(i)) continue;
    if (checked_element_count(query.shape(i)).value_or(0) == 0)
      return input_error(fmt::format("operand {}", i + 1), outside_limits(query.shape(i)));
  }
  return {};
}

bool is_real(const TensorType& type) { return is_float(type.dtype) || type.quantized(); }

bool same_kind(const TensorType& a, const TensorType& b) {
  if (a.quantized() || b.quantized()) return is_real(a) && is_real(b);
  return a.dtype == b.dtype;
}

Status check_real(const OpQuery& query, size_t i, std::string_view name) {
  const TensorType& type = query.operand(i);
  if (!is_real(type))
    return operand_error(
        name,
        fmt::format("found {} without quantization, must be a float or quantized tensor", to_string(type)));
  if (!same_kind(query.operand(0), type))
    return operand_error(name, fmt::format("found {}, must have the input's dtype {}", to_string(type),
                                           rushlight::name(query.operand(0).dtype)));
  return {};
}

Status check_vector(const OpQuery& query, size_t i, std::string_view name, int64_t extent,
                    std::string_view extent_of) {
  if (!query.has(i)) return {};
  if (query.shape(i) != Shape{extent})
    return operand_error(name, fmt::format("found shape {}, must be [{}], the {}", to_string(query.shape(i)),
                                           extent, extent_of));
  return {};
}

Result<std::pair<int64_t, int64_t>> bounded_pair(const Attributes& attributes, std::string_view name,
                                                 int64_t least) {
  const Integers& list = attributes.integers(name);
  if (list.size() != 1 && list.size() != 2)
    return attribute_error(name,
                           fmt::format("found {}, must have one entry or two", to_string(Attribute(list))));
  for (const int64_t entry : list)
    if (entry < least || entry > kMaxElements)
      return attribute_error(name,
                             fmt::format("found {}, must be between {} and {}", entry, least, kMaxElements));
  return attributes.pair(name);
}

Shapes one_result(Shape shape, DType dtype) {
  if (checked_element_count(shape).value_or(0) == 0) return input_error("result", outside_limits(shape));
  return std::vector<ResultShape>{{std::move(shape), dtype}};
}

}  // namespace rushlight::shapes
