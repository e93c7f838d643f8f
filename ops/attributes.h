// SPDX-License-Identifier: Apache-2.0
// Attributes of a node: compile-time arguments, stored in the order of the op's row.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "types/result.h"

namespace rushlight {

using Integers = std::vector<int64_t>;
// monostate is PyTorch's None.
using Attribute = std::variant<std::monostate, bool, int64_t, double, std::string, Integers>;

enum class AttributeKind : uint8_t { boolean, integer, real, text, integers };

struct AttributeRow {
  std::string_view name;
  AttributeKind kind;
  // Written as in the text form, e.g. "1", "[1,1]", "true", "none"; empty: the attribute must be given.
  std::string_view default_value = {};
};

bool fits(const Attribute& value, AttributeKind kind);
// As `fits`, and None where the row's default is None.
bool fits(const Attribute& value, const AttributeRow& row);

// "[1,2]", "0.5", "true", "none", "\"same\"". Reals print with the fewest digits that read back as the same
// double, and always with a point, an exponent, "inf" or "nan".
std::string to_string(const Attribute& value);
// Reads what to_string wrote.
Result<Attribute> parse_attribute(std::string_view text);

using NamedAttributes = std::map<std::string, Attribute, std::less<>>;

// The attributes of `rows` in order, defaults where none was given. An integer serves as a real, and as a
// list of one. Errors name the attribute that is missing, unknown or of the wrong kind.
Result<std::vector<Attribute>> complete_attributes(std::span<const AttributeRow> rows, NamedAttributes given);

// The attributes of one node, seen through its op's row.
class Attributes {
 public:
  Attributes(std::span<const AttributeRow> rows, std::span<const Attribute> values)
      : rows_(rows), values_(values) {}

  const Attribute& get(std::string_view name) const;
  bool is_none(std::string_view name) const { return std::holds_alternative<std::monostate>(get(name)); }
  bool boolean(std::string_view name) const { return std::get<bool>(get(name)); }
  int64_t integer(std::string_view name) const { return std::get<int64_t>(get(name)); }
  double real(std::string_view name) const { return std::get<double>(get(name)); }
  const std::string& text(std::string_view name) const { return std::get<std::string>(get(name)); }
  const Integers& integers(std::string_view name) const { return std::get<Integers>(get(name)); }
  // For lists that PyTorch lets one write as a single number: two entries, whatever was given.
  std::pair<int64_t, int64_t> pair(std::string_view name) const;

 private:
  std::span<const AttributeRow> rows_;
  std::span<const Attribute> values_;
};

}  // namespace rushlight
