/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_sources.h: where the drain (sched.c) has its events from: sched_ftrace.c, sched_perf.c. All
 * of it runs in the drain, but for ep_ftrace_remove: raw system calls, no thread-local memory.
 * Descriptors are the drain's.
 */
#ifndef EPITAPH_SCHED_SOURCES_H
#define EPITAPH_SCHED_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/lib/helper.h"

#define EP_SCHED_CPUS 1024 /* more than these are not recorded */

/* 0 or an errno. It waits for its turn, and not when `drain` is to end. */
int ep_ftrace_open(uint64_t bytes, struct ep_helper *drain);
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

/* 0 or an errno. */
int ep_perf_open(uint64_t bytes);
unsigned ep_perf_drain(void);
void ep_perf_close(void);

/* In a forked child: nothing of what the parent's drain had opened is here, and nothing of it is to
 * be given back. */
void ep_ftrace_forget(void);
void ep_perf_forget(void);

#endif
