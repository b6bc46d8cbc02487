/* SPDX-License-Identifier: BSD-2-Clause */
/* code.h: how large a function is in instructions, and how many loops it has, from its bytes.
 * x86-64, by libcapstone. */
#ifndef EPITAPH_CODE_H
#define EPITAPH_CODE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "coredump/util/error.h"

struct ep_code;

struct ep_code_facts {
	uint32_t instructions;
	uint32_t loops; /* jumps back to an earlier place of the function, as many different ones as
			   there are */
	bool whole;     /* false: bytes that are no instruction end what is known */
};

/* EP_E_VERSION: there is no disassembler (disassembler.h). `elf` holds the code, and must outlive
 * it. */
int ep_code_create(struct ep_code **out, Elf *elf, struct ep_err *err);
void ep_code_destroy(struct ep_code *code); /* NULL is allowed */

/*
 * Facts of the code at [start, end), addresses in the file. EP_END: the file does not hold all of
 * it; *out is untouched.
 */
int ep_code_look(struct ep_code *code, uint64_t start, uint64_t end, struct ep_code_facts *out);

#endif
