// SPDX-License-Identifier: Apache-2.0
// Layout: "Tool Interface Standard, Executable and Linking Format", version 1.2.
#include "run/elf.h"

#include <cstring>
#include <optional>

namespace rushlight {
namespace {

constexpr uint32_t kSymbolTable = 2, kNoBits = 8;  // sh_type
constexpr size_t kHeaderBytes = 52, kSectionBytes = 40, kSymbolBytes = 16;

template <class T>
T number(std::string_view bytes, size_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view slice(std::string_view bytes, size_t at, size_t count) {
  return at <= bytes.size() && count <= bytes.size() - at ? bytes.substr(at, count) : std::string_view();
}

std::string text_at(std::string_view strings, size_t at) {
  if (at >= strings.size()) return {};
  const std::string_view rest = strings.substr(at);
  return std::string(rest.substr(0, rest.find('\0')));
}

void read_symbols(std::string_view table, std::string_view strings, ElfFile& file) {
  for (size_t at = kSymbolBytes; at + kSymbolBytes <= table.size(); at += kSymbolBytes) {
    const bool local = (number<uint8_t>(table, at + 12) >> 4) == 0;
    if (local) continue;
    const bool undefined = number<uint16_t>(table, at + 14) == 0;
    (undefined ? file.undefined : file.defined).push_back(text_at(strings, number<uint32_t>(table, at)));
  }
}

}  // namespace

const ElfSection* ElfFile::find(std::string_view name) const {
  for (const ElfSection& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

uint32_t ElfFile::size_of(std::string_view name) const {
  const ElfSection* section = find(name);
  return section ? section->size : 0;
}

Result<ElfFile> read_elf(std::string_view bytes, const std::string& name) {
  if (bytes.size() < kHeaderBytes || bytes.substr(0, 6) != std::string_view("\177ELF\1\1", 6))
    return input_error(name, "is not a 32-bit little-endian ELF file");
  const size_t table = number<uint32_t>(bytes, 32);
  const size_t count = number<uint16_t>(bytes, 48);
  const size_t names = number<uint16_t>(bytes, 50);

  ElfFile file;
  std::vector<std::pair<uint32_t, uint32_t>> name_and_link;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view header = slice(bytes, table + i * kSectionBytes, kSectionBytes);
    if (header.empty()) return input_error(name, "is cut short");
    ElfSection section;
    section.type = number<uint32_t>(header, 4);
    section.flags = number<uint32_t>(header, 8);
    section.size = number<uint32_t>(header, 20);
    if (section.type != kNoBits) section.contents = slice(bytes, number<uint32_t>(header, 16), section.size);
    name_and_link.emplace_back(number<uint32_t>(header, 0), number<uint32_t>(header, 24));
    file.sections.push_back(section);
  }
  for (size_t i = 0; i < count; ++i) {
    if (names < count) file.sections[i].name = text_at(file.sections[names].contents, name_and_link[i].first);
    const uint32_t link = name_and_link[i].second;
    if (file.sections[i].type == kSymbolTable && link < count)
      read_symbols(file.sections[i].contents, file.sections[link].contents, file);
  }
  return file;
}

}  // namespace rushlight
