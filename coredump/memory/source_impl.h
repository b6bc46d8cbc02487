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
#include "coredump/util/readfile.h"
#include "coredump/memory/source.h"
#include "runtime/format.h"

#define EP_PAGE         4096u
#define EP_WARNINGS_MAX 32 /* a hostile file must not make a flood */

/* What a kind of source is. */
struct ep_source_ops {
	ep_segment_read_fn *read; /* of segments that have no own */
	/* Why byte `at` cannot be read, which lies in `segment`; NULL: in none. */
	int (*fault)(const struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		     struct ep_err *err);
	/* The first address from `address` to `limit` where something other than a hole of the file
	 * lies; `limit` when there is nothing. NULL: there are no holes. */
	uint64_t (*next_data)(struct ep_source *source, uint64_t address, uint64_t limit);
	/* Frees what only this kind has; may be NULL. */
	void (*close)(struct ep_source *source);
	/* Memory comes and goes: `read` is asked whatever the segments say, also with NULL. */
	bool unbounded;
};

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
	bool owner_known;
	uint32_t uid, gid;          /* real */
	pid_t tid;                  /* live: of the thread by which it is seen (live/living.h) */
	int folder;                 /* live: /proc/TID; -1: none */
	int process;                /* live: a pidfd; -1: none */
	int fd;                     /* the core, or /proc/TID/mem; -1: none */
	int unwritable;             /* live: why fd cannot be written, an errno; 0: it can */
	const struct ep_held *held; /* ep_source_open_held; borrowed */
	struct ep_spool *spool;     /* NULL: the core did not come as a stream */
	dev_t origin_device;        /* of the file that was opened */
	ino_t origin_inode;
	uint64_t file_size;
	Elf *elf; /* of a core, else NULL */
	EP_ARRAY(struct ep_segment) segments;
	EP_ARRAY(struct ep_note) notes;
	uint64_t note_bytes; /* read so far */
	EP_ARRAY(struct ep_mapping) mappings;
	char *mapping_text; /* live: the bytes that paths borrow */
	EP_ARRAY(struct ep_source_thread) threads;
	struct ep_death death;
	const uint8_t *auxv; /* borrowed from a note, or owned_auxv */
	size_t auxv_size;
	uint8_t *owned_auxv;
	uint8_t *over; /* bytes that lie over what the source holds; NULL */
	uint64_t over_address, over_size;
	char *warnings[EP_WARNINGS_MAX];
	size_t warning_count;
	struct ep_funtrace *funtrace;     /* NULL: another kind */
	struct ep_arena_file *arena_file; /* the same */
	int arena_fd;                     /* of a core's arena that lies in a file; -1: none */
	bool changing;                    /* somebody may be writing to what is read */
};

/* A source of that kind that has nothing yet. `path` may be NULL. */
struct ep_source *ep_source_new(enum ep_source_kind kind, const struct ep_source_ops *ops,
				const char *name, const char *path);

void ep_source_warn(struct ep_source *source, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The segment that covers `address`, or NULL. Segments must be sorted. */
const struct ep_segment *ep_source_segment_at(const struct ep_source *source, uint64_t address);

/* As ep_source_ops has it. */
uint64_t ep_source_next_data(struct ep_source *source, uint64_t address, uint64_t limit);

/* The next note of a snapshot among them, from *next on, which begins with 0. False: no more. */
static inline bool ep_source_snapshot_note(const struct ep_source *source, size_t *next,
					   struct ep_snapshot_note *out)
{
	while (*next < source->notes.count) {
		const struct ep_note *note = &source->notes.list[(*next)++];

		if (!ep_note_is_snapshot(note) || note->desc_size < sizeof(*out))
			continue;
		memcpy(out, note->desc, sizeof(*out));
		return true;
	}
	return false;
}

/* From now on reads yield `bytes`, from ep_malloc, in place of what the source holds there; they
 * are the source's. One piece only. */
void ep_source_lay_over(struct ep_source *source, uint64_t address, uint8_t *bytes, uint64_t size);

#endif
