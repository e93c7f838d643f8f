// SPDX-License-Identifier: Apache-2.0
// Matrix products, normalisation and reductions.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "ops/shape_checks.h"

namespace rushlight::shapes {

Shapes linear(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  const Shape& weight = query.shape(1);
  if (weight.size() != 2)
    return operand_error("weight", fmt::format("found shape {}, must have rank 2 (out features, in features)",
                                               to_string(weight)));
  if (input.empty() || input.back() != weight[1])
    return operand_error("input",
                         fmt::format("found shape {}, the last extent must be the weight's {} in features",
                                     to_string(input), weight[1]));
  if (Status ok = check_vector(query, 2, "bias", weight[0], "out features"); !ok) return forward(ok);
  if (Status ok = check_real(query, 0, "input"); !ok) return forward(ok);
  if (Status ok = check_real(query, 1, "weight"); !ok) return forward(ok);
  if (query.has(2))
    if (Status ok = check_real(query, 2, "bias"); !ok) return forward(ok);
  Shape result = input;
  result.back() = weight[0];
  return one_result(std::move(result), query.operand(0).dtype);
}

Shapes batch_norm(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  if (input.size() < 2)
    return operand_error("input",
                         fmt::format("found shape {}, must have rank 2 or more (N,C,...)", to_string(input)));
  constexpr std::array<std::string_view, 5> kNames = {"input", "weight", "bias", "running_mean",
                                                      "running_var"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (!query.has(i)) continue;
    if (Status ok = check_real(query, i, kNames[i]); !ok) return forward(ok);
    if (i == 0) continue;
    if (Status ok = check_vector(query, i, kNames[i], input[1], "channels"); !ok) return forward(ok);
  }
  if (query.attributes.boolean("training"))
    return unsupported("attribute training",
                       "found true, must be false; call model.eval() before the export");
  const double eps = query.attributes.real("eps");
  if (!std::isfinite(eps) || eps < 0)
    return attribute_error("eps", fmt::format("found {}, must be finite and not negative", eps));
  return one_result(input, query.operand(0).dtype);
}

Shapes prelu(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  if (Status ok = check_real(query, 0, "input"); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  if (input.size() < 2)
    return operand_error("input",
                         fmt::format("found shape {}, must have rank 2 or more (N,C,...)", to_string(input)));
  if (Status ok = check_vector(query, 1, "weight", input[1], "channels"); !ok) return forward(ok);
  return one_result(input, query.operand(0).dtype);
}

Shapes matmul(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  for (size_t i = 0; i < 2; ++i)
    if (Status ok = check_real(query, i, i == 0 ? "input" : "other"); !ok) return forward(ok);
  const Shape& a = query.shape(0);
  const Shape& b = query.shape(1);
  if (a.size() < 2 || b.size() < 2)
    return input_error("operands", fmt::format("found shapes {} and {}, both must have rank 2 or more",
                                               to_string(a), to_string(b)));
  if (a.back() != b[b.size() - 2])
    return input_error(
        "operands", fmt::format("found shapes {} and {}: the last extent of the first must be the last but "
                                "one of the second",
                                to_string(a), to_string(b)));
  std::optional<Shape> shape = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!shape)
    return input_error("operands", fmt::format("leading axes of shapes {} and {} don't broadcast",
                                               to_string(a), to_string(b)));
  shape->push_back(a[a.size() - 2]);
  shape->push_back(b.back());
  return one_result(*std::move(shape), query.operand(0).dtype);
}

Shapes embedding(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  if (Status ok = check_real(query, 0, "weight"); !ok) return forward(ok);
  if (query.shape(0).size() != 2)
    return operand_error("weight",
                         fmt::format("found shape {}, must be [rows, width]", to_string(query.shape(0))));
  const DType indices = query.operand(1).dtype;
  if (indices != DType::int64 && indices != DType::int32)
    return operand_error("indices", fmt::format("found {}, must be i32 or i64", to_string(query.operand(1))));
  Shape result = query.shape(1);
  result.push_back(query.shape(0)[1]);
  return one_result(std::move(result), query.operand(0).dtype);
}

}  // namespace rushlight::shapes
