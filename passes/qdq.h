// SPDX-License-Identifier: Apache-2.0
// Reading the parameters of quantize and dequantize nodes.
#pragma once

#include "ir/graph.h"

namespace rushlight {

// dequantize(constant) becomes a constant with a quantized type; results of quantize nodes get the
// quantization that the node's attributes state. uint8 becomes int8 with everything shifted by 128.
Status read_quantization(Graph& graph);

}  // namespace rushlight
