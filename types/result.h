// SPDX-License-Identifier: Apache-2.0
// Errors by whose fault they are. Input errors travel as Result<T>; what only a bug in the compiler can cause
// is thrown as InternalError and ends the program with exit code 3.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace rushlight {

// One thing that is wrong. `where` names the file, node, operand or option; `what` says what was found, what
// is allowed and what to do.
struct Diagnostic {
  std::string where;
  std::string what;
  bool operator==(const Diagnostic&) const = default;
};

enum class Fault {
  input,  // malformed file, wrong samples, wrong usage: exit code 2
  no,     // well-formed, but the answer is no (not supported, over budget): exit code 1
};

struct Error {
  Fault fault = Fault::input;
  std::vector<Diagnostic> diagnostics;

  // "where: what", one line a diagnostic.
  std::string text() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> input_error(std::string where, std::string what) {
  return tl::unexpected(Error{Fault::input, {{std::move(where), std::move(what)}}});
}
inline tl::unexpected<Error> unsupported(std::string where, std::string what) {
  return tl::unexpected(Error{Fault::no, {{std::move(where), std::move(what)}}});
}
// Passes an error on to a caller with another value type.
template <class T>
tl::unexpected<Error> forward(Result<T>& failed) {
  return tl::unexpected(std::move(failed.error()));
}

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// States an invariant of the compiler; input can't break it.
inline void require(bool holds, std::string_view invariant) {
  if (!holds) throw InternalError("internal error: " + std::string(invariant));
}

}  // namespace rushlight
