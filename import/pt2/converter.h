// SPDX-License-Identifier: Apache-2.0
// The state of one conversion; only convert*.cc include this.
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "import/pt2/archive.h"
#include "import/pt2/call.h"
#include "import/pt2/names.h"
#include "import/pt2/problems.h"
#include "import/pt2/symbols.h"
#include "ir/graph.h"

namespace rushlight::pt2 {

class Converter {
 public:
  Converter(Archive& archive, const Names& names, const Binding& binding, const std::string& file)
      : archive_(archive), program_(archive.program()), names_(names), binding_(binding), file_(file) {
    bound_.resize(names.size());
    placeholder_.resize(names.size());
    slot_.resize(names.size());
    std::iota(slot_.begin(), slot_.end(), 0);
  }

  Result<Graph> run();

 private:
  // A failed result whose diagnostics say which node it was.
  tl::unexpected<Error> at(const NodeSpec& node, Error error) const;
  tl::unexpected<Error> at(const NodeSpec& node, std::string what) const;

  // The type that the file gives a tensor.
  Result<TensorType> file_type(std::string_view name, const std::string& where) const;

  // convert_boundary.cc: inputs, constants, outputs, states
  Status add_inputs();
  Status add_user_input(const InputSpec& spec);
  Status add_constant(const InputSpec& spec);
  Status add_state(const InputSpec& spec);
  Status add_outputs();
  Status add_states();
  Status check_constants() const;

  // convert.cc: nodes to operands, attributes and an op
  Status convert_node(const NodeSpec& node, int index);
  Status convert_results(const NodeSpec& node);
  Result<ValueId> operand(const std::string& name) const;
  Result<Call> resolve(const NodeSpec& node);
  Status add_argument(const NodeSpec& node, const NamedArgument& input, Call& call);
  Status add_tensors(const NamedArgument& input, Call& call);
  Result<std::vector<ValueId>> convert_call(Call& call);
  Result<std::vector<ValueId>> add_nodes(Call& call);
  Status count_constants(size_t first_new);

  // convert_results.cc: what becomes of a converted node's results
  Status check_roles(const Node& node);
  Status bind_results(const NodeSpec& node, const std::vector<ValueId>& values);
  Status bind_result(const std::string& name, ValueId value);
  bool reads_placeholder(const NodeSpec& node) const;
  void bind_placeholders(const NodeSpec& node);
  Status write_in_place(const NodeSpec& node, int index);

  // convert_symbols.cc: integers that PyTorch computes from sizes
  bool is_integer_node(const NodeSpec& node) const;
  Status fold_integers(const NodeSpec& node);
  Result<int64_t> integer_of(const NodeSpec& node, const Argument& argument) const;
  Result<int64_t> integer_of(const NodeSpec& node, const IntOrName& value) const;

  // What a name of the file stands for: nothing yet, a value or an integer.
  using Bound = std::variant<std::monostate, ValueId, int64_t>;
  Bound& bound(int name) { return bound_[slot_[name]]; }
  const Bound& bound(int name) const { return bound_[slot_[name]]; }
  Bound& bound(std::string_view name) { return bound(names_.id(name)); }
  const Bound& bound(std::string_view name) const { return bound(names_.id(name)); }

  Archive& archive_;
  const Program& program_;
  const Names& names_;
  const Binding& binding_;
  const std::string& file_;
  Graph graph_;
  // Names of one tensor, which in-place ops make, have one slot: writing through one changes what all stand
  // for.
  std::vector<int> slot_;          // by name id
  std::vector<Bound> bound_;       // by slot
  std::vector<char> placeholder_;  // by slot: the result of a node that is not supported
  std::vector<char> fixed_;        // by value id: known before the model runs
  uint64_t made_bytes_ = 0;        // constants that nodes made
  Problems problems_;
};

// check_quantization.cc: scales, zero points and ranges of a quantize or dequantize node.
Status check_quantization(const Graph& graph, const Node& node);

}  // namespace rushlight::pt2
