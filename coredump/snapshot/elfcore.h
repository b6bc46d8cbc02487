/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elfcore.h: writes an ELF core, in one pass from its first byte to its last, so that it can go
 * into a pipe.
 *
 *   ┌──────┬─────────┬──────────────────┬───────┬──────────────────────────┐
 *   │ Ehdr │ PT_NOTE │ PT_LOAD, PT_LOAD…│ notes │ pages, each 4 KiB aligned│
 *   └──────┴─────────┴──────────────────┴───────┴──────────────────────────┘
 */
#ifndef EPITAPH_ELFCORE_H
#define EPITAPH_ELFCORE_H

#include "coredump/memory/source.h"

struct ep_elfcore_note {
	const char *name;
	uint32_t type; /* NT_ */
	uint32_t size; /* bytes of desc */
	const void *desc;
};

/* A PT_LOAD: memory size and file size are the same, or gdb would show zeroes for the rest. */
struct ep_elfcore_piece {
	uint64_t address, size;
	uint32_t flags;       /* PF_ */
	const uint8_t *bytes; /* NULL: read from the source when written */
};

struct ep_elfcore {
	const struct ep_elfcore_note *notes;
	size_t note_count;
	const struct ep_elfcore_piece *pieces; /* ascending, disjoint */
	size_t piece_count;
};

/* Writes to `fd`, which `path` names in messages. *written counts bytes. */
int ep_elfcore_write(const struct ep_elfcore *core, struct ep_source *source, int fd,
		     const char *path, uint64_t *written, struct ep_err *err);

#endif
