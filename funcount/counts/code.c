/* SPDX-License-Identifier: BSD-2-Clause */
/* code.c: one instruction after the other, from the function's first byte. */
#include "funcount/counts/code.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/code/disassembler.h"

#define LOOPS_MAX 4096 /* of one function, told apart by where they begin */

struct ep_code {
	Elf *elf; /* borrowed */
	csh handle;
	cs_insn *one;
	/* the segment that was looked at last; NULL: none */
	const uint8_t *bytes; /* borrowed from the Elf */
	uint64_t start, end;  /* addresses in the file */
	uint64_t heads[LOOPS_MAX];
};

int ep_code_create(struct ep_code **out, Elf *elf, struct ep_err *err)
{
	struct ep_code *code = ep_calloc(1, sizeof(*code));
	int rc = ep_disassembler_open(&code->handle, err);

	if (rc) {
		free(code);
		return rc;
	}
	code->one = ep_disassembler.cs_malloc(code->handle);
	if (!code->one)
		ep_out_of_memory();
	code->elf = elf;
	*out = code;
	return EP_OK;
}

void ep_code_destroy(struct ep_code *code)
{
	if (!code)
		return;
	ep_disassembler.cs_free(code->one, 1);
	ep_disassembler.cs_close(&code->handle);
	free(code);
}

static bool is_inside(const struct ep_code *code, uint64_t start, uint64_t end)
{
	return code->bytes && start >= code->start && end <= code->end;
}

/* The loaded segment that holds [start, end); false: none. */
static bool find_segment(struct ep_code *code, uint64_t start, uint64_t end)
{
	size_t count = 0;
	GElf_Phdr segment;
	Elf_Data *data;

	if (elf_getphdrnum(code->elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(code->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    start < segment.p_vaddr || end - segment.p_vaddr > segment.p_filesz)
			continue;
		data = elf_getdata_rawchunk(code->elf, (int64_t)segment.p_offset, segment.p_filesz,
					    ELF_T_BYTE);
		if (!data || data->d_size < segment.p_filesz)
			continue;
		code->bytes = data->d_buf;
		code->start = segment.p_vaddr;
		code->end = segment.p_vaddr + segment.p_filesz;
		return true;
	}
	return false;
}

/* Bytes of the file that are loaded to [start, end); NULL: not all of it is there. */
static const uint8_t *find_bytes(struct ep_code *code, uint64_t start, uint64_t end)
{
	if (start >= end || (!is_inside(code, start, end) && !find_segment(code, start, end)))
		return NULL;
	return code->bytes + (start - code->start);
}

/* A jump, conditional or not, to a place that it names; false: anything else. */
static bool is_jump(const struct ep_code *code, uint64_t *target)
{
	const cs_x86 *x86 = &code->one->detail->x86;

	if (!ep_disassembler.cs_insn_group(code->handle, code->one, X86_GRP_JUMP) ||
	    x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x86->operands[0].imm;
	return true;
}

/* Several jumps back to one place are one loop, left by `continue`. */
static void count_loop(struct ep_code *code, uint64_t head, struct ep_code_facts *facts)
{
	for (uint32_t i = 0; i < facts->loops; i++)
		if (code->heads[i] == head)
			return;
	if (facts->loops < LOOPS_MAX)
		code->heads[facts->loops++] = head;
}

int ep_code_look(struct ep_code *code, uint64_t start, uint64_t end, struct ep_code_facts *out)
{
	const uint8_t *at = find_bytes(code, start, end);
	struct ep_code_facts facts = {0};
	size_t left = end - start;
	uint64_t address = start, target;

	if (!at)
		return EP_END;
	while (left &&
	       ep_disassembler.cs_disasm_iter(code->handle, &at, &left, &address, code->one)) {
		facts.instructions++;
		if (is_jump(code, &target) && target >= start && target <= code->one->address)
			count_loop(code, target, &facts);
	}
	facts.whole = left == 0;
	*out = facts;
	return EP_OK;
}
