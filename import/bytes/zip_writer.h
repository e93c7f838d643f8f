// SPDX-License-Identifier: Apache-2.0
// Writes ZIP archives with stored entries: the same entries give the same bytes, on any day and host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rushlight {

class ZipWriter {
 public:
  // Archive and entries stay below 4 GiB, entries below 65536.
  void add(std::string_view name, std::span<const std::byte> content);
  std::vector<std::byte> finish();

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::byte> directory_;
  uint16_t count_ = 0;
};

// The checksum of ZIP entries.
uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace rushlight
