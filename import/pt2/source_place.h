// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rushlight::pt2 {

// "net.py:12" from a Python stack trace: the innermost frame that is not PyTorch's own, or the innermost one
// where all are. Empty if there is none.
std::string source_place(std::string_view stack_trace);

}  // namespace rushlight::pt2
