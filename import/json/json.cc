// SPDX-License-Identifier: Apache-2.0
#include "import/json/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

namespace rushlight {

namespace {

using Source = nlohmann::json;

// Builds Json from the events of the library's parser.
class Builder : public nlohmann::json_sax<Source> {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  Json take_root() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

  bool null() override { return put({}); }
  bool boolean(bool value) override { return put({value}); }
  bool number_integer(number_integer_t value) override { return put({int64_t{value}}); }
  bool number_unsigned(number_unsigned_t value) override {
    // What no int64 holds becomes a real, which no reader of integers accepts.
    if (value > INT64_MAX) return put({static_cast<double>(value)});
    return put({static_cast<int64_t>(value)});
  }
  bool number_float(number_float_t value, const string_t&) override { return put({value}); }
  bool string(string_t& value) override { return put({std::move(value)}); }
  bool binary(binary_t&) override { return refuse("has binary values"); }

  bool start_object(size_t) override { return open({JsonObject{}}); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second)
      return refuse(fmt::format("has the key '{}' twice in one object", name));
    std::get<JsonObject>(open_.back()->value).push_back({std::move(name), {}});
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open({JsonArray{}}); }
  bool end_array() override { return close(); }

  bool parse_error(size_t position, const std::string&, const Source::exception& error) override {
    std::string reason = error.what();
    if (const size_t colon = reason.find(": "); colon != std::string::npos) reason = reason.substr(colon + 2);
    return refuse(fmt::format("is not valid JSON at byte {}: {}", position, reason));
  }

 private:
  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  // Where the value that comes next belongs.
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (auto* array = std::get_if<JsonArray>(&parent.value)) return &array->emplace_back(std::move(value));
    Json& member = std::get<JsonObject>(parent.value).back().value;
    member = std::move(value);
    return &member;
  }
  bool put(Json value) {
    if (++count_ > limits_.values) return refuse(fmt::format("has more than {} values", limits_.values));
    place(std::move(value));
    return true;
  }
  // Elements of an open container don't move while a container inside is open: only the innermost one grows.
  bool open(Json value) {
    if (++count_ > limits_.values) return refuse(fmt::format("has more than {} values", limits_.values));
    if (static_cast<int>(open_.size()) >= limits_.depth)
      return refuse(fmt::format("is nested deeper than {} levels", limits_.depth));
    open_.push_back(place(std::move(value)));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  JsonLimits limits_;
  Json root_;
  std::vector<Json*> open_;
  std::vector<std::set<std::string>> keys_;
  int64_t count_ = 0;
  std::string problem_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  Builder builder(limits);
  if (!Source::sax_parse(text, &builder)) return input_error(where, builder.problem());
  return builder.take_root();
}

}  // namespace rushlight
