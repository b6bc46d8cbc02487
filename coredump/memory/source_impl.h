/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_impl.h: what a kind of source fills in. Only the files that implement source.h include it.
 * Everything a source owns hangs on struct ep_source and goes with ep_source_close.
 */
#ifndef EPITAPH_SOURCE_IMPL_H
#define EPITAPH_SOURCE_IMPL_H

#include <libelf.h>
#include <string.h>

#include "coredump/util/array.h"
#include "coredump/util/list.h"
#include "coredump/util/readfile.h"
#include "coredump/memory/source.h"
#include "runtime/format.h"

#define EP_PAGE         4096u
#define EP_WARNINGS_MAX 32 /* a hostile file must not make a flood */

struct ep_source_ops {
	/* As ep_source_read; `done` and `err` are never NULL. */
	int (*read)(struct ep_source *source, uint64_t address, void *out, size_t size,
		    size_t *done, struct ep_err *err);
	/* The first address from `address` to `limit` where something other than a hole of the file
	 * lies; `limit` when there is nothing. */
	uint64_t (*next_data)(struct ep_source *source, uint64_t address, uint64_t limit);
	/* After ep_source_set_files; may be NULL. */
	void (*files_set)(struct ep_source *source);
};

struct ep_funtrace_facts;
struct ep_funtrace;
struct ep_spool;
struct ep_arena_file;
struct ep_held;

struct ep_source {
	const struct ep_source_ops *ops;
	enum ep_source_kind kind;
	char *name;
	char *path;       /* the core's; NULL live */
	char *executable; /* ep_source_set_files; NULL: as the core says */
	char *sysroot;
	pid_t pid;
	int fd;                     /* the core, or /proc/PID/mem; -1: none */
	const struct ep_held *held; /* ep_source_open_held; borrowed */
	struct ep_spool *spool;     /* NULL: the core did not come as a stream */
	dev_t origin_device;        /* of the file that was opened */
	ino_t origin_inode;
	uint64_t file_size;
	Elf *elf; /* NULL live */
	struct ep_segment *segments;
	size_t segment_count;
	struct ep_note *notes;
	size_t note_count, note_capacity;
	uint64_t note_bytes; /* read so far */
	struct ep_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	char *mapping_text; /* live: the bytes that paths borrow */
	struct ep_source_thread *threads;
	size_t thread_count, thread_capacity;
	struct ep_death death;
	const uint8_t *auxv; /* borrowed from a note, or owned_auxv */
	size_t auxv_size;
	uint8_t *owned_auxv;
	uint8_t *over; /* bytes that lie over what the source holds; NULL */
	uint64_t over_address, over_size;
	char *warnings[EP_WARNINGS_MAX];
	size_t warning_count;
	uint8_t *arena;    /* of a funtrace.raw: the segment's bytes */
	bool arena_placed; /* its modules were looked for on disk */
	struct ep_funtrace_facts *funtrace;
	struct ep_funtrace *funtrace_sample; /* until files are set, as far as
						it depends on them */
	struct ep_arena_file *arena_file;
	int arena_fd;  /* of a core's arena that lies in a file; -1: none */
	bool changing; /* somebody may be writing to what is read */
};

/* A zeroed source of that kind with `name`; NULL: out of memory. */
struct ep_source *ep_source_new(enum ep_source_kind kind, const struct ep_source_ops *ops,
				const char *name);

void ep_source_warn(struct ep_source *source, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* funtrace.c: what is kept of a sample. */
void ep_funtrace_forget(struct ep_source *source);

/* The segment that covers `address`, or NULL. Segments must be sorted. */
const struct ep_segment *ep_source_segment_at(const struct ep_source *source, uint64_t address);

/* notes.c: takes the notes in `elf`'s bytes [offset, offset + size), which lie in the file, into
 * source->notes. Damage is a warning. EP_E_MEMORY only. */
int ep_notes_read(struct ep_source *source, uint64_t offset, uint64_t size, uint64_t align,
		  struct ep_err *err);

/* The next note of a snapshot among them, from *next on, which begins with 0. False: no more. */
static inline bool ep_source_snapshot_note(const struct ep_source *source, size_t *next,
					   struct ep_snapshot_note *out)
{
	while (*next < source->note_count) {
		const struct ep_note *note = &source->notes[(*next)++];

		if (!ep_note_is_snapshot(note) || note->desc_size < sizeof(*out))
			continue;
		memcpy(out, note->desc, sizeof(*out));
		return true;
	}
	return false;
}

/* Threads, mappings, auxv and death from source->notes. */
int ep_notes_digest(struct ep_source *source, struct ep_err *err);

/*
 * identify.c: says what the file is that is not an x86-64 ELF core, and what to do next. EP_OK: it
 * has the header of one. `fd` is a regular file of
 * `size` bytes.
 */
int ep_identify_core(int fd, const char *path, uint64_t size, struct ep_err *err);

/* From now on reads yield `bytes`, from malloc, in place of what the source holds there; they are
 * the source's. One piece only. */
void ep_source_lay_over(struct ep_source *source, uint64_t address, uint8_t *bytes, uint64_t size);

#endif
