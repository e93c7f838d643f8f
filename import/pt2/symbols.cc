// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

namespace rushlight::pt2 {

std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}
std::optional<int64_t> checked_subtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? std::nullopt : std::optional(difference);
}
std::optional<int64_t> checked_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}
std::optional<int64_t> checked_floor_divide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
std::optional<int64_t> checked_modulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? std::nullopt : std::optional<int64_t>(0);
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

namespace {

using Number = tl::expected<int64_t, std::string>;

std::optional<int64_t> checked_power(int64_t base, int64_t exponent) {
  if (exponent < 0 || exponent > 63) return std::nullopt;
  std::optional<int64_t> power = 1;
  for (int64_t i = 0; i < exponent && power; ++i) power = checked_multiply(*power, base);
  return power;
}

struct Function {
  std::string_view name;
  std::optional<int64_t> (*apply)(int64_t, int64_t);
  bool any_count;  // folds two arguments or more
};

constexpr Function kFunctions[] = {
    {"Mul", checked_multiply, true},
    {"Add", checked_add, true},
    {"Max", [](int64_t a, int64_t b) { return std::optional(std::max(a, b)); }, true},
    {"Min", [](int64_t a, int64_t b) { return std::optional(std::min(a, b)); }, true},
    {"Pow", checked_power, false},
    {"FloorDiv", checked_floor_divide, false},
    {"CleanDiv", checked_floor_divide, false},
    {"Mod", checked_modulo, false},
    {"PythonMod", checked_modulo, false},
};

// Recursive descent over "Name(argument, ...)".
class Reader {
 public:
  Reader(std::string_view text, const Binding& binding) : rest_(text), all_(text), binding_(binding) {}

  Number whole() {
    Number value = expression(0);
    skip_space();
    if (value && !rest_.empty()) return wrong();
    return value;
  }

 private:
  static constexpr int kMaxDepth = 32;

  tl::unexpected<std::string> wrong() const {
    return tl::unexpected(fmt::format("the size expression \"{}\" is not understood", all_.substr(0, 200)));
  }
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view until(std::string_view ends) {
    skip_space();
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  Number integer() {
    int64_t value = 0;
    const std::string_view digits = until("),");
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || !accept(')')) return wrong();
    return value;
  }

  // Symbol('s0', positive=True, integer=True); the assumptions don't matter.
  Number symbol() {
    if (!accept('\'')) return wrong();
    const std::string_view name = until("'");
    if (!accept('\'')) return wrong();
    until(")");
    if (!accept(')')) return wrong();
    const auto bound = binding_.find(name);
    if (bound == binding_.end())
      return tl::unexpected(
          fmt::format("the size '{}' is known only when the model runs", name.substr(0, 64)));
    return bound->second;
  }

  Number expression(int depth) {
    if (depth > kMaxDepth) return wrong();
    std::string_view name = until("(");
    if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
    if (!accept('(')) return wrong();
    if (name == "Integer") return integer();
    if (name == "Symbol") return symbol();
    const auto function = std::ranges::find(kFunctions, name, &Function::name);
    if (function == std::end(kFunctions)) return wrong();
    Number value = expression(depth + 1);
    int count = 1;
    for (; value && accept(','); ++count) {
      const Number next = expression(depth + 1);
      if (!next) return next;
      const auto result = function->apply(*value, *next);
      if (!result) return tl::unexpected(fmt::format("{}({}, {}) has no 64-bit value", name, *value, *next));
      value = *result;
    }
    if (!value) return value;
    if (!accept(')') || count < 2 || (count > 2 && !function->any_count)) return wrong();
    return value;
  }

  std::string_view rest_;
  std::string_view all_;
  const Binding& binding_;
};

}  // namespace

tl::expected<int64_t, std::string> evaluate(std::string_view expression, const Binding& binding) {
  return Reader(expression, binding).whole();
}

tl::expected<int64_t, std::string> evaluate(const SymInt& value, const Binding& binding) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  return evaluate(std::string_view(std::get<std::string>(value)), binding);
}

tl::expected<Shape, std::string> evaluate(const std::vector<SymInt>& sizes, const Binding& binding) {
  Shape shape;
  for (const SymInt& size : sizes) {
    const auto extent = evaluate(size, binding);
    if (!extent) return tl::unexpected(extent.error());
    shape.push_back(*extent);
  }
  return shape;
}

std::optional<std::string> only_symbol(std::string_view expression) {
  constexpr std::string_view kStart = "Symbol('";
  if (!expression.starts_with(kStart)) return std::nullopt;
  expression.remove_prefix(kStart.size());
  const size_t end = expression.find('\'');
  // A second '(' would mean that more than this symbol stands there.
  if (end == std::string_view::npos || expression.find('(') != std::string_view::npos) return std::nullopt;
  const std::string_view name = expression.substr(0, end);
  const bool word =
      std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return word && !name.empty() ? std::optional(std::string(name)) : std::nullopt;
}

}  // namespace rushlight::pt2
