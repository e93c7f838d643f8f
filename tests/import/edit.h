// SPDX-License-Identifier: Apache-2.0
// Archives for tests: real ones with single entries changed, and small ones written out by hand.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/import.h"

namespace rushlight::test {

std::filesystem::path fixture(std::string_view name);  // "import/tied_weights.pt2"
// Every .pt2 file under a folder, sorted.
std::vector<std::filesystem::path> archives_under(const std::filesystem::path& folder);
// What a test corpus that lies outside of the source tree holds; empty if there is none.
std::filesystem::path shared_corpus();

std::vector<std::byte> to_bytes(std::string_view text);

// The entries of an archive, without the root folder.
class Entries {
 public:
  explicit Entries(const std::filesystem::path& archive);
  Entries() = default;

  std::string& operator[](const std::string& path) { return entries_[path]; }
  void erase(const std::string& path) { entries_.erase(path); }
  const std::map<std::string, std::string>& all() const { return entries_; }

  // Changes the JSON value at a pointer such as "/graph_module/graph/nodes/0/target".
  Entries& set(const std::string& path, const std::string& pointer, const std::string& json);
  Entries& remove(const std::string& path, const std::string& pointer);

  std::vector<std::byte> bytes() const;
  Result<Graph> import(const ImportOptions& options = {}) const;

 private:
  std::map<std::string, std::string> entries_;
};

inline constexpr const char* kProgram = "models/model.json";
inline constexpr const char* kWeights = "data/weights/model_weights_config.json";

// A program written by hand. Sizes are numbers or expressions. Arguments are written as
//   %name  [%a,%b]  3  0.5  true  none  [1,2]  'text'  $name (an integer that a node gives)  [$name,2]
//   {"as_...": ...}
struct Model {
  struct TensorText {
    std::string name;
    std::vector<std::string> sizes;
    int dtype = 7;
  };
  struct NodeText {
    std::string target;
    std::vector<std::pair<std::string, std::string>> arguments;
    std::vector<std::string> outputs;  // "$name" for an integer
  };
  struct BufferText {
    std::string name;
    std::vector<float> values;  // a vector
    bool parameter = false;
  };

  std::vector<TensorText> inputs = {};
  std::vector<BufferText> buffers = {};  // named "b_<name>" in the graph
  std::vector<TensorText> results = {};  // types of what nodes give
  std::vector<NodeText> nodes = {};
  std::vector<std::string> outputs = {};
  std::vector<std::pair<std::string, std::string>> mutations = {};  // buffer name, value
  std::string ranges = "{}";

  Entries entries() const;
  Result<Graph> import(const ImportOptions& options = {}) const { return entries().import(options); }
};

// The text form without constants; the error's text after "error: " where it failed.
std::string text_of(const Result<Graph>& graph);

}  // namespace rushlight::test
