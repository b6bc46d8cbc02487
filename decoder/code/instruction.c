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
#include "decoder/code/effects.h"

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

/* Those that it reads, whole or a part of, each once. */
static void registers_write(struct ep_instruction *out, csh handle, const cs_insn *insn,
			    const struct user_regs_struct *values)
{
	uint64_t told = 0; /* bits, one for each word of the registers */
	size_t used = 0;
	cs_regs reads, writes;
	uint8_t read_count, write_count;

	if (ep_disassembler.cs_regs_access(handle, insn, reads, &read_count, writes,
					   &write_count) != CS_ERR_OK)
		return;
	for (uint8_t i = 0; i < read_count; i++) {
		const char *name;
		uint64_t value;
		size_t at;

		if (!ep_general_register(reads[i], NULL, NULL, &name, &at) ||
		    told & UINT64_C(1) << at / 8 || used >= sizeof(out->registers) - 32)
			continue;
		told |= UINT64_C(1) << at / 8;
		memcpy(&value, (const char *)values + at, 8);
		used += (size_t)snprintf(out->registers + used, sizeof(out->registers) - used,
					 "%s%s 0x%" PRIx64, used ? ", " : "", name, value);
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
