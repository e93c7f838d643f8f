// SPDX-License-Identifier: Apache-2.0
#include "types/real_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace rushlight {
namespace {

template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";  // the sign and payload of a NaN are not kept
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::optional<T> read(std::string_view text) {
  if (text == "nan") return std::numeric_limits<T>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<T>::infinity();
  if (text == "-inf") return -std::numeric_limits<T>::infinity();
  // from_chars would also take "infinity" and "nan(...)".
  if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string real_text(double value) { return shortest(value); }
std::string real_text(float value) { return shortest(value); }

std::optional<double> read_double(std::string_view text) { return read<double>(text); }
std::optional<float> read_float(std::string_view text) { return read<float>(text); }

}  // namespace rushlight
