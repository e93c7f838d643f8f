// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "eval/kernels.h"

namespace rushlight::eval {
namespace {

struct Axis {
  int64_t input, output, kernel, stride, pad, dilation;

  // Outputs o in [first, last) for which tap k reads inside the input.
  std::pair<int64_t, int64_t> outputs_of_tap(int64_t k) const {
    const int64_t shift = k * dilation - pad;  // input = o * stride + shift
    const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t last = input - 1 - shift < 0 ? 0 : (input - 1 - shift) / stride + 1;
    return {std::min(first, output), std::clamp(last, std::min(first, output), output)};
  }
};

// Adds weight * input, shifted by one tap, to one output plane: the inner loop runs along a row.
void add_tap(const Axis& y, const Axis& x, int64_t ky, int64_t kx, float weight, const float* input,
             float* output) {
  const auto [first_y, last_y] = y.outputs_of_tap(ky);
  const auto [first_x, last_x] = x.outputs_of_tap(kx);
  for (int64_t oy = first_y; oy < last_y; ++oy) {
    const float* in = input + (oy * y.stride + ky * y.dilation - y.pad) * x.input + kx * x.dilation - x.pad;
    float* out = output + oy * x.output;
    if (x.stride == 1)
      for (int64_t ox = first_x; ox < last_x; ++ox) out[ox] += weight * in[ox];
    else
      for (int64_t ox = first_x; ox < last_x; ++ox) out[ox] += weight * in[ox * x.stride];
  }
}

}  // namespace

Tensor conv2d(const Call& call) {
  const Attributes attrs = call.node.attrs();
  const Shape& in = call.operand(0).shape();
  const Shape& kernel = call.operand(1).shape();
  const Shape& out = call.result_shape;
  const auto [stride_h, stride_w] = attrs.pair("stride");
  const auto [dilation_h, dilation_w] = attrs.pair("dilation");
  const Integers& padding = attrs.integers("padding");
  const Axis y{in[2], out[2], kernel[2], stride_h, padding[0], dilation_h};
  const Axis x{in[3], out[3], kernel[3], stride_w, padding.size() > 1 ? padding[1] : padding[0], dilation_w};
  const int64_t group_inputs = kernel[1];
  const int64_t group_outputs = out[1] / attrs.integer("groups");

  Tensor result(DType::float32, out);
  const float* input = call.operand(0).as<float>().data();
  const float* weight = call.operand(1).as<float>().data();
  float* output = result.as<float>().data();
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o) {
      float* plane = output + (n * out[1] + o) * out[2] * out[3];
      std::fill_n(plane, out[2] * out[3],
                  call.has(2) ? call.operand(2).as<float>()[static_cast<size_t>(o)] : 0.0F);
      for (int64_t i = 0; i < group_inputs; ++i) {
        const int64_t channel = o / group_outputs * group_inputs + i;
        const float* source = input + (n * in[1] + channel) * in[2] * in[3];
        for (int64_t ky = 0; ky < kernel[2]; ++ky)
          for (int64_t kx = 0; kx < kernel[3]; ++kx)
            add_tap(y, x, ky, kx, weight[((o * group_inputs + i) * kernel[2] + ky) * kernel[3] + kx], source,
                    plane);
      }
    }
  return result;
}

Tensor linear(const Call& call) {
  Tensor result(DType::float32, call.result_shape);
  const int64_t outputs = call.operand(1).shape()[0];
  const int64_t inputs = call.operand(1).shape()[1];
  const int64_t rows = outputs == 0 ? 0 : result.elements() / outputs;
  const float* x = call.operand(0).as<float>().data();
  const float* w = call.operand(1).as<float>().data();
  const auto y = result.as<float>();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < outputs; ++o) {
      // Four partial sums, always the same four: fast and reproducible.
      float sums[4] = {0, 0, 0, 0};
      const float* a = x + r * inputs;
      const float* b = w + o * inputs;
      int64_t i = 0;
      for (; i + 4 <= inputs; i += 4)
        for (int64_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
      for (; i < inputs; ++i) sums[0] += a[i] * b[i];
      const float bias = call.has(2) ? call.operand(2).as<float>()[static_cast<size_t>(o)] : 0.0F;
      y[static_cast<size_t>(r * outputs + o)] = (sums[0] + sums[1]) + (sums[2] + sums[3]) + bias;
    }
  return result;
}

}  // namespace rushlight::eval
