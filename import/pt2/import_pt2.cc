// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/import_pt2.h"

#include <filesystem>
#include <set>

#include "import/bytes/file.h"
#include "import/pt2/adapters.h"
#include "import/pt2/composites.h"
#include "import/pt2/convert.h"

namespace rushlight {

namespace {

Result<Graph> import_owned(std::vector<std::byte> bytes, const std::string& file,
                           const ImportOptions& options) {
  auto archive = pt2::Archive::open(std::move(bytes), file);
  if (!archive) return forward(archive);
  auto names = pt2::Names::of(archive->program(), file);
  if (!names) return forward(names);
  auto binding = pt2::bind_batch(archive->program(), options.batch, file);
  if (!binding) return forward(binding);
  auto graph = pt2::convert(*archive, *names, *binding, file);
  if (graph) graph->name = identifier(std::filesystem::path(file).stem().string());
  return graph;
}

}  // namespace

Result<Graph> import_pt2(const std::string& path, const ImportOptions& options) {
  auto bytes = read_file(path);
  if (!bytes) return forward(bytes);
  return import_owned(std::move(*bytes), path, options);
}

Result<Graph> import_pt2_bytes(std::span<const std::byte> bytes, const std::string& name,
                               const ImportOptions& options) {
  return import_owned({bytes.begin(), bytes.end()}, name, options);
}

std::vector<std::string> supported_torch_ops() {
  std::set<std::string> names;
  for (const OpRow& row : kOps)
    for (const std::string_view torch : row.torch)
      if (!torch.empty()) names.emplace(torch);
  for (const pt2::Adapter& adapter : pt2::adapters()) names.emplace(adapter.torch);
  for (const auto& list : pt2::composites())
    for (const pt2::Composite& composite : list) names.emplace(composite.torch);
  for (const std::string_view maker : pt2::constant_makers()) names.emplace(maker);
  return {names.begin(), names.end()};
}

}  // namespace rushlight
