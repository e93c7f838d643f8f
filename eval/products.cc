// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "eval/kernels.h"
#include "ops/axis_maps.h"

namespace rushlight::eval {

Tensor conv_transpose2d(const Call& call) {
  const Attributes attrs = call.node.attrs();
  const Shape& in = call.operand(0).shape();
  const Shape& kernel = call.operand(1).shape();  // out, in / groups, h, w
  const Shape& out = call.result_shape;
  const auto [stride_h, stride_w] = attrs.pair("stride");
  const auto [pad_h, pad_w] = attrs.pair("padding");
  const auto [dilation_h, dilation_w] = attrs.pair("dilation");
  const int64_t group_outputs = out[1] / attrs.integer("groups");
  std::vector<double> sums(static_cast<size_t>(element_count(out)));
  const auto x = call.operand(0).as<float>();
  const auto w = call.operand(1).as<float>();
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o)
      for (int64_t i = 0; i < kernel[1]; ++i) {
        const int64_t plane = n * in[1] + o / group_outputs * kernel[1] + i;
        for (int64_t at = 0; at < in[2] * in[3]; ++at) {
          const double value = x[static_cast<size_t>(plane * in[2] * in[3] + at)];
          for (int64_t tap = 0; tap < kernel[2] * kernel[3]; ++tap) {
            const int64_t oy = at / in[3] * stride_h - pad_h + tap / kernel[3] * dilation_h;
            const int64_t ox = at % in[3] * stride_w - pad_w + tap % kernel[3] * dilation_w;
            if (oy < 0 || oy >= out[2] || ox < 0 || ox >= out[3]) continue;
            sums[static_cast<size_t>(((n * out[1] + o) * out[2] + oy) * out[3] + ox)] +=
                value * w[static_cast<size_t>((o * kernel[1] + i) * kernel[2] * kernel[3] + tap)];
          }
        }
      }
  Tensor result(DType::float32, out);
  const int64_t area = out[2] * out[3];
  for (int64_t i = 0; i < result.elements(); ++i)
    result.set(i, sums[static_cast<size_t>(i)] + (call.has(2) ? call.operand(2).at(i / area % out[1]) : 0.0));
  return result;
}

Tensor matmul(const Call& call) {
  const Shape& a = call.operand(0).shape();
  const Shape& b = call.operand(1).shape();
  const Shape& out = call.result_shape;
  const size_t rank = out.size();
  const int64_t rows = out[rank - 2];
  const int64_t columns = out[rank - 1];
  const int64_t depth = a.back();
  // Which matrix of an operand belongs to batch `index` of the result.
  const auto matrix = [&](const Shape& shape, int64_t index) {
    int64_t at = 0;
    int64_t step = 1;
    for (size_t d = rank - 2; d-- > 0; index /= out[d]) {
      if (d + shape.size() < rank) continue;
      const int64_t extent = shape[d + shape.size() - rank];
      at += extent == 1 ? 0 : index % out[d] * step;
      step *= extent;
    }
    return at;
  };
  Tensor result(DType::float32, out);
  const float* x = call.operand(0).as<float>().data();
  const float* y = call.operand(1).as<float>().data();
  for (int64_t n = 0; n < result.elements() / (rows * columns); ++n) {
    const float* left = x + matrix(a, n) * rows * depth;
    const float* right = y + matrix(b, n) * depth * columns;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += static_cast<double>(left[r * depth + k]) * right[k * columns + c];
        result.set((n * rows + r) * columns + c, sum);
      }
  }
  return result;
}

// Indices outside the table read its first or last row, as the device does.
Tensor embedding(const Call& call) {
  const Tensor& table = call.operand(0);
  const int64_t width = table.shape()[1];
  Tensor result(table.dtype(), call.result_shape);
  for (int64_t i = 0; i < call.operand(1).elements(); ++i) {
    const auto index = static_cast<int64_t>(call.operand(1).at(i));
    const int64_t row = std::clamp<int64_t>(index, 0, table.shape()[0] - 1);
    for (int64_t k = 0; k < width; ++k) result.set(i * width + k, table.at(row * width + k));
  }
  return result;
}

Tensor axis_mapped(const Call& call) {
  const Tensor& input = call.operand(0);
  const Shape& out = call.result_shape;
  const Attributes attrs = call.node.attrs();
  const AxisMaps maps = axis_maps(call.node.op, attrs, input.shape(), out);
  const bool pads = call.node.op == "aten.pad"_op && !attrs.is_none("value");
  const double fill = pads ? attrs.real("value") : 0.0;
  const std::vector<int64_t> own = row_major_strides(input.shape());
  const size_t lead = out.size() - input.shape().size();
  Tensor result(input.dtype(), out);
  Shape index(out.size(), 0);
  for (int64_t i = 0; i < result.elements(); ++i) {
    int64_t from = 0;
    for (size_t d = lead; d < out.size() && from != kFilled; ++d) {
      const int64_t at = maps[d][static_cast<size_t>(index[d])];
      from = at == kFilled ? kFilled : from + at * own[d - lead];
    }
    result.set(i, from == kFilled ? fill : input.at(from));
    for (size_t d = out.size(); d-- > 0;) {
      if (++index[d] < out[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace rushlight::eval
