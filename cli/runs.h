// SPDX-License-Identifier: Apache-2.0
// Samples and runs that `run` and `verify` share.
#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"

namespace rushlight::cli {

// The first `limit` samples (0: all) in the program's own integers.
Result<std::vector<std::vector<Tensor>>> program_samples(const Compiled& compiled,
                                                         const std::vector<std::string>& specifications,
                                                         size_t limit);

// Repeatable random samples over the whole range of the inputs' integers.
std::vector<std::vector<Tensor>> random_samples(const Compiled& compiled, size_t count);

Result<std::vector<std::vector<Tensor>>> simulate(const Compiled& compiled,
                                                  const std::vector<std::vector<Tensor>>& samples);

}  // namespace rushlight::cli
