// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>
#include <optional>

#include "import/json/json.h"

namespace rushlight {

namespace {

// The path from `from` down to `wanted`. Only asked for after a failure.
std::optional<std::string> path_to(const Json& from, const Json* wanted) {
  if (&from == wanted) return "";
  if (const auto* array = from.get_if<JsonArray>())
    for (size_t i = 0; i < array->size(); ++i)
      if (auto rest = path_to((*array)[i], wanted)) return fmt::format("[{}]{}", i, *rest);
  if (const auto* object = from.get_if<JsonObject>())
    for (const auto& [key, member] : *object)
      if (auto rest = path_to(member, wanted)) return fmt::format(".{}{}", key, *rest);
  return std::nullopt;
}

const Json* find(const Json* value, std::string_view key) {
  const auto* object = value == nullptr ? nullptr : value->get_if<JsonObject>();
  if (object == nullptr) return nullptr;
  for (const auto& [name, member] : *object)
    if (name == key) return &member;
  return nullptr;
}

}  // namespace

std::string_view Json::kind() const {
  constexpr std::string_view kKinds[] = {"null",   "true or false", "an integer", "a real number",
                                         "a text", "an array",      "an object"};
  return kKinds[value.index()];
}

void JsonContext::fail(const Json* place, std::string_view suffix, std::string what) {
  if (failed()) return;
  std::string path = path_to(root_, place).value_or("") + std::string(suffix);
  if (path.starts_with('.')) path.erase(0, 1);
  error_ = {Fault::input, {{path.empty() ? where_ : where_ + ": " + path, std::move(what)}}};
}

void JsonPlace::fail(std::string what) const { context_->fail(value_, "", std::move(what)); }

template <class T>
const T* JsonPlace::expect(std::string_view wanted) const {
  if (value_ == nullptr || failed()) return nullptr;
  const T* found = value_->get_if<T>();
  if (found == nullptr) fail(fmt::format("is {}; {} is needed", value_->kind(), wanted));
  return found;
}

JsonPlace JsonPlace::member(std::string_view key) const {
  if (expect<JsonObject>("an object") == nullptr) return {nullptr, context_};
  const Json* found = find(value_, key);
  if (found == nullptr) context_->fail(value_, fmt::format(".{}", key), "is missing");
  return {found, context_};
}

bool JsonPlace::has(std::string_view key) const {
  const Json* found = find(value_, key);
  return found != nullptr && found->get_if<std::monostate>() == nullptr;
}

std::vector<JsonPlace> JsonPlace::items() const {
  std::vector<JsonPlace> places;
  if (const auto* array = expect<JsonArray>("an array"))
    for (const Json& item : *array) places.push_back({&item, context_});
  return places;
}

std::vector<std::pair<std::string_view, JsonPlace>> JsonPlace::members() const {
  std::vector<std::pair<std::string_view, JsonPlace>> places;
  if (const auto* object = expect<JsonObject>("an object"))
    for (const auto& [key, member] : *object) places.emplace_back(key, JsonPlace(&member, context_));
  return places;
}

std::pair<std::string_view, JsonPlace> JsonPlace::only_member() const {
  const auto all = members();
  if (all.size() == 1) return all.front();
  if (!failed()) fail(fmt::format("has {} members; exactly one is needed", all.size()));
  return {"", JsonPlace(nullptr, context_)};
}

bool JsonPlace::boolean() const {
  const bool* value = expect<bool>("true or false");
  return value != nullptr && *value;
}

int64_t JsonPlace::integer() const {
  const int64_t* value = expect<int64_t>("an integer of 64 bits");
  return value == nullptr ? 0 : *value;
}

double JsonPlace::real() const {
  if (value_ == nullptr) return 0;
  if (const auto* integer = value_->get_if<int64_t>()) return static_cast<double>(*integer);
  if (const auto* text = value_->get_if<std::string>()) {
    if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (*text == "Infinity") return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
  }
  const double* value = expect<double>("a number");
  return value == nullptr ? 0 : *value;
}

std::string JsonPlace::text() const {
  const std::string* value = expect<std::string>("a text");
  return value == nullptr ? std::string() : *value;
}

}  // namespace rushlight
