// SPDX-License-Identifier: Apache-2.0
#include "import/npz/npz.h"

#include <fmt/format.h>

#include "import/bytes/file.h"
#include "import/bytes/zip.h"
#include "import/bytes/zip_writer.h"

namespace rushlight {

namespace {

constexpr std::string_view kExtension = ".npy";

// Zeros compress a thousand times, and samples may well be zeros; the sizes are bounded anyway.
constexpr ZipLimits kLimits = {.ratio = 1100};

}  // namespace

Result<std::map<std::string, Tensor>> read_npz(const std::string& path) {
  auto bytes = read_file(path);
  if (!bytes) return forward(bytes);
  return read_npz(std::move(*bytes), path);
}

Result<std::map<std::string, Tensor>> read_npz(std::vector<std::byte> bytes, const std::string& where) {
  auto archive = ZipArchive::from_bytes(std::move(bytes), where, kLimits);
  if (!archive) return forward(archive);
  std::map<std::string, Tensor> arrays;
  for (const std::string& entry : archive->names()) {
    if (!entry.ends_with(kExtension))
      return input_error(where, fmt::format("has the entry '{}', which is no .npy array", entry));
    auto content = archive->read(entry);
    if (!content) return forward(content);
    const std::string name = entry.substr(0, entry.size() - kExtension.size());
    auto tensor = read_npy(*content, fmt::format("{}:{}", where, name));
    if (!tensor) return forward(tensor);
    arrays.emplace(name, std::move(*tensor));
  }
  return arrays;
}

std::vector<std::byte> npz_bytes(const std::map<std::string, Tensor>& arrays) {
  ZipWriter archive;
  for (const auto& [name, tensor] : arrays) archive.add(name + std::string(kExtension), npy_bytes(tensor));
  return archive.finish();
}

Status write_npz(const std::string& path, const std::map<std::string, Tensor>& arrays) {
  return write_file(path, npz_bytes(arrays));
}

}  // namespace rushlight
