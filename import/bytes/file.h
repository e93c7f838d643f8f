// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "types/result.h"

namespace rushlight {

// Larger files are refused before anything is allocated.
inline constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;

Result<std::vector<std::byte>> read_file(const std::string& path, uint64_t max_bytes = kMaxFileBytes);

// Either the whole new content or the old file: writes a temporary file beside `path` and renames it.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace rushlight
