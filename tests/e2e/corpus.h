// SPDX-License-Identifier: Apache-2.0
// The corpus outside of the source tree (RUSHLIGHT_SHARED, or ../shared): models with recorded inputs and
// PyTorch's outputs.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "import/npz/npz.h"
#include "tests/e2e/programs.h"

namespace rushlight::e2e {

#define RUSHLIGHT_NEEDS_CORPUS() \
  if (shared_folder().empty()) GTEST_SKIP() << "no corpus: neither RUSHLIGHT_SHARED nor ../shared holds one"

inline std::string corpus(const std::string& path) { return (shared_folder() / "corpus" / path).string(); }

// Every sample and every core; without it the slow networks run a few.
inline bool run_everything() { return std::getenv("RUSHLIGHT_LONG") != nullptr; }

// Archives of recorded runs: "in<S>_<I>", "out<S>_<J>" are input I and output J of sample S.
struct Recording {
  std::map<std::string, Tensor> arrays;

  size_t samples() const {
    size_t n = 0;
    while (arrays.contains(fmt::format("in{}_0", n))) ++n;
    return n;
  }
  // Floats as float32, indices as they are.
  std::vector<Tensor> inputs(size_t sample) const {
    std::vector<Tensor> all;
    for (size_t i = 0; arrays.contains(fmt::format("in{}_{}", sample, i)); ++i) {
      const Tensor& array = arrays.at(fmt::format("in{}_{}", sample, i));
      all.push_back(is_float(array.dtype()) ? array.converted(DType::float32) : array);
    }
    return all;
  }
  // One output of all samples, one after another.
  std::vector<double> outputs(std::string_view prefix, size_t output) const {
    std::vector<double> all;
    for (size_t s = 0; s < samples(); ++s) {
      const std::vector<double> one = numbers(arrays.at(fmt::format("{}{}_{}", prefix, s, output)));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  std::vector<Sample> all_inputs() const {
    std::vector<Sample> all;
    for (size_t s = 0; s < samples(); ++s) all.push_back(inputs(s));
    return all;
  }
  Samples program_inputs(const Compiled& compiled) const {
    const std::vector<SampleInput> ports = compiled.inputs();
    Samples all = all_inputs();
    for (std::vector<Tensor>& sample : all)
      for (size_t i = 0; i < sample.size(); ++i) sample[i] = quantized_input(sample[i], ports[i]);
    return all;
  }
};

inline Recording recording(const std::filesystem::path& archive) {
  return {read_npz(std::filesystem::path(archive).replace_extension(".npz").string()).value()};
}

inline std::vector<std::filesystem::path> archives(const std::string& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(corpus(folder)))
    if (entry.path().extension() == ".pt2") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace rushlight::e2e
