// SPDX-License-Identifier: Apache-2.0
// The kernel table: one row a compiled kernel. Choice, emission, simulation, the test firmware and the tests
// read it. Firmware that a user gets does not: it includes only the family headers that it calls.
#pragma once

#include "kernels/add.h"
#include "kernels/argmax.h"
#include "kernels/average_pool2d.h"
#include "kernels/batch_matmul.h"
#include "kernels/binary.h"
#include "kernels/conv2d.h"
#include "kernels/copy.h"
#include "kernels/depthwise_conv2d.h"
#include "kernels/div.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/linear.h"
#include "kernels/log_softmax.h"
#include "kernels/lookup.h"
#include "kernels/max_pool2d.h"
#include "kernels/mean.h"
#include "kernels/mul.h"
#include "kernels/prelu.h"
#include "kernels/quantize.h"
#include "kernels/reduce.h"
#include "kernels/requantize.h"
#include "kernels/softmax_s16.h"
#include "kernels/softmax_tflite.h"
#include "kernels/table_row.h"
#include "kernels/upsample_bilinear2d.h"

namespace rushlight::kernels {

// Where a kernel rounds there is a row a mode. The instruction set is not the table's business: bodies are
// templates over kernels/simd, and the one for the core they are compiled for is the default.
inline constexpr KernelRow kKernels[] = {
    row<&quantize_per_tensor_s8>("quantize_per_tensor_s8", Mode::exact, "cortex_m::quantize_per_tensor",
                                 "kernels/quantize.h", "QuantizeParams", Overlap::none),
    row<&dequantize_per_tensor_s8>("dequantize_per_tensor_s8", Mode::exact, "cortex_m::dequantize_per_tensor",
                                   "kernels/quantize.h", "DequantizeParams", Overlap::none),
    row<&requantize_s8<Single>>("requantize_s8", Mode::single_, "cortex_m::requantize",
                                "kernels/requantize.h", "RequantizeParams", Overlap::elementwise),
    row<&requantize_s8<Double>>("requantize_s8", Mode::double_, "cortex_m::requantize",
                                "kernels/requantize.h", "RequantizeParams", Overlap::elementwise),
    row<&clamp_s8>("clamp_s8", Mode::exact, "cortex_m::clamp", "kernels/requantize.h", "ClampParams",
                   Overlap::elementwise),
    row<&maximum_s8>("maximum_s8", Mode::exact, "cortex_m::maximum", "kernels/binary.h", "BinaryParams",
                     Overlap::elementwise),
    row<&minimum_s8>("minimum_s8", Mode::exact, "cortex_m::minimum", "kernels/binary.h", "BinaryParams",
                     Overlap::elementwise),
    row<&quantized_add_s8<Single>>("quantized_add_s8", Mode::single_, "cortex_m::quantized_add",
                                   "kernels/add.h", "AddSingleParams", Overlap::elementwise),
    row<&quantized_add_s8<Double>>("quantized_add_s8", Mode::double_, "cortex_m::quantized_add",
                                   "kernels/add.h", "AddDoubleParams", Overlap::elementwise),
    row<&quantized_conv2d_s8<Single>>("quantized_conv2d_s8", Mode::single_, "cortex_m::quantized_conv2d",
                                      "kernels/conv2d.h", "Conv2dParams", Overlap::none),
    row<&quantized_conv2d_s8<Double>>("quantized_conv2d_s8", Mode::double_, "cortex_m::quantized_conv2d",
                                      "kernels/conv2d.h", "Conv2dParams", Overlap::none),
    row<&quantized_depthwise_conv2d_s8<Single>>(
        "quantized_depthwise_conv2d_s8", Mode::single_, "cortex_m::quantized_depthwise_conv2d",
        "kernels/depthwise_conv2d.h", "DepthwiseConv2dParams", Overlap::none),
    row<&quantized_depthwise_conv2d_s8<Double>>(
        "quantized_depthwise_conv2d_s8", Mode::double_, "cortex_m::quantized_depthwise_conv2d",
        "kernels/depthwise_conv2d.h", "DepthwiseConv2dParams", Overlap::none),
    row<&quantized_linear_s8<Single>>("quantized_linear_s8", Mode::single_, "cortex_m::quantized_linear",
                                      "kernels/linear.h", "LinearParams", Overlap::none),
    row<&quantized_linear_s8<Double>>("quantized_linear_s8", Mode::double_, "cortex_m::quantized_linear",
                                      "kernels/linear.h", "LinearParams", Overlap::none),
    row<&quantized_avg_pool2d_s8<Single>>("quantized_avg_pool2d_s8", Mode::single_,
                                          "cortex_m::quantized_avg_pool2d", "kernels/average_pool2d.h",
                                          "AveragePool2dParams", Overlap::none),
    row<&quantized_avg_pool2d_s8<Double>>("quantized_avg_pool2d_s8", Mode::double_,
                                          "cortex_m::quantized_avg_pool2d", "kernels/average_pool2d.h",
                                          "AveragePool2dParams", Overlap::none),
    row<&quantized_avg_pool2d_divide_s8<Double>>("quantized_avg_pool2d_divide_s8", Mode::double_,
                                                 "cortex_m::quantized_avg_pool2d", "kernels/average_pool2d.h",
                                                 "AveragePool2dParams", Overlap::none),
    row<&quantized_mean_s8<Single>>("quantized_mean_s8", Mode::single_, "cortex_m::quantized_mean",
                                    "kernels/mean.h", "MeanParams", Overlap::none),
    row<&quantized_mean_s8<Double>>("quantized_mean_s8", Mode::double_, "cortex_m::quantized_mean",
                                    "kernels/mean.h", "MeanParams", Overlap::none),
    row<&lookup_s8>("lookup_s8", Mode::exact, "cortex_m::quantized_activation", "kernels/lookup.h",
                    "LookupParams", Overlap::elementwise),
    row<&quantized_mul_s8<Single>>("quantized_mul_s8", Mode::single_, "cortex_m::quantized_mul",
                                   "kernels/mul.h", "MulParams", Overlap::elementwise),
    row<&quantized_mul_s8<Double>>("quantized_mul_s8", Mode::double_, "cortex_m::quantized_mul",
                                   "kernels/mul.h", "MulParams", Overlap::elementwise),
    row<&quantized_div_s8<Single>>("quantized_div_s8", Mode::single_, "cortex_m::quantized_div",
                                   "kernels/div.h", "DivParams", Overlap::elementwise),
    row<&quantized_div_s8<Double>>("quantized_div_s8", Mode::double_, "cortex_m::quantized_div",
                                   "kernels/div.h", "DivParams", Overlap::elementwise),
    row<&quantized_prelu_s8<Single>>("quantized_prelu_s8", Mode::single_, "cortex_m::quantized_prelu",
                                     "kernels/prelu.h", "PreluParams", Overlap::elementwise),
    row<&quantized_prelu_s8<Double>>("quantized_prelu_s8", Mode::double_, "cortex_m::quantized_prelu",
                                     "kernels/prelu.h", "PreluParams", Overlap::elementwise),
    row<&gather_s8>("gather_s8", Mode::exact, "cortex_m::gather", "kernels/gather.h", "GatherParams",
                    Overlap::none),
    row<&max_pool2d_s8>("max_pool2d_s8", Mode::exact, "cortex_m::quantized_max_pool2d",
                        "kernels/max_pool2d.h", "MaxPool2dParams", Overlap::none),
    row<&amax_s8>("amax_s8", Mode::exact, "cortex_m::amax", "kernels/reduce.h", "ReduceParams",
                  Overlap::none),
    row<&amin_s8>("amin_s8", Mode::exact, "cortex_m::amin", "kernels/reduce.h", "ReduceParams",
                  Overlap::none),
    row<&argmax_s8>("argmax_s8", Mode::exact, "cortex_m::argmax", "kernels/argmax.h", "ArgmaxParams",
                    Overlap::none),
    row<&softmax_s8>("softmax_s8", Mode::exact, "cortex_m::softmax", "kernels/softmax.h", "SoftmaxParams",
                     Overlap::none),
    row<&softmax_tflite_s8>("softmax_tflite_s8", Mode::exact, "cortex_m::softmax", "kernels/softmax_tflite.h",
                            "SoftmaxTfliteParams", Overlap::none),
    row<&log_softmax_s8>("log_softmax_s8", Mode::exact, "cortex_m::log_softmax", "kernels/log_softmax.h",
                         "LogSoftmaxParams", Overlap::none),
    row<&quantized_batch_matmul_s8<Single>>("quantized_batch_matmul_s8", Mode::single_,
                                            "cortex_m::quantized_batch_matmul", "kernels/batch_matmul.h",
                                            "BatchMatmulParams", Overlap::none),
    row<&quantized_batch_matmul_s8<Double>>("quantized_batch_matmul_s8", Mode::double_,
                                            "cortex_m::quantized_batch_matmul", "kernels/batch_matmul.h",
                                            "BatchMatmulParams", Overlap::none),
    row<&embedding_s8>("embedding_s8", Mode::exact, "cortex_m::embedding", "kernels/embedding.h",
                       "EmbeddingParams", Overlap::none),
    row<&upsample_bilinear2d_s8<Single>>("upsample_bilinear2d_s8", Mode::single_,
                                         "cortex_m::upsample_bilinear2d", "kernels/upsample_bilinear2d.h",
                                         "UpsampleBilinear2dParams", Overlap::none),
    row<&upsample_bilinear2d_s8<Double>>("upsample_bilinear2d_s8", Mode::double_,
                                         "cortex_m::upsample_bilinear2d", "kernels/upsample_bilinear2d.h",
                                         "UpsampleBilinear2dParams", Overlap::none),
    row<&copy_s8>("copy_s8", Mode::exact, "cortex_m::copy", "kernels/copy.h", "CopyParams", Overlap::none),
    row<&quantize_per_tensor_s16>("quantize_per_tensor_s16", Mode::exact, "cortex_m::quantize_per_tensor",
                                  "kernels/quantize.h", "QuantizeParams", Overlap::none),
    row<&dequantize_per_tensor_s16>("dequantize_per_tensor_s16", Mode::exact,
                                    "cortex_m::dequantize_per_tensor", "kernels/quantize.h",
                                    "DequantizeParams", Overlap::none),
    row<&requantize_s16<Single>>("requantize_s16", Mode::single_, "cortex_m::requantize",
                                 "kernels/requantize.h", "RequantizeParams", Overlap::elementwise),
    row<&requantize_s16<Double>>("requantize_s16", Mode::double_, "cortex_m::requantize",
                                 "kernels/requantize.h", "RequantizeParams", Overlap::elementwise),
    row<&clamp_s16>("clamp_s16", Mode::exact, "cortex_m::clamp", "kernels/requantize.h", "ClampParams",
                    Overlap::elementwise),
    row<&lookup_s16>("lookup_s16", Mode::exact, "cortex_m::quantized_activation", "kernels/lookup.h",
                     "LookupParams", Overlap::elementwise),
    row<&quantized_mul_s16<Single>>("quantized_mul_s16", Mode::single_, "cortex_m::quantized_mul",
                                    "kernels/mul.h", "MulParams", Overlap::elementwise),
    row<&quantized_mul_s16<Double>>("quantized_mul_s16", Mode::double_, "cortex_m::quantized_mul",
                                    "kernels/mul.h", "MulParams", Overlap::elementwise),
    row<&quantized_avg_pool2d_s16<Single>>("quantized_avg_pool2d_s16", Mode::single_,
                                           "cortex_m::quantized_avg_pool2d", "kernels/average_pool2d.h",
                                           "AveragePool2dParams", Overlap::none),
    row<&quantized_avg_pool2d_s16<Double>>("quantized_avg_pool2d_s16", Mode::double_,
                                           "cortex_m::quantized_avg_pool2d", "kernels/average_pool2d.h",
                                           "AveragePool2dParams", Overlap::none),
    row<&quantized_avg_pool2d_divide_s16<Double>>(
        "quantized_avg_pool2d_divide_s16", Mode::double_, "cortex_m::quantized_avg_pool2d",
        "kernels/average_pool2d.h", "AveragePool2dParams", Overlap::none),
    row<&max_pool2d_s16>("max_pool2d_s16", Mode::exact, "cortex_m::quantized_max_pool2d",
                         "kernels/max_pool2d.h", "MaxPool2dParams", Overlap::none),
    row<&quantized_batch_matmul_s16>("quantized_batch_matmul_s16", Mode::exact,
                                     "cortex_m::quantized_batch_matmul", "kernels/batch_matmul.h",
                                     "BatchMatmulParams", Overlap::none),
    row<&quantized_add_s16<Single>>("quantized_add_s16", Mode::single_, "cortex_m::quantized_add",
                                    "kernels/add.h", "AddSingleParams", Overlap::elementwise),
    row<&quantized_add_s16<Double>>("quantized_add_s16", Mode::double_, "cortex_m::quantized_add",
                                    "kernels/add.h", "AddDoubleParams", Overlap::elementwise),
    row<&quantized_conv2d_s16<Single>>("quantized_conv2d_s16", Mode::single_, "cortex_m::quantized_conv2d",
                                       "kernels/conv2d.h", "Conv2dParams", Overlap::none),
    row<&quantized_conv2d_s16<Double>>("quantized_conv2d_s16", Mode::double_, "cortex_m::quantized_conv2d",
                                       "kernels/conv2d.h", "Conv2dParams", Overlap::none),
    row<&quantized_conv2d_wide_s16>("quantized_conv2d_wide_s16", Mode::exact, "cortex_m::quantized_conv2d",
                                    "kernels/conv2d.h", "Conv2dParams", Overlap::none),
    row<&quantized_depthwise_conv2d_s16<Single>>(
        "quantized_depthwise_conv2d_s16", Mode::single_, "cortex_m::quantized_depthwise_conv2d",
        "kernels/depthwise_conv2d.h", "DepthwiseConv2dParams", Overlap::none),
    row<&quantized_depthwise_conv2d_s16<Double>>(
        "quantized_depthwise_conv2d_s16", Mode::double_, "cortex_m::quantized_depthwise_conv2d",
        "kernels/depthwise_conv2d.h", "DepthwiseConv2dParams", Overlap::none),
    row<&quantized_depthwise_conv2d_wide_s16>(
        "quantized_depthwise_conv2d_wide_s16", Mode::exact, "cortex_m::quantized_depthwise_conv2d",
        "kernels/depthwise_conv2d.h", "DepthwiseConv2dParams", Overlap::none),
    row<&quantized_linear_s16<Single>>("quantized_linear_s16", Mode::single_, "cortex_m::quantized_linear",
                                       "kernels/linear.h", "LinearParams", Overlap::none),
    row<&quantized_linear_s16<Double>>("quantized_linear_s16", Mode::double_, "cortex_m::quantized_linear",
                                       "kernels/linear.h", "LinearParams", Overlap::none),
    row<&quantized_linear_wide_s16>("quantized_linear_wide_s16", Mode::exact, "cortex_m::quantized_linear",
                                    "kernels/linear.h", "LinearParams", Overlap::none),
    row<&quantized_mean_s16<Single>>("quantized_mean_s16", Mode::single_, "cortex_m::quantized_mean",
                                     "kernels/mean.h", "MeanParams", Overlap::none),
    row<&quantized_mean_s16<Double>>("quantized_mean_s16", Mode::double_, "cortex_m::quantized_mean",
                                     "kernels/mean.h", "MeanParams", Overlap::none),
    row<&maximum_s16>("maximum_s16", Mode::exact, "cortex_m::maximum", "kernels/binary.h", "BinaryParams",
                      Overlap::elementwise),
    row<&minimum_s16>("minimum_s16", Mode::exact, "cortex_m::minimum", "kernels/binary.h", "BinaryParams",
                      Overlap::elementwise),
    row<&amax_s16>("amax_s16", Mode::exact, "cortex_m::amax", "kernels/reduce.h", "ReduceParams",
                   Overlap::none),
    row<&amin_s16>("amin_s16", Mode::exact, "cortex_m::amin", "kernels/reduce.h", "ReduceParams",
                   Overlap::none),
    row<&argmax_s16>("argmax_s16", Mode::exact, "cortex_m::argmax", "kernels/argmax.h", "ArgmaxParams",
                     Overlap::none),
    row<&gather_s16>("gather_s16", Mode::exact, "cortex_m::gather", "kernels/gather.h", "GatherParams",
                     Overlap::none),
    row<&softmax_tflite_s8_s16>("softmax_tflite_s8_s16", Mode::exact, "cortex_m::softmax",
                                "kernels/softmax_tflite.h", "SoftmaxTfliteParams", Overlap::none),
    row<&embedding_s16>("embedding_s16", Mode::exact, "cortex_m::embedding", "kernels/embedding.h",
                        "EmbeddingParams", Overlap::none),
    row<&softmax_s16>("softmax_s16", Mode::exact, "cortex_m::softmax", "kernels/softmax_s16.h",
                      "SoftmaxS16Params", Overlap::elementwise),
    row<&requantize_s8_s16<Single>>("requantize_s8_s16", Mode::single_, "cortex_m::requantize",
                                    "kernels/requantize.h", "RequantizeParams", Overlap::none),
    row<&requantize_s8_s16<Double>>("requantize_s8_s16", Mode::double_, "cortex_m::requantize",
                                    "kernels/requantize.h", "RequantizeParams", Overlap::none),
    row<&requantize_s16_s8<Single>>("requantize_s16_s8", Mode::single_, "cortex_m::requantize",
                                    "kernels/requantize.h", "RequantizeParams", Overlap::none),
    row<&requantize_s16_s8<Double>>("requantize_s16_s8", Mode::double_, "cortex_m::requantize",
                                    "kernels/requantize.h", "RequantizeParams", Overlap::none),
    row<&copy_s16>("copy_s16", Mode::exact, "cortex_m::copy", "kernels/copy.h", "CopyParams", Overlap::none),
};

inline constexpr int kKernelCount = static_cast<int>(sizeof kKernels / sizeof kKernels[0]);

// The row of that name for programs of that mode; rows that do
// not round serve every mode. Null where there is none.
constexpr const KernelRow* find_kernel(const char* name, Mode mode) {
  for (const KernelRow& kernel : kKernels)
    if ((kernel.mode == mode || kernel.mode == Mode::exact) && same_text(kernel.name, name)) return &kernel;
  return nullptr;
}

static_assert(find_kernel("quantized_add_s8", Mode::double_)->params_size == sizeof(AddDoubleParams));
static_assert(find_kernel("maximum_s8", Mode::single_)->argument_count == 3);

}  // namespace rushlight::kernels
