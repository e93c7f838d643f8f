// SPDX-License-Identifier: Apache-2.0
#include "ops/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "types/real_text.h"

namespace rushlight {
namespace {

std::string_view kind_name(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::boolean:
      return "true or false";
    case AttributeKind::integer:
      return "an integer";
    case AttributeKind::real:
      return "a real";
    case AttributeKind::text:
      return "a text in quotes";
    case AttributeKind::integers:
      return "a list of integers";
  }
  return "?";
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += fmt::format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

// The text between the quotes; nothing where it isn't what `quoted` writes.
std::optional<std::string> unquoted(std::string_view text) {
  std::string result;
  if (text.size() < 2 || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] == '"' || text[i] == '\\') {
      result += text[i];
    } else if (text[i] == 'x' && i + 2 < text.size()) {
      unsigned code = 0;
      const auto [stop, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16);
      if (error != std::errc() || stop != text.data() + i + 3) return std::nullopt;
      result += static_cast<char>(code);
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

std::optional<int64_t> read_integer(std::string_view text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Integers> read_integers(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = trimmed(text.substr(1, text.size() - 2));
  Integers list;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::optional<int64_t> value = read_integer(trimmed(text.substr(0, comma)));
    if (!value) return std::nullopt;
    list.push_back(*value);
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;  // a comma at the end
  }
  return list;
}

// `value` as the kind says, where that takes no guess.
Attribute coerced(Attribute value, AttributeKind kind) {
  if (const int64_t* integer = std::get_if<int64_t>(&value)) {
    if (kind == AttributeKind::real) return static_cast<double>(*integer);
    if (kind == AttributeKind::integers) return Integers{*integer};
  }
  return value;
}

std::string names_of(std::span<const AttributeRow> rows) {
  if (rows.empty()) return "none";
  std::string names;
  for (const AttributeRow& r : rows) names += fmt::format("{}{}", names.empty() ? "" : ", ", r.name);
  return names;
}

}  // namespace

bool fits(const Attribute& value, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::boolean:
      return std::holds_alternative<bool>(value);
    case AttributeKind::integer:
      return std::holds_alternative<int64_t>(value);
    case AttributeKind::real:
      return std::holds_alternative<double>(value);
    case AttributeKind::text:
      return std::holds_alternative<std::string>(value);
    case AttributeKind::integers:
      return std::holds_alternative<Integers>(value);
  }
  return false;
}

bool fits(const Attribute& value, const AttributeRow& row) {
  if (std::holds_alternative<std::monostate>(value)) return row.default_value == "none";
  return fits(value, row.kind);
}

std::string to_string(const Attribute& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(int64_t i) const { return fmt::format("{}", i); }
    std::string operator()(double x) const { return real_text(x); }
    std::string operator()(const std::string& text) const { return quoted(text); }
    std::string operator()(const Integers& list) const { return fmt::format("[{}]", fmt::join(list, ",")); }
  };
  return std::visit(Writer{}, value);
}

Result<Attribute> parse_attribute(std::string_view text) {
  text = trimmed(text);
  if (text == "none") return Attribute{};
  if (text == "true") return Attribute{true};
  if (text == "false") return Attribute{false};
  if (!text.empty() && text.front() == '"') {
    if (std::optional<std::string> s = unquoted(text)) return Attribute{*std::move(s)};
  } else if (!text.empty() && text.front() == '[') {
    if (std::optional<Integers> list = read_integers(text)) return Attribute{*std::move(list)};
  } else if (const std::optional<int64_t> integer = read_integer(text)) {
    return Attribute{*integer};
  } else if (const std::optional<double> real = read_double(text)) {
    return Attribute{*real};
  }
  return input_error(
      fmt::format("attribute value '{}'", text.substr(0, 40)),
      "expected none, true, false, an integer of 64 bits, a real, \"text\" or a list of integers");
}

Result<std::vector<Attribute>> complete_attributes(std::span<const AttributeRow> rows,
                                                   NamedAttributes given) {
  std::vector<Attribute> values;
  for (const AttributeRow& r : rows) {
    const std::string where = fmt::format("attribute {}", r.name);
    auto found = given.extract(std::string(r.name));
    if (found.empty() && r.default_value.empty()) return input_error(where, "missing; it has no default");
    if (found.empty()) {
      Result<Attribute> standard = parse_attribute(r.default_value);
      require(standard.has_value(), "defaults in the op table parse");
      values.push_back(coerced(*std::move(standard), r.kind));
      require(fits(values.back(), r), "defaults in the op table fit their kind");
      continue;
    }
    values.push_back(coerced(std::move(found.mapped()), r.kind));
    if (!fits(values.back(), r)) {
      return input_error(where, fmt::format("found {}, must be {}{}", to_string(values.back()),
                                            kind_name(r.kind), r.default_value == "none" ? " or none" : ""));
    }
  }
  if (given.empty()) return values;
  return input_error(fmt::format("attribute {}", given.begin()->first),
                     fmt::format("the op has no such attribute; it has: {}", names_of(rows)));
}

const Attribute& Attributes::get(std::string_view name) const {
  for (size_t i = 0; i < rows_.size() && i < values_.size(); ++i)
    if (rows_[i].name == name) return values_[i];
  throw InternalError(fmt::format("internal error: no attribute '{}' on this op", name));
}

std::pair<int64_t, int64_t> Attributes::pair(std::string_view name) const {
  const Integers& list = integers(name);
  require(list.size() == 1 || list.size() == 2, "an attribute read as a pair has one or two entries");
  return {list.front(), list.back()};
}

}  // namespace rushlight
