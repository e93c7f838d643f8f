// SPDX-License-Identifier: Apache-2.0
// The operator table as a page of the documentation.
#pragma once

#include <string>

namespace rushlight {

// Markdown, as docs/operators.md holds it: every row of the op table with the PyTorch operators that become
// it.
std::string operators_page();

}  // namespace rushlight
