/* SPDX-License-Identifier: BSD-2-Clause */
/* disassembler.c: loads libcapstone when code is first looked at. */
#include "decoder/code/disassembler.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#include "coredump/util/alloc.h"

/* Of the version whose header this was compiled with. */
#define DIGITS(number)  #number
#define VERSION(number) DIGITS(number)
#define LIBRARY         "libcapstone.so." VERSION(CS_API_MAJOR)
#define PACKAGE         "libcapstone" VERSION(CS_API_MAJOR)

struct ep_disassembler ep_disassembler;

static enum { NEW, READY, MISSING } state;
static char why[256]; /* MISSING */

static bool load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool all = true;

	if (!handle) {
		snprintf(why, sizeof(why),
			 "instructions are read with libcapstone (package " PACKAGE "): %s",
			 dlerror());
		return false;
	}
#define TAKE(name)                                   \
	ep_disassembler.name = dlsym(handle, #name); \
	all = all && ep_disassembler.name;
	EP_DISASSEMBLER_FUNCTIONS(TAKE)
#undef TAKE
	if (!all)
		snprintf(why, sizeof(why),
			 "instructions are not read: " LIBRARY " lacks a function");
	return all;
}

int ep_disassembler_open(csh *out, struct ep_err *err)
{
	*out = 0;
	if (state == NEW)
		state = load() ? READY : MISSING;
	if (state == MISSING)
		return ep_fail(err, EP_E_VERSION, 0, "%s", why);
	/* Of this version and this machine nothing but memory can be missing. */
	if (ep_disassembler.cs_open(CS_ARCH_X86, CS_MODE_64, out) != CS_ERR_OK ||
	    ep_disassembler.cs_option(*out, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
		ep_out_of_memory();
	return EP_OK;
}

cs_insn *ep_disassembler_instruction(csh handle)
{
	cs_insn *insn = ep_disassembler.cs_malloc(handle);

	if (!insn)
		ep_out_of_memory();
	return insn;
}

const char *ep_disassembler_missing(void)
{
	return state == MISSING ? why : NULL;
}

uint64_t ep_insn_target(const cs_insn *insn, bool *in_slot)
{
	const cs_x86_op *operand = &insn->detail->x86.operands[0];

	*in_slot = false;
	if (insn->detail->x86.op_count != 1)
		return 0;
	if (operand->type == X86_OP_IMM)
		return (uint64_t)operand->imm;
	if (operand->type != X86_OP_MEM || operand->mem.base != X86_REG_RIP ||
	    operand->mem.index != X86_REG_INVALID || operand->mem.segment != X86_REG_INVALID)
		return 0;
	*in_slot = true;
	return insn->address + insn->size + (uint64_t)operand->mem.disp;
}
