// SPDX-License-Identifier: Apache-2.0
#include "quant/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "quant/bias_correction.h"
#include "quant/calibrate.h"
#include "quant/parameters.h"

namespace rushlight {
namespace {

bool is_quantize(const Node& node) { return node.op == "quantize_per_tensor"_op; }
bool is_activation_dtype(DType dtype) { return dtype == DType::int8 || dtype == DType::int16; }
bool is_dequantize(const Node& node) { return node.op == "dequantize_per_tensor"_op; }

void set(TensorType& type, const Encoding& integers) {
  type.dtype = integers.dtype;
  type.quant = integers.quant;
}

// Values that must share parameters, as a union-find forest.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  size_t find(ValueId id) { return find(static_cast<size_t>(id)); }
  void join(ValueId a, ValueId b) { parent_[find(a)] = find(b); }

 private:
  size_t find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  std::vector<size_t> parent_;
};

class Quantizer {
 public:
  Quantizer(Graph& graph, DType activations)
      : graph_(graph), groups_(graph.value_count()), activations_(activations) {}

  Status run(const std::vector<Sample>& samples, const QuantizeOptions& options) {
    settle_known();
    const std::vector<ValueId> open = float_values();
    if (!open.empty()) {
      if (samples.empty()) return needs_calibration(open);
      if (Status s = quantize_activations(open, samples, options.observer); !s) return s;
      settle_qdq();
    }
    // Layers whose weights the model file has quantized keep its biases.
    for (const Node& node : graph_.nodes)
      if (is_layer(node) && graph_.type(node.operands[1]).quantized()) channel_means_.erase(node.result());
    for (Node& node : graph_.nodes)
      if (Status s = quantize_constants(node); !s) return s;
    graph_.remove_dead();
    if (options.bias_correction && !channel_means_.empty())
      return correct_biases(graph_, samples, channel_means_);
    return {};
  }

 private:
  Encoding encoding_of(ValueId id) const { return {graph_.type(id).dtype, graph_.type(id).quant}; }

  bool is_activation(const Node& node, size_t i) const {
    return node.operands[i] != ValueId::none && node.row().operand(i).role == Role::activation;
  }

  // Float values that some node computes with. The float outside of a quantized program (an input that only
  // quantize nodes read, an output that a dequantize node makes) may stay.
  std::vector<ValueId> float_values() const {
    std::vector<bool> open(graph_.value_count(), false);
    const auto note = [&](ValueId id) {
      if (id == ValueId::none || graph_.is_constant(id) || graph_.type(id).quantized()) return;
      if (is_float(graph_.type(id).dtype)) open[static_cast<size_t>(id)] = true;
    };
    for (const Node& node : graph_.nodes) {
      if (!is_quantize(node))
        for (size_t i = 0; i < node.operands.size(); ++i)
          if (is_activation(node, i)) note(node.operands[i]);
      if (!is_dequantize(node))
        for (ValueId id : node.results) note(id);
    }
    std::vector<ValueId> found;
    for (size_t i = 0; i < open.size(); ++i)
      if (open[i]) found.push_back(static_cast<ValueId>(i));
    return found;
  }

  // Parameters that follow without samples: of what dequantize nodes give, of ops that only move known
  // integers or table rows, of ops whose result's parameters are fixed, and of what is only quantized
  // afterwards.
  void settle_known() {
    bool any = false;
    for (const Node& node : graph_.nodes) {
      if (node.results.size() != 1 || graph_.type(node.result()).quantized() ||
          !is_float(graph_.type(node.result()).dtype))
        continue;
      const std::optional<Encoding> known = known_result(node);
      if (!known) continue;
      set(graph_.value(node.result()).type, *known);
      any = true;
    }
    if (any) settle_qdq();
  }

  std::optional<Encoding> known_result(const Node& node) const {
    const auto is_known = [&](ValueId id) {
      return graph_.type(id).quantized() && is_activation_dtype(graph_.type(id).dtype) &&
             !graph_.type(id).quant.per_channel();
    };
    // A float output may stay one.
    if (is_dequantize(node)) {
      const bool is_output = std::ranges::find(graph_.outputs, node.result()) != graph_.outputs.end();
      return is_known(node.operands[0]) && !is_output ? std::optional(encoding_of(node.operands[0]))
                                                      : std::nullopt;
    }
    if (node.row().quant == QuantRule::none) return std::nullopt;
    std::optional<Encoding> shared;
    bool all_known = true;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (!is_activation(node, i)) continue;
      const ValueId id = node.operands[i];
      if (graph_.is_constant(id) && !graph_.type(id).quantized()) {
        if (node.op == "aten.embedding"_op) shared = for_constant(graph_.constant(id), activations_);
        continue;
      }
      if (!is_known(id)) return std::nullopt;
      all_known = all_known && (!shared || *shared == encoding_of(id));
      shared = encoding_of(id);
    }
    if (!shared) return std::nullopt;
    if (node.row().quant == QuantRule::same) return all_known ? shared : std::nullopt;
    if (node.row().quant == QuantRule::fixed) return fixed_encoding(node.row().fixed, shared->dtype);
    return asked_by_all_readers(node.result());
  }

  std::optional<Encoding> asked_by_all_readers(ValueId id) const {
    std::optional<Encoding> asked;
    if (std::ranges::find(graph_.outputs, id) != graph_.outputs.end()) return std::nullopt;
    for (const Node& node : graph_.nodes) {
      if (std::ranges::find(node.operands, id) == node.operands.end()) continue;
      const TensorType& type = graph_.type(node.results.front());
      const Encoding wanted{type.dtype, type.quant};
      if (!is_quantize(node) || !is_activation_dtype(type.dtype) || (asked && *asked != wanted))
        return std::nullopt;
      asked = wanted;
    }
    return asked;
  }

  Status needs_calibration(const std::vector<ValueId>& open) const {
    Error error{Fault::no, {}};
    for (const Node& node : graph_.nodes)
      for (ValueId result : node.results)
        if (std::find(open.begin(), open.end(), result) != open.end())
          error.diagnostics.push_back(
              {graph_.describe(node),
               "computes in float: the model file gives its result no quantization. Pass "
               "--calibrate samples.npz to choose one from samples"});
    if (error.diagnostics.empty())
      error.diagnostics.push_back({graph_.name, "has float values without a quantization; pass --calibrate"});
    return tl::unexpected(std::move(error));
  }

  // Parameters that a group has for other reasons than its range: a member is quantized already, or fixed by
  // its op.
  void collect_given() {
    given_.resize(graph_.value_count());
    for (ValueId id : graph_.value_ids())
      if (!graph_.is_constant(id) && graph_.type(id).quantized())
        given_[static_cast<size_t>(id)] = encoding_of(id);
    for (const Node& node : graph_.nodes)
      if (node.row().quant == QuantRule::fixed && !graph_.type(node.result()).quantized())
        given_[static_cast<size_t>(node.result())] = fixed_encoding(node.row().fixed, activations_);
  }

  // False if the two have different parameters given.
  bool join(ValueId a, ValueId b) {
    const std::optional<Encoding> of_a = given_[groups_.find(a)];
    const std::optional<Encoding> of_b = given_[groups_.find(b)];
    if (of_a && of_b && *of_a != *of_b) return false;
    groups_.join(a, b);
    given_[groups_.find(a)] = of_a ? of_a : of_b;
    return true;
  }

  // Where an operand can't share its op's parameters, because the model quantized it otherwise, a requantize
  // goes between. Dequantize nodes first: what they give is fixed before anything can take another side.
  void join_groups() {
    for (const Node& node : graph_.nodes)
      if (is_dequantize(node)) join(node.operands[0], node.result());
    for (const State& state : graph_.states) join(state.input, state.update);
    std::vector<Node> nodes;
    for (Node& node : graph_.nodes) {
      if (node.row().quant == QuantRule::same) {
        for (ValueId result : node.results) join(result, node.results.front());
        for (size_t i = 0; i < node.operands.size(); ++i)
          if (is_activation(node, i) && !join(node.operands[i], node.results.front()))
            node.operands[i] = requantized(node, node.operands[i], nodes);
      }
      nodes.push_back(std::move(node));
    }
    graph_.nodes = std::move(nodes);
  }

  // The operand under the parameters of the node's result.
  ValueId requantized(const Node& node, ValueId operand, std::vector<Node>& nodes) {
    const std::string name = graph_.unique_name(graph_.value(operand).name + ".requantized");
    TensorType type = graph_.type(operand);
    set(type, *given_[groups_.find(node.results.front())]);
    const ValueId result = graph_.add_result(name, std::move(type));
    nodes.push_back({"requantize"_op, node.name, {operand}, {}, {result}, {}, node.source});
    return result;
  }

  Status quantize_activations(const std::vector<ValueId>& open, const std::vector<Sample>& samples,
                              Observer observer) {
    Result<Calibration> calibration = calibrate(graph_, samples, observer);
    if (!calibration) return forward(calibration);
    const std::vector<Range>& ranges = calibration->ranges;
    channel_means_ = std::move(calibration->channel_means);
    const std::vector<ValueId> known = graph_.value_ids();
    collect_given();
    join_groups();
    std::vector<Range> of_group(ranges.size());
    for (ValueId id : known) {
      if (graph_.is_constant(id)) {
        const Tensor& data = graph_.constant(id);
        // A constant counts where a group has taken it in, that is, where it is moved or compared with
        // activations.
        if (is_float(data.dtype()) && groups_.find(id) != static_cast<size_t>(id))
          for (int64_t i = 0; i < data.elements(); ++i) of_group[groups_.find(id)].include(data.at(i));
      } else {
        of_group[groups_.find(id)].include(ranges[static_cast<size_t>(id)]);
      }
    }
    for (ValueId id : open) {
      const size_t group = groups_.find(id);
      set(graph_.value(id).type,
          given_[group] ? *given_[group] : encoding_over(of_group[group], activations_));
    }
    return {};
  }

  // Quantize and dequantize nodes inside the program now stand between integers.
  void settle_qdq() {
    for (Node& node : graph_.nodes) {
      if (node.operands.empty() || node.operands[0] == ValueId::none) continue;
      if (!graph_.type(node.operands[0]).quantized() || !graph_.type(node.results[0]).quantized()) continue;
      if (is_dequantize(node)) graph_.replace_uses(node.result(), node.operands[0]);
      if (is_quantize(node) || is_dequantize(node)) {
        node.op = "requantize"_op;
        node.attributes.clear();
      }
    }
    graph_.remove_dead();
  }

  Status quantize_constants(Node& node) {
    if (node.row().quant == QuantRule::none || node.results.empty() ||
        !graph_.type(node.result()).quantized())
      return {};
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId id = node.operands[i];
      if (id == ValueId::none || !graph_.is_constant(id) || graph_.type(id).quantized()) continue;
      if (Status s = check_finite(node, id); !s) return s;
      switch (node.row().operand(i).role) {
        case Role::activation: {
          const bool same = node.row().quant == QuantRule::same;
          const Encoding integers = same
                                        ? encoding_of(node.result())
                                        : for_constant(graph_.constant(id), graph_.type(node.result()).dtype);
          node.operands[i] = constant_like(id, integers.quant,
                                           quantized(graph_.constant(id), integers.quant, integers.dtype));
          break;
        }
        case Role::weight:
          quantize_layer(node, i);
          break;
        case Role::bias:
          if (Status s = quantize_bias(node, i); !s) return s;
          break;
        default:
          break;
      }
    }
    return {};
  }

  Status check_finite(const Node& node, ValueId id) const {
    const Tensor& data = graph_.constant(id);
    for (int64_t i = 0; i < data.elements(); ++i)
      if (!std::isfinite(data.at(i)))
        return input_error(graph_.describe(node),
                           fmt::format("reads %{}, whose element {} is {}; it must be finite",
                                       graph_.value(id).name, i, data.at(i)));
    return {};
  }

  ValueId constant_like(ValueId original, const Quantization& quant, Tensor integers) {
    TensorType type{integers.dtype(), integers.shape(), Layout::row_major, quant};
    const std::string name = graph_.unique_name(graph_.value(original).name + ".q");
    return graph_.add_constant(name, std::move(type), std::make_shared<const Tensor>(std::move(integers)));
  }

  // Weight and the bias behind it, which decide on the channels' scales together.
  void quantize_layer(Node& node, size_t weight) {
    const size_t bias = weight + 1;
    const ValueId bias_id = bias < node.operands.size() ? node.operands[bias] : ValueId::none;
    const bool float_bias = bias_id != ValueId::none && !graph_.type(bias_id).quantized();
    const LayerScales scales{graph_.type(node.operands[0]).quant, graph_.type(node.result()).quant.scale()};
    LayerParameters layer = layer_parameters(graph_.constant(node.operands[weight]),
                                             float_bias ? &graph_.constant(bias_id) : nullptr,
                                             node.row().operand(weight).channel_axis, scales);
    if (float_bias) node.operands[bias] = constant_like(bias_id, layer.bias_quant, std::move(layer.bias));
    node.operands[weight] = constant_like(node.operands[weight], layer.weight_quant, std::move(layer.weight));
  }

  // The model file quantized the weight but left the bias float.
  Status quantize_bias(Node& node, size_t bias) {
    const double input_scale = graph_.type(node.operands[0]).quant.scale();
    const Quantization weight = graph_.type(node.operands[bias - 1]).quant;
    const Tensor& reals = graph_.constant(node.operands[bias]);
    const Quantization quant = bias_quantization(input_scale, weight, reals.elements());
    for (int64_t c = 0; c < reals.elements(); ++c)
      if (std::abs(reals.at(c) / quant.scale(static_cast<size_t>(c))) > INT32_MAX)
        return unsupported(
            graph_.describe(node),
            fmt::format("has a bias of {} in channel {}, which does not fit int32 at scale input * "
                        "weight = {}",
                        reals.at(c), c, quant.scale(static_cast<size_t>(c))));
    node.operands[bias] =
        constant_like(node.operands[bias], quant, quantized_bias(reals, input_scale, weight));
    return {};
  }

  Graph& graph_;
  Groups groups_;
  DType activations_;
  std::vector<std::optional<Encoding>> given_;  // by group
  std::map<ValueId, std::vector<double>> channel_means_;
};

}  // namespace

Status quantize(Graph& graph, const std::vector<Sample>& samples, const QuantizeOptions& options) {
  return Quantizer(graph, options.activations).run(samples, options);
}

}  // namespace rushlight
