// SPDX-License-Identifier: Apache-2.0
// Compiled models and their runs on host and cores, as the end-to-end tests use them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "run/board.h"
#include "tests/e2e/print_target.h"

namespace rushlight::e2e {

using Samples = std::vector<std::vector<Tensor>>;  // of each sample, one tensor a port

inline std::string source_file(const std::string& path) {
  return std::string(RUSHLIGHT_SOURCE_DIR) + "/" + path;
}

// The corpus outside of the source tree; empty if there is none.
std::filesystem::path shared_folder();

// Samples named as on the command line, in the program's own integers.
Result<Samples> program_samples(const Compiled& compiled, const std::vector<std::string>& specifications,
                                size_t limit = 0);

// In the simulator, recurrent state kept from sample to sample.
Samples simulate(const Compiled& compiled, const Samples& samples);

// What integers stand for; floats as they are.
std::vector<double> reals(const Tensor& tensor, const Quantization& quant);
// The same for an output over all samples, one after another.
std::vector<double> output_reals(const Compiled& compiled, const Samples& outputs, size_t output);
std::vector<double> numbers(const Tensor& tensor);

// Power of `want` over that of the error, in dB; a large number where they are equal.
double sqnr(const std::vector<double>& want, const std::vector<double>& got);
double greatest_difference(const std::vector<double>& want, const std::vector<double>& got);
// Index of the greatest of each row of `columns` values.
std::vector<int64_t> argmax(const std::vector<double>& values, size_t columns);

// Equal tensors, with the place of the first difference if not.
void expect_equal(const Compiled& compiled, const Samples& want, const Samples& got);

// A kernel call as it happened in a run on the host.
struct RecordedCall {
  BoardKernelCase item;
  std::vector<std::vector<std::byte>> expected;  // its outputs
  std::string what;
};

// Collects the kernel calls of runs; a call with the same Params and inputs as an earlier one is left out.
class Recorder {
 public:
  // Runs the samples call by call and expects the simulator's outputs.
  void add(const Compiled& compiled, const Samples& samples, const std::string& what);
  void add(RecordedCall call);
  const std::vector<RecordedCall>& calls() const { return calls_; }

 private:
  std::vector<RecordedCall> calls_;
  std::vector<std::string> seen_;  // sorted
};

// All calls on the target's test firmware: outputs equal, nothing else written.
void expect_same_on(const Target& target, const std::vector<RecordedCall>& calls);

std::string test_name(const testing::TestParamInfo<Target>& info);

}  // namespace rushlight::e2e

// Skips the test where the cross-compiler or the emulator is missing.
#define RUSHLIGHT_NEEDS_BOARDS() \
  if (const auto missing = rushlight::missing_tools()) GTEST_SKIP() << *missing
