// SPDX-License-Identifier: Apache-2.0
#include "cortex_m/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cortex_m/lowering.h"

namespace rushlight {
namespace {

struct RuleRow {
  Op op;
  LowerRule rule;
};

constexpr RuleRow kRules[] = {
    {"aten.add"_op, lowering::add},
    {"aten.sub"_op, lowering::add},
    {"aten.mul"_op, lowering::mul},
    {"aten.div"_op, lowering::div},
    {"aten.prelu"_op, lowering::prelu},
    {"lookup"_op, lowering::lookup},
    {"requantize"_op, lowering::requantize},
    {"quantize_per_tensor"_op, lowering::quantize},
    {"dequantize_per_tensor"_op, lowering::dequantize},
    {"aten.conv2d"_op, lowering::conv2d},
    {"aten.conv_transpose2d"_op, lowering::conv_transpose2d},
    {"aten.linear"_op, lowering::linear},
    {"aten.matmul"_op, lowering::matmul},
    {"aten.embedding"_op, lowering::embedding},
    {"aten.avg_pool2d"_op, lowering::average_pool},
    {"aten.adaptive_avg_pool2d"_op, lowering::average_pool},
    {"aten.max_pool2d"_op, lowering::max_pool},
    {"aten.adaptive_max_pool2d"_op, lowering::max_pool},
    {"aten.upsample_bilinear2d"_op, lowering::upsample_bilinear2d},
    {"aten.mean"_op, lowering::sum},
    {"aten.sum"_op, lowering::sum},
    {"aten.amax"_op, lowering::extreme},
    {"aten.amin"_op, lowering::extreme},
    {"aten.argmax"_op, lowering::position},
    {"aten.argmin"_op, lowering::position},
    {"aten.softmax"_op, lowering::softmax},
    {"aten.log_softmax"_op, lowering::log_softmax},
    {"aten.view"_op, lowering::view},
    {"aten.flatten"_op, lowering::view},
    {"aten.permute"_op, lowering::permute},
    {"to_layout"_op, lowering::to_layout},
    {"aten.cat"_op, lowering::concat},
    {"aten.slice"_op, lowering::axis_mapped},
    {"aten.expand"_op, lowering::axis_mapped},
    {"aten.flip"_op, lowering::axis_mapped},
    {"aten.pad"_op, lowering::axis_mapped},
    {"aten.upsample_nearest2d"_op, lowering::axis_mapped},
};

// Ops that passes replace in every graph that can be compiled at all: functions of one tensor become tables.
constexpr Op kRemovedByPasses[] = {
    "aten.dropout"_op, "aten.alias"_op, "aten.contiguous"_op, "dequantize_per_channel"_op, "elementwise"_op,
};

LowerRule find_rule(Op op) {
  for (const RuleRow& row : kRules)
    if (row.op == op) return row.rule;
  // Two operands compared or combined as integers of one quantization: a kernel of the op's name does it.
  if (row(op).binary && row(op).quant == QuantRule::same) return lowering::binary;
  return nullptr;
}

std::string why_not(Op op) {
  if (op == "aten.batch_norm"_op)
    return "has parameters that are not float constants; they must be known when the model is compiled";
  return fmt::format("{} has no kernel", name(op));
}

void collect(Error& errors, const Graph& graph, const Node& node, Error found) {
  errors.fault = found.fault == Fault::no && errors.diagnostics.empty() ? Fault::no : errors.fault;
  for (Diagnostic& d : found.diagnostics) {
    const std::string place = graph.describe(node);
    errors.diagnostics.push_back({place, d.where == place ? d.what : fmt::format("{} {}", d.where, d.what)});
  }
}

bool is_integer(const TensorType& type) {
  return type.quantized() && (type.dtype == DType::int8 || type.dtype == DType::int16);
}

// Kernels read int8 or int16 under a quantization everywhere but at the float outside, and one of the two at
// a time.
std::string float_inside(const Graph& graph, const Node& node) {
  if (node.row().quant == QuantRule::none) return {};
  if (node.row().quant == QuantRule::position) {
    const TensorType& input = graph.type(node.operands[0]);
    if (is_integer(input)) return {};
    return fmt::format("reads {}; only int8 and int16 under a quantization can run on the device",
                       to_string(input));
  }
  for (ValueId id : node.results)
    if (!is_integer(graph.type(id)))
      return fmt::format("computes {}; only int8 and int16 under a quantization can run on the device",
                         to_string(graph.type(id)));
  for (ValueId id : node.results)
    if (graph.type(id).dtype == DType::int16 && graph.type(id).quant.zero_point() != 0)
      return fmt::format("computes {}; int16 needs the zero point 0", to_string(graph.type(id)));
  for (size_t i = 0; i < node.operands.size() && node.op != "requantize"_op; ++i) {
    const ValueId id = node.operands[i];
    if (id == ValueId::none || node.row().operand(i).role != Role::activation) continue;
    const TensorType& type = graph.type(id);
    if (type.quantized() && type.dtype != graph.type(node.result()).dtype)
      return fmt::format("makes {} of {}; only requantize changes between int8 and int16",
                         name(graph.type(node.result()).dtype), name(type.dtype));
  }
  return {};
}

}  // namespace

bool has_lowering(Op op) {
  return find_rule(op) != nullptr || op == "aten.batch_norm"_op || row(op).unary != nullptr ||
         std::find(std::begin(kRemovedByPasses), std::end(kRemovedByPasses), op) !=
             std::end(kRemovedByPasses);
}

std::vector<std::string> int16_operators() {
  std::set<std::string> names;
  constexpr std::string_view kPrefix = "cortex_m::";
  for (const kernels::KernelRow& kernel : kernels::kKernels)
    if (std::string_view(kernel.name).ends_with("_s16"))
      names.insert(std::string(std::string_view(kernel.dialect).substr(kPrefix.size())));
  return {names.begin(), names.end()};
}

Result<Program> lower(const Graph& graph, const LowerOptions& options) {
  Lowering lowering(graph, options);
  Error errors{Fault::no, {}};
  for (const Node& node : graph.nodes) {
    const LowerRule rule = find_rule(node.op);
    const std::string inside = float_inside(graph, node);
    if (!rule || !inside.empty()) {
      errors.diagnostics.push_back({graph.describe(node), rule ? inside : why_not(node.op)});
    } else if (Status lowered = rule(lowering, node); !lowered) {
      collect(errors, graph, node, std::move(lowered.error()));
    }
  }
  for (ValueId id : graph.inputs) {
    const DType dtype = graph.type(id).dtype;
    const bool is_index = dtype == DType::int32 || dtype == DType::int64;
    if (!is_integer(graph.type(id)) && dtype != DType::int8 && dtype != DType::float32 && !is_index)
      errors.diagnostics.push_back({"input %" + graph.value(id).name,
                                    fmt::format("is {}; programs take i8, i16, f32 and indices of i32 or i64",
                                                to_string(graph.type(id)))});
  }
  if (!errors.diagnostics.empty()) return tl::unexpected(std::move(errors));
  lowering.add_ports_and_states();
  return lowering.take();
}

}  // namespace rushlight
