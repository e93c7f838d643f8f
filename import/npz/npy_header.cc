// SPDX-License-Identifier: Apache-2.0
#include "import/npz/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace rushlight {

namespace {

// Just as much of Python's syntax as NumPy writes.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool accept(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> text() {
    if (!accept('\'')) return std::nullopt;
    const size_t end = rest_.find('\'');
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return value;
  }
  std::optional<Shape> tuple() {
    if (!accept('(')) return std::nullopt;
    Shape shape;
    while (!accept(')')) {
      int64_t extent = 0;
      skip_space();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc()) return std::nullopt;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      shape.push_back(extent);
      if (!accept(',') && !rest_.starts_with(')')) return std::nullopt;
    }
    return shape;
  }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  std::string_view rest_;
};

Result<DType> parse_dtype(const std::string& descr, const std::string& where) {
  constexpr std::string_view kAllowed = "allowed are little-endian b1, u1, i1, i2, i4, i8, f2, f4 and f8";
  if (descr.starts_with('>'))
    return input_error(where, fmt::format("is big-endian ('{}'); {}", descr, kAllowed));
  if (descr.starts_with("|O") || descr == "O")
    return input_error(where, fmt::format("holds Python objects, which are never read; {}", kAllowed));
  for (const DTypeRow& row : kDTypes)
    if (!row.numpy.empty() && descr.substr(1) == row.numpy &&
        (descr[0] == '<' || (descr[0] == '|' && row.bytes == 1)))
      return row.dtype;
  return input_error(where, fmt::format("has the dtype '{}'; {}", descr.substr(0, 40), kAllowed));
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& where) {
  Parser parser(text);
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
  bool good = parser.accept('{');
  while (good && !parser.accept('}')) {
    const auto key = parser.text();
    good = key && parser.accept(':');
    if (!good) break;
    if (*key == "descr") {
      // A list describes a record of several fields.
      if (parser.accept('[')) return input_error(where, "holds records; plain arrays are needed");
      descr = parser.text();
      good = descr && !descr->empty();
    } else if (*key == "fortran_order") {
      const bool is_true = parser.accept("True");
      good = is_true || parser.accept("False");
      fortran_order = is_true;
    } else if (*key == "shape") {
      shape = parser.tuple();
      good = shape.has_value();
    } else {
      good = false;
    }
    parser.accept(',');
  }
  if (!good || !descr || !fortran_order || !shape || !parser.at_end())
    return input_error(where, "has a header that is not as NumPy writes it");
  auto dtype = parse_dtype(*descr, where);
  if (!dtype) return forward(dtype);
  return NpyHeader{*dtype, *fortran_order, std::move(*shape)};
}

std::string npy_header(const NpyHeader& header) {
  std::string shape;
  for (const int64_t extent : header.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
  if (header.shape.size() == 1) shape += ",";
  const DTypeRow& dtype = row(header.dtype);
  return fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}), }}",
                     dtype.bytes == 1 ? '|' : '<', dtype.numpy, header.fortran_order ? "True" : "False",
                     shape);
}

}  // namespace rushlight
