// SPDX-License-Identifier: Apache-2.0
#include "ir/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "types/real_text.h"

namespace rushlight {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

}  // namespace

void Scanner::skip_space() {
  while (next_ < text_.size()) {
    if (is_space(text_[next_])) {
      ++next_;
    } else if (text_.substr(next_, 2) == "//") {
      next_ = std::min(text_.find('\n', next_), text_.size());
    } else {
      return;
    }
  }
}

bool Scanner::accept(std::string_view token) {
  skip_space();
  if (text_.substr(next_, token.size()) != token) return false;
  // A keyword ends where its word ends: "state" does not match "states".
  const size_t end = next_ + token.size();
  if (is_letter(token.front()) && end < text_.size() && is_name(text_[end])) return false;
  next_ = end;
  return true;
}

bool Scanner::expect(std::string_view token) {
  return accept(token) || fail(fmt::format("expected '{}', found {}", token, found()));
}

bool Scanner::name(std::string_view& into, std::string_view what) {
  skip_space();
  size_t end = next_;
  while (end < text_.size() && is_name(text_[end])) ++end;
  if (end == next_) return fail(fmt::format("expected {}, found {}", what, found()));
  into = text_.substr(next_, end - next_);
  next_ = end;
  return true;
}

bool Scanner::word(std::string_view& into, std::string_view ends, std::string_view what) {
  skip_space();
  size_t end = next_;
  while (end < text_.size() && !is_space(text_[end]) && ends.find(text_[end]) == std::string_view::npos)
    ++end;
  if (end == next_) return fail(fmt::format("expected {}, found {}", what, found()));
  into = text_.substr(next_, end - next_);
  next_ = end;
  return true;
}

bool Scanner::integer(int64_t& into, int64_t lo, int64_t hi, std::string_view what) {
  const size_t position = mark();
  size_t end = position < text_.size() && text_[position] == '-' ? position + 1 : position;
  while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
  const auto [stop, error] = std::from_chars(text_.data() + position, text_.data() + end, into);
  const bool good = error == std::errc() && stop == text_.data() + end && into >= lo && into <= hi;
  if (!good) return fail(position, fmt::format("expected {} within {}..{}, found {}", what, lo, hi, found()));
  next_ = end;
  return true;
}

bool Scanner::real(double& into, std::string_view what) {
  const size_t position = mark();
  std::string_view text;
  if (!word(text, ",;:]}>", what)) return false;
  const std::optional<double> read = read_double(text);
  if (!read) return fail(position, fmt::format("expected {}, found '{}'", what, text.substr(0, 40)));
  into = *read;
  return true;
}

bool Scanner::value(std::string_view& into) {
  const size_t position = mark();
  const char first = peek();
  if (first != '[' && first != '"') return word(into, ",}", "a value");
  size_t end = position + 1;
  while (end < text_.size() && text_[end] != (first == '[' ? ']' : '"')) end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size())
    return fail(position, fmt::format("the value that starts with {} does not end", first));
  into = text_.substr(position, end + 1 - position);
  next_ = end + 1;
  return true;
}

bool Scanner::at_end() { return mark() == text_.size(); }

char Scanner::peek() { return at_end() ? '\0' : text_[next_]; }

size_t Scanner::mark() {
  skip_space();
  return next_;
}

int Scanner::line() {
  const size_t position = mark();
  for (; counted_ < position; ++counted_)
    if (text_[counted_] == '\n') ++line_;
  return line_;
}

bool Scanner::fail(size_t position, std::string what) {
  if (error_) return false;
  const std::string_view before = text_.substr(0, position);
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? position + 1 : position - newline;
  const auto line_number = 1 + std::count(before.begin(), before.end(), '\n');
  error_ = Error{Fault::input, {{fmt::format("line {}, column {}", line_number, column), std::move(what)}}};
  return false;
}

std::string Scanner::found() const {
  if (next_ >= text_.size()) return "the end of the text";
  size_t end = next_ + 1;
  while (end < text_.size() && end < next_ + 20 && is_name(text_[end])) ++end;
  return fmt::format("'{}'", text_.substr(next_, end - next_));
}

}  // namespace rushlight
