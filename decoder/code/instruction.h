/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * instruction.h: one machine instruction in words, as gdb writes it (AT&T), and the registers that
 * it reads, with what the thread had in them. By libcapstone and nothing of ours.
 */
#ifndef EPITAPH_INSTRUCTION_H
#define EPITAPH_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

#include "coredump/memory/source.h"
#include "decoder/names/names.h"

#define EP_INSTRUCTION_MAX 15 /* bytes (Intel SDM 2.3.11) */

struct ep_instruction {
	unsigned size;       /* bytes */
	char text[224];      /* "mov 0x18(%rax), %eax" */
	char registers[256]; /* "rax 0x0, rbx 0x7ffe1234"; "" none known */
};

/*
 * The instruction at `pc` of a thread whose NT_PRSTATUS is `prstatus` (NULL: no registers are
 * told). Its bytes come from the process's memory, and where that was not saved, as code seldom is,
 * from the module's file. EP_END: there are no bytes, they are no instruction, or there is no
 * disassembler (disassembler.h).
 */
int ep_instruction_read(struct ep_instruction *out, struct ep_source *source,
			struct ep_names *names, uint64_t pc, const struct ep_source_thread *thread);

#endif
