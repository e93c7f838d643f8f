// SPDX-License-Identifier: Apache-2.0
// Reductions, and what looks along one axis.
#include <fmt/format.h>

#include "ops/shape_checks.h"

namespace rushlight::shapes {

Shapes reduce(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  if (Status ok = check_real(query, 0, "input"); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  std::vector<char> reduced(input.size(), 0);
  const Integers none;
  const Integers& dims = query.attributes.is_none("dim") ? none : query.attributes.integers("dim");
  for (const int64_t dim : dims) {
    const Result<int64_t> axis = normalized_axis(dim, input.size());
    if (!axis) return attribute_error("dim", axis.error().diagnostics.front().what);
    char& seen = reduced[static_cast<size_t>(*axis)];
    if (seen != 0) return attribute_error("dim", fmt::format("axis {} appears twice", *axis));
    seen = 1;
  }
  if (dims.empty()) reduced.assign(input.size(), 1);  // as PyTorch does for both none and []

  const bool keep = query.attributes.boolean("keepdim");
  Shape result;
  for (size_t i = 0; i < input.size(); ++i) {
    if (reduced[i] == 0) result.push_back(input[i]);
    if (reduced[i] != 0 && keep) result.push_back(1);
  }
  return one_result(std::move(result), query.operand(0).dtype);
}

Shapes position(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  if (Status ok = check_real(query, 0, "input"); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  const bool keep = query.attributes.boolean("keepdim");
  if (query.attributes.is_none("dim")) return one_result(Shape(keep ? input.size() : 0, 1), DType::int64);
  const Result<int64_t> axis = normalized_axis(query.attributes.integer("dim"), input.size());
  if (!axis) return attribute_error("dim", axis.error().diagnostics.front().what);
  Shape result = input;
  if (keep)
    result[static_cast<size_t>(*axis)] = 1;
  else
    result.erase(result.begin() + *axis);
  return one_result(std::move(result), DType::int64);
}

Shapes along_dim(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  if (Status ok = check_real(query, 0, "input"); !ok) return forward(ok);
  const Result<int64_t> axis = normalized_axis(query.attributes.integer("dim"), query.shape(0).size());
  if (!axis) return attribute_error("dim", axis.error().diagnostics.front().what);
  return one_result(query.shape(0), query.operand(0).dtype);
}

}  // namespace rushlight::shapes
