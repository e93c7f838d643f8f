// SPDX-License-Identifier: Apache-2.0
// What a compiled program is and needs, for people and machines.
#pragma once

#include <string>

#include "cortex_m/program.h"
#include "plan/plan.h"
#include "run/board.h"

namespace rushlight {

// report.json of the device library: version, rounding mode, ports with their quantization, arena and weight
// bytes, one entry a kernel call with its multiply-accumulates. Deterministic.
std::string report_json(const Program& program, const Plan& plan, size_t calibration_samples);

int64_t constant_bytes(const Program& program);
int64_t total_macs(const Program& program);

// One line a kernel call, with instructions where a device run measured them.
std::string call_table(const Program& program, const DeviceRun* run = nullptr);

}  // namespace rushlight
