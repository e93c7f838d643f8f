// SPDX-License-Identifier: Apache-2.0
#include "tests/import/edit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "import/bytes/reader.h"
#include "import/bytes/zip.h"
#include "import/bytes/zip_writer.h"
#include "ir/text.h"

namespace rushlight::test {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path fixture(std::string_view name) { return fs::path(RUSHLIGHT_SOURCE_DIR) / "tests/fixtures" / name; }

std::vector<fs::path> archives_under(const fs::path& folder) {
  std::vector<fs::path> found;
  if (fs::exists(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".pt2") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

fs::path shared_corpus() {
  const char* shared = std::getenv("RUSHLIGHT_SHARED");
  const fs::path folder = shared != nullptr ? fs::path(shared) : fs::path(RUSHLIGHT_SOURCE_DIR) / "../shared";
  return fs::exists(folder / "corpus") ? folder / "corpus" : fs::path();
}

std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = as_byte_span(text);
  return {bytes.begin(), bytes.end()};
}

Entries::Entries(const fs::path& archive) {
  const auto zip = ZipArchive::open(archive.string());
  require(zip.has_value(), "a fixture can be opened");
  for (const std::string& name : zip->names())
    entries_[name.substr(name.find('/') + 1)] = as_text(*zip->read(name));
}

Entries& Entries::set(const std::string& path, const std::string& pointer, const std::string& text) {
  json document = json::parse(entries_.at(path));
  document[json::json_pointer(pointer)] = json::parse(text);
  entries_[path] = document.dump();
  return *this;
}

Entries& Entries::remove(const std::string& path, const std::string& pointer) {
  json document = json::parse(entries_.at(path));
  const json::json_pointer at(pointer);
  document[at.parent_pointer()].erase(at.back());
  entries_[path] = document.dump();
  return *this;
}

std::vector<std::byte> Entries::bytes() const {
  ZipWriter writer;
  for (const auto& [path, content] : entries_) writer.add("model/" + path, as_byte_span(content));
  return writer.finish();
}

Result<Graph> Entries::import(const ImportOptions& options) const {
  return import_pt2_bytes(bytes(), "model.pt2", options);
}

namespace {

json size_json(const std::string& size) {
  if (size.find('(') == std::string::npos) return {{"as_int", std::stoll(size)}};
  return {{"as_expr", {{"expr_str", size}, {"hint", {{"as_int", 2}}}}}};
}

json meta_json(const Model::TensorText& tensor) {
  json sizes = json::array();
  for (const std::string& size : tensor.sizes) sizes.push_back(size_json(size));
  // Only constants' strides are read.
  return {{"dtype", tensor.dtype},
          {"sizes", sizes},
          {"strides", sizes},
          {"storage_offset", {{"as_int", 0}}},
          {"layout", 7}};
}

json tensor_json(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }

json list_json(const std::string& text) {
  json items = json::array();
  std::string kind = "as_ints";
  for (size_t at = 1; at + 1 < text.size();) {
    const size_t end = text.find_first_of(",]", at);
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    if (item[0] == '%') {
      kind = "as_tensors";
      items.push_back({{"name", item.substr(1)}});
    } else {
      items.push_back(item[0] == '$' ? json{{"as_name", item.substr(1)}}
                                     : json{{"as_int", std::stoll(item)}});
      if (item[0] == '$') kind = "as_sym_ints";
    }
  }
  if (kind == "as_ints")
    for (json& item : items) item = item["as_int"];
  return {{kind, items}};
}

json argument_json(const std::string& text) {
  if (text[0] == '{') return json::parse(text);
  if (text[0] == '%') return tensor_json(text.substr(1));
  if (text[0] == '$') return {{"as_sym_int", {{"as_name", text.substr(1)}}}};
  if (text[0] == '[') return list_json(text);
  if (text[0] == '\'') return {{"as_string", text.substr(1, text.size() - 2)}};
  if (text == "none") return {{"as_none", true}};
  if (text == "true" || text == "false") return {{"as_bool", text == "true"}};
  if (text.find('.') != std::string::npos) return {{"as_float", std::stod(text)}};
  return {{"as_int", std::stoll(text)}};
}

json node_json(const Model::NodeText& node) {
  json inputs = json::array(), outputs = json::array();
  for (const auto& [name, value] : node.arguments)
    inputs.push_back({{"name", name}, {"arg", argument_json(value)}, {"kind", 1}});
  for (const std::string& output : node.outputs)
    outputs.push_back(output[0] == '$' ? argument_json(output) : tensor_json(output));
  std::string name = node.outputs.empty() ? "nothing" : node.outputs.front();
  if (name[0] == '$') name.erase(0, 1);
  return {{"target", "torch.ops." + node.target},
          {"inputs", inputs},
          {"outputs", outputs},
          {"name", name},
          {"metadata", json::object()}};
}

}  // namespace

Entries Model::entries() const {
  Entries entries;
  json in = json::array(), out = json::array(), nodes_json = json::array(), tensors = json::object();
  json weights = json::object();
  for (const BufferText& buffer : buffers) {
    const std::string kind = buffer.parameter ? "parameter" : "buffer", value = "b_" + buffer.name;
    json spec = {{"arg", {{"name", value}}}, {kind + "_name", buffer.name}};
    if (!buffer.parameter) spec["persistent"] = true;
    in.push_back({{kind, spec}});
    json meta = meta_json({value, {std::to_string(buffer.values.size())}});
    tensors[value] = meta;
    meta["strides"] = json::array({{{"as_int", 1}}});
    weights[buffer.name] = {{"path_name", buffer.name},
                            {"is_param", buffer.parameter},
                            {"use_pickle", false},
                            {"tensor_meta", meta}};
    entries["data/weights/" + buffer.name] = as_text(std::as_bytes(std::span(buffer.values)));
  }
  for (const TensorText& input : inputs) {
    in.push_back({{"user_input", {{"arg", tensor_json(input.name)}}}});
    tensors[input.name] = meta_json(input);
  }
  for (const TensorText& result : results) tensors[result.name] = meta_json(result);
  for (const NodeText& node : nodes) nodes_json.push_back(node_json(node));
  for (const auto& [buffer, value] : mutations)
    out.push_back({{"buffer_mutation", {{"arg", {{"name", value}}}, {"buffer_name", buffer}}}});
  for (const std::string& output : outputs) out.push_back({{"user_output", {{"arg", tensor_json(output)}}}});
  const json graph = {{"nodes", nodes_json}, {"tensor_values", tensors}};
  const json program = {
      {"graph_module", {{"graph", graph}, {"signature", {{"input_specs", in}, {"output_specs", out}}}}},
      {"schema_version", {{"major", 8}, {"minor", 20}}},
      {"range_constraints", json::parse(ranges)},
  };
  entries[kProgram] = program.dump();
  entries[kWeights] = json({{"config", weights}}).dump();
  return entries;
}

std::string text_of(const Result<Graph>& graph) {
  if (!graph) return "error: " + graph.error().text();
  std::string text;
  const std::string all = print(*graph, {.max_constant_elements = 0});
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size() - 1) + 1;
    const std::string line = all.substr(at, end - at);
    if (line.find(" = constant ") == std::string::npos) text += line;
    at = end;
  }
  return text;
}

}  // namespace rushlight::test
