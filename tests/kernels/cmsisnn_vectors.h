// SPDX-License-Identifier: Apache-2.0
// CMSIS-NN's test vectors as read from the corpus.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/npz/npz.h"
#include "kernels/kernel.h"
#include "tests/kernels/case.h"

namespace rushlight {

inline std::filesystem::path vectors_folder() {
  const char* shared = std::getenv("RUSHLIGHT_SHARED");
  const std::filesystem::path root = shared != nullptr
                                         ? std::filesystem::path(shared)
                                         : std::filesystem::path(RUSHLIGHT_SOURCE_DIR) / "../shared";
  return root / "corpus/cmsisnn_vectors";
}

// One vector: its arrays and, in CMSIS-NN's words, its parameters. Offsets are added there: an input's is
// minus its zero point, an output's its zero point.
struct Vector {
  std::string name;
  std::map<std::string, Tensor> arrays;
  nlohmann::json params;

  bool has(const char* array) const { return arrays.count(array) != 0; }
  int32_t extent(const char* array, size_t axis) const {
    return static_cast<int32_t>(arrays.at(array).shape().at(axis));
  }
  template <class T>
  std::vector<T> values(const char* array) const {
    const auto span = arrays.at(array).as<T>();
    return {span.begin(), span.end()};
  }
  int32_t number(const char* key) const { return params.at(key).get<int32_t>(); }
  int32_t number(const char* key, size_t i) const { return params.at(key).at(i).get<int32_t>(); }
  kernels::OutputRange range() const {
    return {params.value("output_offset", 0), number("activation", 0), number("activation", 1)};
  }
  // A multiplier or shift a channel, from one or from as many.
  std::vector<int32_t> per_channel(const char* array, int32_t channels) const {
    std::vector<int32_t> list = values<int32_t>(array);
    if (list.size() == 1) list.resize(static_cast<size_t>(channels), list[0]);
    return list;
  }
};

// What CMSIS-NN calls an operator, and how one of its vectors becomes a case.
struct CmsisNnOperator {
  const char* name;
  KernelCase (*make)(const Vector&);
};
std::span<const CmsisNnOperator> cmsisnn_layers();
std::span<const CmsisNnOperator> cmsisnn_others();

// The vectors of one operator. An empty list where the corpus is absent.
std::vector<Vector> cmsisnn_vectors(std::string_view op);

}  // namespace rushlight
