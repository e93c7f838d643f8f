// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "emit/firmware.h"
#include "emit/parts.h"

namespace rushlight {
namespace {

namespace fs = std::filesystem;

std::string message(const std::error_code& error) { return error.message(); }
std::string last_error() { return std::error_code(errno, std::generic_category()).message(); }

// Removes the folder at the end of the scope unless told that it has become the result.
struct TemporaryFolder {
  fs::path path;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

// report.json is written by report/, which names its program in it; all other files carry the banner.
bool written_by_rushlight(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string start(4096, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(in.gcount()));
  const bool is_report = file.filename() == "report.json";
  return start.find(is_report ? std::string_view("rushlight") : emit::kGenerated) != std::string::npos;
}

// Replacing a folder deletes what is in it, so all of it must be ours.
Status check_replaceable(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return {};
  if (!fs::is_directory(fs::symlink_status(folder)))
    return input_error(folder.string(), "exists and is not a folder: choose another name");
  for (fs::recursive_directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    if (i->is_directory() && !i->is_symlink()) continue;
    if (!i->is_regular_file() || i->is_symlink() || !written_by_rushlight(i->path()))
      return input_error(
          folder.string(),
          fmt::format("holds a file that rushlight did not write, {}, and writing the library would "
                      "delete it: move it away or choose another folder",
                      fs::relative(i->path(), folder).string()));
  }
  if (error) return input_error(folder.string(), "cannot be read: " + message(error));
  return {};
}

Status write_file(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) return input_error(file.string(), "cannot be written: " + last_error());
  return {};
}

// Puts `fresh` in the place of `folder`. Where a folder stands already the two change places in one step.
Status put_in_place(TemporaryFolder& fresh, const fs::path& folder) {
  if (::rename(fresh.path.c_str(), folder.c_str()) == 0) {  // nothing there, or an empty folder
    fresh.path.clear();
    return {};
  }
  if ((errno == ENOTEMPTY || errno == EEXIST) &&
      ::renameat2(AT_FDCWD, fresh.path.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0)
    return {};  // `fresh` is now the old one, and is removed
  return input_error(folder.string(), "cannot be written: " + last_error());
}

}  // namespace

Status write_folder(const FileSet& files, const std::string& folder) {
  fs::path target = fs::path(folder).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "out/"
  if (target.empty() || target == "." || target == "..")
    return input_error(folder, "is not a folder that can be replaced: name a new one");
  if (auto status = check_replaceable(target); !status) return status;

  std::error_code error;
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  std::string pattern = target.string() + ".XXXXXX";
  if (!::mkdtemp(pattern.data())) return input_error(folder, "cannot be written: " + last_error());
  TemporaryFolder fresh{pattern};
  fs::permissions(fresh.path,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                      fs::perms::others_read | fs::perms::others_exec,
                  error);

  for (const auto& [name, text] : files) {
    const fs::path relative(name);
    require(relative.is_relative() && relative == relative.lexically_normal() && *relative.begin() != "..",
            "files of a library lie in its folder: " + name);
    if (auto status = write_file(fresh.path / relative, text); !status) return status;
  }
  return put_in_place(fresh, target);
}

}  // namespace rushlight
