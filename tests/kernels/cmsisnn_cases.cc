// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "tests/kernels/cmsisnn_vectors.h"

namespace rushlight {

std::vector<Vector> cmsisnn_vectors(std::string_view op) {
  std::vector<Vector> vectors;
  const std::filesystem::path folder = vectors_folder();
  std::ifstream file(folder / "index.json");
  if (!file) return vectors;
  const nlohmann::json index = nlohmann::json::parse(file);
  for (const nlohmann::json& entry : index.at("cases")) {
    if (entry.at("op").get<std::string>() != op) continue;
    // Weights with a zero point are refused by the compiler.
    if (entry.at("params").value("filter_offset", 0) != 0) continue;
    auto arrays = read_npz((folder / entry.at("file").get<std::string>()).string());
    if (!arrays) throw std::runtime_error(arrays.error().text());
    vectors.push_back({entry.at("case").get<std::string>(), *std::move(arrays), entry.at("params")});
  }
  return vectors;
}

}  // namespace rushlight
