// SPDX-License-Identifier: Apache-2.0
// What shape rules share: every operand and attribute may come from a hostile file, so each rule checks its
// operands first, after which extents and their products are at most kMaxElements and int64 arithmetic on
// them is safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "ops/shapes.h"

namespace rushlight::shapes {

// Errors of rules say where as "operand 'weight'" or "attribute stride"; who calls a rule puts the node
// before it.
tl::unexpected<Error> operand_error(std::string_view operand, std::string what);
tl::unexpected<Error> attribute_error(std::string_view attribute, std::string what);

// Every operand has between 1 and kMaxElements elements and a rank of at most kMaxRank.
Status check_operands(const OpQuery& query);

// Stands for reals: of a float dtype, or quantized.
bool is_real(const TensorType& type);
// Can meet in one computation: both stand for reals (of one dtype where both are float), or are of one
// integer dtype.
bool same_kind(const TensorType& a, const TensorType& b);
// Operand i stands for reals and has this rank.
Status check_real(const OpQuery& query, size_t i, std::string_view name);
Status check_vector(const OpQuery& query, size_t i, std::string_view name, int64_t extent,
                    std::string_view extent_of);

// One or two entries as two, each between `least` and kMaxElements.
Result<std::pair<int64_t, int64_t>> bounded_pair(const Attributes& attributes, std::string_view name,
                                                 int64_t least);

// One result of this shape; an error where it is empty or too large.
Shapes one_result(Shape shape, DType dtype);

}  // namespace rushlight::shapes
