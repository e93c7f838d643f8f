// SPDX-License-Identifier: Apache-2.0
#include "import/bytes/zip.h"

#include <fmt/format.h>
#include <zip.h>

#include <utility>

#include "import/bytes/file.h"

namespace rushlight {

// The bytes are what libzip reads from, so they live as long as its handle.
struct ZipArchive::Handle {
  std::vector<std::byte> bytes;
  zip_t* zip = nullptr;

  ~Handle() {
    if (zip != nullptr) zip_discard(zip);
  }
};

ZipArchive::ZipArchive() = default;
ZipArchive::ZipArchive(ZipArchive&&) noexcept = default;
ZipArchive& ZipArchive::operator=(ZipArchive&&) noexcept = default;
ZipArchive::~ZipArchive() = default;

namespace {

std::string take_message(zip_error_t& error) {
  std::string message = zip_error_strerror(&error);
  zip_error_fini(&error);
  return message;
}

// Names end up in messages and as map keys.
bool printable(std::string_view name) {
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return !name.empty();
}

}  // namespace

Result<ZipArchive> ZipArchive::open(const std::string& path, const ZipLimits& limits) {
  auto bytes = read_file(path, limits.archive_bytes);
  if (!bytes) return forward(bytes);
  return from_bytes(std::move(*bytes), path, limits);
}

Result<ZipArchive> ZipArchive::from_bytes(std::vector<std::byte> bytes, std::string where,
                                          const ZipLimits& limits) {
  if (bytes.size() > limits.archive_bytes)
    return input_error(
        where, fmt::format("has {} bytes; at most {} are allowed", bytes.size(), limits.archive_bytes));
  // libzip takes nothing for an archive without entries.
  if (bytes.empty()) return input_error(where, "is empty");
  ZipArchive archive;
  archive.where_ = std::move(where);
  archive.handle_ = std::make_unique<Handle>();
  Handle& handle = *archive.handle_;
  handle.bytes = std::move(bytes);

  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(handle.bytes.data(), handle.bytes.size(), 0, &error);
  if (source == nullptr) return input_error(archive.where_, "can't be read: " + take_message(error));
  handle.zip = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (handle.zip == nullptr) {
    zip_source_free(source);
    return input_error(archive.where_, "is not a readable ZIP archive: " + take_message(error));
  }
  zip_error_fini(&error);
  if (auto read = archive.read_directory(limits); !read) return forward(read);
  return archive;
}

Status ZipArchive::read_directory(const ZipLimits& limits) {
  const auto count = static_cast<uint64_t>(zip_get_num_entries(handle_->zip, 0));
  if (count > limits.entries)
    return input_error(where_, fmt::format("has {} entries; at most {} are allowed", count, limits.entries));
  uint64_t total = 0;
  for (uint64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(handle_->zip, i, 0, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0 ||
        !printable(stat.name))
      return input_error(where_, fmt::format("entry {} has no readable name", i));
    const std::string entry_where = fmt::format("{}: entry '{}'", where_, stat.name);
    constexpr uint64_t kSizes = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if ((stat.valid & kSizes) != kSizes) return input_error(entry_where, "has no sizes");
    if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
      return input_error(entry_where, "is encrypted");
    if (stat.size > limits.entry_bytes)
      return input_error(entry_where, fmt::format("unpacks to {} bytes; at most {} are allowed", stat.size,
                                                  limits.entry_bytes));
    if (stat.size > limits.free_bytes && stat.size / limits.ratio > stat.comp_size)
      return input_error(entry_where, fmt::format("unpacks to {} bytes from {}; at most {} times is allowed",
                                                  stat.size, stat.comp_size, limits.ratio));
    total += stat.size;
    if (total > limits.total_bytes)
      return input_error(where_, fmt::format("unpacks to more than {} bytes", limits.total_bytes));
    if (!entries_.emplace(stat.name, Entry{i, stat.size}).second)
      return input_error(entry_where, "stands in the archive more than once");
    names_.emplace_back(stat.name);
  }
  return {};
}

Result<std::vector<std::byte>> ZipArchive::read(std::string_view name) const {
  const std::string where = fmt::format("{}: entry '{}'", where_, name);
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return input_error(where, "is missing");
  zip_file_t* file = zip_fopen_index(handle_->zip, entry->second.index, 0);
  if (file == nullptr)
    return input_error(where,
                       std::string("can't be read: ") + zip_error_strerror(zip_get_error(handle_->zip)));

  std::vector<std::byte> bytes(entry->second.bytes);
  size_t filled = 0;
  zip_int64_t got = 0;
  while (filled < bytes.size() && (got = zip_fread(file, bytes.data() + filled, bytes.size() - filled)) > 0)
    filled += static_cast<size_t>(got);
  // The checksum is compared when the end is reached, so one more read must find it.
  std::byte beyond;
  if (got >= 0) got = zip_fread(file, &beyond, 1);
  const std::string reason = zip_error_strerror(zip_file_get_error(file));
  zip_fclose(file);
  if (got < 0) return input_error(where, "is damaged: " + reason);
  if (filled != bytes.size() || got != 0)
    return input_error(where, "is damaged: its size is not the stated one");
  return bytes;
}

}  // namespace rushlight
