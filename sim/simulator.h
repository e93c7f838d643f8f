// SPDX-License-Identifier: Apache-2.0
// Runs a planned program on the host, through the kernel sources that the device compiles, in an arena laid
// out as on the device.
#pragma once

#include <memory>
#include <span>

#include "cortex_m/program.h"
#include "plan/plan.h"
#include "types/result.h"
#include "types/tensor.h"

namespace rushlight {

class Simulator {
 public:
  // Program and plan must outlive the simulator. Clears recurrent state. `poison` fills the rest of the arena
  // before every run, so that a read of what nobody wrote shows.
  Simulator(const Program& program, const Plan& plan, std::byte poison = std::byte{0x55});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // One inference: integer (or float) inputs exactly of the ports' types, outputs likewise. An error if a
  // call wrote behind the arena's end.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs);
  void reset();

 private:
  struct Memory;
  const Program& program_;
  const Plan& plan_;
  std::byte poison_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace rushlight
