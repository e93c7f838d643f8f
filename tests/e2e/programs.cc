// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "sim/simulator.h"

namespace rushlight::e2e {
namespace {

constexpr double kEqual = 999;  // dB

struct alignas(16) Line {
  std::byte bytes[16];
};

std::vector<Line> memory_of(size_t bytes) { return std::vector<Line>(bytes / sizeof(Line) + 1); }

}  // namespace

std::filesystem::path shared_folder() {
  const char* named = std::getenv("RUSHLIGHT_SHARED");
  const std::filesystem::path folder = named != nullptr
                                           ? std::filesystem::path(named)
                                           : std::filesystem::path(RUSHLIGHT_SOURCE_DIR) / "../shared";
  return std::filesystem::exists(folder / "corpus") ? folder : std::filesystem::path();
}

Result<Samples> program_samples(const Compiled& compiled, const std::vector<std::string>& specifications,
                                size_t limit) {
  const std::vector<SampleInput> inputs = compiled.inputs();
  Result<Samples> samples = read_samples(specifications, inputs, "--input");
  if (!samples) return samples;
  if (limit != 0 && samples->size() > limit) samples->resize(limit);
  for (std::vector<Tensor>& sample : *samples)
    for (size_t i = 0; i < sample.size(); ++i) sample[i] = quantized_input(sample[i], inputs[i]);
  return samples;
}

Samples simulate(const Compiled& compiled, const Samples& samples) {
  Simulator simulator(compiled.program, compiled.plan);
  Samples outputs;
  for (const std::vector<Tensor>& sample : samples) outputs.push_back(simulator.run(sample).value());
  return outputs;
}

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> all;
  for (int64_t i = 0; i < tensor.elements(); ++i) all.push_back(tensor.at(i));
  return all;
}

std::vector<double> reals(const Tensor& tensor, const Quantization& quant) {
  std::vector<double> all = numbers(tensor);
  if (quant.is_set())
    for (double& x : all) x = (x - quant.zero_point()) * quant.scale();
  return all;
}

std::vector<double> output_reals(const Compiled& compiled, const Samples& outputs, size_t output) {
  std::vector<double> all;
  for (const std::vector<Tensor>& sample : outputs) {
    const std::vector<double> one = reals(sample[output], compiled.program.outputs[output].type.quant);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

double sqnr(const std::vector<double>& want, const std::vector<double>& got) {
  if (want.size() != got.size()) return -kEqual;
  double signal = 0, error = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    signal += want[i] * want[i];
    error += (want[i] - got[i]) * (want[i] - got[i]);
  }
  return error == 0 ? kEqual : 10 * std::log10(signal / error);
}

double greatest_difference(const std::vector<double>& want, const std::vector<double>& got) {
  if (want.size() != got.size()) return INFINITY;
  double greatest = 0;
  for (size_t i = 0; i < want.size(); ++i) greatest = std::max(greatest, std::abs(want[i] - got[i]));
  return greatest;
}

std::vector<int64_t> argmax(const std::vector<double>& values, size_t columns) {
  std::vector<int64_t> found;
  for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(columns))
    found.push_back(std::max_element(row, row + static_cast<std::ptrdiff_t>(columns)) - row);
  return found;
}

void expect_equal(const Compiled& compiled, const Samples& want, const Samples& got) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t s = 0; s < want.size(); ++s)
    for (size_t o = 0; o < want[s].size(); ++o) {
      if (want[s][o] == got[s][o]) continue;
      int64_t i = 0;
      while (i + 1 < want[s][o].elements() && want[s][o].at(i) == got[s][o].at(i)) ++i;
      FAIL() << "sample " << s << ", output " << compiled.program.outputs[o].name << ", element " << i << ": "
             << got[s][o].at(i) << ", not " << want[s][o].at(i);
    }
}

void Recorder::add(RecordedCall call) {
  std::string key = std::to_string(call.item.kernel);
  const auto append = [&key](const std::vector<std::byte>& bytes) {
    key += ":" + std::to_string(bytes.size()) + ":";
    key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  append(call.item.params);
  for (const BoardKernelCase::Argument& argument : call.item.arguments) append(argument.bytes);
  const auto at = std::lower_bound(seen_.begin(), seen_.end(), key);
  if (at != seen_.end() && *at == key) return;
  seen_.insert(at, std::move(key));
  calls_.push_back(std::move(call));
}

void Recorder::add(const Compiled& compiled, const Samples& samples, const std::string& what) {
  const Program& program = compiled.program;
  auto arena = memory_of(static_cast<size_t>(compiled.plan.arena_bytes));
  std::byte* const base = arena.front().bytes;
  const auto place = [&](int buffer) { return base + compiled.plan.offsets[static_cast<size_t>(buffer)]; };
  const Samples simulated = simulate(compiled, samples);
  for (size_t s = 0; s < samples.size(); ++s) {
    for (size_t i = 0; i < samples[s].size(); ++i)
      std::memcpy(place(program.inputs[i].buffer), samples[s][i].bytes().data(),
                  samples[s][i].bytes().size());
    for (const KernelCall& call : program.calls) {
      RecordedCall recorded{{call.kernel, call.params, {}},
                            {},
                            fmt::format("{}, sample {}, {} ({})", what, s, call.name, call.row().expression)};
      std::vector<std::vector<Line>> constants;
      std::vector<void*> pointers;
      for (size_t a = 0; a < call.arguments.size(); ++a) {
        const auto index = static_cast<size_t>(call.arguments[a].index);
        const bool output = call.row().arguments[a].output;
        if (call.arguments[a].to == Binding::To::constant) {
          const std::vector<std::byte>& bytes = program.constants[index].bytes;
          constants.push_back(memory_of(bytes.size()));
          std::memcpy(constants.back().data(), bytes.data(), bytes.size());
          pointers.push_back(constants.back().data());
          recorded.item.arguments.push_back({false, bytes});
          continue;
        }
        std::byte* const at = place(call.arguments[a].index);
        const auto size = static_cast<size_t>(program.buffers[index].bytes);
        pointers.push_back(at);
        recorded.item.arguments.push_back({output, {at, at + size}});
      }
      // An output keeps what it held, for kernels that write a part of it, unless that is an input's memory.
      for (size_t a = 0; a < pointers.size(); ++a)
        if (recorded.item.arguments[a].output &&
            std::count(pointers.begin(), pointers.end(), pointers[a]) > 1)
          std::ranges::fill(recorded.item.arguments[a].bytes, std::byte{0x55});
      std::vector<int32_t> params(call.params.size() / sizeof(int32_t));
      std::memcpy(params.data(), call.params.data(), call.params.size());
      call.row().invoke(params.data(), pointers.data());
      for (size_t a = 0; a < call.arguments.size(); ++a)
        if (recorded.item.arguments[a].output) {
          const auto* at = static_cast<const std::byte*>(pointers[a]);
          recorded.expected.emplace_back(at, at + recorded.item.arguments[a].bytes.size());
        }
      add(std::move(recorded));
    }
    for (size_t o = 0; o < program.outputs.size(); ++o) {
      const Tensor& want = simulated[s][o];
      EXPECT_EQ(std::memcmp(place(program.outputs[o].buffer), want.bytes().data(), want.bytes().size()), 0)
          << what << ", sample " << s << ": calls one by one differ from the simulator";
    }
  }
}

void expect_same_on(const Target& target, const std::vector<RecordedCall>& calls) {
  std::vector<BoardKernelCase> cases;
  cases.reserve(calls.size());
  for (const RecordedCall& call : calls) cases.push_back(call.item);
  const auto results = run_kernel_cases(target, cases);
  ASSERT_TRUE(results) << results.error().text();
  ASSERT_EQ(results->size(), calls.size());
  for (size_t c = 0; c < calls.size(); ++c) {
    EXPECT_TRUE((*results)[c].canaries_intact) << calls[c].what << ": wrote outside of its outputs";
    EXPECT_TRUE((*results)[c].outputs == calls[c].expected) << calls[c].what << ": differs from the host";
    if (testing::Test::HasFailure()) return;
  }
}

std::string test_name(const testing::TestParamInfo<Target>& info) {
  std::string name(info.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace rushlight::e2e
