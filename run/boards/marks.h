// SPDX-License-Identifier: Apache-2.0
// Marks for the instruction counter (run/plugin/icount.c). A mark adds no instruction: it records the address
// of the next one in a section that is never loaded, as {address, 'B' or 'E', region}. It orders memory
// accesses, so that the work of a kernel stays between its marks.
#pragma once

#define RUSHLIGHT_MARK(kind, region)                    \
  __asm__ volatile(                                     \
      "0:\n"                                            \
      ".pushsection .rushlight_marks,\"\",%%progbits\n" \
      ".word 0b, %c0, %c1\n"                            \
      ".popsection" ::"i"(kind),                        \
      "i"(region)                                       \
      : "memory")
#define RUSHLIGHT_MARK_BEGIN(region) RUSHLIGHT_MARK('B', region)
#define RUSHLIGHT_MARK_END(region) RUSHLIGHT_MARK('E', region)

// Region 0 is a whole run(); call i of a model is region i + 1.
#ifdef RUSHLIGHT_MARK_CALLS
#define RUSHLIGHT_BEFORE_CALL(i) RUSHLIGHT_MARK_BEGIN((i) + 1)
#define RUSHLIGHT_AFTER_CALL(i) RUSHLIGHT_MARK_END((i) + 1)
#endif
