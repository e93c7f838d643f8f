// SPDX-License-Identifier: Apache-2.0
// JSON from anywhere as plain values: depth, count and duplicate keys are checked while it is read. The heavy
// library header behind it stays in json.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "types/result.h"

namespace rushlight {

struct Json;
using JsonArray = std::vector<Json>;
struct JsonMember;
using JsonObject = std::vector<JsonMember>;  // in the order of the text, keys differ

struct Json {
  std::variant<std::monostate, bool, int64_t, double, std::string, JsonArray, JsonObject> value;

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value);
  }
  // "an object", for messages.
  std::string_view kind() const;
};

struct JsonMember {
  std::string key;
  Json value;
};

struct JsonLimits {
  int depth = 200;
  int64_t values = 2'000'000;
};

// `where` names the text in errors, which give the byte at which they were found.
Result<Json> parse_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});

// Looks at JSON that should have a certain form. The first thing that does not fit is remembered with its
// path; from then on every answer is neutral (0, "", no items), so that readers can be written without asking
// after each step.
class JsonContext {
 public:
  // Both must outlive the context.
  JsonContext(const Json& root, std::string where) : root_(root), where_(std::move(where)) {}

  // `suffix` continues the path of `place`.
  void fail(const Json* place, std::string_view suffix, std::string what);
  bool failed() const { return !error_.diagnostics.empty(); }
  Error take_error() { return std::move(error_); }

 private:
  const Json& root_;
  std::string where_;
  Error error_;
};

// A place in a JSON value.
class JsonPlace {
 public:
  JsonPlace(const Json& value, JsonContext& context) : value_(&value), context_(&context) {}

  JsonPlace member(std::string_view key) const;                         // must be there
  bool has(std::string_view key) const;                                 // false also for null
  std::vector<JsonPlace> items() const;                                 // of an array
  std::vector<std::pair<std::string_view, JsonPlace>> members() const;  // of an object
  // The member of an object that has exactly one.
  std::pair<std::string_view, JsonPlace> only_member() const;

  bool boolean() const;
  int64_t integer() const;
  double real() const;  // also the strings "NaN", "Infinity" and "-Infinity", as PyTorch writes them
  std::string text() const;

  void fail(std::string what) const;
  bool failed() const { return context_->failed(); }

 private:
  JsonPlace(const Json* value, JsonContext* context) : value_(value), context_(context) {}
  template <class T>
  const T* expect(std::string_view wanted) const;

  const Json* value_;  // null after a failure
  JsonContext* context_;
};

}  // namespace rushlight
