/* SPDX-License-Identifier: BSD-2-Clause */
/* redact_impl.h: what the files that redact have in common. */
#ifndef EPITAPH_REDACT_IMPL_H
#define EPITAPH_REDACT_IMPL_H

#include <stdbool.h>

#include "coredump/snapshot/gathered.h"
#include "runtime/format.h"

#define EP_COMM 16u /* bytes of a thread's name in the kernel, with its NUL */

struct ep_redaction {
	struct ep_gathered *gathered;
	uint32_t words;            /* EP_REDACTED_ */
	uint64_t identity;         /* of the arenas */
	uint64_t arena;            /* the process's own, or the kept one */
	struct ep_section modules; /* its load map; size 0: none */
	uint32_t module_count;
	uint64_t key[2];           /* of names that stand for others; nobody keeps it */
	struct ep_range arguments; /* arguments and environment on the first stack; empty: to be
				      left alone */
	char program[2][EP_COMM];  /* what threads are called by default */
};

/* redact_notes.c: the notes, as they will be written. */
void ep_redact_notes(struct ep_redaction *r);
/* redact_arena.c: r->modules, by the arena's first page. */
void ep_redact_find_modules(struct ep_redaction *r);
/* An arena, also a kept one, of `size` bytes. */
void ep_redact_arena(struct ep_redaction *r, uint64_t address, uint64_t size);
/* redact_marks.c: a page of the rings, and `offset`, its place in the arena. */
void ep_redact_block(struct ep_redaction *r, struct ep_block *block, uint64_t offset);
/* redact_sched.c: scheduling events of a section of `size` bytes. */
void ep_redact_sched(struct ep_redaction *r, uint64_t address, uint64_t size);

/* redact_names.c: what threads are called by default. */
void ep_redact_find_program(struct ep_redaction *r);
/* A thread's name of `size` bytes, NUL-padded, that is left out. */
bool ep_redact_hides_name(const struct ep_redaction *r, const uint8_t *name, size_t size);
/* A name that stands for `name`, in its `size` bytes, NUL-padded: the same for the same one, of
 * which only the first 39 bytes count. */
void ep_redact_token(const struct ep_redaction *r, uint8_t *name, size_t size);

#endif
