// SPDX-License-Identifier: Apache-2.0
// Emulated boards: cross-compiles a program's library, boots it in QEMU, feeds samples over semihosting.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cortex_m/program.h"
#include "emit/firmware.h"
#include "plan/plan.h"
#include "types/result.h"
#include "types/tensor.h"

namespace rushlight {

struct DeviceRun {
  std::vector<std::vector<Tensor>> outputs;     // of each sample
  std::vector<uint64_t> instructions_per_call;  // exact, of the first sample, in the order of Program::calls
  uint64_t instructions = 0;                    // of the first sample's run(), calls included
  int64_t stack_bytes = 0;                      // high-water mark during run(), below the caller's frame
  int64_t flash_bytes = 0;  // code and constants of the library, without self-test and runner
  int64_t code_bytes = 0;   // of those, code
  int64_t ram_bytes = 0;    // arena and other writable memory of the library
  bool selftest_passed = false;
};

struct RunOptions {
  bool keep_temporary_files = false;
  std::chrono::milliseconds limit = std::chrono::minutes(5);  // for the emulator
};

// Samples: one vector of input tensors (the ports' types) each; recurrent state is kept from one to the next,
// as Simulator::run does. The program must have a target.
Result<DeviceRun> run_on_board(const Program& program, const Plan& plan, const FileSet& firmware,
                               std::span<const std::vector<Tensor>> samples, RunOptions options = {});

// Runs kernel cases on the target's one test firmware, which holds every kernel row of its ISA level. Each
// argument is given as bytes; outputs come back as bytes (in order of arguments, inputs left out).
struct BoardKernelCase {
  int kernel = 0;  // row of kernels::kKernels
  std::vector<std::byte> params;
  struct Argument {
    bool output = false;
    std::vector<std::byte> bytes;  // outputs and scratch: the initial contents
  };
  std::vector<Argument> arguments;
};
struct BoardKernelResult {
  std::vector<std::vector<std::byte>> outputs;
  bool canaries_intact = false;  // nothing but outputs and scratch has changed
  uint64_t instructions = 0;
};
Result<std::vector<BoardKernelResult>> run_kernel_cases(const Target& target,
                                                        std::span<const BoardKernelCase> cases,
                                                        RunOptions options = {});

// What is missing on this machine (arm-none-eabi-gcc, qemu-system-arm, the plugin), with the packages to
// install; nothing if all is there.
std::optional<std::string> missing_tools();

}  // namespace rushlight
