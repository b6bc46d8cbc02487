/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * integrity.h: a program may write over the runtime's memory: by mistake, or, as redis's crash
 * handler, to test all that is anonymous. So what lies in the arena, in thread-local memory and in
 * .bss is held against what lies in initialized data before it is followed. Where they differ
 * tracing ends, for good: the hooks' first instruction becomes `ret`, as they could not run without
 * thread-local memory, and the arena is not written to any more.
 */
#ifndef EPITAPH_INTEGRITY_H
#define EPITAPH_INTEGRITY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

/* Initialized data is a private copy of a file, and not anonymous. */
#define EP_IN_DATA __attribute__((section(".data.epitaph_truth")))

struct ep_truth {
	uint32_t over;                         /* the memory was written over */
	uint32_t sections;                     /* in use */
	uint64_t arena, size;                  /* address, bytes reserved; 0: none yet */
	uint64_t opened;                       /* most bytes that were ever committed */
	uint64_t threads, threads_size, rings; /* addresses, bytes */
	struct ep_section section[EP_SECTION_MAX];
	uint32_t fault_handlers; /* of the program's own that run (record/faults.h) */
};
extern struct ep_truth ep_truth;

/* Tracing has ended because of it. */
static inline bool ep_overwritten(void)
{
	return __atomic_load_n(&ep_truth.over, __ATOMIC_RELAXED) != 0;
}

/* A handler runs that may write over anything: what looks odd may be that. */
static inline bool ep_faults_run(void)
{
	return __atomic_load_n(&ep_truth.fault_handlers, __ATOMIC_RELAXED) != 0;
}

/* A section's first byte and size in bytes; NULL: none was laid out. Not by what the arena says,
 * which may be written over. */
void *ep_arena_section(uint32_t type, uint64_t *size);

/*
 * The arena's first page is what it should be; after ep_arena_start. Else, and where it was not
 * before, false: tracing has ended. Signal safe.
 */
bool ep_arena_intact(void);

/* Ends tracing, because of EP_OFF_ `reason`. Signal safe. */
void ep_integrity_end(uint32_t reason);

#endif
