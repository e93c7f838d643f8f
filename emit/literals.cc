// SPDX-License-Identifier: Apache-2.0
#include "emit/literals.h"

#include <fmt/format.h>

#include <algorithm>

namespace rushlight::emit {
namespace {

constexpr size_t kLineWidth = 110;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// One byte inside a string literal. A digit after an octal escape would be read as part of it, so digits
// after an escape are escapes too; '?' is one because of trigraphs.
void append_byte(std::string& line, unsigned char byte, bool& after_escape) {
  const char c = static_cast<char>(byte);
  const bool plain =
      byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?' && !(after_escape && is_digit(c));
  if (plain) {
    line += c;
  } else {
    fmt::format_to(std::back_inserter(line), "\\{:o}", byte);
  }
  after_escape = !plain;
}

}  // namespace

std::string string_literal(std::span<const std::byte> bytes) {
  std::string text;
  std::string line;
  bool after_escape = false;
  for (const std::byte byte : bytes) {
    append_byte(line, static_cast<unsigned char>(byte), after_escape);
    if (line.size() < kLineWidth - 10) continue;
    text += "    \"" + line + "\"\n";
    line.clear();
    after_escape = false;
  }
  if (!line.empty() || text.empty()) text += "    \"" + line + "\"\n";
  text.pop_back();
  return text;
}

std::string int32_literal(int32_t value) {
  return value == INT32_MIN ? "(-2147483647 - 1)" : fmt::format("{}", value);
}

std::string int32_list(std::span<const int32_t> values) {
  std::string text = "{";
  size_t line = text.size();
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string item = int32_literal(values[i]) + (i + 1 < values.size() ? "," : "");
    if (line + item.size() + 1 > kLineWidth) {
      text += "\n    ";
      line = 4;
    } else if (i > 0) {
      text += ' ';
      ++line;
    }
    text += item;
    line += item.size();
  }
  return text + "}";
}

std::string float_literal(float value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

std::string comment_text(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '\\' ? '/' : c >= 0x20 && c < 0x7f ? c : '?';
  return safe;
}

std::string upper_case(std::string_view identifier) {
  std::string text(identifier);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace rushlight::emit
