// SPDX-License-Identifier: Apache-2.0
// Test firmware: every kernel of the table, on cases from the host.
//
//   cases.bin     uint32: cases; then each case as a CaseHeader and an image of memory that holds Params,
//   arguments
//                 and guard bytes where the host put them
//   results.bin   the images, case by case, as the kernels left them
#include "kernels/table.h"
#include "marks.h"
#include "semihosting.h"

extern "C" unsigned char rushlight_heap_start[], rushlight_heap_end[];

namespace {

namespace kernels = rushlight::kernels;

struct CaseHeader {
  uint32_t kernel, image_bytes;
  uint32_t offsets[kernels::kMaxArguments];  // of the arguments in the image; Params are at its start
};

int fail(const char* why) {
  semihosting_print(why);
  return 2;
}

int run_case(int32_t in, int32_t out) {
  CaseHeader header;
  unsigned char* const image = rushlight_heap_start;  // aligned to 16 by the linker script
  if (!semihosting_read(in, &header, sizeof header)) return fail("cases.bin ends early\n");
  if (header.kernel >= static_cast<uint32_t>(kernels::kKernelCount)) return fail("no such kernel\n");
  if (header.image_bytes > static_cast<uint32_t>(rushlight_heap_end - rushlight_heap_start))
    return fail("a case is larger than the board's memory\n");
  if (!semihosting_read(in, image, header.image_bytes)) return fail("cases.bin ends early\n");

  void* arguments[kernels::kMaxArguments];
  for (int i = 0; i < kernels::kMaxArguments; ++i) arguments[i] = image + header.offsets[i];
  const auto invoke = kernels::kKernels[header.kernel].invoke;
  RUSHLIGHT_MARK_BEGIN(0);
  invoke(image, arguments);
  RUSHLIGHT_MARK_END(0);
  return semihosting_write(out, image, header.image_bytes) ? 0 : fail("results.bin cannot be written\n");
}

}  // namespace

int main() {
  const int32_t in = semihosting_open("cases.bin", 0), out = semihosting_open("results.bin", 1);
  if (in < 0 || out < 0) return fail("cases.bin or results.bin cannot be opened\n");
  uint32_t count;
  if (!semihosting_read(in, &count, sizeof count)) return fail("cases.bin is not understood\n");
  for (uint32_t i = 0; i < count; ++i)
    if (const int code = run_case(in, out)) return code;
  semihosting_close(out);
  return 0;
}
