/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_cost.h: what scheduling events cost the process: the drain's CPU time, and that of its
 * threads in the kernel, which records while they switch. Where that is more than half of
 * EPITAPH_BUDGET and more than EPITAPH_IDLE_BUDGET the drain ends, and comes again later, each time
 * after longer, or does not even begin; where somebody asked for events they stay. Of the drain,
 * but for ep_sched_cost_before, ep_sched_cost and ep_sched_cost_wait.
 */
#ifndef EPITAPH_SCHED_COST_H
#define EPITAPH_SCHED_COST_H

#include <stdbool.h>
#include <stdint.h>

/* The drain is about to be made. */
void ep_sched_cost_before(void);

/* Threads have waited since then. */
bool ep_sched_cost_waits(void);

/* The kernel records. */
void ep_sched_cost_begin(void);

/* The drain has emptied the buffers: what that and the kernel's part cost, as weighed after 20 ms
 * of the process's CPU time, then after twice as long, up to 100 ms. `other`: ns of the drain's CPU
 * time, in all, that went into something else. */
enum ep_sched_verdict {
	EP_SCHED_FINE,
	EP_SCHED_TOO_OFTEN, /* most of it is the drain's own, that may look less often */
	EP_SCHED_TOO_MUCH,
};
enum ep_sched_verdict ep_sched_cost_weigh(uint64_t other);

/* A process that has lived for `age` ns may have an ftrace instance, which takes 3 ms of CPU time
 * to make: a hundredth of a second's, or of its own. */
bool ep_sched_cost_of_age(uint64_t age);

/* Before the kernel records: it would, by how often the process's threads have switched since this
 * was asked last, or since the first drain was made. */
bool ep_sched_cost_foreseen(void);

/* ns from then, or from a process's begin, until it may come again: 0 at once. */
uint64_t ep_sched_cost_wait(void);

/* ns of CPU time in all, of this process. Thread and signal safe. */
uint64_t ep_sched_cost(void);
void ep_sched_cost_forget(void);

#endif
