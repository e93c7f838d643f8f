// SPDX-License-Identifier: Apache-2.0
// ZIP archives from anywhere: every size is bounded before memory is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "types/result.h"

namespace rushlight {

struct ZipLimits {
  uint64_t archive_bytes = uint64_t{256} << 20;
  uint64_t entry_bytes = uint64_t{256} << 20;  // uncompressed
  uint64_t total_bytes = uint64_t{512} << 20;  // uncompressed, all entries together
  uint64_t entries = 65536;
  // An entry may unpack to this many times its compressed size; below `free_bytes` any ratio is fine.
  uint64_t ratio = 256;
  uint64_t free_bytes = uint64_t{1} << 20;
};

class ZipArchive {
 public:
  static Result<ZipArchive> open(const std::string& path, const ZipLimits& limits = {});
  // `where` names the archive in errors.
  static Result<ZipArchive> from_bytes(std::vector<std::byte> bytes, std::string where,
                                       const ZipLimits& limits = {});

  ZipArchive(ZipArchive&&) noexcept;
  ZipArchive& operator=(ZipArchive&&) noexcept;
  ~ZipArchive();

  // In the order of the archive's directory.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  // Uncompressed bytes of an entry that exists.
  uint64_t size(std::string_view name) const { return entries_.find(name)->second.bytes; }
  // The content, its checksum compared.
  Result<std::vector<std::byte>> read(std::string_view name) const;

 private:
  struct Entry {
    uint64_t index;
    uint64_t bytes;
  };
  struct Handle;

  ZipArchive();
  Status read_directory(const ZipLimits& limits);

  std::string where_;
  std::vector<std::string> names_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace rushlight
