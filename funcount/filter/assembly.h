/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * assembly.h: what a compiler wrote for the assembler: its lines, the functions in it, and where
 * they call the hooks.
 *
 * A function begins at its label, behind its .type, and ends at its .size; its cold part
 * (NAME.cold) belongs to it, wherever it stands. What stands between
 * #APP and #NO_APP is the user's: its instructions and jumps count, but no hook
 * is ever seen in it. A function that bears no mark of a compiler's (.LFB0, .Lfunc_end0, or gcc's
 * .ident at the end) is the user's altogether.
 */
#ifndef EPITAPH_FILTER_ASSEMBLY_H
#define EPITAPH_FILTER_ASSEMBLY_H

#include <stdint.h>

#include "coredump/util/array.h"
#include "coredump/util/error.h"
#include "funcount/filter/hooks.h"
#include "funcount/filter/statement.h"

#define EP_NO_FUNCTION UINT32_MAX

/* The text of an assembly file, at most: offsets stay in 32 bits. */
#define EP_ASSEMBLY_MAX ((size_t)2 << 30)

struct ep_assembly_line {
	uint32_t at, size; /* bytes of the text, without the newline */
	uint32_t function; /* index, or EP_NO_FUNCTION */
	bool user;         /* between #APP and #NO_APP */
};

struct ep_site {
	uint32_t line, function; /* indexes from 0 */
	struct ep_hook hook;     /* CALL or JUMP */
	uint32_t load;           /* line that loads the address; 0: none */
};

struct ep_assembly_function {
	char *name;
	uint32_t line;         /* of its label */
	uint32_t instructions; /* hooks and their arguments included */
	uint32_t sites;        /* how many */
	bool loop;             /* a jump backwards */
	bool compiled;         /* a compiler's */
	bool intel;            /* in Intel syntax */
	const char *strange;   /* why its hooks can't be taken; static, or NULL */
	uint32_t strange_line;
	uint32_t indirect; /* last line that jumps to what a register says */
};

/* Another name of a function. */
struct ep_alias {
	char *name;
	uint32_t function;
};

struct ep_assembly {
	const char *text; /* borrowed */
	size_t size;
	EP_ARRAY(struct ep_assembly_line) lines;
	EP_ARRAY(struct ep_assembly_function) functions;
	EP_ARRAY(struct ep_site) sites; /* ascending lines */
	EP_ARRAY(struct ep_alias) aliases;
	bool defines_hooks;     /* a hook's own body is in here */
	struct ep_piece source; /* what .file says; size 0: nothing */
};

/* Reads `text`, which must outlive the assembly. EP_E_LIMIT: it is too long; nothing in a text is
 * an error. */
int ep_assembly_read(struct ep_assembly *assembly, const char *text, size_t size,
		     struct ep_err *err);
void ep_assembly_deinit(struct ep_assembly *assembly);

static inline struct ep_piece ep_assembly_line(const struct ep_assembly *assembly, uint32_t line)
{
	const struct ep_assembly_line *one = &assembly->lines.list[line];

	return (struct ep_piece){assembly->text + one->at, one->size};
}

#endif
