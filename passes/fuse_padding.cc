// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"
#include "passes/rules.h"

namespace rushlight {
namespace {

// A frame of zeros around the image, under the convolution's own parameters.
bool pads_image_with_zeros(const Graph& graph, const Node& pad, const Node& conv) {
  const Attributes attrs = pad.attrs();
  const Integers& amounts = attrs.integers("pad");
  if (attrs.text("mode") != "constant" || (!attrs.is_none("value") && attrs.real("value") != 0)) return false;
  for (size_t i = 4; i < amounts.size(); ++i)
    if (amounts[i] != 0) return false;
  const TensorType& before = graph.type(pad.operands[0]);
  const TensorType& after = graph.type(conv.operands[0]);
  return before.quant == after.quant && before.dtype == after.dtype && before.shape.size() == 4;
}

Status add_to_convolution(Graph& graph, Node& pad, const Node& conv) {
  Integers frame = pad.attrs().integers("pad");  // left, right, top, bottom
  frame.resize(4, 0);
  Integers padding = conv.attrs().integers("padding");
  if (padding.size() == 1) padding.push_back(padding[0]);
  if (padding.size() == 2) padding = {padding[0], padding[1], padding[0], padding[1]};
  padding = {padding[0] + frame[2], padding[1] + frame[0], padding[2] + frame[3], padding[3] + frame[1]};
  const ValueId input = pad.operands[0];
  const ValueId result = pad.result();
  graph.value(result).type = graph.type(conv.result());
  pad = conv;
  pad.operands[0] = input;
  pad.results = {result};
  for (size_t i = 0; i < pad.row().attribute_count(); ++i)
    if (pad.row().attributes[i].name == "padding") pad.attributes[i] = std::move(padding);
  return {};
}

constexpr ChainRule kRules[] = {
    {.name = "zero padding into convolution",
     .producer = is<"aten.pad"_op>,
     .consumer = is<"aten.conv2d"_op>,
     .guard = pads_image_with_zeros,
     .rewrite = add_to_convolution},
};

}  // namespace

Status fuse_padding(Graph& graph) { return apply(graph, kRules); }

}  // namespace rushlight
