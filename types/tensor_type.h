// SPDX-License-Identifier: Apache-2.0
// The type of a value: element type, logical shape, order in memory, and how integers stand for reals.
#pragma once

#include <string>
#include <vector>

#include "types/dtype.h"
#include "types/shape.h"

namespace rushlight {

// Order of elements in memory. The shape is always the logical one of the source framework (NCHW for images),
// so that axes in attributes keep their meaning whatever the layout.
enum class Layout : uint8_t {
  row_major,
  channels_last,  // rank 3 (N,C,L stored as N,L,C), rank 4 (N,C,H,W stored as N,H,W,C)
};

// real = scale * (integer - zero_point). One entry: per tensor; several: per channel along `axis`.
struct Quantization {
  std::vector<double> scales = {};        // finite, > 0; as stored by the source (float32 or double)
  std::vector<int32_t> zero_points = {};  // as many as scales
  int axis = -1;                          // -1: per tensor
  // Integers are clamped to this range: quant_min and quant_max of the model's quantize nodes.
  int32_t lo = -128;
  int32_t hi = 127;

  bool operator==(const Quantization&) const = default;

  bool is_set() const { return !scales.empty(); }
  bool per_channel() const { return axis >= 0; }
  double scale() const { return scales.front(); }
  int32_t zero_point() const { return zero_points.front(); }
  // Entry of channel c, also where there is one entry for all.
  double scale(size_t c) const { return scales[scales.size() == 1 ? 0 : c]; }

  static Quantization per_tensor(double scale, int32_t zero_point, DType dtype = DType::int8);
};

struct TensorType {
  DType dtype = DType::float32;
  Shape shape = {};
  Layout layout = Layout::row_major;
  Quantization quant = {};

  bool operator==(const TensorType&) const = default;

  bool quantized() const { return quant.is_set(); }
  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const { return elements() * size_of(dtype); }
};

// The axes in the order in which memory holds them, e.g. {0,2,3,1} for channels_last images.
std::vector<int> memory_order(Layout layout, size_t rank);
// Elements between neighbours along each logical axis.
std::vector<int64_t> strides(const TensorType& type);
// True if a tensor of this shape has the same bytes in both layouts (one channel, or one position).
bool layouts_coincide(const Shape& shape);

// The integer that stands for `real`, rounded half to even as PyTorch does, clamped to the quantization's
// range.
int32_t quantize(double real, const Quantization& quant);

// "i8[1,3,8,8]{channels_last}<0.5:-3>"
std::string to_string(const TensorType& type);

}  // namespace rushlight
