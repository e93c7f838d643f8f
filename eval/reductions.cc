// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/kernels.h"

namespace rushlight::eval {
namespace {

// Strides of the result over the input's axes: 0 along reduced ones.
struct Reduction {
  Shape kept;
  std::vector<int64_t> strides;
};

Reduction reduction_of(const Call& call) {
  const Shape& shape = call.operand(0).shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const Attributes attrs = call.node.attrs();
  const Integers dims = attrs.is_none("dim") ? Integers{} : attrs.integers("dim");
  std::vector<bool> reduced(shape.size(), dims.empty());
  for (int64_t d : dims) reduced[static_cast<size_t>(d < 0 ? d + rank : d)] = true;
  Reduction r{shape, {}};
  for (size_t d = 0; d < shape.size(); ++d)
    if (reduced[d]) r.kept[d] = 1;
  r.strides = row_major_strides(r.kept);
  for (size_t d = 0; d < shape.size(); ++d)
    if (reduced[d]) r.strides[d] = 0;
  return r;
}

// combine(index of the element's group, element) over all elements in order.
template <class Combine>
void for_each(const Tensor& input, const Reduction& r, Combine combine) {
  const Shape& shape = input.shape();
  const auto x = input.as<float>();
  Shape index(shape.size(), 0);
  int64_t at = 0;
  for (const float value : x) {
    combine(static_cast<size_t>(at), static_cast<double>(value));
    for (size_t d = shape.size(); d-- > 0;) {
      at += r.strides[d];
      if (++index[d] < shape[d]) break;
      at -= r.strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

// The tensor as [outer][extent of the attribute's dim][inner].
struct Lines {
  int64_t outer, count, inner;
};

Lines lines_of(const Shape& shape, int64_t dim) {
  const auto axis = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim);
  Lines l{1, shape[axis], row_major_strides(shape)[axis]};
  for (size_t d = 0; d < axis; ++d) l.outer *= shape[d];
  return l;
}

}  // namespace

Tensor reduce(const Call& call) {
  const Reduction r = reduction_of(call);
  const Tensor& input = call.operand(0);
  const bool greatest = call.node.op == "aten.amax"_op;
  const bool least = call.node.op == "aten.amin"_op;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double start = greatest ? -kInfinity : least ? kInfinity : 0.0;
  std::vector<double> values(static_cast<size_t>(element_count(r.kept)), start);
  for_each(input, r, [&](size_t at, double x) {
    values[at] = greatest ? std::max(values[at], x) : least ? std::min(values[at], x) : values[at] + x;
  });
  const double n = static_cast<double>(input.elements()) / static_cast<double>(values.size());
  Tensor result(DType::float32, call.result_shape);
  for (size_t i = 0; i < values.size(); ++i)
    result.as<float>()[i] = static_cast<float>(call.node.op == "aten.mean"_op ? values[i] / n : values[i]);
  return result;
}

Tensor position(const Call& call) {
  const Tensor& input = call.operand(0);
  const Attributes attrs = call.node.attrs();
  const Lines l =
      attrs.is_none("dim") ? Lines{1, input.elements(), 1} : lines_of(input.shape(), attrs.integer("dim"));
  const bool least = call.node.op == "aten.argmin"_op;
  Tensor result(DType::int64, call.result_shape);
  for (int64_t o = 0; o < l.outer; ++o)
    for (int64_t i = 0; i < l.inner; ++i) {
      int64_t best = 0;
      const auto at = [&](int64_t k) { return input.at((o * l.count + k) * l.inner + i); };
      for (int64_t k = 1; k < l.count; ++k)
        if (least ? at(k) < at(best) : at(k) > at(best)) best = k;
      result.set(o * l.inner + i, static_cast<double>(best));
    }
  return result;
}

Tensor softmax(const Call& call) {
  Tensor result(DType::float32, call.result_shape);
  const Lines l = lines_of(call.result_shape, call.node.attrs().integer("dim"));
  const bool logarithm = call.node.op == "aten.log_softmax"_op;
  const auto x = call.operand(0).as<float>();
  const auto y = result.as<float>();
  for (int64_t o = 0; o < l.outer; ++o)
    for (int64_t i = 0; i < l.inner; ++i) {
      const auto at = [&](int64_t k) { return static_cast<size_t>((o * l.count + k) * l.inner + i); };
      double greatest = x[at(0)];
      for (int64_t k = 1; k < l.count; ++k) greatest = std::max<double>(greatest, x[at(k)]);
      double sum = 0;
      for (int64_t k = 0; k < l.count; ++k) sum += std::exp(x[at(k)] - greatest);
      for (int64_t k = 0; k < l.count; ++k) {
        const double shifted = x[at(k)] - greatest;
        y[at(k)] = static_cast<float>(logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum);
      }
    }
  return result;
}

}  // namespace rushlight::eval
