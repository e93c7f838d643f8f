// SPDX-License-Identifier: Apache-2.0
// A program as a graph of typed values in static single assignment. Nodes stand in execution order. Graphs
// are values: copied, compared and passed on without sharing anything that changes.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/table.h"
#include "types/tensor.h"
#include "types/tensor_type.h"

namespace rushlight {

// Index of a value in its graph. Ids of removed values are not used again.
enum class ValueId : uint32_t { none = 0xFFFFFFFF };

enum class ValueKind : uint8_t { input, constant, result, removed };

struct Value {
  ValueKind kind = ValueKind::removed;
  std::string name;  // unique in the graph, without '%'
  TensorType type = {};
  // Of a constant, never null there; row-major whatever the type's layout. Shared because it does not change.
  std::shared_ptr<const Tensor> data = nullptr;
};

// The range that a node clamps its result to, in reals; the whole line where nothing was fused.
struct ClampRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  bool operator==(const ClampRange&) const = default;
  bool is_set() const { return *this != ClampRange{}; }
  // First this clamp, then `next`.
  ClampRange then(ClampRange next) const;
};

struct Node {
  Op op;
  std::string name = {};               // of the source file's node, for messages; not part of graph equality
  std::vector<ValueId> operands = {};  // ValueId::none where an optional operand is absent
  std::vector<Attribute> attributes = {};  // one for each attribute of the op's row
  std::vector<ValueId> results = {};
  ClampRange clamp = {};
  std::string source = {};  // "file.py:12" where the source file says so

  const OpRow& row() const { return rushlight::row(op); }
  Attributes attrs() const { return {row().attribute_rows(), attributes}; }
  ValueId result() const { return results.front(); }
};

// A tensor that lives on between runs: `input` is read as its value before the run, `update` becomes its
// value after.
struct State {
  ValueId input;
  ValueId update;
  bool operator==(const State&) const = default;
};

class Graph {
 public:
  std::string name = "model";
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;  // those of states included
  std::vector<ValueId> outputs;
  std::vector<State> states;

  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
  bool is_constant(ValueId id) const { return id != ValueId::none && value(id).kind == ValueKind::constant; }
  const Tensor& constant(ValueId id) const;
  size_t value_count() const { return values_.size(); }
  std::vector<ValueId> value_ids() const;  // those not removed

  ValueId add_input(std::string_view name, TensorType type);
  ValueId add_constant(std::string_view name, TensorType type, std::shared_ptr<const Tensor> data);
  // A row-major constant of the tensor's own dtype and shape.
  ValueId add_constant(std::string_view name, Tensor data);
  // A value for a node's result; the caller puts the node into `nodes`.
  ValueId add_result(std::string_view name, TensorType type);

  // Makes a node with one result of the type that the shape rule gives (no quantization, row-major); the
  // caller puts it into `nodes`. `attributes` may leave out what has a default.
  Result<Node> make_node(Op op, std::string_view node_name, std::vector<ValueId> operands,
                         std::map<std::string, Attribute, std::less<>> attributes = {});

  // Every operand, output and state update that was `from` becomes `to`.
  void replace_uses(ValueId from, ValueId to);
  // Drops nodes without a used result, then values without a use (inputs stay). Keeps order and ids of the
  // rest.
  void remove_dead();

  // "name" made an identifier, or "name_1" and so on where that is taken. Every add_ function names its value
  // so.
  std::string unique_name(std::string_view wanted);

  // Node index that produces each value (-1: none), and how often each value is used (outputs and states
  // included).
  std::vector<int> producers() const;
  std::vector<int> use_counts() const;

  // Where a node stands, for messages: "node 'conv2d' (aten.conv2d) at net.py:12".
  std::string describe(const Node& node) const;

 private:
  ValueId add(Value value);

  std::vector<Value> values_;
  std::map<std::string, int, std::less<>> names_;
};

// The name as the text form can hold it: characters but [A-Za-z0-9_.] become '_'.
std::string identifier(std::string_view name);

// Types of a node's operands as the shape rule wants them (null: absent).
std::vector<const TensorType*> operand_types(const Graph& graph, const Node& node);

// Equal up to ids, node names and source places: same text form.
bool equivalent(const Graph& a, const Graph& b);

}  // namespace rushlight
