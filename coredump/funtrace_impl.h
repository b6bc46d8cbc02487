/* SPDX-License-Identifier: BSD-2-Clause */
/* funtrace_impl.h: the parts of reading a funtrace.raw: the file's chunks, its
 * memory map, its entries, and the arena that is made of them. */
#ifndef EPITAPH_FUNTRACE_IMPL_H
#define EPITAPH_FUNTRACE_IMPL_H

#include "coredump/cursor.h"
#include "coredump/funtrace.h"
#include "coredump/source_impl.h"
#include "runtime/format.h"

/* ---- funtrace_file.c: chunks ---- */

/* Content of a chunk in the file. */
struct ep_funtrace_place {
	uint64_t offset, size; /* bytes; size 0: there is none */
};

struct ep_funtrace_sample {
	uint64_t start, end; /* its chunks */
	struct ep_funtrace_place maps, ids;
	uint64_t buffers, texts; /* chunks */
	bool closed;             /* by ENDTRACE */
};

/* One thread's entries. */
struct ep_funtrace_buffer {
	struct ep_funtrace_id id; /* zeroes: unknown */
	struct ep_cursor entries; /* whole ones */
};

/* One sample in memory. */
struct ep_funtrace {
	uint64_t hz; /* 0 unknown */
	const uint8_t *command;
	size_t command_size;
	struct ep_funtrace_buffer *buffers;
	size_t buffer_count, buffer_capacity;
	uint64_t scheduling; /* bytes */
	uint8_t *chunks, *maps, *ids;
	size_t maps_size, ids_size;
};

/* All samples of source->fd; *list from malloc, also when *count is 0. */
int ep_funtrace_index(struct ep_source *source,
		      struct ep_funtrace_sample **list, size_t *count,
		      struct ep_err *err);
int ep_funtrace_load(struct ep_funtrace *out, struct ep_source *source,
		     const struct ep_funtrace_sample *sample,
		     struct ep_err *err);
void ep_funtrace_unload(struct ep_funtrace *sample);

/* ---- funtrace_maps.c: PROCMAPS ---- */

struct ep_funtrace_module {
	uint64_t start, end; /* process virtual, as the file has it */
	uint64_t offset;     /* of `start`: in the file, or p_vaddr */
	const char *path;    /* borrowed from the text; not terminated */
	uint32_t path_size;
	uint8_t build_id[EP_BUILD_ID_MAX];
	uint32_t build_id_size;
};

/* Modules by ascending start, disjoint; *list from malloc. Changes the order of
 * nothing in `sample`. EP_E_MEMORY only. */
int ep_funtrace_modules(struct ep_source *source,
			const struct ep_funtrace *sample,
			struct ep_funtrace_module **list, size_t *count,
			struct ep_err *err);

/* The bias of each module of the arena by its file on disk, as far as that is
 * found: below the source's sysroot. Once only. */
void ep_funtrace_place_modules(struct ep_source *source);

/* ---- funtrace_arena.c: the arena ---- */

struct ep_funtrace_arena {
	uint8_t *bytes;
	size_t size, capacity; /* bytes; all up to `size` are in use */
	size_t limit; /* bytes: entries hours apart take a block each, but not
			 all of memory */
	uint64_t threads; /* offset of the thread table */
	const struct ep_funtrace_module *modules; /* borrowed */
	size_t module_count;
	uint64_t identity;
};

/* The records of one thread as they are written. */
struct ep_funtrace_writer {
	struct ep_funtrace_arena *arena;
	uint32_t serial;
	uint64_t blocks;   /* entered */
	uint64_t sequence; /* of the latest */
	uint64_t at;       /* offset of the open block */
	uint32_t next;     /* word of it */
	uint64_t last;     /* TSC of the last record */
};

int ep_funtrace_arena_begin(struct ep_funtrace_arena *arena,
			    const struct ep_funtrace *sample,
			    const struct ep_funtrace_module *modules,
			    size_t module_count, struct ep_err *err);
void ep_funtrace_arena_end(struct ep_funtrace_arena *arena);

/* `whole`: nothing came before the first record. */
void ep_funtrace_writer_init(struct ep_funtrace_writer *writer,
			     struct ep_funtrace_arena *arena, uint32_t serial,
			     bool whole);
/* Records of ascending `tsc`; `address` has 47 bits. EP_E_MEMORY; EP_E_LIMIT:
 * it is left out, the arena is full. */
int ep_funtrace_put(struct ep_funtrace_writer *writer, uint64_t address,
		    bool is_return, uint64_t tsc);
int ep_funtrace_put_mark(struct ep_funtrace_writer *writer, unsigned mark,
			 uint64_t address, uint64_t tsc);
void ep_funtrace_writer_end(struct ep_funtrace_writer *writer,
			    const struct ep_funtrace_id *id);

/* ---- funtrace_events.c: entries ---- */

/* One thread's entries into the arena; counts what is left out. */
int ep_funtrace_events(struct ep_funtrace_arena *arena,
		       const struct ep_funtrace_buffer *buffer, uint32_t serial,
		       struct ep_funtrace_facts *facts, struct ep_err *err);

#endif
