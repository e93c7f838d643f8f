// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "types/result.h"

namespace rushlight {

// A folder of its own under TMPDIR (or /tmp), removed with all it holds at the end of its scope.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), keep_(other.keep_) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  bool keep_ = false;
};

Status write_text(const std::filesystem::path& file, std::string_view text);
Result<std::string> read_text(const std::filesystem::path& file);

}  // namespace rushlight
