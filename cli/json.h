// SPDX-License-Identifier: Apache-2.0
// The commands' --json output. One file, because the JSON library takes seconds to compile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/compile.h"
#include "run/board.h"

namespace rushlight::cli {

struct RunSummary {
  std::string where;  // "simulator" or the target's name
  size_t samples = 0;
  std::vector<int64_t> predictions;  // argmax of the first output, a sample
  std::optional<double> accuracy;
  const DeviceRun* device = nullptr;
};

struct VerifySummary {
  std::string target;
  size_t samples = 0;
  size_t integers = 0;
  size_t different = 0;
  const DeviceRun* device = nullptr;
};

std::string json_error(const Error& error);
std::string json_internal_error(const std::string& what);
std::string json_inspected(const std::string& stage, const std::string& text);
std::string json_compiled(const Compiled& compiled, const std::string& folder, double seconds);
std::string json_run(const Compiled& compiled, const RunSummary& summary);
std::string json_verify(const Compiled& compiled, const VerifySummary& summary);
std::string json_checked(const std::string& model);
std::string json_targets();
std::string json_ops();

}  // namespace rushlight::cli
