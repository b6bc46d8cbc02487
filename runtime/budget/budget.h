/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget.h: EPITAPH_BUDGET, the share of a process's CPU time that tracing may take. No thread of
 * its own: each thread, where it enters a block, adds up what its events have cost since it last
 * looked, and where that is worth a look compares it with its own CPU time; where nobody enters
 * one, the drain of scheduling events looks (kernel/sched.h), if there is one. Above its share it
 * counts the events in its own last blocks by function, and switches off those with the most events
 * for the least time (switches.h) until what is left fits. Below it, functions come back on
 * probation, each time after longer; never is one switched off that somebody wants traced
 * (EP_SWITCH_KEPT), that waits, or that ran long of late.
 */
#ifndef EPITAPH_BUDGET_H
#define EPITAPH_BUDGET_H

#include <stdint.h>

#include "runtime/record/tls.h"

/* By the settings; after ep_switches_start. */
void ep_budget_start(void);

/* Before a fork: what children found to cost too much goes off here, so that those to come inherit
 * it: some 10 us for each function, once, so that a fork may come 20 ms later. Signal safe. */
void ep_budget_before_fork(void);

/* A hook ran though everything is off for the budget: some ns, but when it is time to try again
 * with everything on: see budget.c. Signal safe. */
void ep_budget_visit(void);

/* The same, and trials of single functions, where what is left on runs too seldom for a thread to
 * fill a block: by the drain, 10 to 1,000 times a second. Without thread-local memory. */
void ep_budget_tick(void);

/*
 * Marks (exceptions, jumps: record/mark.h) cost, too, and more than a call does. `ns`: what they
 * have cost the calling thread, or, where it is not 0, what `spared` of them would have that were
 * left out. Signal safe.
 */
void ep_budget_mark(struct ep_tls *tls, uint64_t ns, unsigned spared);

/* Not 0: marks cost too much, and those are left out that change nothing of what is open
 * (marks.h). */
extern uint32_t ep_budget_thin;

/* The calling thread has filled a block, and enters the next one at `tsc`. Some ns, now and then
 * some 10 us, which are part of the cost. Signal safe. */
void ep_budget_block(struct ep_tls *tls, uint64_t tsc);

#endif
