// SPDX-License-Identifier: Apache-2.0
// Writes a planned program as a C++ library for the device: no heap, no exceptions, no interpreter, all sizes
// known.
//
//   out/<model>.h           the Model class, arena size, input and output types with scale and zero point
//   out/<model>_c.h, _c.cpp the same calls for C
//   out/<model>.cpp         run(): one kernel call after another, Params as constexpr
//   out/<model>_weights.cpp constants, const: they stay in flash
//   out/<model>_selftest.cpp one stored sample and the checksum of its outputs
//   out/kernels/...         the kernel headers that are used
//   out/CMakeLists.txt, out/example/main.cpp, out/report.json (the last from report/)
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cortex_m/program.h"
#include "plan/plan.h"
#include "types/result.h"
#include "types/tensor.h"

namespace rushlight {

// File texts by path relative to the output folder.
using FileSet = std::map<std::string, std::string>;

struct SelfTest {
  std::vector<Tensor> inputs;
  uint32_t checksum = 0;  // output_checksum of the outputs
};

// FNV-1a over the outputs' bytes, in order.
uint32_t output_checksum(const std::vector<Tensor>& outputs);

FileSet emit_firmware(const Program& program, const Plan& plan, const SelfTest& selftest);

// Writes all files or none: into a temporary folder beside `folder`, renamed at the end. An existing folder
// is replaced only if rushlight wrote all that is in it; otherwise it is left alone and the first foreign
// file is named.
Status write_folder(const FileSet& files, const std::string& folder);

}  // namespace rushlight
