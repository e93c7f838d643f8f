// SPDX-License-Identifier: Apache-2.0
#include "ir/verify_quant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/verify.h"
#include "types/real_text.h"

namespace rushlight {
namespace {

bool is_activation_dtype(DType dtype) { return dtype == DType::int8 || dtype == DType::int16; }

bool all_zero(const std::vector<int32_t>& zero_points) {
  return std::all_of(zero_points.begin(), zero_points.end(), [](int32_t z) { return z == 0; });
}

class QuantizationCheck {
 public:
  QuantizationCheck(const Graph& graph, const Node& node) : graph_(graph), node_(node), row_(node.row()) {}

  std::vector<Diagnostic> run() {
    if (row_.quant == QuantRule::none || row_.quant == QuantRule::boundary) return {};
    for (size_t i = 0; i < node_.operands.size(); ++i)
      if (present(i) && row_.operand(i).role == Role::activation && operand_type(i).quantized())
        quantized_ = true;
    for (size_t i = 0; i < node_.operands.size(); ++i)
      if (present(i)) check_operand(i);
    for (const ValueId id : node_.results) check_result(id);
    return std::move(found_);
  }

 private:
  bool present(size_t i) const { return node_.operands[i] != ValueId::none; }
  // Constants may still be float beside quantized activations: the quantizer gives them parameters last, from
  // those of the activations.
  bool waits(ValueId id) const { return graph_.is_constant(id) && !graph_.type(id).quantized(); }
  const TensorType& operand_type(size_t i) const { return graph_.type(node_.operands[i]); }

  void report(ValueId id, std::string what) { found_.push_back({label(graph_, id), std::move(what)}); }

  void check_operand(size_t i) {
    const ValueId id = node_.operands[i];
    if (waits(id) && row_.operand(i).role != Role::index) return;
    switch (row_.operand(i).role) {
      case Role::activation:
        check_activation(id, "another activation operand is");
        break;
      case Role::weight:
        check_weight(id, row_.operand(i));
        break;
      case Role::bias:
        check_bias(id, i);
        break;
      case Role::index:
        if (graph_.type(id).quantized() || is_float(graph_.type(id).dtype))
          report(id, "an index operand must be integers without quantization");
        break;
      case Role::parameter:
      case Role::state:
        break;
    }
  }

  void check_result(ValueId id) {
    const TensorType& type = graph_.type(id);
    if (row_.quant == QuantRule::position) {
      if (type.quantized()) report(id, "positions are integers without quantization");
      return;
    }
    if (type.quantized() && !quantized_)
      return report(id, "the result is quantized, but no activation operand is; quantize the operands too");
    check_activation(id, "the operands are");
  }

  // An activation operand or a result.
  void check_activation(ValueId id, std::string_view reason) {
    const TensorType& type = graph_.type(id);
    if (quantized_ && !type.quantized())
      return report(id, fmt::format("must be quantized, because {}", reason));
    if (!type.quantized()) return;
    if (!is_activation_dtype(type.dtype)) return report(id, "quantized activations must be i8 or i16");
    if (type.quant.per_channel()) return report(id, "activations must be quantized per tensor");
    if (row_.quant != QuantRule::same) return;
    const ValueId model_id =
        *std::find_if(node_.operands.begin(), node_.operands.end(),
                      [&](ValueId operand) { return operand != ValueId::none && !waits(operand); });
    const TensorType& model = graph_.type(model_id);
    if (type.dtype != model.dtype || type.quant != model.quant)
      report(id, fmt::format("{} only moves integers: dtype and quantization must equal those of %{}: {}",
                             row_.name, graph_.value(model_id).name, to_string(model)));
  }

  void check_weight(ValueId id, const Operand& operand) {
    const TensorType& type = graph_.type(id);
    if (!type.quantized()) {
      if (quantized_) report(id, "the weight must be quantized, because the activations are");
      return;
    }
    if (!graph_.is_constant(id)) report(id, "a quantized weight must be a constant");
    if (type.dtype != DType::int8) report(id, "quantized weights must be i8");
    if (!all_zero(type.quant.zero_points))
      report(id, "weights must be quantized symmetrically: zero points 0");
    if (type.quant.per_channel() && type.quant.axis != operand.channel_axis)
      report(id, fmt::format("the weight's channels are along axis {}", operand.channel_axis));
  }

  void check_bias(ValueId id, size_t position) {
    const TensorType& type = graph_.type(id);
    if (quantized_ && !type.quantized())
      return report(id,
                    "the bias must be quantized, because the activations are: i32 at scale input * weight");
    if (!type.quantized()) return;
    if (!graph_.is_constant(id)) report(id, "a quantized bias must be a constant");
    if (type.dtype != DType::int32) report(id, "a quantized bias must be i32");
    if (!all_zero(type.quant.zero_points)) report(id, "zero points of a bias must be 0");
    check_bias_scale(id, position);
  }

  void check_bias_scale(ValueId id, size_t position) {
    const Quantization* input = nullptr;
    const Quantization* weight = nullptr;  // the nearest before the bias
    for (size_t i = 0; i < position; ++i) {
      if (!present(i) || !operand_type(i).quantized()) continue;
      if (row_.operand(i).role == Role::activation && input == nullptr) input = &operand_type(i).quant;
      if (row_.operand(i).role == Role::weight) weight = &operand_type(i).quant;
    }
    if (input == nullptr || weight == nullptr) return;  // reported there
    const Quantization& bias = graph_.type(id).quant;
    const auto [fewer, channels] = std::minmax({bias.scales.size(), weight->scales.size()});
    if (fewer != channels && fewer != 1)
      return report(id, fmt::format("found {} scales, but the weight has {}", bias.scales.size(),
                                    weight->scales.size()));
    for (size_t c = 0; c < channels; ++c) {
      const double expected = input->scale() * weight->scale(c);
      if (std::abs(bias.scale(c) - expected) <= 1e-6 * expected) continue;
      return report(id, fmt::format("scale {} of channel {} must be scale(input) * scale(weight) = {}",
                                    real_text(bias.scale(c)), c, real_text(expected)));
    }
  }

  const Graph& graph_;
  const Node& node_;
  const OpRow& row_;
  bool quantized_ = false;  // some activation operand is
  std::vector<Diagnostic> found_;
};

// What is wrong with lo..hi and the zero points, for a dtype that can be quantized.
std::optional<std::string> invalid_range(const TensorType& type) {
  const Quantization& quant = type.quant;
  const int64_t lowest_integer = lowest(type.dtype);
  const int64_t highest_integer = highest(type.dtype);
  if (quant.lo < lowest_integer || quant.hi > highest_integer || quant.lo >= quant.hi)
    return fmt::format("integer range {}..{} must be ascending and within {}..{} of {}", quant.lo, quant.hi,
                       lowest_integer, highest_integer, name(type.dtype));
  for (const int32_t zero_point : quant.zero_points)
    if (zero_point < lowest_integer || zero_point > highest_integer)
      return fmt::format("zero point {} must be within {}..{} of {}", zero_point, lowest_integer,
                         highest_integer, name(type.dtype));
  return std::nullopt;
}

}  // namespace

std::string label(const Graph& graph, ValueId id) {
  TensorType type = graph.type(id);
  constexpr size_t kShown = 4;
  std::string scales;
  if (type.quant.scales.size() > kShown) {
    scales = fmt::format("<{} scales along axis {}>", type.quant.scales.size(), type.quant.axis);
    type.quant = {};
  }
  return fmt::format("%{}: {}{}", graph.value(id).name, to_string(type), scales);
}

std::optional<std::string> invalid_quantization(const TensorType& type) {
  const Quantization& quant = type.quant;
  if (!quant.is_set()) {
    if (quant == Quantization{}) return std::nullopt;
    return "a type without scales must have no zero points, axis or integer range either";
  }
  if (is_float(type.dtype) || type.dtype == DType::boolean || type.dtype == DType::int64)
    return fmt::format("{} can't be quantized; u8, i8, i16 and i32 can", name(type.dtype));
  if (quant.zero_points.size() != quant.scales.size())
    return fmt::format("found {} scales but {} zero points", quant.scales.size(), quant.zero_points.size());
  for (const double scale : quant.scales)
    if (!std::isfinite(scale) || scale <= 0)
      return fmt::format("scale {} must be finite and above 0", real_text(scale));
  if (quant.axis < -1 || quant.axis >= static_cast<int64_t>(type.shape.size()))
    return fmt::format("axis {} is outside the rank {} (-1: per tensor)", quant.axis, type.shape.size());
  const int64_t channels = quant.per_channel() ? type.shape[static_cast<size_t>(quant.axis)] : 1;
  if (static_cast<int64_t>(quant.scales.size()) != channels)
    return fmt::format("found {} scales, must be {}", quant.scales.size(),
                       quant.per_channel() ? fmt::format("{}, the extent of axis {}", channels, quant.axis)
                                           : "one where no axis is given");
  return invalid_range(type);
}

std::vector<Diagnostic> quantization_violations(const Graph& graph, const Node& node) {
  return QuantizationCheck(graph, node).run();
}

}  // namespace rushlight
