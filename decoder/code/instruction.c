/* SPDX-License-Identifier: BSD-2-Clause */
/* instruction.c: an instruction in words, and the registers that it reads. */
#include "decoder/code/instruction.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include "coredump/snapshot/redacted.h"
#include "decoder/code/disassembler.h"

/* ---- its bytes ---- */

static size_t bytes_read(struct ep_source *source, struct ep_names *names, uint64_t pc,
			 uint8_t out[EP_INSTRUCTION_MAX])
{
	size_t got = 0;

	ep_source_read(source, pc, out, EP_INSTRUCTION_MAX, &got, NULL);
	if (got == 0 && names)
		got = ep_names_code(names, pc, out, EP_INSTRUCTION_MAX);
	return got;
}

/* ---- its registers ---- */

static const struct {
	x86_reg wide, narrow; /* 64 bits, 32 bits: the same register */
	const char *name;
	size_t offset; /* in struct user_regs_struct */
} general[] = {
#define GENERAL(wide, narrow, name)                                                              \
	{                                                                                        \
		X86_REG_##wide, X86_REG_##narrow, #name, offsetof(struct user_regs_struct, name) \
	}
	GENERAL(RAX, EAX, rax),  GENERAL(RBX, EBX, rbx),  GENERAL(RCX, ECX, rcx),
	GENERAL(RDX, EDX, rdx),  GENERAL(RSI, ESI, rsi),  GENERAL(RDI, EDI, rdi),
	GENERAL(RBP, EBP, rbp),  GENERAL(RSP, ESP, rsp),  GENERAL(R8, R8D, r8),
	GENERAL(R9, R9D, r9),    GENERAL(R10, R10D, r10), GENERAL(R11, R11D, r11),
	GENERAL(R12, R12D, r12), GENERAL(R13, R13D, r13), GENERAL(R14, R14D, r14),
	GENERAL(R15, R15D, r15),
#undef GENERAL
};

static int general_find(uint16_t reg)
{
	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		if (general[i].wide == reg || general[i].narrow == reg)
			return (int)i;
	return -1;
}

/* Those that it reads, each once. What it reads of narrower ones is told by its text. */
static void registers_write(struct ep_instruction *out, csh handle, const cs_insn *insn,
			    const struct user_regs_struct *values)
{
	uint16_t told = 0;
	size_t used = 0;
	cs_regs reads, writes;
	uint8_t read_count, write_count;

	if (ep_disassembler.cs_regs_access(handle, insn, reads, &read_count, writes,
					   &write_count) != CS_ERR_OK)
		return;
	for (uint8_t i = 0; i < read_count; i++) {
		int at = general_find(reads[i]);
		uint64_t value;

		if (at < 0 || told & 1u << at || used >= sizeof(out->registers) - 32)
			continue;
		told |= (uint16_t)(1u << at);
		memcpy(&value, (const char *)values + general[at].offset, 8);
		used += (size_t)snprintf(out->registers + used, sizeof(out->registers) - used,
					 "%s%s 0x%" PRIx64, used ? ", " : "", general[at].name,
					 value);
	}
}

static void registers_of(struct ep_instruction *out, csh handle, const cs_insn *insn,
			 const struct ep_source_thread *thread)
{
	struct user_regs_struct values;
	struct elf_prstatus status;

	if (!thread || !thread->has_registers || !thread->prstatus ||
	    thread->prstatus_size < sizeof(status))
		return;
	memcpy(&status, thread->prstatus, sizeof(status));
	static_assert(sizeof(status.pr_reg) == sizeof(values), "psABI x86-64");
	memcpy(&values, &status.pr_reg, sizeof(values));
	registers_write(out, handle, insn, &values);
}

/* ---- the whole ---- */

int ep_instruction_read(struct ep_instruction *out, struct ep_source *source,
			struct ep_names *names, uint64_t pc, const struct ep_source_thread *thread)
{
	uint8_t bytes[EP_INSTRUCTION_MAX];
	size_t size = bytes_read(source, names, pc, bytes);
	cs_insn *insn;
	csh handle;

	if (size == 0 || ep_disassembler_open(&handle, NULL))
		return EP_END;
	ep_disassembler.cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	if (ep_disassembler.cs_disasm(handle, bytes, size, pc, 1, &insn) != 1) {
		ep_disassembler.cs_close(&handle);
		return EP_END;
	}
	memset(out, 0, sizeof(*out));
	out->size = insn->size;
	snprintf(out->text, sizeof(out->text), "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "",
		 insn->op_str);
	if (!(ep_source_redacted(source) & EP_REDACTED_REGISTERS))
		registers_of(out, handle, insn, thread);
	ep_disassembler.cs_free(insn, 1);
	ep_disassembler.cs_close(&handle);
	return EP_OK;
}
