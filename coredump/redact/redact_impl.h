/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redact_impl.h: redaction works on the bytes that an extraction has gathered, before anything of
 * them is written: what is left out never was in the file.
 */
#ifndef EPITAPH_REDACT_IMPL_H
#define EPITAPH_REDACT_IMPL_H

#include <stdbool.h>

#include "coredump/snapshot/extract_impl.h"
#include "coredump/redact/redact.h"
#include "runtime/format.h"

#define EP_COMM 16u /* bytes of a thread's name in the kernel, with its NUL */

struct ep_redaction {
	struct ep_extraction *x;
	uint32_t words;            /* EP_REDACTED_ */
	uint64_t identity;         /* of the arenas */
	uint64_t arena;            /* the process's own, or the kept one */
	struct ep_section modules; /* its load map; size 0: none */
	uint32_t module_count;
	uint64_t key[2];            /* of names that stand for others; nobody keeps it */
	struct ep_extent arguments; /* arguments and environment on the first
				       stack; empty: to be left alone */
	char program[2][EP_COMM];   /* what threads are called by default */
};

/* ---- redact.c: the bytes ---- */

/* Where `size` bytes at `address` lie in what was gathered; NULL: not all of them are there, or not
 * in one piece. */
uint8_t *ep_redact_at(struct ep_redaction *r, uint64_t address, uint64_t size);
/* Zeroes what there is of [address, address + size). */
void ep_redact_wipe(struct ep_redaction *r, uint64_t address, uint64_t size);
/* A thread's name of `size` bytes, NUL-padded, that is not to be told. */
bool ep_redact_hides_name(const struct ep_redaction *r, const uint8_t *name, size_t size);

/* ---- one file each ---- */

/* redact_notes.c: x->notes, as they will be written. */
int ep_redact_notes(struct ep_redaction *r, struct ep_err *err);
/* redact_arena.c: r->modules, by the arena's first page. */
void ep_redact_find_modules(struct ep_redaction *r);
/* An arena, also a kept one, of `size` bytes. */
void ep_redact_arena(struct ep_redaction *r, uint64_t address, uint64_t size);
/* redact_marks.c: a page of the rings, and `offset`, its place in the arena. */
void ep_redact_block(struct ep_redaction *r, struct ep_block *block, uint64_t offset);
/* A name that stands for `name`, in its `size` bytes, NUL-padded: the same for the same one, of
 * which only the first 39 bytes count. */
void ep_redact_token(const struct ep_redaction *r, uint8_t *name, size_t size);
/* redact_sched.c: scheduling events of a section of `size` bytes. */
void ep_redact_sched(struct ep_redaction *r, uint64_t address, uint64_t size);

#endif
