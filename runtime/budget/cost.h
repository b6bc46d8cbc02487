/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost.h: what tracing costs a process, and what it may: an account that the program's own CPU time
 * fills and tracing empties. Below zero tracing has had more than its share; what is left over is
 * kept up to a bound, so that a quiet time pays for a short storm, but not for a long one. All in
 * TSC cycles; free of state but for its own.
 */
#ifndef EPITAPH_COST_H
#define EPITAPH_COST_H

#include <stdint.h>

struct ep_cost_account {
	int64_t balance;
	int64_t most, least; /* it is never beyond */
};

/* `work` cycles of the program's own, of which tracing may have `share` parts per million, and
 * `cost` cycles of tracing. */
void ep_cost_add(struct ep_cost_account *account, uint64_t work, uint64_t cost, uint32_t share);

/* The work that `time` cycles of one processor are worth where tracing may have `idle` parts per
 * million of them, and `share` of work, less the `work` that there was; 0: that is worth more. */
uint64_t ep_cost_idle(uint64_t work, uint64_t time, uint32_t idle, uint32_t share);

/*
 * TSC cycles of a thousand records without a time of their own, where `cpu` cycles had `records` of
 * them, and `functions` are in use. Hooks that follow each other closely find themselves in the
 * processor's caches; the more of the program runs between two, and the wider its code, the more of
 * them it has driven out. `near` is the least, `far` the distance in cycles from which on it is
 * no dearer. Figures and where they come from: docs/overhead.md.
 */
uint64_t ep_cost_hook1000(uint64_t cpu, uint64_t records, unsigned functions, uint64_t near,
			  uint64_t far);

/* Parts per million that `cost` is of `work`; at most 100 times it. */
uint32_t ep_cost_share(uint64_t cost, uint64_t work);

/* What the program itself had of `cpu` cycles in which tracing cost `cost`: where tracing seems to
 * have had nearly all, at least a quarter. */
uint64_t ep_cost_work(uint64_t cpu, uint64_t cost);

/* The work of which `share` parts per million are worth `cost`. */
uint64_t ep_cost_paid_by(uint64_t cost, uint32_t share);

/* How many of `calls` must go for a share of `has` to become `wants`. */
uint64_t ep_cost_excess(uint64_t calls, uint32_t has, uint32_t wants);

/*
 * What reading the clock may have of the time that passes, so that it is `wants` of the CPU time:
 * `now` was what it might have, and it had `has` of the CPU time. At most `wants`.
 */
uint32_t ep_cost_clock(uint32_t now, uint32_t has, uint32_t wants);

#endif
