// SPDX-License-Identifier: Apache-2.0
// What the runner needs of 32-bit little-endian ELF files, which the cross compiler has just written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "types/result.h"

namespace rushlight {

struct ElfSection {
  std::string name;
  uint32_t type = 0;
  uint32_t flags = 0;
  uint32_t size = 0;
  std::string_view contents;  // within the text given to read_elf; empty where the file holds none
};

struct ElfFile {
  std::vector<ElfSection> sections;
  std::vector<std::string> undefined;  // global symbols that the file refers to
  std::vector<std::string> defined;    // global symbols that it defines

  const ElfSection* find(std::string_view name) const;
  // 0 if there is no such section.
  uint32_t size_of(std::string_view name) const;
};

// `bytes` must outlive the result.
Result<ElfFile> read_elf(std::string_view bytes, const std::string& name);

}  // namespace rushlight
