// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "ir/verify.h"
#include "passes/passes.h"

namespace rushlight {
namespace {

constexpr int32_t kUnsignedShift = 128;

struct StoredType {
  DType dtype;
  Quantization quant;
  int32_t shift;  // subtracted from stored integers
};

Result<StoredType> stored_type(const Graph& graph, const Node& node) {
  const Attributes attrs = node.attrs();
  const std::optional<DType> dtype = dtype_from_name(attrs.text("dtype"));
  if (!dtype || is_float(*dtype) || size_of(*dtype) > 4 || *dtype == DType::boolean)
    return input_error(graph.describe(node),
                       fmt::format("quantizes to {}; allowed are u8, i8, i16 and i32", attrs.text("dtype")));
  StoredType stored{*dtype, {}, *dtype == DType::uint8 ? kUnsignedShift : 0};
  if (stored.shift != 0) stored.dtype = DType::int8;
  const int64_t lo = std::max(attrs.integer("quant_min"), lowest(*dtype));
  const int64_t hi = std::min(attrs.integer("quant_max"), highest(*dtype));
  if (lo > hi)
    return input_error(graph.describe(node),
                       fmt::format("quant_min {} is above quant_max {} in {}", attrs.integer("quant_min"),
                                   attrs.integer("quant_max"), name(*dtype)));
  stored.quant.lo = static_cast<int32_t>(lo - stored.shift);
  stored.quant.hi = static_cast<int32_t>(hi - stored.shift);
  return stored;
}

Status add_parameters(const Graph& graph, const Node& node, StoredType& stored) {
  const auto add = [&](double scale, double zero_point) {
    stored.quant.scales.push_back(scale);
    stored.quant.zero_points.push_back(static_cast<int32_t>(zero_point) - stored.shift);
  };
  if (node.op != "dequantize_per_channel"_op) {
    const int64_t zero_point = node.attrs().integer("zero_point");
    if (zero_point < INT32_MIN || zero_point > INT32_MAX)
      return input_error(graph.describe(node), fmt::format("has the zero point {}", zero_point));
    add(node.attrs().real("scale"), static_cast<double>(zero_point));
    return {};
  }
  for (size_t i = 1; i < node.operands.size(); ++i)
    if (node.operands[i] != ValueId::none && !graph.is_constant(node.operands[i]))
      return input_error(graph.describe(node),
                         "has scales or zero points that are computed; they must be constants");
  const Tensor& scales = graph.constant(node.operands[1]);
  const auto rank = static_cast<int64_t>(graph.type(node.operands[0]).shape.size());
  const int64_t axis = node.attrs().integer("axis");
  if (axis < -rank || axis >= rank)
    return input_error(graph.describe(node), fmt::format("has axis {} on a tensor of rank {}", axis, rank));
  stored.quant.axis = static_cast<int>(axis < 0 ? axis + rank : axis);
  for (int64_t c = 0; c < scales.elements(); ++c)
    add(scales.at(c), node.operands[2] == ValueId::none ? 0.0 : graph.constant(node.operands[2]).at(c));
  return {};
}

void set_attribute(Node& node, std::string_view name, Attribute value) {
  const auto rows = node.row().attribute_rows();
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name) node.attributes[i] = std::move(value);
}

// The node's attributes say what the types around it say.
void write_attributes(Node& node, const StoredType& stored) {
  set_attribute(node, "dtype", std::string(name(stored.dtype)));
  set_attribute(node, "quant_min", int64_t{stored.quant.lo});
  set_attribute(node, "quant_max", int64_t{stored.quant.hi});
  set_attribute(node, "zero_point", int64_t{stored.quant.zero_points.front()});
}

// Whether both stand for the same reals; a dequantize node's integer range changes nothing.
bool same_parameters(const Quantization& a, const Quantization& b) {
  return a.scales == b.scales && a.zero_points == b.zero_points && a.axis == b.axis;
}

// Integers that are moved before they are dequantized (nothing quantizes them in this graph): their source
// and all its movements get the reader's type.
void give_type(Graph& graph, ValueId id, const StoredType& stored) {
  const auto moves = [](const Node& n) {
    return n.row().quant == QuantRule::same && n.row().operand_count() == 1;
  };
  const std::vector<int> producers = graph.producers();
  for (int at = producers[static_cast<size_t>(id)]; at >= 0; at = producers[static_cast<size_t>(id)]) {
    const Node& node = graph.nodes[static_cast<size_t>(at)];
    if (!moves(node) || node.operands.size() != 1) break;
    id = node.operands[0];
  }
  const auto give = [&](ValueId value) {
    graph.value(value).type.dtype = stored.dtype;
    graph.value(value).type.quant = stored.quant;
  };
  give(id);
  for (const Node& node : graph.nodes)
    if (moves(node) && node.operands.size() == 1 && graph.type(node.operands[0]).quantized()) {
      graph.value(node.result()).type.dtype = graph.type(node.operands[0]).dtype;
      graph.value(node.result()).type.quant = graph.type(node.operands[0]).quant;
    }
}

// The attributes of a node that may stay in the graph, after uint8 became int8.
void restate(Node& node, const StoredType& stored) {
  const auto set = [&](std::string_view name, Attribute value) {
    const auto rows = node.row().attribute_rows();
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows[i].name == name) node.attributes[i] = std::move(value);
  };
  set("dtype", std::string(name(stored.dtype)));
  set("quant_min", int64_t{stored.quant.lo});
  set("quant_max", int64_t{stored.quant.hi});
  set("zero_point", int64_t{stored.quant.zero_points.front()});
}

Tensor shifted(const Tensor& integers, const StoredType& stored) {
  if (stored.shift == 0) return integers.converted(stored.dtype);
  Tensor out(stored.dtype, integers.shape());
  for (int64_t i = 0; i < integers.elements(); ++i) out.set(i, integers.at(i) - stored.shift);
  return out;
}

}  // namespace

Status read_quantization(Graph& graph) {
  for (Node& node : graph.nodes) {
    const bool quantizes = node.op == "quantize_per_tensor"_op;
    if (!quantizes && node.op != "dequantize_per_tensor"_op && node.op != "dequantize_per_channel"_op)
      continue;
    Result<StoredType> stored = stored_type(graph, node);
    if (!stored) return forward(stored);
    if (Status s = add_parameters(graph, node, *stored); !s) return s;
    restate(node, *stored);
    TensorType type = graph.type(quantizes ? node.result() : node.operands[0]);
    type.dtype = stored->dtype;
    type.quant = stored->quant;
    if (auto wrong = invalid_quantization(type)) return input_error(graph.describe(node), *wrong);
    const ValueId source = quantizes ? node.result() : node.operands[0];
    if (!quantizes && graph.is_constant(source)) {
      const std::string name = graph.unique_name(graph.value(source).name);
      const ValueId constant = graph.add_constant(
          name, type, std::make_shared<const Tensor>(shifted(graph.constant(source), *stored)));
      graph.replace_uses(node.result(), constant);
      continue;
    }
    if (type.quant.per_channel())
      return unsupported(graph.describe(node),
                         "is quantized per channel but no constant; activations must be "
                         "quantized per tensor");
    if (!quantizes && graph.type(source).quantized() &&
        !same_parameters(graph.type(source).quant, type.quant))
      return input_error(graph.describe(node),
                         fmt::format("reads %{} with other parameters than those it was quantized with ({})",
                                     graph.value(source).name, to_string(graph.type(source))));
    if (quantizes || !graph.type(source).quantized()) give_type(graph, source, *stored);
    write_attributes(node, *stored);
  }
  graph.remove_dead();
  return {};
}

}  // namespace rushlight
