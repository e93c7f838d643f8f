// SPDX-License-Identifier: Apache-2.0
// A node of the file on its way into the graph: its arguments as graph values and attributes, by the names of
// PyTorch's schema, and what the file says of its result.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace rushlight::pt2 {

struct Call {
  Graph& graph;
  std::string target;       // in-place forms under the functional name
  std::string node;         // the node's name
  std::string source;       // its place in Python
  std::string name = node;  // of the first output
  TensorType result = {};   // its type, as the file says

  // A list has one entry a tensor; ValueId::none where the file has none in a list.
  std::map<std::string, std::vector<ValueId>, std::less<>> tensors = {};
  std::map<std::string, Attribute, std::less<>> attributes = {};       // dtypes as their names
  std::map<std::string, std::vector<double>, std::less<>> reals = {};  // lists of numbers
  std::map<std::string, std::string, std::less<>> others =
      {};  // of a kind that no op takes: the tag, by name

  // The single tensor `argument`; an error if it is not there.
  Result<ValueId> tensor(std::string_view argument) const;
  // The attribute, or `otherwise` where the file leaves it out or has None; an error if it is of another
  // kind.
  Result<int64_t> integer(std::string_view argument, std::optional<int64_t> otherwise = {}) const;
  Result<double> real(std::string_view argument, double otherwise) const;
  Result<Integers> integers(std::string_view argument, std::optional<Integers> otherwise = {}) const;

  const TensorType& type(ValueId id) const { return graph.type(id); }
  void drop(std::string_view argument);
};

// Puts the node of `op` into the graph: arguments are matched by name with the operands and attributes of its
// row, where "self" is another name of the first operand. Numbers given for operands become constants.
// Arguments that have no meaning here (device, memory format) are passed over; any other that the row lacks
// is an error.
Result<ValueId> add_node(Call& call, Op op);

// Fails for an argument that is still there and means something.
Status check_nothing_left(const Call& call);

}  // namespace rushlight::pt2
