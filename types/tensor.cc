// SPDX-License-Identifier: Apache-2.0
#include "types/tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace rushlight {
namespace {

// IEEE binary formats of 16 bits with so many bits of mantissa, converted in one rounding (half to even).
template <int kMantissa>
struct Float16Bits {
  static constexpr int kExponent = 15 - kMantissa;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kInfinity = ((1 << kExponent) - 1) << kMantissa;

  uint16_t bits = 0;

  Float16Bits() = default;
  explicit Float16Bits(double value) : bits(encode(value)) {}

  explicit operator double() const {
    const int exponent = (bits & kInfinity) >> kMantissa;
    const int mantissa = bits & ((1 << kMantissa) - 1);
    double magnitude = 0;
    if ((bits & kInfinity) == kInfinity) {
      magnitude =
          mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    } else {
      const int hidden = exponent == 0 ? 0 : 1 << kMantissa;
      magnitude = std::ldexp(mantissa + hidden, std::max(exponent, 1) - kBias - kMantissa);
    }
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }

 private:
  static uint16_t encode(double value) {
    const int sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return static_cast<uint16_t>(sign | kInfinity | 1 << (kMantissa - 1));
    if (std::isinf(value)) return static_cast<uint16_t>(sign | kInfinity);
    const double magnitude = std::fabs(value);
    if (magnitude == 0) return static_cast<uint16_t>(sign);
    const int exponent =
        std::max(std::ilogb(magnitude), 1 - kBias);  // below: subnormals share the least exponent
    if (exponent > kBias) return static_cast<uint16_t>(sign | kInfinity);
    // A mantissa that rounds up to the next power of two carries into the exponent by the addition.
    const int mantissa = static_cast<int>(std::nearbyint(std::ldexp(magnitude, kMantissa - exponent)));
    return static_cast<uint16_t>(sign | (((exponent + kBias - 1) << kMantissa) + mantissa));
  }
};

using Half = Float16Bits<10>;
using BFloat16 = Float16Bits<7>;

template <class T>
struct Stored {
  using type = T;
};

// Calls f with the C++ type that stores an element.
template <class F>
decltype(auto) with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::boolean:
      return f(Stored<bool>{});
    case DType::uint8:
      return f(Stored<uint8_t>{});
    case DType::int8:
      return f(Stored<int8_t>{});
    case DType::int16:
      return f(Stored<int16_t>{});
    case DType::int32:
      return f(Stored<int32_t>{});
    case DType::int64:
      return f(Stored<int64_t>{});
    case DType::float16:
      return f(Stored<Half>{});
    case DType::bfloat16:
      return f(Stored<BFloat16>{});
    case DType::float32:
      return f(Stored<float>{});
    case DType::float64:
      return f(Stored<double>{});
  }
  throw InternalError("internal error: a dtype has a row");
}

template <class T>
T load(const std::byte* at) {
  if constexpr (std::is_same_v<T, bool>) {
    return *at != std::byte{0};  // files may hold other bytes than 0 and 1
  } else {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
}

// As a C++ cast where that is defined; a real outside the range of an integer type becomes the nearest
// integer in it, and NaN becomes 0.
template <class To, class From>
To cast(From value) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return cast<To>(static_cast<double>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

double Tensor::at(int64_t i) const {
  return with_type(dtype_, [&]<class T>(Stored<T>) {
    return static_cast<double>(load<T>(bytes_.data() + static_cast<size_t>(i) * sizeof(T)));
  });
}

void Tensor::set(int64_t i, double value) {
  with_type(dtype_, [&]<class T>(Stored<T>) {
    const T stored = cast<T>(value);
    std::memcpy(bytes_.data() + static_cast<size_t>(i) * sizeof(T), &stored, sizeof stored);
  });
}

Tensor Tensor::reshaped(Shape shape) const {
  require(element_count(shape) == elements(), "reshaping keeps the element count");
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::permuted(std::span<const int> order) const {
  require(order.size() == shape_.size(), "a permutation has as many entries as the tensor has axes");
  const size_t rank = shape_.size();
  const std::vector<int64_t> from = row_major_strides(shape_);
  Shape shape(rank);
  std::vector<int64_t> step(rank);
  for (size_t k = 0; k < rank; ++k) {
    const auto axis = static_cast<size_t>(order[k]);
    shape[k] = shape_.at(axis);
    step[k] = from[axis];
  }
  Tensor result(dtype_, shape);
  const auto size = static_cast<size_t>(size_of(dtype_));
  std::vector<int64_t> index(rank, 0);
  int64_t source = 0;
  const int64_t count = elements();
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(result.bytes_.data() + static_cast<size_t>(i) * size,
                bytes_.data() + static_cast<size_t>(source) * size, size);
    for (size_t k = rank; k-- > 0;) {  // the next index, last axis fastest
      source += step[k];
      if (++index[k] < shape[k]) break;
      source -= step[k] * shape[k];
      index[k] = 0;
    }
  }
  return result;
}

Tensor Tensor::converted(DType dtype) const {
  Tensor result(dtype, shape_);
  with_type(dtype_, [&]<class From>(Stored<From>) {
    with_type(dtype, [&]<class To>(Stored<To>) {
      const auto count = static_cast<size_t>(elements());
      for (size_t i = 0; i < count; ++i) {
        const To stored = cast<To>(load<From>(bytes_.data() + i * sizeof(From)));
        std::memcpy(result.bytes_.data() + i * sizeof(To), &stored, sizeof stored);
      }
    });
  });
  return result;
}

}  // namespace rushlight
