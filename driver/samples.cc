// SPDX-License-Identifier: Apache-2.0
#include "driver/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "import/npz/npz.h"

namespace rushlight {
namespace {

struct Specification {
  std::string input;  // empty: by name, or the only one
  std::string path;
  std::string array;  // empty: by name, or the only one
};

Specification parse(const std::string& text) {
  Specification s;
  std::string rest = text;
  // "=" separates an input's name only where what stands before it looks like a name.
  if (const size_t equals = rest.find('=');
      equals != std::string::npos && rest.find_first_of("/.") > equals) {
    s.input = rest.substr(0, equals);
    rest = rest.substr(equals + 1);
  }
  if (const size_t colon = rest.rfind(".npz:"); colon != std::string::npos) {
    s.array = rest.substr(colon + 5);
    rest = rest.substr(0, colon + 4);
  }
  s.path = rest;
  return s;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

using Arrays = std::map<std::string, Tensor>;

std::string names(const Arrays& arrays) {
  std::vector<std::string> all;
  for (const auto& [name, tensor] : arrays)
    all.push_back(fmt::format("{} {}", name, to_string(tensor.shape())));
  return fmt::format("{}", fmt::join(all, ", "));
}

Result<Arrays> read_arrays(const Specification& s, std::string_view option) {
  if (ends_with(s.path, ".npz")) return read_npz(s.path);
  if (!ends_with(s.path, ".npy"))
    return input_error(
        fmt::format("{} {}", option, s.path),
        "is neither an .npz nor an .npy file; samples are written file.npz:array, file.npz or file.npy");
  Result<Tensor> tensor = read_npy(s.path);
  if (!tensor) return forward(tensor);
  return Arrays{{"", std::move(*tensor)}};
}

// The array that holds samples of `input`.
Result<const Tensor*> choose(const Arrays& arrays, const Specification& s, const SampleInput& input,
                             std::string_view option) {
  const std::string wanted = s.array.empty() ? input.name : s.array;
  if (const auto found = arrays.find(wanted); found != arrays.end()) return &found->second;
  if (s.array.empty() && arrays.size() == 1) return &arrays.begin()->second;
  return input_error(
      fmt::format("{} {}", option, s.path),
      fmt::format("has no array '{}'; it has {}. Name one as {}:array", wanted, names(arrays), s.path));
}

// How many leading entries of the array make one sample, or nothing if the shapes do not fit.
std::optional<int64_t> entries_per_sample(const Shape& array, const Shape& sample) {
  if (array.empty()) return std::nullopt;
  const Shape rest(array.begin() + 1, array.end());
  if (rest == sample) return 1;
  if (sample.empty()) return std::nullopt;
  const Shape unbatched(sample.begin() + 1, sample.end());
  if (rest == unbatched) return sample.front();
  return std::nullopt;
}

Result<std::vector<Tensor>> split(const Tensor& array, const SampleInput& input, const std::string& where) {
  const std::optional<int64_t> entries = entries_per_sample(array.shape(), input.shape);
  if (!entries || *entries == 0)
    return input_error(
        where, fmt::format("has the shape {}; input '{}' takes samples of {} with an axis in front that "
                           "counts them",
                           to_string(array.shape()), input.name, to_string(input.shape)));
  const bool is_index = !is_float(input.dtype) && !input.quant.is_set();
  const bool integers =
      is_index ? !is_float(array.dtype()) : input.integers_allowed && array.dtype() == input.dtype;
  if (is_index && !integers)
    return input_error(where,
                       fmt::format("holds {}; input '{}' takes integers", name(array.dtype()), input.name));
  if (!is_float(array.dtype()) && !integers)
    return input_error(
        where, fmt::format("holds {}; input '{}' takes f32{}", name(array.dtype()), input.name,
                           input.integers_allowed
                               ? fmt::format(" (or {} as the program's own integers)", name(input.dtype))
                               : ""));
  if (array.shape()[0] % *entries != 0)
    return input_error(
        where, fmt::format("has {} entries, no multiple of the batch of {}", array.shape()[0], *entries));
  const Tensor values = is_index   ? array.converted(input.dtype)
                        : integers ? array
                                   : array.converted(DType::float32);
  const int64_t per_sample = element_count(input.shape);
  for (int64_t i = 0; i < values.elements(); ++i)
    if (!std::isfinite(values.at(i)))
      return input_error(
          where, fmt::format("holds {} in sample {}, element {}; samples must be finite float32 numbers",
                             values.at(i), i / per_sample, i % per_sample));
  std::vector<Tensor> samples;
  const size_t bytes = static_cast<size_t>(per_sample) * static_cast<size_t>(size_of(values.dtype()));
  for (int64_t i = 0; i < array.shape()[0] / *entries; ++i) {
    Tensor sample(values.dtype(), input.shape);
    if (bytes > 0)
      std::memcpy(sample.bytes().data(), values.bytes().data() + static_cast<size_t>(i) * bytes, bytes);
    samples.push_back(std::move(sample));
  }
  if (samples.empty()) return input_error(where, "has no samples");
  return samples;
}

}  // namespace

std::vector<SampleInput> sample_inputs(const Graph& graph) {
  std::vector<SampleInput> inputs;
  for (ValueId id : graph.inputs) {
    const auto is_state = [&](const State& s) { return s.input == id; };
    if (std::any_of(graph.states.begin(), graph.states.end(), is_state)) continue;
    const TensorType& type = graph.type(id);
    const bool is_index = !is_float(type.dtype) && !type.quantized();
    inputs.push_back({graph.value(id).name, type.shape, is_index ? type.dtype : DType::float32});
  }
  return inputs;
}

Result<std::vector<Sample>> read_samples(const std::vector<std::string>& specifications,
                                         const std::vector<SampleInput>& inputs, std::string_view option) {
  std::vector<std::vector<Tensor>> columns(inputs.size());
  for (const std::string& text : specifications) {
    const Specification s = parse(text);
    Result<Arrays> arrays = read_arrays(s, option);
    if (!arrays) return forward(arrays);
    bool used = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!s.input.empty() && s.input != inputs[i].name) continue;
      // Without a name one specification may serve several inputs, each by its own array's name.
      if (s.input.empty() && inputs.size() > 1 && arrays->count(inputs[i].name) == 0) continue;
      Result<const Tensor*> array = choose(*arrays, s, inputs[i], option);
      if (!array) return forward(array);
      Result<std::vector<Tensor>> samples = split(**array, inputs[i], fmt::format("{} {}", option, text));
      if (!samples) return forward(samples);
      columns[i] = std::move(*samples);
      used = true;
    }
    if (!used) {
      std::vector<std::string> known;
      for (const SampleInput& input : inputs) known.push_back(input.name);
      return input_error(
          fmt::format("{} {}", option, text),
          fmt::format("names no input of the model; its inputs are: {}", fmt::join(known, ", ")));
    }
  }
  std::vector<Sample> result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (columns[i].empty())
      return input_error(std::string(option), fmt::format("gives no samples for input '{}'", inputs[i].name));
    if (columns[i].size() != columns[0].size())
      return input_error(std::string(option),
                         fmt::format("gives {} samples for input '{}' and {} for '{}'", columns[i].size(),
                                     inputs[i].name, columns[0].size(), inputs[0].name));
    result.resize(columns[0].size());
    for (size_t s = 0; s < result.size(); ++s) result[s].push_back(std::move(columns[i][s]));
  }
  return result;
}

Tensor quantized_input(const Tensor& tensor, const SampleInput& input) {
  if (tensor.dtype() == input.dtype) return tensor;
  if (!input.quant.is_set()) return tensor.converted(input.dtype);
  Tensor result(input.dtype, tensor.shape());
  for (int64_t i = 0; i < tensor.elements(); ++i) result.set(i, quantize(tensor.at(i), input.quant));
  return result;
}

}  // namespace rushlight
