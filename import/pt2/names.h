// SPDX-License-Identifier: Apache-2.0
// A program's names before any of its nodes is converted: where each is defined and last used, which share
// memory, and what the outputs depend on.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/pt2/schema.h"
#include "types/result.h"

namespace rushlight::pt2 {

inline constexpr size_t kMaxNodes = 32768;
inline constexpr size_t kMaxNames = 65536;

// Calls f(name) for every name that an argument refers to (tensors and integers).
template <class F>
void for_each_name(const Argument& argument, F f) {
  if (const auto* tensor = std::get_if<TensorName>(&argument)) f(tensor->name);
  if (const auto* tensors = std::get_if<std::vector<std::optional<TensorName>>>(&argument))
    for (const auto& tensor_or_none : *tensors)
      if (tensor_or_none) f(tensor_or_none->name);
  const auto integer = [&](const IntOrName& value) {
    if (const auto* name = std::get_if<std::string>(&value)) f(*name);
  };
  if (const auto* symbol = std::get_if<SymIntArgument>(&argument)) integer(symbol->value);
  if (const auto* symbols = std::get_if<std::vector<IntOrName>>(&argument))
    for (const IntOrName& value : *symbols) integer(value);
}

// The tensor that an in-place node writes, or a view looks at: its first tensor operand. Null if it has none.
const std::string* first_tensor(const NodeSpec& node);

class Names {
 public:
  static constexpr int kAtTheEnd = std::numeric_limits<int>::max();

  // Fails where a name is defined twice or used before its definition.
  static Result<Names> of(const Program& program, const std::string& file);

  size_t size() const { return entries_.size(); }
  int id(std::string_view name) const { return ids_.find(name)->second; }  // of a name that exists
  bool contains(std::string_view name) const { return ids_.find(name) != ids_.end(); }
  const std::string& name(int id) const { return entries_[id].name; }

  // An output depends on it, perhaps through what an earlier run left in a buffer.
  bool live(int id) const { return entries_[id].live; }
  bool node_live(size_t node) const { return node_live_[node]; }
  // A buffer whose content changes while the model runs.
  bool state(int id) const { return entries_[id].state; }
  // The last live node that reads the name; kAtTheEnd for outputs and states.
  int last_use(int id) const { return entries_[id].last_use; }
  // Names that may share memory with this one, itself included.
  const std::vector<int>& sharing(int id) const { return groups_[entries_[id].group]; }
  // It may share memory with a parameter or a constant.
  bool shares_parameter(int id) const { return parameter_groups_[entries_[id].group] != 0; }
  // The name that the signature gives for the content of a buffer after the run; -1: none.
  int update(int buffer) const {
    const auto found = updates_.find(buffer);
    return found == updates_.end() ? -1 : found->second;
  }

 private:
  struct Entry {
    std::string name;
    int group;
    int definition;  // node; -1: an input of the graph
    bool live = false;
    bool state = false;
    int last_use = -1;
  };

  Status define(const std::string& name, int node, int group, const std::string& where);
  Status define_inputs(const Program& program, const std::string& file);
  Status define_nodes(const Program& program, const std::string& file);
  Status check_outputs(const Program& program, const std::string& file);
  Status check_defined(const Argument& argument, const std::string& where) const;
  Status define_argument(const Argument& argument, int node, int group, const std::string& where);
  void find_live(const Program& program);
  void find_states(const Program& program);
  void find_last_uses(const Program& program);

  std::map<std::string, int, std::less<>> ids_;
  std::vector<Entry> entries_;
  std::vector<std::vector<int>> groups_;
  std::vector<std::vector<int>> writers_;  // by group: nodes that write in place
  std::vector<char> parameter_groups_;
  std::map<int, int> updates_;
  std::vector<char> node_live_;
};

}  // namespace rushlight::pt2
