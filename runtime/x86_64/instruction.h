/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * instruction.h: how long an instruction of x86-64 is, and where it goes on (Intel SDM, volume 2,
 * appendix A), as far as compilers write them. Plain C over bytes that somebody else has read.
 */
#ifndef EPITAPH_INSTRUCTION_H
#define EPITAPH_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

enum ep_code_step_kind {
	EP_STEP_NEXT,     /* the next one, or a call that returns there */
	EP_STEP_BRANCH,   /* the next one or `target` */
	EP_STEP_JUMP,     /* `target` */
	EP_STEP_INDIRECT, /* where a register or memory says */
	EP_STEP_END,      /* nowhere in this function: ret, ud2, hlt, int3 */
};

struct ep_code_step {
	unsigned size; /* bytes */
	enum ep_code_step_kind kind;
	uint64_t target; /* EP_STEP_BRANCH, EP_STEP_JUMP */
};

/* The instruction that lies at `address`; `code` has `size` bytes of it and what follows. 0: none
 * that is known, or it is longer; *out is undefined then. */
unsigned ep_code_step(const uint8_t *code, size_t size, uint64_t address, struct ep_code_step *out);

#endif
