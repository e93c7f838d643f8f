// SPDX-License-Identifier: Apache-2.0
// Ops that move elements without computing on them.
#include <fmt/format.h>

#include <algorithm>

#include "ops/shape_checks.h"

namespace rushlight::shapes {

Shapes view(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  Shape size = query.attributes.integers("size");
  const auto inferred = std::find(size.begin(), size.end(), -1);
  const bool infers = inferred != size.end();
  if (infers && std::find(inferred + 1, size.end(), -1) != size.end())
    return attribute_error("size", fmt::format("found {}, only one extent may be -1", to_string(size)));
  if (infers) *inferred = 1;
  const int64_t known = checked_element_count(size).value_or(0);
  const int64_t count = element_count(input);
  if (known == 0 || (infers ? count % known : count - known) != 0) {
    return attribute_error("size", fmt::format("found {}, which can't hold the {} elements of {}",
                                               to_string(Attribute(query.attributes.integers("size"))), count,
                                               to_string(input)));
  }
  if (infers) *inferred = count / known;
  return one_result(std::move(size), query.operand(0).dtype);
}

Shapes flatten(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  const size_t rank = std::max<size_t>(input.size(), 1);  // PyTorch takes a scalar for a vector of one
  const Result<int64_t> start = normalized_axis(query.attributes.integer("start_dim"), rank);
  if (!start) return attribute_error("start_dim", start.error().diagnostics.front().what);
  const Result<int64_t> end = normalized_axis(query.attributes.integer("end_dim"), rank);
  if (!end) return attribute_error("end_dim", end.error().diagnostics.front().what);
  if (*start > *end)
    return attribute_error("start_dim", fmt::format("found axis {} behind end_dim {}", *start, *end));
  if (input.empty()) return one_result({1}, query.operand(0).dtype);
  const auto first = input.begin() + *start;
  const auto last = input.begin() + *end + 1;
  Shape result(input.begin(), first);
  result.push_back(element_count(Shape(first, last)));
  result.insert(result.end(), last, input.end());
  return one_result(std::move(result), query.operand(0).dtype);
}

Shapes permute(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  const Integers& dims = query.attributes.integers("dims");
  if (dims.size() != input.size())
    return attribute_error("dims", fmt::format("found {} entries, must be one for each of the {} axes",
                                               dims.size(), input.size()));
  std::vector<char> seen(input.size(), 0);
  Shape result;
  for (const int64_t dim : dims) {
    const Result<int64_t> axis = normalized_axis(dim, input.size());
    if (!axis) return attribute_error("dims", axis.error().diagnostics.front().what);
    const auto i = static_cast<size_t>(*axis);
    if (seen[i] != 0) return attribute_error("dims", fmt::format("axis {} appears twice", i));
    seen[i] = 1;
    result.push_back(input[i]);
  }
  return one_result(std::move(result), query.operand(0).dtype);
}

Shapes concat(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  Shape result = query.shape(0);
  const Result<int64_t> dim = normalized_axis(query.attributes.integer("dim"), result.size());
  if (!dim) return attribute_error("dim", dim.error().diagnostics.front().what);
  const auto axis = static_cast<size_t>(*dim);
  for (size_t i = 1; i < query.operands.size(); ++i) {
    if (!same_kind(query.operand(0), query.operand(i)))
      return input_error(fmt::format("operand {}", i + 1),
                         fmt::format("found {}, must have the dtype {} of the first operand",
                                     name(query.operand(i).dtype), name(query.operand(0).dtype)));
    Shape expected = result;
    const Shape& shape = query.shape(i);
    if (shape.size() == result.size()) expected[axis] = shape[axis];
    if (shape != expected)
      return input_error(fmt::format("operand {}", i + 1),
                         fmt::format("found shape {}, must equal the first operand's {} but along axis {}",
                                     to_string(shape), to_string(query.shape(0)), axis));
    if (__builtin_add_overflow(result[axis], shape[axis], &result[axis]))
      return attribute_error("dim", fmt::format("the extents along axis {} add up to more than 2^63", axis));
  }
  return one_result(std::move(result), query.operand(0).dtype);
}

}  // namespace rushlight::shapes
