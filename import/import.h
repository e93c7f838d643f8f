// SPDX-License-Identifier: Apache-2.0
// Model files in, verified graphs out.
#pragma once

#include <string>

#include "import/pt2/import_pt2.h"

namespace rushlight {

// Chooses the format by the file's extension.
Result<Graph> import_model(const std::string& path, const ImportOptions& options = {});

}  // namespace rushlight
