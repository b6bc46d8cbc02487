/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * difference.h: two traces of one program side by side: functions that only one of them has, counts
 * and durations that moved, and for each thread that both have the first place where what it did
 * parts. Functions are the same by symbol and module's name, threads by name and order, whatever
 * the addresses, pids and builds.
 */
#ifndef EPITAPH_DIFFERENCE_H
#define EPITAPH_DIFFERENCE_H

#include "decoder/stats/stats.h"

/* Borrowed; both must outlive the difference. */
struct ep_side {
	const struct ep_trace *trace;
	struct ep_names *names;
};

/* One function (or span); a side that has no call of it is NULL. Ordered by how much the calls
 * differ, greatest first. */
struct ep_pair {
	const struct ep_stat *sides[2];
};

/* What a thread did at one place. */
struct ep_step {
	bool any;  /* false: its history ends there */
	bool ends; /* a call ends, else one begins */
	const struct ep_function *function;
	const struct ep_function *inside; /* NULL: of nothing that is known */
	int64_t since;                    /* ns since the thread's first record */
};

enum ep_parting_kind {
	EP_PARTING_NEVER,   /* both did the same, to the end */
	EP_PARTING_THERE,   /* steps: what each did next */
	EP_PARTING_ENDED,   /* one side's history ends, the other goes on */
	EP_PARTING_NOTHING, /* their histories have no stretch in common */
	EP_PARTING_ALONE,   /* only one side has the thread, or events of it */
};

struct ep_parting {
	const struct ep_trace_thread *threads[2]; /* one is NULL: ALONE */
	enum ep_parting_kind kind;
	uint64_t common;     /* calls and returns that are the same before it */
	uint64_t skipped[2]; /* of each side, before the common stretch: where its history reaches
				further back */
	struct ep_step steps[2];
};

struct ep_difference {
	struct ep_stats stats[2];
	struct ep_pair *pairs;
	size_t pair_count;
	struct ep_parting *partings;
	size_t parting_count;
};

/* Memory: 8 bytes a call and return of the two threads that are being compared, beside the
 * tables. */
void ep_difference_create(struct ep_difference *out, const struct ep_side sides[2]);
void ep_difference_deinit(struct ep_difference *difference);

/*
 * The medians differ by more than `percent` (of the smaller), and both are of at least
 * EP_MOVED_LEAST calls with times of their own.
 */
#define EP_MOVED_LEAST 8
bool ep_pair_moved(const struct ep_pair *pair, unsigned percent);

/* Not the same functions, counts, and sequences. Durations do not count: they are never equal. */
bool ep_difference_any(const struct ep_difference *difference);

#endif
