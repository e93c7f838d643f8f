// SPDX-License-Identifier: Apache-2.0
// Matrix products, normalisation and reductions.
#include <fmt/format.h>

#include <array>
#include <cmath>

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

Shapes mean(const OpQuery& query) {
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

}  // namespace rushlight::shapes
