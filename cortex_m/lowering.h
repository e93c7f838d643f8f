// SPDX-License-Identifier: Apache-2.0
// What lowering rules work with: the graph, and the program under construction.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cortex_m/factor.h"
#include "cortex_m/lower.h"
#include "cortex_m/program.h"
#include "ir/graph.h"

namespace rushlight {

class Lowering {
 public:
  Lowering(const Graph& graph, const LowerOptions& options);

  const Graph& graph() const { return graph_; }
  Rounding rounding() const { return program_.rounding; }
  const TensorType& type(ValueId id) const { return graph_.type(id); }
  const TensorType& result_type(const Node& node) const { return graph_.type(node.result()); }

  // The memory of a value: its buffer, or its constant as it is.
  Binding bind(ValueId id);
  // Lets a result live in the memory of another value: the same bytes under another type.
  void alias(ValueId result, ValueId source);
  // Where a convolution's result goes straight into a concatenation: that tensor, and the first of its
  // channels.
  struct Placement {
    ValueId whole;
    int64_t channel;
  };
  const Placement* placement(ValueId id) const;
  // Read-only data for one kernel argument; equal data is stored once.
  template <class T>
  Binding constant(const Node& node, std::string_view what, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return add_constant(fmt::format("{}_{}", node.name, what), dtype_of<T>(), std::move(bytes));
  }

  struct CallOptions {
    int64_t macs = 0;
    std::vector<int> may_overwrite = {};
    int accumulator_bits = 0;
  };
  // Kernels are named without their element type: "maximum" is maximum_s8 or maximum_s16, after the node's
  // element(). An error where that type has no such kernel.
  template <class Params>
  Status call(const Node& node, std::string_view kernel, const Params& params, std::vector<Binding> arguments,
              CallOptions options = {0, {}, 0}) {
    std::vector<std::byte> bytes(sizeof params);
    std::memcpy(bytes.data(), &params, sizeof params);
    return add_call(node, kernel, std::move(bytes), std::move(arguments), std::move(options));
  }
  // int8 or int16: what the node computes with.
  DType element(const Node& node) const;

  // Operands (by argument position) that an elementwise kernel's result may overwrite: non-constant, of the
  // result's shape, layout and size.
  std::vector<int> overwritable(const Node& node) const;

  void note(const Node& node, std::string text);

  void add_ports_and_states();
  Program take() { return std::move(program_); }

 private:
  Binding add_constant(std::string name, DType dtype, std::vector<std::byte> bytes);
  Status add_call(const Node& node, std::string_view kernel, std::vector<std::byte> params,
                  std::vector<Binding> arguments, CallOptions options);
  // Copies so many bytes into a buffer, or a new one for -1; returns its index.
  int copied(std::string_view name, Binding source, int64_t bytes, int target);
  int buffer_of(ValueId id);
  ValueId root(ValueId id) const;
  Port port(ValueId id);

  const Graph& graph_;
  Program program_;
  std::map<ValueId, int> buffers_;
  std::map<ValueId, ValueId> aliases_;
  std::map<ValueId, Placement> placements_;
};

// Sums of at most so many elements stay within int32.
constexpr int64_t most_taps(DType element) { return int64_t{1} << (element == DType::int8 ? 23 : 15); }

using LowerRule = Status (*)(Lowering&, const Node&);

// Loops over the elements of `out` in the order of its memory, with strides for each operand; neighbours that
// run together in all operands are one loop. Extents fill `extent` from the innermost; unused outer loops
// are 1.
struct Loops {
  std::vector<int64_t> extent;
  std::vector<std::vector<int64_t>> strides;  // [operand][loop]
};
Loops collapse(const std::vector<int64_t>& extent, std::vector<std::vector<int64_t>> strides);
// Strides of an operand along the axes of `out`, 0 where it is broadcast.
std::vector<int64_t> broadcast_strides(const TensorType& operand, const TensorType& out);
// Copies loops into the fixed arrays of Params, right-aligned; false if there are more loops than kMaxLoops.
bool fill(int32_t (&array)[kernels::kMaxLoops], const std::vector<int64_t>& values, int32_t unused);

// A tensor in memory as [outer][extent of one axis][inner].
struct Lines {
  int32_t outer, count, inner;
};
Lines lines_along(const TensorType& type, int64_t dim);

// Rules, by file.
namespace lowering {
// elementwise.cc
Status add(Lowering&, const Node&);
Status mul(Lowering&, const Node&);
Status div(Lowering&, const Node&);
Status prelu(Lowering&, const Node&);
Status binary(Lowering&, const Node&);  // integers of one quantization, kernel named after the op
Status lookup(Lowering&, const Node&);
Status requantize(Lowering&, const Node&);
Status quantize(Lowering&, const Node&);
Status dequantize(Lowering&, const Node&);
// layers.cc, products.cc
Status conv2d(Lowering&, const Node&);
Status conv_transpose2d(Lowering&, const Node&);
Status linear(Lowering&, const Node&);
Status matmul(Lowering&, const Node&);
Status embedding(Lowering&, const Node&);
// pooling.cc
Status average_pool(Lowering&, const Node&);
Status max_pool(Lowering&, const Node&);
Status upsample_bilinear2d(Lowering&, const Node&);
// reductions.cc
Status sum(Lowering&, const Node&);  // aten.mean too
Status extreme(Lowering&, const Node&);
Status position(Lowering&, const Node&);
Status softmax(Lowering&, const Node&);
Status log_softmax(Lowering&, const Node&);
// movement.cc
Status view(Lowering&, const Node&);
Status permute(Lowering&, const Node&);
Status to_layout(Lowering&, const Node&);
Status concat(Lowering&, const Node&);
Status axis_mapped(Lowering&, const Node&);
}  // namespace lowering

}  // namespace rushlight
