// SPDX-License-Identifier: Apache-2.0
// The instructions of the DSP extension that kernels use. Where the compiler has none, as on the host, they
// are spelled out, so that the bodies over them can be tested there.
#pragma once

#include <stdint.h>

#if defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#endif

namespace rushlight::kernels::simd {

// Four bytes from any address.
inline uint32_t load_word(const void* p) {
  uint32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}
inline void store_word(int8_t* p, uint32_t word) { __builtin_memcpy(p, &word, sizeof word); }

inline int32_t low_half(uint32_t x) { return static_cast<int16_t>(x); }
inline int32_t high_half(uint32_t x) { return static_cast<int32_t>(x) >> 16; }

#if defined(__ARM_FEATURE_SIMD32)

// Bytes 0 and 2 as halfwords, and bytes 1 and 3: one instruction each, the rotation included.
inline uint32_t even_bytes(uint32_t x) {
  uint32_t result;
  __asm__("sxtb16 %0, %1" : "=r"(result) : "r"(x));
  return result;
}
inline uint32_t odd_bytes(uint32_t x) {
  uint32_t result;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(x));
  return result;
}
// acc + low(a) * low(b) + high(a) * high(b)
inline int32_t multiply_add_halves(uint32_t a, uint32_t b, int32_t acc) {
  int32_t result;
  __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(acc));
  return result;
}
inline int64_t multiply_add_halves(uint32_t a, uint32_t b, int64_t acc) {
  __asm__("smlald %Q0, %R0, %1, %2" : "+r"(acc) : "r"(a), "r"(b));
  return acc;
}
// The low halves of two registers in one, and the high ones.
inline uint32_t low_halves(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
inline uint32_t high_halves(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("pkhtb %0, %2, %1, asr #16" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
// The greater and the smaller of each pair of bytes. SEL reads the flags that SSUB8 sets.
inline uint32_t max_bytes(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b));
  return result;
}
inline uint32_t min_bytes(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(result) : "r"(a), "r"(b));
  return result;
}

#else

inline uint32_t two_halves(int32_t low, int32_t high) {
  return (static_cast<uint32_t>(high) << 16) | (static_cast<uint32_t>(low) & 0xFFFFU);
}
inline int32_t byte_of(uint32_t x, int k) { return static_cast<int8_t>(x >> (8 * k)); }
inline uint32_t even_bytes(uint32_t x) { return two_halves(byte_of(x, 0), byte_of(x, 2)); }
inline uint32_t odd_bytes(uint32_t x) { return two_halves(byte_of(x, 1), byte_of(x, 3)); }
inline int32_t multiply_add_halves(uint32_t a, uint32_t b, int32_t acc) {
  return acc + low_half(a) * low_half(b) + high_half(a) * high_half(b);
}
inline int64_t multiply_add_halves(uint32_t a, uint32_t b, int64_t acc) {
  return acc + int64_t{low_half(a)} * low_half(b) + int64_t{high_half(a)} * high_half(b);
}
inline uint32_t low_halves(uint32_t a, uint32_t b) { return (a & 0xFFFFU) | (b << 16); }
inline uint32_t high_halves(uint32_t a, uint32_t b) { return (a >> 16) | (b & 0xFFFF0000U); }
inline uint32_t choose_bytes(uint32_t a, uint32_t b, bool greater) {
  uint32_t result = 0;
  for (int k = 0; k < 4; ++k) {
    const bool takes_a = (byte_of(a, k) >= byte_of(b, k)) == greater;
    result |= static_cast<uint32_t>(static_cast<uint8_t>(byte_of(takes_a ? a : b, k))) << (8 * k);
  }
  return result;
}
inline uint32_t max_bytes(uint32_t a, uint32_t b) { return choose_bytes(a, b, true); }
inline uint32_t min_bytes(uint32_t a, uint32_t b) { return choose_bytes(a, b, false); }

#endif

}  // namespace rushlight::kernels::simd
