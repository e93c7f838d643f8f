// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "eval/evaluator.h"
#include "eval/kernels.h"
#include "types/tensor_type.h"

namespace rushlight::eval {
namespace {

struct Window {
  int64_t first, last;  // input positions [first, last), clipped to the input
  int64_t padded;       // length with the padding it covers
};

// Means of rectangles of the last two axes; `divisor` of 0 counts the real taps.
template <class Rows, class Columns, class Divisor>
Tensor pool(const Call& call, const Rows& rows, const Columns& columns, const Divisor& divisor) {
  Tensor result(DType::float32, call.result_shape);
  const Shape& in = call.operand(0).shape();
  const size_t rank = in.size();
  const int64_t height = in[rank - 2];
  const int64_t width = in[rank - 1];
  const int64_t out_height = call.result_shape[rank - 2];
  const int64_t out_width = call.result_shape[rank - 1];
  const int64_t planes = call.operand(0).elements() / std::max<int64_t>(1, height * width);
  const auto x = call.operand(0).as<float>();
  const auto y = result.as<float>();
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t oy = 0; oy < out_height; ++oy)
      for (int64_t ox = 0; ox < out_width; ++ox) {
        const Window r = rows(oy);
        const Window c = columns(ox);
        double sum = 0;
        for (int64_t i = r.first; i < r.last; ++i)
          for (int64_t j = c.first; j < c.last; ++j)
            sum += x[static_cast<size_t>((p * height + i) * width + j)];
        y[static_cast<size_t>((p * out_height + oy) * out_width + ox)] =
            static_cast<float>(sum / divisor(r, c));
      }
  return result;
}

}  // namespace

Tensor batch_norm(const Call& call) {
  Tensor result(DType::float32, call.result_shape);
  const double eps = call.node.attrs().real("eps");
  const Shape& shape = call.result_shape;
  const int64_t channels = shape[1];
  const int64_t inner = row_major_strides(shape)[1];
  const auto x = call.operand(0).as<float>();
  const auto y = result.as<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    const auto c = static_cast<int64_t>(i) / inner % channels;
    const double weight = call.has(1) ? call.operand(1).at(c) : 1.0;
    const double bias = call.has(2) ? call.operand(2).at(c) : 0.0;
    const double factor = weight / std::sqrt(call.operand(4).at(c) + eps);
    y[i] = static_cast<float>((x[i] - call.operand(3).at(c)) * factor + bias);
  }
  return result;
}

Tensor mean(const Call& call) {
  const Tensor& input = call.operand(0);
  const size_t rank = input.shape().size();
  std::vector<bool> reduced(rank, call.node.attrs().is_none("dim"));
  if (!call.node.attrs().is_none("dim")) {
    const Integers& dims = call.node.attrs().integers("dim");
    if (dims.empty()) reduced.assign(rank, true);
    for (int64_t d : dims) reduced[static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(rank) : d)] = true;
  }
  // Strides of the result over the input's axes: 0 along reduced ones.
  Shape kept = input.shape();
  for (size_t d = 0; d < rank; ++d)
    if (reduced[d]) kept[d] = 1;
  std::vector<int64_t> strides = row_major_strides(kept);
  for (size_t d = 0; d < rank; ++d)
    if (reduced[d]) strides[d] = 0;
  std::vector<double> sums(static_cast<size_t>(element_count(kept)), 0.0);
  const auto own = row_major_strides(input.shape());
  for (int64_t i = 0; i < input.elements(); ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d) at += i / own[d] % input.shape()[d] * strides[d];
    sums[static_cast<size_t>(at)] += input.at(i);
  }
  Tensor result(DType::float32, call.result_shape);
  const double n = static_cast<double>(input.elements()) / static_cast<double>(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) result.as<float>()[i] = static_cast<float>(sums[i] / n);
  return result;
}

Tensor avg_pool2d(const Call& call) {
  const Attributes attrs = call.node.attrs();
  const auto [kernel_h, kernel_w] = attrs.pair("kernel_size");
  const auto [stride_h, stride_w] =
      attrs.integers("stride").empty() ? std::pair{kernel_h, kernel_w} : attrs.pair("stride");
  const auto [pad_h, pad_w] = attrs.pair("padding");
  const size_t rank = call.result_shape.size();
  const auto window = [](int64_t o, int64_t kernel, int64_t stride, int64_t pad, int64_t extent) {
    const int64_t first = o * stride - pad;
    const int64_t last = std::min(first + kernel, extent + pad);
    return Window{std::max<int64_t>(first, 0), std::min(last, extent), last - first};
  };
  const Shape& in = call.operand(0).shape();
  const auto rows = [&, k = kernel_h, s = stride_h, p = pad_h](int64_t o) {
    return window(o, k, s, p, in[rank - 2]);
  };
  const auto columns = [&, k = kernel_w, s = stride_w, p = pad_w](int64_t o) {
    return window(o, k, s, p, in[rank - 1]);
  };
  return pool(call, rows, columns, [&](const Window& r, const Window& c) {
    if (!attrs.is_none("divisor_override")) return static_cast<double>(attrs.integer("divisor_override"));
    if (attrs.boolean("count_include_pad")) return static_cast<double>(r.padded * c.padded);
    return static_cast<double>((r.last - r.first) * (c.last - c.first));
  });
}

Tensor adaptive_avg_pool2d(const Call& call) {
  const size_t rank = call.result_shape.size();
  const Shape& in = call.operand(0).shape();
  const auto windows = [](int64_t extent, int64_t outputs) {
    return [=](int64_t o) {
      const int64_t first = o * extent / outputs;
      const int64_t last = ((o + 1) * extent + outputs - 1) / outputs;
      return Window{first, last, last - first};
    };
  };
  return pool(call, windows(in[rank - 2], call.result_shape[rank - 2]),
              windows(in[rank - 1], call.result_shape[rank - 1]), [](const Window& r, const Window& c) {
                return static_cast<double>((r.last - r.first) * (c.last - c.first));
              });
}

Tensor reshape(const Call& call) { return call.operand(0).reshaped(call.result_shape); }

Tensor permute(const Call& call) {
  std::vector<int> order;
  const auto rank = static_cast<int64_t>(call.result_shape.size());
  for (int64_t d : call.node.attrs().integers("dims"))
    order.push_back(static_cast<int>(d < 0 ? d + rank : d));
  return call.operand(0).permuted(order);
}

Tensor concat(const Call& call) {
  const auto rank = static_cast<int64_t>(call.result_shape.size());
  const int64_t dim = call.node.attrs().integer("dim");
  const auto axis = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  Tensor result(call.operand(0).dtype(), call.result_shape);
  const int64_t inner = row_major_strides(call.result_shape)[axis];
  const int64_t row = call.result_shape[axis] * inner;
  int64_t offset = 0;
  for (const Tensor* operand : call.operands) {
    const int64_t length = operand->shape()[axis] * inner;
    for (int64_t i = 0; i < operand->elements(); ++i)
      result.set(i / length * row + offset + i % length, operand->at(i));
    offset += length;
  }
  return result;
}

// The PT2E pair keeps integers as such, in the dtype of the attribute.
Tensor quantize(const Call& call) {
  const Attributes attrs = call.node.attrs();
  Quantization quant =
      Quantization::per_tensor(attrs.real("scale"), static_cast<int32_t>(attrs.integer("zero_point")));
  quant.lo = static_cast<int32_t>(attrs.integer("quant_min"));
  quant.hi = static_cast<int32_t>(attrs.integer("quant_max"));
  Tensor result(dtype_from_name(attrs.text("dtype")).value(), call.result_shape);
  for (int64_t i = 0; i < result.elements(); ++i)
    result.set(i, rushlight::quantize(call.operand(0).at(i), quant));
  return result;
}

Tensor dequantize(const Call& call) {
  const Attributes attrs = call.node.attrs();
  Quantization quant;
  if (call.operands.size() == 1) {
    quant = Quantization::per_tensor(attrs.real("scale"), static_cast<int32_t>(attrs.integer("zero_point")));
  } else {
    const int64_t axis = attrs.integer("axis");
    quant.axis = static_cast<int>(axis < 0 ? axis + static_cast<int64_t>(call.result_shape.size()) : axis);
    for (int64_t c = 0; c < call.operand(1).elements(); ++c) {
      quant.scales.push_back(call.operand(1).at(c));
      quant.zero_points.push_back(call.has(2) ? static_cast<int32_t>(call.operand(2).at(c)) : 0);
    }
  }
  return dequantized(call.operand(0), quant);
}

}  // namespace rushlight::eval
