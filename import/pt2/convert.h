// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "import/pt2/archive.h"
#include "import/pt2/names.h"
#include "import/pt2/symbols.h"
#include "ir/graph.h"

namespace rushlight::pt2 {

// The graph of an archive's program. What can't be compiled is collected over all nodes before it fails.
// `file` names the archive in errors.
Result<Graph> convert(Archive& archive, const Names& names, const Binding& binding, const std::string& file);

}  // namespace rushlight::pt2
