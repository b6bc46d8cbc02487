/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_impl.h: what the drain (sched.c) and its two sources (sched_ftrace.c, sched_perf.c) share.
 * All of it runs in the drain, but for ep_ftrace_remove: raw system calls, no thread-local memory.
 */
#ifndef EPITAPH_SCHED_IMPL_H
#define EPITAPH_SCHED_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

#define EP_SCHED_CPUS 1024 /* more than these are not recorded */

extern struct ep_sched *ep_sched; /* the section; NULL: there is none */

/* ---- the pool (sched.c) ---- */

/* Room for a chunk of `size` bytes at the most. NULL: segments are smaller. */
void *ep_sched_reserve(uint64_t size);
/* `size` bytes were written there; 0: none. */
void ep_sched_commit(uint64_t size, unsigned cpu, unsigned source);

/* The segment of the pool, from 0, that is being filled. */
uint64_t ep_sched_segment(void);

/* Appends to the formats; what does not fit is left out. */
void ep_sched_add_format(uint32_t kind, const char *path);

/* Waits; false: the drain is to end. */
bool ep_sched_wait(long ns);
bool ep_sched_wanted(void);

/* ---- the sources: 0 or an errno; descriptors are the drain's ---- */

int ep_ftrace_open(uint64_t bytes);
/* Copies what is there. The greatest part, in 1/256, of a CPU's buffer that it filled. */
unsigned ep_ftrace_drain(void);
/* Records no more; what is in the buffers stays. */
void ep_ftrace_stop(void);
/* Lets go of it: nothing else keeps it from being removed. */
void ep_ftrace_close(void);
/* For one who has not the drain's descriptors: where the instance is. */
bool ep_ftrace_find(void);
/* Removes the instance; false: somebody uses it still. In any process that shares the memory. */
bool ep_ftrace_remove(void);

int ep_perf_open(uint64_t bytes);
unsigned ep_perf_drain(void);
void ep_perf_close(void);

/* In a forked child: nothing of what the parent's drain had opened is here, and nothing of it is to
 * be given back. */
void ep_ftrace_forget(void);
void ep_perf_forget(void);

/* Calls for each thread of the process but the drain. */
void ep_sched_each_thread(void (*call)(uint32_t tid));

#endif
