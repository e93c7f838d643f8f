// SPDX-License-Identifier: Apache-2.0
#include "import/bytes/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace rushlight {

namespace fs = std::filesystem;

Result<std::vector<std::byte>> read_file(const std::string& path, uint64_t max_bytes) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status)) return input_error(path, "no such file");
  if (!fs::is_regular_file(status)) return input_error(path, "is not a regular file");
  const uint64_t size = fs::file_size(path, failed);
  if (failed) return input_error(path, "can't be read: " + failed.message());
  if (size > max_bytes)
    return input_error(path, fmt::format("has {} bytes; at most {} are allowed", size, max_bytes));

  std::vector<std::byte> bytes(size);
  std::ifstream in(path, std::ios::binary);
  if (!in) return input_error(path, std::string("can't be opened: ") + std::strerror(errno));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<uint64_t>(in.gcount()) != size) return input_error(path, "changed while it was read");
  return bytes;
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
      const std::string reason = std::strerror(errno);
      std::error_code ignored;
      fs::remove(temporary, ignored);
      return input_error(path, "can't be written: " + reason);
    }
  }
  std::error_code failed;
  fs::rename(temporary, path, failed);
  if (failed) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return input_error(path, "can't be written: " + failed.message());
  }
  return {};
}

}  // namespace rushlight
