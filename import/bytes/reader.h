// SPDX-License-Identifier: Apache-2.0
// Reads little-endian data from bytes that may end too soon.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "types/result.h"

namespace rushlight {

static_assert(std::endian::native == std::endian::little, "the compiler runs on little-endian hosts");

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> as_byte_span(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

// `where` names the file in errors. The bytes must outlive the reader.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string where) : rest_(bytes), where_(std::move(where)) {}

  size_t remaining() const { return rest_.size(); }

  // The next `count` bytes; `what` names them in the error.
  Result<std::span<const std::byte>> take(size_t count, std::string_view what) {
    if (count > rest_.size())
      return input_error(where_, std::string(what) + " needs " + std::to_string(count) + " bytes, but only " +
                                     std::to_string(rest_.size()) + " are left");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  template <std::unsigned_integral T>
  Result<T> read(std::string_view what) {
    auto bytes = take(sizeof(T), what);
    if (!bytes) return forward(bytes);
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value = static_cast<T>(value | static_cast<T>((*bytes)[i]) << (8 * i));
    return value;
  }

 private:
  std::span<const std::byte> rest_;
  std::string where_;
};

}  // namespace rushlight
