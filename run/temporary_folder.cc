// SPDX-License-Identifier: Apache-2.0
#include "run/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

namespace rushlight {
namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::create() {
  const char* parent = std::getenv("TMPDIR");
  std::string pattern = std::string(parent && *parent ? parent : "/tmp") + "/rushlight.XXXXXX";
  if (!::mkdtemp(pattern.data()))
    return input_error(pattern, "a temporary folder cannot be made: " +
                                    std::error_code(errno, std::generic_category()).message() +
                                    "; set TMPDIR");
  return TemporaryFolder(fs::canonical(pattern));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty() && !keep_) fs::remove_all(path_, ignored);
}

Status write_text(const fs::path& file, std::string_view text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) return input_error(file.string(), "cannot be written (is the disk full?)");
  return {};
}

Result<std::string> read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return input_error(file.string(), "cannot be read");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace rushlight
