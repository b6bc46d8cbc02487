/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * groups.h: threads that do the same, as one: those with the same stack, that are in the same
 * system call and wait for the same holder of a lock. A stack is told by its functions, without the
 * C library's inner ones that the program did not call, and without what starts a thread. Where
 * there are no stacks it is the open calls.
 */
#ifndef EPITAPH_GROUPS_H
#define EPITAPH_GROUPS_H

#include "coredump/util/array.h"
#include "decoder/report/locks/lock_wait.h"

struct ep_report_member {
	uint32_t tid;
	const char *name;                    /* as it is; "" */
	const struct ep_trace_thread *trace; /* NULL */
};

/* What a thread holds that others wait for, of all threads of all groups and the one that died. */
struct ep_report_held {
	size_t waiters, locks;
	enum ep_lock_kind kind; /* of the last of them */
};

struct ep_report_group {
	EP_ARRAY(struct ep_report_member) members;
	EP_ARRAY(const struct ep_function *) functions; /* innermost first */
	bool cut;                                       /* there are more outside of these */
	bool from_trace;                                /* the functions are open calls */
	bool known;                                     /* whether it is in a system call */
	bool inside;                                    /* it is */
	uint64_t call;                                  /* which */
	struct ep_lock_wait wait;                       /* of all of them */
	struct ep_report_held held;                     /* only of a group of one */
};

#define EP_DEADLOCK_MAX 32u

/* Each waits for the next, the last for the first. */
struct ep_report_deadlock {
	uint32_t tids[EP_DEADLOCK_MAX];
	size_t count;
};

struct ep_report_groups {
	EP_ARRAY(struct ep_report_group) groups; /* waiters for locks, holders, then the largest */
	size_t threads;
	size_t not_looked; /* of them, at: there are more than a report takes its time for */
	uint32_t died;     /* tid; 0 none */
	struct ep_lock_wait died_wait;
	struct ep_report_held died_held;
	EP_ARRAY(struct ep_report_deadlock) deadlocks;
};

/* One thread more, as the core and the trace know it; either may be NULL. */
void ep_report_groups_add(struct ep_report_groups *groups, const struct ep_evidence *evidence,
			  const struct ep_source_thread *core, const struct ep_trace_thread *trace);
/* After the last: who holds what, and their order. `died`: 0 none; what that one waits for. */
void ep_report_groups_finish(struct ep_report_groups *groups, uint32_t died,
			     const struct ep_lock_wait *died_wait);
/* What a thread of theirs, or the one that died, waits for; NULL unknown thread. */
const struct ep_lock_wait *ep_report_groups_wait(const struct ep_report_groups *groups,
						 uint32_t tid);
void ep_report_groups_deinit(struct ep_report_groups *groups);

#endif
