/* SPDX-License-Identifier: BSD-2-Clause */
/* sched_section.h: the arena's section of scheduling events, as the drain fills it: formats, and a
 * pool of segments that are filled one after the other. */
#ifndef EPITAPH_SCHED_SECTION_H
#define EPITAPH_SCHED_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

extern struct ep_sched *ep_sched; /* the section; NULL: there is none */

/* For an arena that is new. False: it has no such section. */
bool ep_sched_lay_out(void);

/* Room for a chunk of `size` bytes at the most. NULL: segments are smaller. */
void *ep_sched_reserve(uint64_t size);
/* `size` bytes were written there; 0: none. */
void ep_sched_commit(uint64_t size, unsigned cpu, unsigned source);

/* Bytes that were committed, ever. */
uint64_t ep_sched_copied(void);

/* The segment of the pool, from 0, that is being filled. */
uint64_t ep_sched_segment(void);

/* Appends to the formats; what does not fit is left out. */
void ep_sched_add_format(uint32_t kind, const char *path);

/* Calls for each thread of the process but the drain. */
void ep_sched_each_thread(void (*call)(uint32_t tid));

#endif
