/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_cost.h: what scheduling events cost the process: the drain's CPU time, and that of its
 * threads in the kernel, which records while they switch. Where that is more than half of
 * EPITAPH_BUDGET the drain ends, and comes again later, each time after longer, or does not even
 * begin; where somebody asked for events they stay. Of the drain, but for ep_sched_cost,
 * ep_sched_cost_foreseen and ep_sched_cost_wait.
 */
#ifndef EPITAPH_SCHED_COST_H
#define EPITAPH_SCHED_COST_H

#include <stdbool.h>
#include <stdint.h>

/* The drain begins. */
void ep_sched_cost_begin(void);

/* It has emptied the buffers. True: it costs too much, as weighed after 20 ms of the process's CPU
 * time, then after twice as long, up to 100 ms. */
bool ep_sched_cost_too_much(void);

/* Before it begins: it would, by how often the process's threads have switched since this was asked
 * last (or since the process began), where they had at least 20 ms of CPU time. One system call;
 * signal safe, one thread at a time. */
bool ep_sched_cost_foreseen(void);

/* ns from then, or from a process's begin, until it may come again: 0 at once. */
uint64_t ep_sched_cost_wait(void);

/* ns of CPU time in all, of this process. Thread and signal safe. */
uint64_t ep_sched_cost(void);
void ep_sched_cost_forget(void);

#endif
