// SPDX-License-Identifier: Apache-2.0
// Firmware of earlier builds by the hash of all that went into it. Only saves time: every failure is a miss.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rushlight {

// FNV-1a of 128 bits over length-prefixed texts.
class ContentHash {
 public:
  void add(std::string_view text);
  std::string hex() const;

 private:
  void add_bytes(std::string_view bytes);
  unsigned __int128 state_ = (static_cast<unsigned __int128>(0x6c62272e07bb0142) << 64) | 0x62b821756295c58d;
};

// Copies the entry to `to`; false if there is none.
bool fetch_cached(const std::string& key, const std::filesystem::path& to);
void store_cached(const std::string& key, const std::filesystem::path& from);

}  // namespace rushlight
