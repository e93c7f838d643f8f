// SPDX-License-Identifier: Apache-2.0
#include "quant/bias_correction.h"

#include <algorithm>
#include <cmath>

#include "eval/evaluator.h"
#include "quant/calibrate.h"
#include "quant/parameters.h"

namespace rushlight {
namespace {

class BiasCorrection {
 public:
  BiasCorrection(Graph& graph, const std::vector<Sample>& samples)
      : graph_(graph), values_(samples.size()), constants_(graph.value_count()) {
    for (size_t s = 0; s < samples.size(); ++s)
      for (size_t i = 0; i < graph.inputs.size(); ++i) {
        const TensorType& type = graph.type(graph.inputs[i]);
        Tensor input = samples[s][i];
        if (type.quantized())
          for (float& x : input.as<float>())
            x = static_cast<float>(type.quant.scale() * (quantize(x, type.quant) - type.quant.zero_point()));
        values_[s].emplace(graph.inputs[i], std::move(input));
      }
  }

  Status run(const std::map<ValueId, std::vector<double>>& layers) {
    const std::vector<size_t> last_use = last_uses();
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      Node& node = graph_.nodes[n];
      std::vector<Tensor> outputs;
      for (size_t s = 0; s < values_.size(); ++s) {
        auto output = evaluate_unclamped(graph_, node, operands(node, s));
        if (!output) return forward(output);
        outputs.push_back(std::move(*output));
      }
      const auto layer = layers.find(node.result());
      if (layer != layers.end() && can_correct(node)) correct(node, layer->second, outputs);
      for (size_t s = 0; s < values_.size(); ++s) {
        clamp_and_round(graph_, node, outputs[s]);
        values_[s].insert_or_assign(node.result(), std::move(outputs[s]));
        for (ValueId id : node.operands)
          if (id != ValueId::none && last_use[static_cast<size_t>(id)] == n) values_[s].erase(id);
      }
    }
    return {};
  }

 private:
  std::vector<size_t> last_uses() const {
    std::vector<size_t> uses(graph_.value_count() + graph_.nodes.size(), 0);
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      for (ValueId id : graph_.nodes[n].operands)
        if (id != ValueId::none) uses[static_cast<size_t>(id)] = n;
    return uses;
  }

  const Tensor* constant(ValueId id) {
    const Value& value = graph_.value(id);
    if (!value.type.quantized()) return value.data.get();
    constants_.resize(graph_.value_count());
    Tensor& reals = constants_[static_cast<size_t>(id)];
    if (reals.elements() == 0) reals = dequantized(*value.data, value.type.quant);
    return &reals;
  }

  std::vector<const Tensor*> operands(const Node& node, size_t sample) {
    std::vector<const Tensor*> all;
    for (ValueId id : node.operands) {
      if (id == ValueId::none)
        all.push_back(nullptr);
      else
        all.push_back(graph_.is_constant(id) ? constant(id) : &values_[sample].at(id));
    }
    return all;
  }

  bool can_correct(const Node& node) const {
    return is_layer(node) && graph_.type(node.operands[0]).quantized() &&
           graph_.is_constant(node.operands[1]) && graph_.type(node.operands[1]).quantized();
  }

  void correct(Node& node, const std::vector<double>& wanted, std::vector<Tensor>& outputs) {
    ChannelSums sums;
    for (const Tensor& output : outputs) sums.add(node, output);
    const std::vector<double> found = sums.means();
    const auto channels = static_cast<int64_t>(found.size());
    const Quantization quant = bias_quantization(graph_.type(node.operands[0]).quant.scale(),
                                                 graph_.type(node.operands[1]).quant, channels);
    const bool has_bias = node.operands[2] != ValueId::none;
    Tensor bias(DType::int32, {channels});
    std::vector<float> moved(found.size());
    for (size_t c = 0; c < found.size(); ++c) {
      const auto at = static_cast<int64_t>(c);
      const double old = has_bias ? graph_.constant(node.operands[2]).at(at) : 0.0;
      const double steps = std::nearbyint((wanted[c] - found[c]) / quant.scale(c));
      // A bias that grew out of its room stays as it was.
      const bool fits = std::abs(old + steps) <= 0x1p30;
      bias.set(at, fits ? old + steps : old);
      moved[c] = static_cast<float>(fits ? steps * quant.scale(c) : 0.0);
    }
    const std::string name = has_bias ? graph_.value(node.operands[2]).name : node.name + ".bias";
    TensorType type{DType::int32, {channels}, Layout::row_major, quant};
    node.operands[2] = graph_.add_constant(graph_.unique_name(name + ".corrected"), std::move(type),
                                           std::make_shared<const Tensor>(std::move(bias)));
    for (Tensor& output : outputs) shift(node, output, moved);
  }

  static void shift(const Node& node, Tensor& output, const std::vector<float>& moved) {
    const Shape& shape = output.shape();
    const size_t axis = node.op == "aten.linear"_op ? shape.size() - 1 : 1;
    const auto inner = static_cast<size_t>(row_major_strides(shape)[axis]);
    const auto y = output.as<float>();
    for (size_t i = 0; i < y.size(); ++i) y[i] += moved[i / inner % moved.size()];
  }

  Graph& graph_;
  std::vector<std::map<ValueId, Tensor>> values_;  // of each sample
  std::vector<Tensor> constants_;                  // quantized ones as reals
};

}  // namespace

Status correct_biases(Graph& graph, const std::vector<Sample>& samples,
                      const std::map<ValueId, std::vector<double>>& layers) {
  if (Status s = BiasCorrection(graph, samples).run(layers); !s) return s;
  graph.remove_dead();
  return {};
}

}  // namespace rushlight
