// SPDX-License-Identifier: Apache-2.0
// Ops that pick, repeat or add elements along axes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/shape_checks.h"

namespace rushlight::shapes {

Shapes slice(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  Shape result = query.shape(0);
  const Result<int64_t> axis = normalized_axis(query.attributes.integer("dim"), result.size());
  if (!axis) return attribute_error("dim", axis.error().diagnostics.front().what);
  const int64_t step = query.attributes.integer("step");
  if (step < 1 || step > kMaxElements)
    return attribute_error("step", fmt::format("found {}, must be between 1 and {}", step, kMaxElements));
  const auto [start, end] = slice_bounds(query.attributes, result[static_cast<size_t>(*axis)]);
  if (end <= start)
    return attribute_error("end", fmt::format("the slice {}:{} of extent {} is empty", start, end,
                                              result[static_cast<size_t>(*axis)]));
  result[static_cast<size_t>(*axis)] = (end - start + step - 1) / step;
  return one_result(std::move(result), query.operand(0).dtype);
}

std::pair<int64_t, int64_t> slice_bounds(const Attributes& attributes, int64_t extent) {
  // Bounds count from the end where negative, and are cut to the extent, as in Python.
  const auto bound = [&](std::string_view name, int64_t missing) {
    if (attributes.is_none(name)) return missing;
    const int64_t given = attributes.integer(name);
    return std::clamp<int64_t>(given < 0 ? given + extent : given, 0, extent);
  };
  return {bound("start", 0), bound("end", extent)};
}

Shapes expand(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  const Shape& input = query.shape(0);
  Shape size = query.attributes.integers("size");
  if (size.size() < input.size())
    return attribute_error("size", fmt::format("found {}, must have at least the {} axes of the input",
                                               to_string(Attribute(size)), input.size()));
  const size_t lead = size.size() - input.size();
  for (size_t d = 0; d < size.size(); ++d) {
    const int64_t own = d < lead ? 1 : input[d - lead];
    if (size[d] == -1 && d >= lead) size[d] = own;
    if (size[d] != own && own != 1)
      return attribute_error("size",
                             fmt::format("found {} for an axis of extent {}; only axes of extent 1 can "
                                         "be expanded",
                                         size[d], own));
  }
  return one_result(std::move(size), query.operand(0).dtype);
}

Shapes flip(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  for (const int64_t dim : query.attributes.integers("dims"))
    if (const Result<int64_t> axis = normalized_axis(dim, query.shape(0).size()); !axis)
      return attribute_error("dims", axis.error().diagnostics.front().what);
  return one_result(query.shape(0), query.operand(0).dtype);
}

namespace {

// What a padding mode can take from an axis: reflect leaves out the edge, circular goes round once.
int64_t longest_padding(const std::string& mode, int64_t extent) {
  if (mode == "reflect") return extent - 1;
  if (mode == "circular") return extent;
  return kMaxElements;
}

}  // namespace

Shapes pad(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  Shape result = query.shape(0);
  const Integers& pads = query.attributes.integers("pad");
  const std::string& mode = query.attributes.text("mode");
  if (mode != "constant" && mode != "reflect" && mode != "replicate" && mode != "circular")
    return attribute_error(
        "mode", fmt::format("found \"{}\", must be constant, reflect, replicate or circular", mode));
  if (pads.size() % 2 != 0 || pads.size() / 2 > result.size())
    return attribute_error("pad", fmt::format("found {}, must have two entries an axis, for at most {} axes",
                                              to_string(Attribute(pads)), result.size()));
  if (!query.attributes.is_none("value") && !std::isfinite(query.attributes.real("value")))
    return unsupported("attribute value",
                       fmt::format("found {}, must be finite", query.attributes.real("value")));
  for (size_t k = 0; k < pads.size() / 2; ++k) {
    int64_t& extent = result[result.size() - 1 - k];
    const int64_t most = longest_padding(mode, extent);
    for (const int64_t amount : {pads[2 * k], pads[2 * k + 1]})
      if (amount < 0 || amount > most)
        return attribute_error(
            "pad", fmt::format("found {}, must be between 0 and {} in mode {} on extent {}", amount, most,
                               mode, extent));
    extent += pads[2 * k] + pads[2 * k + 1];
  }
  return one_result(std::move(result), query.operand(0).dtype);
}

Shapes upsample2d(const OpQuery& query) {
  if (Status ok = check_operands(query); !ok) return forward(ok);
  if (Status ok = check_real(query, 0, "input"); !ok) return forward(ok);
  if (query.shape(0).size() != 4)
    return operand_error(
        "input", fmt::format("found shape {}, must have rank 4 (N,C,H,W)", to_string(query.shape(0))));
  auto size = bounded_pair(query.attributes, "output_size", 1);
  if (!size) return forward(size);
  for (const std::string_view scale : {"scale_h", "scale_w"}) {
    const double value = query.attributes.real(scale);
    if (!std::isfinite(value) || value < 0)
      return attribute_error(scale, fmt::format("found {}, must be finite and not negative", value));
  }
  const Shape& input = query.shape(0);
  return one_result({input[0], input[1], size->first, size->second}, query.operand(0).dtype);
}

}  // namespace rushlight::shapes
