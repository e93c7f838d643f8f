// SPDX-License-Identifier: Apache-2.0
// Files and messages of the host by way of the debugger's breakpoint (Arm's "Semihosting for AArch32", M
// profile).
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline int32_t semihosting_call(int32_t operation, const void* block) {
  register int32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static inline void semihosting_print(const char* text) { semihosting_call(0x04, text); }

// Ends the emulator, which then returns `code`.
static inline void semihosting_exit(uint32_t code) {
  const uint32_t block[2] = {0x20026, code};  // ADP_Stopped_ApplicationExit
  semihosting_call(0x20, block);
  for (;;) {
  }
}

// A binary file in the emulator's folder; negative if it cannot be opened.
static inline int32_t semihosting_open(const char* name, int for_writing) {
  uint32_t length = 0;
  while (name[length]) ++length;
  const uint32_t block[3] = {(uint32_t)(uintptr_t)name, for_writing ? 5u : 1u, length};  // "wb", "rb"
  return semihosting_call(0x01, block);
}

// Both return whether all `bytes` were moved.
static inline int semihosting_read(int32_t file, void* to, size_t bytes) {
  const uint32_t block[3] = {(uint32_t)file, (uint32_t)(uintptr_t)to, (uint32_t)bytes};
  return bytes == 0 || semihosting_call(0x06, block) == 0;
}
static inline int semihosting_write(int32_t file, const void* from, size_t bytes) {
  const uint32_t block[3] = {(uint32_t)file, (uint32_t)(uintptr_t)from, (uint32_t)bytes};
  return bytes == 0 || semihosting_call(0x05, block) == 0;
}

static inline void semihosting_close(int32_t file) {
  const uint32_t block[1] = {(uint32_t)file};
  semihosting_call(0x02, block);
}
