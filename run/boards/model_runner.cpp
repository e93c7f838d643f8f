// SPDX-License-Identifier: Apache-2.0
// Runs a model's library on samples from the host and reports what it saw. RUSHLIGHT_MODEL names the library;
// its two headers are included by the compiler's command line.
//
//   samples.bin   uint32: samples, inputs, outputs; then {offset in the arena, bytes} of each input and
//   output;
//                 then the inputs' bytes, sample by sample. State is kept from one sample to the next.
//   results.bin   the outputs' bytes, sample by sample; then a Summary
#include <cstddef>

#include "marks.h"
#include "semihosting.h"

#define RUSHLIGHT_JOIN2(a, b) a##b
#define RUSHLIGHT_JOIN(a, b) RUSHLIGHT_JOIN2(a, b)
#define RUSHLIGHT_C_CALL(name) RUSHLIGHT_JOIN(RUSHLIGHT_MODEL, name)

extern "C" std::uint32_t rushlight_stack_limit;

namespace {
namespace model = RUSHLIGHT_MODEL;

// Not the simulator's poison: what depends on memory that nobody wrote differs from the simulator.
constexpr std::uint8_t kPoison = 0xa6, kCanary = 0x3c;
constexpr std::uint32_t kPaint = 0xc5c5c5c5;
constexpr std::size_t kCanaryBytes = 64;
constexpr std::uint32_t kMaxPorts = 64;

struct Port {
  std::uint32_t offset, bytes;
};
struct Summary {
  std::uint32_t magic, stack_bytes, selftest_passed, canaries_intact;
};

// The parts are multiples of 16 bytes but for the arena's end, so that the second canary follows it directly.
struct Memory {
  std::uint8_t before[kCanaryBytes];
  std::byte arena[model::kArenaBytes];
  std::uint8_t after[kCanaryBytes];
};
alignas(16) __attribute__((section(".large"))) Memory memory;

Port ports[kMaxPorts];

int fail(const char* why) {
  semihosting_print(why);
  return 2;
}

bool canaries_intact() {
  bool intact = true;
  for (std::size_t i = 0; i < kCanaryBytes; ++i)
    intact = intact && memory.before[i] == kCanary && memory.after[i] == kCanary;
  return intact;
}

__attribute__((always_inline)) inline std::uint32_t* stack_pointer() {
  std::uint32_t* sp;
  __asm__ volatile("mov %0, sp" : "=r"(sp));
  return sp;
}

// The instructions of the first run are counted, and its stack is measured: what lies below this frame is
// painted, and what the run wrote over is counted. (Some boards ignore writes below their memory instead of
// faulting, so main() checks the lowest word.) Inlined, so that the paint reaches up to the caller's frame.
__attribute__((always_inline)) inline std::uint32_t run_measured(model::Model& m) {
  volatile std::uint32_t* const limit = &rushlight_stack_limit;
  for (volatile std::uint32_t* p = limit; p < stack_pointer(); ++p) *p = kPaint;
  RUSHLIGHT_MARK_BEGIN(0);
  m.run();
  RUSHLIGHT_MARK_END(0);
  volatile std::uint32_t* lowest = limit;
  while (*lowest == kPaint && lowest < stack_pointer()) ++lowest;
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stack_pointer()) -
                                    reinterpret_cast<std::uintptr_t>(lowest));
}

// The C calls hand out the addresses that the plan says.
bool pointers_agree(std::uint32_t inputs, std::uint32_t outputs) {
  RUSHLIGHT_C_CALL(_init)(memory.arena);
  bool agree = true;
  for (std::uint32_t i = 0; i < inputs; ++i)
    agree = agree && static_cast<void*>(RUSHLIGHT_C_CALL(_input)(memory.arena, static_cast<int>(i))) ==
                         static_cast<void*>(memory.arena + ports[i].offset);
  for (std::uint32_t i = 0; i < outputs; ++i)
    agree = agree && static_cast<const void*>(RUSHLIGHT_C_CALL(_output)(memory.arena, static_cast<int>(i))) ==
                         static_cast<void*>(memory.arena + ports[inputs + i].offset);
  return agree;
}

}  // namespace

int main() {
  const std::int32_t in = semihosting_open("samples.bin", 0), out = semihosting_open("results.bin", 1);
  if (in < 0 || out < 0) return fail("samples.bin or results.bin cannot be opened\n");
  std::uint32_t counts[3];  // samples, inputs, outputs
  if (!semihosting_read(in, counts, sizeof counts) || counts[1] + counts[2] > kMaxPorts ||
      !semihosting_read(in, ports, (counts[1] + counts[2]) * sizeof(Port)))
    return fail("samples.bin is not understood\n");

  for (std::size_t i = 0; i < kCanaryBytes; ++i) memory.before[i] = memory.after[i] = kCanary;
  for (std::byte& b : memory.arena) b = std::byte{kPoison};
  if (!pointers_agree(counts[1], counts[2]))
    return fail("the C calls return other addresses than the plan's\n");

  model::Model m{memory.arena};
  Summary summary{0x444e4c52, 0, 0, 0};
  for (std::uint32_t sample = 0; sample < counts[0]; ++sample) {
    for (std::size_t i = model::kStateBytes; i < model::kArenaBytes; ++i)
      memory.arena[i] = std::byte{kPoison};
    for (std::uint32_t i = 0; i < counts[1]; ++i)
      if (!semihosting_read(in, memory.arena + ports[i].offset, ports[i].bytes))
        return fail("samples.bin ends early\n");
    if (sample == 0) {
      summary.stack_bytes = run_measured(m);
    } else {
      m.run();
    }
    for (std::uint32_t i = counts[1]; i < counts[1] + counts[2]; ++i)
      if (!semihosting_write(out, memory.arena + ports[i].offset, ports[i].bytes))
        return fail("results.bin cannot be written\n");
  }
  summary.canaries_intact = canaries_intact();
  summary.selftest_passed = model::selftest(memory.arena);
  if (!semihosting_write(out, &summary, sizeof summary)) return fail("results.bin cannot be written\n");
  semihosting_close(out);
  if (summary.stack_bytes > 0 && rushlight_stack_limit != kPaint) return fail("run() overflowed the stack\n");
  return 0;
}
