/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strip.h: a linked executable or shared library whose functions lose their hooks: calls become
 * nops of the same size, a hook that is jumped to at a function's end becomes a return. Addresses,
 * sizes and the build-id stay. What was there lies in a section of its own (.epitaph.stripped,
 * strip_record.h), so that it can be put back.
 *
 * All hooks of a function go, those of its cold part too, or none: a function in which a hook is
 * used in another way, or whose bytes are not all instructions, is left as it is, with the reason.
 */
#ifndef EPITAPH_STRIP_H
#define EPITAPH_STRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coredump/util/error.h"
#include "funcount/filter/rules.h"
#include "funcount/strip/strip_record.h"

struct ep_strip_function {
	const char *name;
	uint64_t start, end;   /* addresses in the file; of its main part */
	uint32_t instructions; /* without hooks; 0: not looked at */
	uint32_t hooks;
	bool loop;
	struct ep_rule_verdict verdict;
	bool stripped;
	char refused[96]; /* why a verdict was not followed; "": it was */
};

struct ep_strip {
	struct ep_strip_function *functions; /* ascending start */
	size_t count;
	struct ep_strip_patches patches; /* of those that are stripped */
	uint32_t stripped, refused;      /* functions */
	bool hooks;                      /* the file has any to call */
	bool locals;                     /* it has a .symtab: local functions have names */
	void *impl;
};

/*
 * Reads `bytes` (borrowed, not changed) and decides by `rules`. `all`: also functions that no rule
 * is about are looked at, for a listing. EP_E_FORMAT: no linked 64-bit x86 ELF file. EP_END: it has
 * no names of functions. EP_E_VERSION: no disassembler (disassembler.h). EP_E_CORRUPT.
 */
int ep_strip_decide(struct ep_strip *strip, const uint8_t *bytes, size_t size,
		    struct ep_rules *rules, bool all, struct ep_err *err);
void ep_strip_deinit(struct ep_strip *strip);

#endif
