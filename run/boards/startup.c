// SPDX-License-Identifier: Apache-2.0
// From reset to main() on every emulated core, fault messages, and the two library functions that kernels may
// call.
#include "semihosting.h"

extern uint32_t rushlight_stack_limit, rushlight_stack_top;
extern uint32_t rushlight_data_start, rushlight_data_end, rushlight_data_load;
extern uint32_t rushlight_bss_start, rushlight_bss_end;
int main(void);

// Compiled with -fno-tree-loop-distribute-patterns, or the loops below would become calls of themselves.
void* memcpy(void* restrict to, const void* restrict from, size_t bytes) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if ((((uintptr_t)d ^ (uintptr_t)s) & 3) == 0) {
    for (; bytes && ((uintptr_t)d & 3); --bytes) *d++ = *s++;
    for (; bytes >= 16; bytes -= 16, d += 16, s += 16) {
      const uint32_t a = ((const uint32_t*)s)[0], b = ((const uint32_t*)s)[1];
      const uint32_t c = ((const uint32_t*)s)[2], e = ((const uint32_t*)s)[3];
      ((uint32_t*)d)[0] = a;
      ((uint32_t*)d)[1] = b;
      ((uint32_t*)d)[2] = c;
      ((uint32_t*)d)[3] = e;
    }
    for (; bytes >= 4; bytes -= 4, d += 4, s += 4) *(uint32_t*)d = *(const uint32_t*)s;
  }
  for (; bytes; --bytes) *d++ = *s++;
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  uint8_t* d = to;
  const uint32_t word = (uint8_t)value * 0x01010101u;
  for (; bytes && ((uintptr_t)d & 3); --bytes) *d++ = (uint8_t)value;
  for (; bytes >= 16; bytes -= 16, d += 16) {
    ((uint32_t*)d)[0] = word;
    ((uint32_t*)d)[1] = word;
    ((uint32_t*)d)[2] = word;
    ((uint32_t*)d)[3] = word;
  }
  for (; bytes; --bytes) *d++ = (uint8_t)value;
  return to;
}

static void print_hex(uint32_t x) {
  char text[11] = "0x";
  for (int i = 0; i < 8; ++i) text[2 + i] = "0123456789abcdef"[(x >> (28 - 4 * i)) & 15];
  text[10] = 0;
  semihosting_print(text);
}

// `frame` is what the core stacked (r0-r3, r12, lr, pc, psr), unless the stack had no room for it.
__attribute__((used)) void rushlight_fault(const uint32_t* frame) {
  uint32_t exception;
  __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
  semihosting_print("fault: exception ");
  print_hex(exception);
  if (frame < &rushlight_stack_limit || frame + 8 > &rushlight_stack_top) {
    semihosting_print(", stack overflow\n");
  } else {
    semihosting_print(" at pc ");
    print_hex(frame[6]);
    semihosting_print(", lr ");
    print_hex(frame[5]);
    semihosting_print("\n");
  }
  semihosting_exit(99);
}
// The handler starts with an empty stack, because a stack overflow may be what brought it here.
__attribute__((naked)) static void on_fault(void) {
  __asm__ volatile("mrs r0, msp\n ldr r1, =rushlight_stack_top\n mov sp, r1\n bl rushlight_fault");
}

__attribute__((used, noreturn)) void rushlight_start(void) {
  const uint32_t* from = &rushlight_data_load;
  for (uint32_t* to = &rushlight_data_start; to < &rushlight_data_end;) *to++ = *from++;
  for (uint32_t* to = &rushlight_bss_start; to < &rushlight_bss_end;) *to++ = 0;
  semihosting_exit((uint32_t)main());
  __builtin_unreachable();
}

__attribute__((naked, noreturn)) void rushlight_reset(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  // CPACR: full access to CP10 and CP11, FPU and MVE, before the first such instruction.
  __asm__ volatile(
      "ldr r0, =0xE000ED88\n ldr r1, [r0]\n orr r1, r1, #0x00F00000\n str r1, [r0]\n dsb\n isb\n");
#endif
  __asm__ volatile("bl rushlight_start");
}

typedef void (*vector)(void);
__attribute__((section(".vectors"), used)) static const vector vectors[64] = {
    (vector)&rushlight_stack_top, rushlight_reset, [2 ... 63] = on_fault};
