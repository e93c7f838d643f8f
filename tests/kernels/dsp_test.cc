// SPDX-License-Identifier: Apache-2.0
// The bodies for cores with the DSP extension, on the host: the same cases as for the portable ones, over
// spelled-out instructions. What the instructions themselves do is tested on the emulated cores.
#include "kernels/simd/dsp_s16.h"
#include "tests/kernels/run_case.h"

namespace rushlight {
namespace {

using namespace kernels;
using simd::dsp;
using simd::dsp_bytes;
using simd::dsp_s16;
using simd::dsp_s16_wide;

void max_pool2d_dsp(const MaxPool2dParams& p, const int8_t* input, const int32_t* rows,
                    const int32_t* columns, int8_t* output) {
  max_pool2d_with<dsp_bytes>(p, input, rows, columns, output);
}

void conv2d_wide_dsp(const Conv2dParams& p, const int16_t* input, const int8_t* weights, const int64_t* bias,
                     const int32_t* multipliers, const int32_t* shifts, int16_t* output) {
  conv2d<Exact, dsp_s16_wide>(p, input, weights, bias, multipliers, shifts, output);
}

void linear_wide_dsp(const LinearParams& p, const int16_t* input, const int8_t* weights, const int64_t* bias,
                     const int32_t* multipliers, const int32_t* shifts, int16_t* output) {
  linear<Exact, dsp_s16_wide>(p, input, weights, bias, multipliers, shifts, output);
}

// One row for each kernel that has a body of its own there, under the portable row's name and mode.
template <auto kFunction>
KernelRow dsp_row(const char* name, Mode mode) {
  return row<kFunction>(name, mode, "", "", "", Overlap::none);
}
const KernelRow kDspRows[] = {
    dsp_row<&binary<maximum, dsp_bytes, int8_t>>("maximum_s8", Mode::exact),
    dsp_row<&binary<minimum, dsp_bytes, int8_t>>("minimum_s8", Mode::exact),
    dsp_row<&quantized_conv2d_s8<Single, dsp>>("quantized_conv2d_s8", Mode::single_),
    dsp_row<&quantized_conv2d_s8<Double, dsp>>("quantized_conv2d_s8", Mode::double_),
    dsp_row<&quantized_depthwise_conv2d_s8<Single, dsp>>("quantized_depthwise_conv2d_s8", Mode::single_),
    dsp_row<&quantized_depthwise_conv2d_s8<Double, dsp>>("quantized_depthwise_conv2d_s8", Mode::double_),
    dsp_row<&quantized_linear_s8<Single, dsp>>("quantized_linear_s8", Mode::single_),
    dsp_row<&quantized_linear_s8<Double, dsp>>("quantized_linear_s8", Mode::double_),
    dsp_row<&quantized_batch_matmul_s8<Single, dsp>>("quantized_batch_matmul_s8", Mode::single_),
    dsp_row<&quantized_avg_pool2d_s8<Single, dsp>>("quantized_avg_pool2d_s8", Mode::single_),
    dsp_row<&max_pool2d_dsp>("max_pool2d_s8", Mode::exact),
    dsp_row<&quantized_add_s8<Single, dsp>>("quantized_add_s8", Mode::single_),
    dsp_row<&quantized_add_s8<Double, dsp>>("quantized_add_s8", Mode::double_),
    dsp_row<&quantized_avg_pool2d_s8<Double, dsp>>("quantized_avg_pool2d_s8", Mode::double_),
    dsp_row<&quantized_avg_pool2d_divide_s8<Double, dsp>>("quantized_avg_pool2d_divide_s8", Mode::double_),
    dsp_row<&quantized_conv2d_s16<Single, dsp_s16>>("quantized_conv2d_s16", Mode::single_),
    dsp_row<&quantized_conv2d_s16<Double, dsp_s16>>("quantized_conv2d_s16", Mode::double_),
    dsp_row<&quantized_linear_s16<Single, dsp_s16>>("quantized_linear_s16", Mode::single_),
    dsp_row<&quantized_linear_s16<Double, dsp_s16>>("quantized_linear_s16", Mode::double_),
    dsp_row<&conv2d_wide_dsp>("quantized_conv2d_wide_s16", Mode::exact),
    dsp_row<&linear_wide_dsp>("quantized_linear_wide_s16", Mode::exact),
};

TEST(Dsp, BodiesEqualTheReferences) {
  const std::vector<KernelCase> cases = all_cases(20260102, 80);
  std::map<const KernelRow*, int> counts;
  for (const KernelCase& c : cases) {
    const KernelRow& portable = kKernels[c.kernel];
    for (const KernelRow& dsp_row : kDspRows) {
      if (!same_text(portable.name, dsp_row.name) || portable.mode != dsp_row.mode) continue;
      check_case(c, dsp_row);
      ++counts[&dsp_row];
    }
    if (HasFailure()) FAIL() << c.description;
  }
  for (const KernelRow& dsp_row : kDspRows) EXPECT_GE(counts[&dsp_row], 2000) << dsp_row.name;
}

}  // namespace
}  // namespace rushlight
