/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build_arena.h: makes a valid arena in memory, by runtime/format.h and nothing else, so that
 * readers can be tested against every shape of it, whole or damaged. All it hands out points into
 * `bytes`: change what you like, then build_arena_seal (root) or build_block_seal (block) makes
 * checksums right again.
 *
 * 	struct build_arena *b = build_arena_create(NULL);
 * 	struct ep_thread *t = build_arena_thread(b, 101, "worker", 4);
 *
 * 	build_arena_module(b, "/usr/bin/server", 0x400000, 0x500000, 0, id, 20);
 * 	build_call(b, t, 0x401000, 1000000);
 * 	build_return(b, t, 0x401000, 1000800);
 * 	build_arena_seal(b);
 * 	ep_image_from_bytes(&image, b->bytes, b->committed, &err);
 * 	build_arena_destroy(b);
 *
 * A failed allocation or a call that makes no sense ends the test (abort).
 */
#ifndef EPITAPH_TESTS_BUILD_ARENA_H
#define EPITAPH_TESTS_BUILD_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format.h"

#define BUILD_ARENA_THREADS 4096 /* that the builder keeps a cursor of */

struct build_arena_options {
	uint64_t address;  /* process virtual, page aligned */
	uint64_t size;     /* bytes reserved */
	uint64_t identity; /* random in life */
	uint64_t start_tsc;
	uint64_t tsc_hz;
	uint32_t pid;
	uint32_t thread_capacity; /* at most BUILD_ARENA_THREADS */
	uint32_t module_capacity;
};
/* 8 GiB up, 16 MiB, pid 100, TSC of 3 GHz from 1,000,000 on, 64 of each. */
#define BUILD_ARENA_DEFAULTS                                                    \
	((struct build_arena_options){.address = UINT64_C(0x200000000),         \
				      .size = 16u << 20,                        \
				      .identity = UINT64_C(0x1122334455667788), \
				      .start_tsc = 1000000,                     \
				      .tsc_hz = UINT64_C(3000000000),           \
				      .pid = 100,                               \
				      .thread_capacity = 64,                    \
				      .module_capacity = 64})

/* Where the next event of a thread goes. */
struct build_cursor {
	struct ep_block *block; /* NULL: none entered yet */
	uint32_t next;          /* record in it */
	uint64_t last_tsc;      /* of the last timed record */
};

struct build_arena {
	uint8_t *bytes; /* `size` bytes, page aligned, zero where not written */
	uint64_t size;
	uint64_t committed; /* what a core would hold */
	struct ep_arena *arena;
	struct ep_process *process;
	struct ep_clock *clock;
	struct ep_thread *threads;
	struct ep_modules *modules;
	uint32_t thread_count;
	uint32_t process_strings;                         /* bytes of the section that are in use */
	struct build_cursor cursors[BUILD_ARENA_THREADS]; /* by serial - 1 */
};

/* NULL: the defaults. The process section and two clock anchors are filled, the root is sealed. */
struct build_arena *build_arena_create(const struct build_arena_options *);
void build_arena_destroy(struct build_arena *b);

/* The section of that type, which is there. */
struct ep_section *build_section_of(struct build_arena *b, uint32_t type);

/* Makes the CRC of the arena's root right, and `committed`. */
void build_arena_seal(struct build_arena *b);
/* The root in the runtime's data that would go with it, at address `self`. */
struct ep_root build_arena_root(const struct build_arena *b, uint64_t self);
/* Makes any root's CRC right. */
void build_root_seal(struct ep_root *root);

/* Puts `text` into the process section. */
struct ep_string build_arena_string(struct build_arena *b, const void *text, size_t length);
/* A section of zeroes, behind the others. Before the first thread has a ring. */
void *build_arena_section(struct build_arena *b, uint32_t type, uint32_t entry_size, uint64_t size);
/* Writes a valid anchor into slot `slot`. */
void build_arena_anchor(struct build_arena *b, unsigned slot, uint64_t tsc, uint64_t monotonic_raw,
			uint64_t realtime, uint64_t width);

/* A new live thread with a ring of `ring_blocks` (a power of two; 0: without ring), serial counting
 * from 1. */
struct ep_thread *build_arena_thread(struct build_arena *b, uint32_t tid, const char *name,
				     uint32_t ring_blocks);

/* A new module; `build_id` may be NULL. Flags are 0. */
struct ep_module *build_arena_module(struct build_arena *b, const char *path, uint64_t start,
				     uint64_t end, uint64_t bias, const void *build_id,
				     uint32_t build_id_size);
/* Module entry `index`. */
struct ep_module *build_arena_module_at(struct build_arena *b, uint32_t index);

/* Enters the thread's next block (the oldest is overwritten when the ring is full): cleared,
 * sequence, owner and check set; the first gets EP_BLOCK_FIRST.
 */
struct ep_block *build_block(struct build_arena *b, struct ep_thread *thread, uint64_t tsc);
/* The same with these records (at most EP_BLOCK_RECORDS) in it. */
struct ep_block *build_block_of(struct build_arena *b, struct ep_thread *thread, uint64_t tsc,
				const uint64_t *records, size_t count);
/* Block `index` of the thread's ring. */
struct ep_block *build_block_at(struct build_arena *b, struct ep_thread *thread, uint32_t index);
/* Makes the check word right after header fields were changed. */
void build_block_seal(struct build_arena *b, struct ep_block *block);

/* One word. `tsc` 0: untimed. */
uint64_t build_record(uint64_t address, bool is_return, uint64_t tsc);

/*
 * Appends one event as the runtime would: a new block when full or after a long gap, an escape word
 * when more than EP_GAP_CYCLES went by. `tsc` 0: untimed (only in a block that has been entered).
 */
void build_event(struct build_arena *b, struct ep_thread *thread, uint64_t address, bool is_return,
		 uint64_t tsc);

static inline void build_call(struct build_arena *b, struct ep_thread *thread, uint64_t address,
			      uint64_t tsc)
{
	build_event(b, thread, address, false, tsc);
}

static inline void build_return(struct build_arena *b, struct ep_thread *thread, uint64_t address,
				uint64_t tsc)
{
	build_event(b, thread, address, true, tsc);
}

#endif
