/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_section.h: the arena's section of scheduling events, as the drain fills it: formats, and a
 * pool of segments that are filled one after the other. Where they lie is kept outside of the
 * arena: the program may have written over the section's head.
 */
#ifndef EPITAPH_SCHED_SECTION_H
#define EPITAPH_SCHED_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

/* The section, or, where there is a drain without one, as none are wanted, one outside of the
 * arena; NULL: neither. */
extern struct ep_sched *ep_sched;

/* For an arena that is new; `anyway`: a drain is wanted also without events. False: there is to be
 * none. */
bool ep_sched_lay_out(bool anyway);

/* Room for a chunk of `size` bytes at the most. NULL: segments are smaller. */
void *ep_sched_reserve(uint64_t size);
/* `size` bytes were written there; 0: none. */
void ep_sched_commit(uint64_t size, unsigned cpu, unsigned source);

/* Bytes that were committed, ever. */
uint64_t ep_sched_copied(void);

/* Segments of the pool; the one, from 0, that is being filled; where one begins. */
uint64_t ep_sched_segments(void);
uint64_t ep_sched_segment(void);
struct ep_sched_chunk *ep_sched_segment_at(uint64_t segment);

/* The formats, and how many bytes they take. */
const char *ep_sched_formats(uint64_t *size);
void ep_sched_drop_formats(void);
/* Appends to the formats; what does not fit is left out. */
void ep_sched_add_format(uint32_t kind, const char *path);

/* Calls for each thread of the process but the drain. */
void ep_sched_each_thread(void (*call)(uint32_t tid));

#endif
