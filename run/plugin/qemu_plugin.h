/* SPDX-License-Identifier: Apache-2.0
 * The part of QEMU's TCG plugin interface that versions 1 to 4 (QEMU 4.2 to 10.x) share, written from its
 * documentation, so that neither QEMU's header nor GLib is needed to build. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t; /* its fields differ between versions */
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_PLUGIN_CB_NO_REGS = 0 };

typedef void (*qemu_plugin_tb_translation_callback)(qemu_plugin_id_t, struct qemu_plugin_tb*);
typedef void (*qemu_plugin_data_callback)(unsigned vcpu, void* data);
typedef void (*qemu_plugin_exit_callback)(qemu_plugin_id_t, void*);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_tb_translation_callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb*, qemu_plugin_data_callback, int flags,
                                          void*);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, qemu_plugin_data_callback, int flags,
                                            void*);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_exit_callback, void*);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn*);

/* Only in interface versions 2 and later: absent (null) under version 1. */
int qemu_plugin_num_vcpus(void) __attribute__((weak));
