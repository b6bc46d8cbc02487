/* SPDX-License-Identifier: BSD-2-Clause */
/* parts.c: the function's instructions, as they lie in its file, else in memory. */
#include "decoder/code/parts.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/code/disassembler.h"

#define CODE_MAX 65536u

static bool jumps_into(csh handle, const uint8_t *code, size_t size, uint64_t address,
		       const struct ep_function *part)
{
	cs_insn *insn = ep_disassembler_instruction(handle);
	bool found = false;

	while (size && !found) {
		uint64_t target;
		bool in_slot;

		if (!ep_disassembler.cs_disasm_iter(handle, &code, &size, &address, insn)) {
			code++, size--, address++; /* the next byte may be an instruction */
			continue;
		}
		if (!ep_disassembler.cs_insn_group(handle, insn, X86_GRP_JUMP))
			continue;
		target = ep_insn_target(insn, &in_slot);
		found = !in_slot && target >= part->start && target < part->end;
	}
	ep_disassembler.cs_free(insn, 1);
	return found;
}

bool ep_parts_belong(struct ep_source *source, struct ep_names *names,
		     const struct ep_function *function, const struct ep_function *part)
{
	size_t size = function->end - function->start, got;
	uint8_t *code;
	bool found;
	csh handle;

	if (function->end <= function->start || part->end <= part->start ||
	    ep_disassembler_open(&handle, NULL))
		return false;
	size = size < CODE_MAX ? size : CODE_MAX;
	code = ep_malloc(CODE_MAX);
	got = ep_names_code(names, function->start, code, size);
	if (got < size)
		ep_source_read(source, function->start, code, size, &got, NULL);
	found = jumps_into(handle, code, got, function->start, part);
	free(code);
	ep_disassembler.cs_close(&handle);
	return found;
}
