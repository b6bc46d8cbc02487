/* SPDX-License-Identifier: BSD-2-Clause */
/* funtrace_impl.h: the parts of reading a funtrace.raw: the file's chunks, its memory map, its
 * entries, and the arena that is made of them. */
#ifndef EPITAPH_FUNTRACE_IMPL_H
#define EPITAPH_FUNTRACE_IMPL_H

#include <elf.h>
#include <libelf.h>

#include "coredump/util/cursor.h"
#include "coredump/memory/elfimage.h"
#include "coredump/funtrace/funtrace.h"
#include "coredump/memory/source_impl.h"
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
	char *text; /* of ftrace: all chunks */
	size_t text_size;
	uint8_t *chunks, *maps, *ids;
	size_t maps_size, ids_size;
	struct ep_funtrace_module *modules; /* of maps */
	size_t module_count;
};

/* All samples of source->fd; *list from malloc, also when *count is 0. */
int ep_funtrace_index(struct ep_source *source, struct ep_funtrace_sample **list, size_t *count,
		      struct ep_err *err);
int ep_funtrace_load(struct ep_funtrace *out, struct ep_source *source,
		     const struct ep_funtrace_sample *sample, struct ep_err *err);
void ep_funtrace_unload(struct ep_funtrace *sample);

/* ---- funtrace_text.c: FTRACETX ---- */

#define EP_FUNTRACE_TSC_MAX (UINT64_C(1) << 62) /* as the reader of arenas */

void ep_funtrace_count_lines(struct ep_funtrace_facts *facts);

/* ---- funtrace_maps.c: PROCMAPS ---- */

struct ep_funtrace_module {
	uint64_t start, end; /* process virtual, as the file has it */
	uint64_t offset;     /* of `start`: in the file, or p_vaddr */
	const char *path;    /* borrowed from the text; not terminated */
	uint32_t path_size;
	uint8_t build_id[EP_BUILD_ID_MAX];
	uint32_t build_id_size;
};

/* Modules by ascending start, disjoint; *list from malloc. Changes the order of nothing in
 * `sample`. EP_E_MEMORY only. */
int ep_funtrace_modules(struct ep_source *source, const struct ep_funtrace *sample,
			struct ep_funtrace_module **list, size_t *count, struct ep_err *err);

/* The bias of each module of the arena by its file on disk, as far as that is found: below the
 * source's sysroot. Once only. */
void ep_funtrace_place_modules(struct ep_source *source);

/* The module that `address` lies in; SIZE_MAX: none. */
size_t ep_funtrace_module_at(const struct ep_funtrace_module *modules, size_t count,
			     uint64_t address);

/* A module's file. */
struct ep_funtrace_object {
	Elf64_Phdr headers[EP_ELF_IMAGE_HEADERS];
	unsigned count;
	uint16_t type;
	uint64_t low, high; /* of its PT_LOADs: p_vaddr, whole pages */
};

bool ep_funtrace_object_read(struct ep_funtrace_object *object, Elf *elf);
/* The bias, when a segment of the file fits to what the map says. */
bool ep_funtrace_bias(const struct ep_funtrace_object *object, uint64_t start, uint64_t offset,
		      uint64_t size, uint64_t *bias);

#define EP_FUNTRACE_PATH 8192

/* Where the file of a module is. */
void ep_funtrace_path(char *out, size_t size, const struct ep_source *source, bool is_program,
		      const char *path, size_t path_size);

/* ---- funtrace_code.c: pieces of code ---- */

struct ep_funtrace_code;

/* Borrows all; NULL: out of memory. */
struct ep_funtrace_code *ep_funtrace_code_create(const struct ep_source *source,
						 const struct ep_funtrace_module *modules,
						 size_t count, size_t program);
void ep_funtrace_code_destroy(struct ep_funtrace_code *code);

/* Where the piece of code begins that `address` lies in: a function, or its cold part. 0: unknown;
 * also for a NULL code. */
uint64_t ep_funtrace_piece(struct ep_funtrace_code *code, uint64_t address);

enum ep_funtrace_parent {
	EP_FUNTRACE_UNNAMED, /* no symbol tells what it is */
	EP_FUNTRACE_WHOLE,   /* a function of its own */
	EP_FUNTRACE_PARENT,  /* a cold part of the one at [*low, *high) */
};

/* What the piece that begins at `piece` is. */
enum ep_funtrace_parent ep_funtrace_parent(struct ep_funtrace_code *code, uint64_t piece,
					   uint64_t *low, uint64_t *high);

/* ---- funtrace_arena.c: the arena ---- */

struct ep_funtrace_arena {
	uint8_t *bytes;
	size_t size, capacity; /* bytes; all up to `size` are in use */
	size_t limit;          /* bytes: entries hours apart take a block each, but not
				  all of memory */
	uint64_t threads;      /* offset of the thread table */
	const struct ep_funtrace_module *modules; /* borrowed */
	size_t module_count;
	size_t program;                /* among the modules */
	struct ep_funtrace_code *code; /* borrowed; NULL: unknown */
	bool followed;                 /* it mattered what code is where */
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

int ep_funtrace_arena_begin(struct ep_funtrace_arena *arena, const struct ep_funtrace *sample,
			    const struct ep_funtrace_module *modules, size_t module_count,
			    struct ep_err *err);
void ep_funtrace_arena_end(struct ep_funtrace_arena *arena);

/* `whole`: nothing came before the first record. */
void ep_funtrace_writer_init(struct ep_funtrace_writer *writer, struct ep_funtrace_arena *arena,
			     uint32_t serial, bool whole);
/* Records of ascending `tsc`; `address` has 47 bits. EP_E_MEMORY; EP_E_LIMIT: it is left out, the
 * arena is full. */
int ep_funtrace_put(struct ep_funtrace_writer *writer, uint64_t address, bool is_return,
		    uint64_t tsc);
int ep_funtrace_put_mark(struct ep_funtrace_writer *writer, unsigned mark, uint64_t address,
			 uint64_t tsc);
void ep_funtrace_writer_end(struct ep_funtrace_writer *writer, const struct ep_funtrace_id *id);

/* ---- funtrace_events.c: entries ---- */

/* One thread's entries into the arena; counts what is left out. */
int ep_funtrace_events(struct ep_funtrace_arena *arena, const struct ep_funtrace_buffer *buffer,
		       uint32_t serial, struct ep_funtrace_facts *facts, struct ep_err *err);

#endif
