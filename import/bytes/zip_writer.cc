// SPDX-License-Identifier: Apache-2.0
#include "import/bytes/zip_writer.h"

#include <array>
#include <concepts>

#include "import/bytes/reader.h"
#include "types/result.h"

namespace rushlight {

namespace {

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table = {};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}();

template <std::unsigned_integral T>
void put(std::vector<std::byte>& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void put(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

constexpr uint16_t kVersion = 20, kUtf8Names = 0x0800, kStored = 0, kMidnight = 0;
constexpr uint16_t kFirstDay = 0x0021;  // 1980-01-01, the earliest date that the format can say

// What local header and directory have in common.
void put_common(std::vector<std::byte>& out, uint32_t crc, uint32_t size, uint16_t name_size) {
  for (const uint16_t field : {kVersion, kUtf8Names, kStored, kMidnight, kFirstDay}) put(out, field);
  for (const uint32_t field : {crc, size, size}) put(out, field);
  put(out, name_size);
  put(out, uint16_t{0});  // extra fields
}

}  // namespace

uint32_t crc32(std::span<const std::byte> bytes) {
  uint32_t c = ~uint32_t{0};
  for (const std::byte b : bytes) c = kCrcTable[(c ^ static_cast<uint32_t>(b)) & 0xFF] ^ (c >> 8);
  return ~c;
}

void ZipWriter::add(std::string_view name, std::span<const std::byte> content) {
  require(bytes_.size() + content.size() + 4096 < UINT32_MAX && name.size() < 4096 && count_ < UINT16_MAX - 1,
          "an archive that is written fits the plain ZIP format");
  const auto offset = static_cast<uint32_t>(bytes_.size());
  const auto size = static_cast<uint32_t>(content.size());
  const auto name_size = static_cast<uint16_t>(name.size());
  const uint32_t crc = crc32(content);

  put(bytes_, uint32_t{0x04034B50});
  put_common(bytes_, crc, size, name_size);
  put(bytes_, as_byte_span(name));
  put(bytes_, content);

  put(directory_, uint32_t{0x02014B50});
  put(directory_, kVersion);
  put_common(directory_, crc, size, name_size);
  for (int i = 0; i < 3; ++i) put(directory_, uint16_t{0});  // comment, disk, internal attributes
  put(directory_, uint32_t{0});                              // external attributes
  put(directory_, offset);
  put(directory_, as_byte_span(name));
  ++count_;
}

std::vector<std::byte> ZipWriter::finish() {
  const auto directory_offset = static_cast<uint32_t>(bytes_.size());
  put(bytes_, std::span<const std::byte>(directory_));
  put(bytes_, uint32_t{0x06054B50});
  for (const uint16_t field : {uint16_t{0}, uint16_t{0}, count_, count_}) put(bytes_, field);
  put(bytes_, static_cast<uint32_t>(directory_.size()));
  put(bytes_, directory_offset);
  put(bytes_, uint16_t{0});  // comment
  return std::move(bytes_);
}

}  // namespace rushlight
