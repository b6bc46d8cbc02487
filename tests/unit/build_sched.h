/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build_sched.h: scheduling events for an arena of build_arena.h, by runtime/format.h and the
 * kernel's page layout. Attach before the first thread has a ring.
 */
#ifndef EPITAPH_TESTS_BUILD_SCHED_H
#define EPITAPH_TESTS_BUILD_SCHED_H

#include "tests/unit/build_arena.h"

#define BUILD_SCHED_SIZE   (4096u + 8 * 4096u + 4 * EP_SCHED_SEGMENT)
#define BUILD_SCHED_SWITCH 1 /* ids of events in the formats */
#define BUILD_SCHED_WAKING 2
#define BUILD_SCHED_ENTER  3

struct build_sched {
	struct build_arena *arena;
	struct ep_sched *head;
	uint64_t at; /* where the next chunk goes, from the section's start */
	uint64_t sequence;
	const char *name; /* threads are called "name-tid" ("task") */
	/* the page in hand */
	_Alignas(8) uint8_t page[4096];
	uint32_t used;
	uint64_t tsc;
};

/* A section of `size` bytes, a copy of `bytes` (NULL: zeroes), behind the others. */
struct ep_sched *build_sched_attach(struct build_arena *b, const void *bytes, size_t size);

/* A section with the formats of sched_switch, sched_waking and sys_enter, recorded from `tsc`
 * on. */
void build_sched_init(struct build_sched *s, struct build_arena *b, uint64_t tsc);
/* Puts another format there instead of all. */
void build_sched_format(struct build_sched *s, const char *text);

/* A page begins; events; it becomes a chunk. `missed`: the kernel lost some before it. */
void build_sched_page(struct build_sched *s, uint64_t tsc);
void build_sched_switch(struct build_sched *s, uint64_t tsc, uint32_t prev, uint64_t state,
			uint32_t next);
void build_sched_waking(struct build_sched *s, uint64_t tsc, uint32_t waker, unsigned flags,
			uint32_t tid);
void build_sched_enter(struct build_sched *s, uint64_t tsc, uint32_t tid, uint64_t number,
		       uint64_t argument);
void build_sched_flush(struct build_sched *s, unsigned cpu, bool missed);

/* Any bytes as a chunk. */
struct ep_sched_chunk *build_sched_chunk(struct build_sched *s, const void *bytes, uint32_t size,
					 unsigned cpu, unsigned source);
/* Makes check words of all chunks of a section right, as far as they can be found. */
void build_sched_seal(uint8_t *section, size_t size, uint64_t identity);

#endif
