// SPDX-License-Identifier: Apache-2.0
// Characters of a text, with the place of the first error. What fails returns false and leaves the place
// behind, so that callers chain with && and the first failure is the one reported.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "types/result.h"

namespace rushlight {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Reads `token` behind white space and "//" comments, if it comes next.
  bool accept(std::string_view token);
  // As accept; a missing token is an error.
  bool expect(std::string_view token);
  // Letters, digits, '_' and '.'; `what` names it in the error.
  bool name(std::string_view& into, std::string_view what);
  // Reads up to (not including) the first of `ends`, white space or the end of the text; at least one
  // character.
  bool word(std::string_view& into, std::string_view ends, std::string_view what);
  bool integer(int64_t& into, int64_t lo, int64_t hi, std::string_view what);
  bool real(double& into, std::string_view what);
  // An attribute's value: a list, a text in quotes or a word.
  bool value(std::string_view& into);

  bool at_end();
  // The character of the next token, '\0' at the end.
  char peek();
  // The position of the next token, for errors that are found after reading it.
  size_t mark();
  // The line of the next token; lines are counted once, however often this is asked.
  int line();

  bool fail(size_t position, std::string what);
  bool fail(std::string what) { return fail(mark(), std::move(what)); }
  const Error& error() const { return *error_; }

 private:
  void skip_space();
  std::string found() const;

  std::string_view text_;
  size_t next_ = 0;
  size_t counted_ = 0;  // line_ is right for this position
  int line_ = 1;
  std::optional<Error> error_;
};

}  // namespace rushlight
