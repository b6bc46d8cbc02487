/* SPDX-License-Identifier: BSD-2-Clause */
/* funtrace_impl.h: the parts of reading a funtrace.raw: the file's chunks, its memory map, its
 * entries, and the arena that is made of them. */
#ifndef EPITAPH_FUNTRACE_IMPL_H
#define EPITAPH_FUNTRACE_IMPL_H

#include "coredump/funtrace/funtrace.h"
#include "coredump/memory/source_impl.h"
#include "coredump/util/array.h"
#include "coredump/util/cursor.h"
#include "runtime/format.h"

/* What a source has of it. */
struct ep_funtrace {
	struct ep_funtrace_facts facts;
	uint8_t *arena; /* the segment's bytes */
	char *text;     /* of FTRACETX */
	bool placed;    /* its modules were looked for on disk */
	/* Where XRay's returns are among the entries: what they are of is settled once the files on
	 * disk are known. NULL: there are none, or it is done. */
	struct ep_funtrace_content *content;
};

/* ---- chunks.c ---- */

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

struct ep_funtrace_samples {
	struct ep_funtrace_sample *list;
	size_t count, capacity;
};

/* One thread's entries. */
struct ep_funtrace_buffer {
	struct ep_funtrace_id id; /* zeroes: unknown */
	struct ep_cursor entries; /* whole ones */
};

/* One sample in memory. */
struct ep_funtrace_content {
	uint64_t hz; /* 0 unknown */
	const uint8_t *command;
	size_t command_size;
	EP_ARRAY(struct ep_funtrace_buffer) buffers;
	EP_ARRAY(char) text; /* of all FTRACETX */
	uint8_t *chunks, *maps, *ids;
	size_t maps_size, ids_size;
	EP_ARRAY(struct ep_funtrace_module) modules; /* by ascending start, disjoint */
};

/* All samples of source->fd. */
int ep_funtrace_index(struct ep_source *source, struct ep_funtrace_samples *out,
		      struct ep_err *err);
/* All but the modules. */
int ep_funtrace_load(struct ep_funtrace_content *out, struct ep_source *source,
		     const struct ep_funtrace_sample *sample, struct ep_err *err);
void ep_funtrace_unload(struct ep_funtrace_content *content);

/* ---- modules.c: PROCMAPS, BUILDIDS ---- */

struct ep_funtrace_module {
	uint64_t start, end; /* process virtual, as the file has it */
	uint64_t offset;     /* of `start`: in the file, or p_vaddr */
	const char *path;    /* borrowed from the text; not terminated */
	uint32_t path_size;
	uint8_t build_id[EP_BUILD_ID_MAX];
	uint32_t build_id_size;
};

/* Fills content->modules. */
void ep_funtrace_modules(struct ep_source *source, struct ep_funtrace_content *content);

/* The bias of each module of the arena by its file on disk, as far as that is found: below the
 * source's sysroot. Once only. */
void ep_funtrace_place_modules(struct ep_source *source);

/* A piece of code that a symbol of a placed module names. */
struct ep_funtrace_code {
	uint64_t start, end;       /* process virtual */
	uint64_t owner, owner_end; /* of the function: of a cold part another one */
	const char *name;          /* while they are collected */
	uint32_t file;             /* likewise: the STT_FILE that it stands under, 0 global */
};
struct ep_funtrace_codes {
	struct ep_funtrace_code *list; /* by ascending start */
	size_t count, capacity;
};

/* Those of all modules that were placed. */
void ep_funtrace_codes(struct ep_source *source, struct ep_funtrace_codes *codes);

/* ---- arena.c ---- */

struct ep_funtrace_arena {
	const struct ep_funtrace_codes *codes; /* borrowed; NULL: none is known */
	EP_ARRAY(uint8_t) bytes;               /* all up to `count` are in use */
	size_t limit;     /* bytes: entries hours apart take a block each, but not all of memory */
	uint64_t threads; /* offset of the thread table */
	const struct ep_funtrace_content *content; /* borrowed */
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

void ep_funtrace_arena_begin(struct ep_funtrace_arena *arena,
			     const struct ep_funtrace_content *content);
void ep_funtrace_arena_end(struct ep_funtrace_arena *arena);

/* `whole`: nothing came before the first record. */
void ep_funtrace_writer_init(struct ep_funtrace_writer *writer, struct ep_funtrace_arena *arena,
			     uint32_t serial, bool whole);
/* Records of ascending `tsc`; `address` has 47 bits. False: it is left out, the arena is full. */
bool ep_funtrace_put(struct ep_funtrace_writer *writer, uint64_t address, bool is_return,
		     uint64_t tsc);
bool ep_funtrace_put_mark(struct ep_funtrace_writer *writer, unsigned mark, uint64_t address,
			  uint64_t tsc);
void ep_funtrace_writer_end(struct ep_funtrace_writer *writer, const struct ep_funtrace_id *id);

/* ---- text.c: FTRACETX ---- */

void ep_funtrace_count_lines(struct ep_funtrace_facts *facts);

/* ---- entries.c ---- */

#define EP_FUNTRACE_TSC_MAX (UINT64_C(1) << 62) /* as the reader of arenas */

/* One thread's entries into the arena; counts what is left out. */
void ep_funtrace_entries(struct ep_funtrace_arena *arena, const struct ep_funtrace_buffer *buffer,
			 uint32_t serial, struct ep_funtrace_facts *facts);

#endif
