// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "eval/kernels.h"
#include "ops/windows.h"

namespace rushlight::eval {
namespace {

// visit(plane, output index, row window, column window) for every output of the last two axes.
template <class Visit>
void for_each_window(const Call& call, const PoolWindows& windows, Visit visit) {
  const Shape& in = call.operand(0).shape();
  const size_t rank = in.size();
  const int64_t area = in[rank - 2] * in[rank - 1];
  const int64_t planes = call.operand(0).elements() / std::max<int64_t>(1, area);
  const auto x = call.operand(0).as<float>();
  size_t at = 0;
  for (int64_t p = 0; p < planes; ++p)
    for (const Window& row : windows.rows)
      for (const Window& column : windows.columns)
        visit(&x[static_cast<size_t>(p * area)], at++, row, column);
}

PoolWindows windows_of(const Call& call) {
  return pool_windows(call.node.op, call.node.attrs(), call.operand(0).shape(), call.result_shape);
}

}  // namespace

Tensor average_pool(const Call& call) {
  Tensor result(DType::float32, call.result_shape);
  const auto y = result.as<float>();
  const int64_t width = call.operand(0).shape().back();
  const bool overrides =
      call.node.op == "aten.avg_pool2d"_op && !call.node.attrs().is_none("divisor_override");
  for_each_window(call, windows_of(call), [&](const float* x, size_t at, const Window& r, const Window& c) {
    double sum = 0;
    for (int64_t i = 0; i < r.taps; ++i)
      for (int64_t j = 0; j < c.taps; ++j) sum += x[(r.first + i) * width + c.first + j];
    const int64_t divisor = overrides ? call.node.attrs().integer("divisor_override") : r.divisor * c.divisor;
    y[at] = static_cast<float>(sum / static_cast<double>(divisor));
  });
  return result;
}

Tensor max_pool(const Call& call) {
  Tensor result(DType::float32, call.result_shape);
  const auto y = result.as<float>();
  const int64_t width = call.operand(0).shape().back();
  const PoolWindows windows = windows_of(call);
  for_each_window(call, windows, [&](const float* x, size_t at, const Window& r, const Window& c) {
    float greatest = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < r.taps; ++i)
      for (int64_t j = 0; j < c.taps; ++j)
        greatest =
            std::max(greatest,
                     x[(r.first + i * windows.row_dilation) * width + c.first + j * windows.column_dilation]);
    y[at] = greatest;
  });
  return result;
}

Tensor upsample_bilinear2d(const Call& call) {
  Tensor result(DType::float32, call.result_shape);
  const Attributes attrs = call.node.attrs();
  const Shape& in = call.operand(0).shape();
  const Shape& out = call.result_shape;
  const bool align = attrs.boolean("align_corners");
  const Blends rows = linear_blends(in[2], out[2], attrs.real("scale_h"), align);
  const Blends columns = linear_blends(in[3], out[3], attrs.real("scale_w"), align);
  const float* x = call.operand(0).as<float>().data();
  float* y = result.as<float>().data();
  const auto blend = [](double a, double b, const Blend& at, int64_t denominator) {
    return a + (b - a) * static_cast<double>(at.weight) / static_cast<double>(denominator);
  };
  for (int64_t plane = 0; plane < in[0] * in[1]; ++plane, x += in[2] * in[3])
    for (const Blend& r : rows.entries)
      for (const Blend& c : columns.entries) {
        const float* first = x + r.first * in[3];
        const float* second = x + r.second * in[3];
        *y++ = static_cast<float>(blend(blend(first[c.first], first[c.second], c, columns.denominator),
                                        blend(second[c.first], second[c.second], c, columns.denominator), r,
                                        rows.denominator));
      }
  return result;
}

}  // namespace rushlight::eval
