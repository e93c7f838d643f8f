// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "cortex_m/target.h"

namespace rushlight {

// How test names and messages show a core.
inline void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

}  // namespace rushlight
