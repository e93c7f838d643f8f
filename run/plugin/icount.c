/* SPDX-License-Identifier: Apache-2.0
 * Counts the instructions a guest executes between marks: exact, repeatable, without a trace in the guest's
 * code.
 *
 *   marks=FILE  lines "ADDRESS KIND REGION", ADDRESS in hex; KIND B or E: the region begins or ends before
 * the instruction at ADDRESS (run/boards/marks.h makes them) out=FILE    gets a line "REGION INSTRUCTIONS"
 * for each region passed, in the order of their ends
 *
 * Regions may nest. A mark may be the head of a loop: a begin counts only while its region is closed, an end
 * only while it is open. All instructions of a translation block execute once it is entered, because the
 * guest takes no interrupt and no fault inside a region; so the count is the sum over executed blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"

/* QEMU reads this after loading; set below to a version that it accepts. */
QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

struct mark {
  uint64_t address;
  int begins;
  unsigned region;
};
struct region {
  int open;
  uint64_t start;
};
/* A marked instruction in one translation block. */
struct hit {
  const struct mark* mark;
  uint64_t instructions_from_here; /* of the block, already counted when the mark is reached */
};

static struct mark* marks;
static size_t mark_count;
static struct region* regions;
static uint64_t executed;
static FILE* out;

/* Version 1 is all that QEMU before 9 accepts; 9 and later accept 2 and up. */
__attribute__((constructor)) static void choose_version(void) {
  if (qemu_plugin_num_vcpus) qemu_plugin_version = 2;
}

static void on_block(unsigned vcpu, void* instructions) {
  (void)vcpu;
  executed += (uint64_t)(uintptr_t)instructions;
}

static void on_mark(unsigned vcpu, void* data) {
  const struct hit* hit = data;
  struct region* region = &regions[hit->mark->region];
  uint64_t now = executed - hit->instructions_from_here;
  (void)vcpu;
  if (hit->mark->begins && !region->open) {
    region->open = 1;
    region->start = now;
  } else if (!hit->mark->begins && region->open) {
    region->open = 0;
    fprintf(out, "%u %llu\n", hit->mark->region, (unsigned long long)(now - region->start));
  }
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  size_t count = qemu_plugin_tb_n_insns(block);
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS, (void*)(uintptr_t)count);
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    for (size_t m = 0; m < mark_count; ++m) {
      struct hit* hit;
      if (marks[m].address != qemu_plugin_insn_vaddr(instruction)) continue;
      /* Lives as long as QEMU may run the block: until exit. */
      hit = malloc(sizeof *hit);
      if (!hit) abort();
      hit->mark = &marks[m];
      hit->instructions_from_here = count - i;
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, QEMU_PLUGIN_CB_NO_REGS, hit);
    }
  }
}

static void on_exit_of_guest(qemu_plugin_id_t id, void* data) {
  (void)id;
  (void)data;
  fclose(out);
}

static int read_marks(const char* path) {
  unsigned long long address;
  char kind;
  unsigned region, region_count = 0;
  FILE* in = fopen(path, "r");
  if (!in) return -1;
  while (fscanf(in, "%llx %c %u", &address, &kind, &region) == 3) {
    struct mark* more = realloc(marks, (mark_count + 1) * sizeof *marks);
    if (!more || region > 1000000) return -1;
    marks = more;
    marks[mark_count].address = address;
    marks[mark_count].begins = kind == 'B';
    marks[mark_count++].region = region;
    if (region >= region_count) region_count = region + 1;
  }
  fclose(in);
  regions = calloc(region_count + 1, sizeof *regions);
  return regions ? 0 : -1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                           char** argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (!strncmp(argv[i], "marks=", 6)) {
      if (read_marks(argv[i] + 6)) return -1;
    } else if (!strncmp(argv[i], "out=", 4)) {
      out = fopen(argv[i] + 4, "w");
    }
  }
  if (!out || !regions) {
    fprintf(stderr, "icount: needs readable marks=FILE and writable out=FILE\n");
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit_of_guest, 0);
  return 0;
}
