// SPDX-License-Identifier: Apache-2.0
// The bodies for cores with the DSP extension, on the host: the same cases as for the portable ones, over
// spelled-out instructions. What the instructions themselves do is tested on the emulated cores.
#include "kernels/simd/dsp.h"
#include "tests/kernels/run_case.h"

namespace rushlight {
namespace {

using namespace kernels;
using simd::dsp;
using simd::dsp_bytes;

void max_pool2d_dsp(const MaxPool2dParams& p, const int8_t* input, const int32_t* rows,
                    const int32_t* columns, int8_t* output) {
  max_pool2d_with<dsp_bytes>(p, input, rows, columns, output);
}

// One row for each kernel that has a body of its own there, under the portable row's name and mode.
template <auto kFunction>
KernelRow dsp_row(const char* name, Mode mode) {
  return row<kFunction>(name, mode, "", "", "", Overlap::none);
}
const KernelRow kDspRows[] = {
    dsp_row<&binary<maximum, dsp_bytes>>("maximum_s8", Mode::exact),
    dsp_row<&binary<minimum, dsp_bytes>>("minimum_s8", Mode::exact),
    dsp_row<&quantized_conv2d_s8<Single, dsp>>("quantized_conv2d_s8", Mode::single_),
    dsp_row<&quantized_conv2d_s8<Double, dsp>>("quantized_conv2d_s8", Mode::double_),
    dsp_row<&quantized_depthwise_conv2d_s8<Single, dsp>>("quantized_depthwise_conv2d_s8", Mode::single_),
    dsp_row<&quantized_depthwise_conv2d_s8<Double, dsp>>("quantized_depthwise_conv2d_s8", Mode::double_),
    dsp_row<&quantized_linear_s8<Single, dsp>>("quantized_linear_s8", Mode::single_),
    dsp_row<&quantized_linear_s8<Double, dsp>>("quantized_linear_s8", Mode::double_),
    dsp_row<&quantized_batch_matmul_s8<Single, dsp>>("quantized_batch_matmul_s8", Mode::single_),
    dsp_row<&quantized_avg_pool2d_s8<Single, dsp>>("quantized_avg_pool2d_s8", Mode::single_),
    dsp_row<&max_pool2d_dsp>("max_pool2d_s8", Mode::exact),
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
