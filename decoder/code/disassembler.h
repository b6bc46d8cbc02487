/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disassembler.h: libcapstone, for x86-64. It is loaded when code is looked at for the first time:
 * its tables are full of addresses, and to relocate these took most of the time in which `epitaph`
 * starts.
 */
#ifndef EPITAPH_DISASSEMBLER_H
#define EPITAPH_DISASSEMBLER_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdint.h>

#include "coredump/util/error.h"

#define EP_DISASSEMBLER_FUNCTIONS(X) \
	X(cs_open)                   \
	X(cs_close)                  \
	X(cs_option)                 \
	X(cs_malloc)                 \
	X(cs_free)                   \
	X(cs_disasm)                 \
	X(cs_disasm_iter)            \
	X(cs_insn_group)             \
	X(cs_regs_access)            \
	X(cs_reg_name)

/* Its functions by their names. To be used with a handle that ep_disassembler_open gave; NULL
 * before. */
struct ep_disassembler {
#define EP_DISASSEMBLER_MEMBER(name) __typeof__(&name) name;
	EP_DISASSEMBLER_FUNCTIONS(EP_DISASSEMBLER_MEMBER)
#undef EP_DISASSEMBLER_MEMBER
};
extern struct ep_disassembler ep_disassembler;

/*
 * A handle that tells operands and groups, too; *out is 0 when it fails. The caller closes it with
 * cs_close. EP_E_VERSION: the library cannot be used, and err tells why (it is looked for once in
 * the life of the process). Not safe against itself in other threads.
 */
int ep_disassembler_open(csh *out, struct ep_err *err);

/* Room for one instruction and its details; the caller frees it with cs_free. */
cs_insn *ep_disassembler_instruction(csh handle);

/*
 * Where a call or jump goes, as far as that is written in it: an address of code, or, *in_slot,
 * that of the word in memory which has it (relative to rip, as in the global offset table). 0:
 * neither. Intel's manual, volume 2: CALL, JMP, Jcc.
 */
uint64_t ep_insn_target(const cs_insn *insn, bool *in_slot);

/* One line: why it could not be used when it was wanted; NULL: it could be, or was not wanted.
 * Static. */
const char *ep_disassembler_missing(void);

#endif
