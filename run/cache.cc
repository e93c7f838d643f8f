// SPDX-License-Identifier: Apache-2.0
#include "run/cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace rushlight {
namespace {

namespace fs = std::filesystem;

// Firmware of a small model is some 100 KB; the oldest go first.
constexpr size_t kMaxEntries = 256;

fs::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache && *cache == '/') return fs::path(cache) / "rushlight";
  if (home && *home == '/') return fs::path(home) / ".cache" / "rushlight";
  return {};
}

void remove_oldest(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
    entries.emplace_back(i->last_write_time(error), i->path());
  if (entries.size() <= kMaxEntries) return;
  std::sort(entries.begin(), entries.end());
  // A quarter at once, so that not every store pays for a removal.
  for (size_t i = 0; i < entries.size() - kMaxEntries * 3 / 4; ++i) fs::remove(entries[i].second, error);
}

}  // namespace

void ContentHash::add_bytes(std::string_view bytes) {
  constexpr unsigned __int128 prime = (static_cast<unsigned __int128>(1) << 88) + 0x13b;
  for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * prime;
}

void ContentHash::add(std::string_view text) {
  add_bytes(fmt::format("{}:", text.size()));
  add_bytes(text);
}

std::string ContentHash::hex() const {
  return fmt::format("{:016x}{:016x}", static_cast<uint64_t>(state_ >> 64), static_cast<uint64_t>(state_));
}

bool fetch_cached(const std::string& key, const fs::path& to) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return false;
  std::error_code error;
  if (!fs::copy_file(folder / (key + ".elf"), to, fs::copy_options::overwrite_existing, error)) return false;
  fs::last_write_time(folder / (key + ".elf"), fs::file_time_type::clock::now(), error);
  return true;
}

void store_cached(const std::string& key, const fs::path& from) {
  const fs::path folder = cache_folder();
  std::error_code error;
  if (folder.empty() || (fs::create_directories(folder, error), error)) return;
  // Renamed when complete, so that no one ever reads half a file.
  const fs::path partial = folder / fmt::format("{}.{}.partial", key, ::getpid());
  if (fs::copy_file(from, partial, fs::copy_options::overwrite_existing, error)) {
    fs::rename(partial, folder / (key + ".elf"), error);
    remove_oldest(folder);
  }
  if (error) fs::remove(partial, error);
}

}  // namespace rushlight
