// SPDX-License-Identifier: Apache-2.0
// What can't be compiled of a model, collected over all its nodes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/pt2/schema.h"
#include "types/result.h"

namespace rushlight::pt2 {

class Problems {
 public:
  bool empty() const { return found_.empty(); }
  void add(const NodeSpec& node, std::string what);
  // One diagnostic for each distinct problem, at the first node that has it; the others are named in it.
  Error error(const std::string& file) const;

 private:
  struct Problem {
    std::string what;
    std::vector<std::pair<std::string, std::string>> nodes;  // name, source place
  };
  std::vector<Problem> found_;
  std::map<std::string, size_t> index_;  // by what
};

}  // namespace rushlight::pt2
