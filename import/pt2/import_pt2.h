// SPDX-License-Identifier: Apache-2.0
// Models that torch.export.save wrote (torch 2.9 or newer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace rushlight {

struct ImportOptions {
  // The extent of dynamic leading axes.
  std::optional<int64_t> batch;
};

// The graph has the inputs, constants and ops of the program as it was exported: nothing is folded or fused
// yet. Errors name the file and the node; what can't be compiled is collected over the whole model
// (Fault::no).
Result<Graph> import_pt2(const std::string& path, const ImportOptions& options = {});
// `name` stands for the file in errors.
Result<Graph> import_pt2_bytes(std::span<const std::byte> bytes, const std::string& name,
                               const ImportOptions& options = {});

// The operators that the importer knows, sorted, e.g. "aten.conv2d.default".
std::vector<std::string> supported_torch_ops();

}  // namespace rushlight
