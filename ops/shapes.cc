// SPDX-License-Identifier: Apache-2.0
// Elementwise ops and the quantization boundary.
#include "ops/shapes.h"

#include <fmt/format.h>

#include <cmath>

#include "ops/expression.h"
#include "ops/shape_checks.h"

namespace rushlight::shapes {

Shapes same_as_input(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  return one_result(query.shape(0), query.operand(0).dtype);
}

Shapes expression(const OpQuery& query) {
  if (auto parsed = Expression::parse(query.attributes.text("expression")); !parsed) return forward(parsed);
  return same_as_input(query);
}

Shapes broadcast_operands(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  const TensorType& a = query.operand(0);
  const TensorType& b = query.operand(1);
  if (!same_kind(a, b))
    return input_error("operands",
                       fmt::format("found dtypes {} and {}, must be the same", name(a.dtype), name(b.dtype)));
  std::optional<Shape> shape = broadcast(a.shape, b.shape);
  if (!shape)
    return input_error("operands",
                       fmt::format("shapes {} and {} don't broadcast: aligned at the last axis, extents must "
                                   "be equal or 1",
                                   to_string(a.shape), to_string(b.shape)));
  return one_result(*std::move(shape), a.dtype);
}

namespace {

// The attribute `dtype` of a Q/DQ node, and the range that goes with it.
Result<DType> checked_range(const Attributes& attributes) {
  const std::string& text = attributes.text("dtype");
  const std::optional<DType> dtype = dtype_from_name(text);
  const bool allowed =
      dtype == DType::uint8 || dtype == DType::int8 || dtype == DType::int16 || dtype == DType::int32;
  if (!allowed)
    return attribute_error("dtype", fmt::format("found \"{}\", must be u8, i8, i16 or i32", text));
  const int64_t lo = attributes.integer("quant_min");
  const int64_t hi = attributes.integer("quant_max");
  if (lo < lowest(*dtype) || hi > highest(*dtype) || lo >= hi)
    return attribute_error(
        "quant_min", fmt::format("found range {}..{}, must be ascending and within {}..{} of {}", lo, hi,
                                 lowest(*dtype), highest(*dtype), text));
  return *dtype;
}

Status check_per_tensor(const Attributes& attributes, DType dtype) {
  const double scale = attributes.real("scale");
  if (!std::isfinite(scale) || scale <= 0)
    return attribute_error("scale", fmt::format("found {}, must be finite and above 0", scale));
  const int64_t zero_point = attributes.integer("zero_point");
  if (zero_point < lowest(dtype) || zero_point > highest(dtype))
    return attribute_error("zero_point", fmt::format("found {}, must be within {}..{} of {}", zero_point,
                                                     lowest(dtype), highest(dtype), name(dtype)));
  return {};
}

Status check_per_channel(const OpQuery& query) {
  const Result<int64_t> axis = normalized_axis(query.attributes.integer("axis"), query.shape(0).size());
  if (!axis) return attribute_error("axis", axis.error().diagnostics.front().what);
  if (!is_float(query.operand(1).dtype))
    return operand_error("scales", fmt::format("found {}, must be floats", to_string(query.operand(1))));
  if (query.has(2) && is_float(query.operand(2).dtype))
    return operand_error("zero_points",
                         fmt::format("found {}, must be integers", to_string(query.operand(2))));
  const int64_t extent = query.shape(0)[static_cast<size_t>(*axis)];
  if (Status ok = check_vector(query, 1, "scales", extent, "input's extent along axis"); !ok) return ok;
  return check_vector(query, 2, "zero_points", extent, "input's extent along axis");
}

}  // namespace

Shapes quantize(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  Result<DType> dtype = checked_range(query.attributes);
  if (!dtype) return forward(dtype);
  if (Status ok = check_per_tensor(query.attributes, *dtype); !ok) return forward(ok);
  if (!is_float(query.operand(0).dtype))
    return operand_error("input", fmt::format("found {}, must be floats", to_string(query.operand(0))));
  return one_result(query.shape(0), *dtype);
}

// Both forms: only the per-channel one has operands behind the input.
Shapes dequantize(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  Result<DType> dtype = checked_range(query.attributes);
  if (!dtype) return forward(dtype);
  const bool per_channel = query.operands.size() > 1;
  Status ok = per_channel ? check_per_channel(query) : check_per_tensor(query.attributes, *dtype);
  if (!ok) return forward(ok);
  if (query.operand(0).dtype != *dtype)
    return operand_error("input", fmt::format("found {}, must be {} as the attribute dtype says",
                                              to_string(query.operand(0)), name(*dtype)));
  return one_result(query.shape(0), DType::float32);
}

Result<int64_t> normalized_axis(int64_t axis, size_t rank) {
  const auto extent = static_cast<int64_t>(rank);
  if (rank == 0) return input_error("axis", fmt::format("found axis {}, but a scalar has none", axis));
  if (axis < -extent || axis >= extent)
    return input_error("axis", fmt::format("found axis {}, must be within {}..{} for rank {}", axis, -extent,
                                           extent - 1, rank));
  return axis < 0 ? axis + extent : axis;
}

}  // namespace rushlight::shapes
