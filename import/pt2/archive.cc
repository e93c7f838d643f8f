// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/archive.h"

#include <fmt/format.h>

#include "import/bytes/reader.h"

namespace rushlight::pt2 {

namespace {

constexpr std::string_view kProgram = "models/model.json";
constexpr std::string_view kWeights = "data/weights/";
constexpr std::string_view kConstants = "data/constants/";
constexpr std::string_view kExportAgain = "Export the model again with torch 2.9 or newer (2.13 is tested)";

bool has_ending(const ZipArchive& zip, std::string_view ending) {
  for (const std::string& name : zip.names())
    if (name.ends_with(ending)) return true;
  return false;
}

}  // namespace

Result<Archive> Archive::open(std::vector<std::byte> bytes, std::string file) {
  auto zip = ZipArchive::from_bytes(std::move(bytes), file);
  if (!zip) return forward(zip);
  Archive archive(std::move(*zip), std::move(file));
  if (auto found = archive.find_root(); !found) return forward(found);
  if (auto read = archive.read_tables(); !read) return forward(read);
  return archive;
}

// All entries lie in one folder, which is named as the file was when it was written.
Status Archive::find_root() {
  if (zip_.names().empty()) return input_error(file_, "is an empty archive");
  if (has_ending(zip_, "serialized_exported_program.json"))
    return input_error(file_, fmt::format("has the layout of torch 2.7 or older. {}", kExportAgain));
  if (has_ending(zip_, "data/weights/model.pt"))
    return input_error(file_, fmt::format("has the pickled weights of torch 2.8. {}", kExportAgain));
  const std::string& first = zip_.names().front();
  root_ = first.substr(0, first.find('/')) + "/";
  if (!zip_.contains(root_ + std::string(kProgram)))
    return input_error(
        file_, fmt::format("has no '{}{}': it is not what torch.export.save writes", root_, kProgram));
  if (zip_.contains(root_ + "byteorder")) {
    auto order = text("byteorder");
    if (!order) return forward(order);
    if (*order != "little")
      return input_error(file_, "was written on a big-endian host; only little-endian is read");
  }
  return {};
}

Status Archive::read_tables() {
  const auto where = [&](const std::string& path) { return fmt::format("{}: {}", file_, path); };
  auto json = text(kProgram);
  if (!json) return forward(json);
  auto program = parse_program(*json, where("model.json"));
  if (!program) return forward(program);
  program_ = std::move(*program);

  for (auto [folder, name, table] : {std::tuple(kWeights, "model_weights_config.json", &weights_),
                                     std::tuple(kConstants, "model_constants_config.json", &constants_)}) {
    const std::string path = std::string(folder) + name;
    if (!zip_.contains(root_ + path)) continue;
    auto entry = text(path);
    if (!entry) return forward(entry);
    auto payloads = parse_payloads(*entry, where(name));
    if (!payloads) return forward(payloads);
    *table = std::move(*payloads);
  }
  return {};
}

Result<std::string> Archive::text(std::string_view path) const {
  auto bytes = zip_.read(root_ + std::string(path));
  if (!bytes) return forward(bytes);
  return std::string(as_text(*bytes));
}

Result<std::shared_ptr<const std::vector<std::byte>>> Archive::storage(const std::string& path) {
  auto& kept = storages_[path];
  if (kept == nullptr) {
    auto bytes = zip_.read(root_ + path);
    if (!bytes) return forward(bytes);
    kept = std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
  }
  return kept;
}

Result<std::shared_ptr<const Tensor>> Archive::tensor(const InputSpec& spec) {
  const std::string where = fmt::format("{}: tensor '{}'", file_, spec.target);
  const bool among_weights =
      spec.kind == InputKind::parameter || (spec.kind == InputKind::buffer && spec.persistent);
  const Payloads& table = among_weights ? weights_ : constants_;
  const auto payload = table.find(spec.target);
  if (payload == table.end())
    return input_error(where, fmt::format("is not in the {} table", among_weights ? "weights" : "constants"));
  if (payload->second.pickled)
    return input_error(
        where,
        "is a Python pickle, which is never read. Save plain tensors: replace tensor subclasses "
        "(such as torchao's) by their dense values before the export");
  if (!payload->second.meta) return input_error(where, "has no sizes in its table");
  const std::string path = std::string(among_weights ? kWeights : kConstants) + payload->second.file;
  return load(*payload->second.meta, path, where);
}

}  // namespace rushlight::pt2
