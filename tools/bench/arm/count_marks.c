// SPDX-License-Identifier: BSD-3-Clause
// A plugin of qemu-user (7.2 or later) that counts the instructions of a 64-bit Arm program between
// its marks (HINT #77): a line of stderr for each mark, with what ran since the one before.
//   qemu-aarch64 -plugin ./count_marks.so program
// The functions of the plugin interface are declared here, so that no header of it is needed.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
typedef void (*translated)(uint64_t id, struct qemu_plugin_tb* block);
typedef void (*executed)(unsigned processor, void* data);
enum { ADD_U64 = 0, NO_REGISTERS = 0 };
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn*, int, void*,
                                                       uint64_t);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, executed, int, void*);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
extern struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
extern const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

static const uint32_t kMark = 0xD50329BF;
static uint64_t count;

static void marked(unsigned processor, void* data) {
  (void)processor, (void)data;
  fprintf(stderr, "mark %" PRIu64 "\n", count);
  count = 0;
}

static void on_translated(uint64_t id, struct qemu_plugin_tb* block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD_U64, &count, 1);
    if (word == kMark) {
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, marked, NO_REGISTERS, NULL);
    }
  }
}

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info_t* info, int argc, char** argv) {
  (void)info, (void)argc, (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  return 0;
}
