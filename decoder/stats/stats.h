/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats.h: calls → a table of functions: how often, how long. Memory is bounded by functions,
 * threads and open calls.
 */
#ifndef EPITAPH_STATS_H
#define EPITAPH_STATS_H

#include "decoder/util/quantiles.h"
#include "decoder/stream/stream.h"

/* One function, or all spans of one name (function->span), in one thread or in all. Times are
 * nanoseconds. */
struct ep_stat {
	const struct ep_function *function;
	const struct ep_trace_thread *thread; /* NULL: all */
	uint64_t calls;                       /* that began, or ended, in what is selected */
	uint64_t open;                        /* of them: did not return */
	uint64_t before;                      /* of them: began before the history */
	uint64_t left;                        /* of them: left without a return */
	uint64_t switched;                    /* of them: switched off while they were open */
	/*
	 * While it ran, on the thread's stack: of a recursion the outermost call counts. self:
	 * without what it called that was traced. Both count what is known of open calls and of
	 * those from before.
	 */
	int64_t total, self; /* of spans: self is 0 */
	/* Where calls without times of their own took longer or shorter than they usually do, it is
	 * not known which of them did: between these the two may be. */
	int64_t total_least, total_most, self_least, self_most;
	/* Of `total`, as far as scheduling events show: on a CPU, and waiting for anything or for a
	 * CPU. inside: of `waiting`, somewhere inside of it, in it or in what it called: in which
	 * is not known, and in no row's self. What may have been a wait of another call is in none
	 * of them. */
	int64_t running, waiting, inside;
	/* Of `total`: no scheduling events are there for it. */
	int64_t unknown;
	/*
	 * Calls whose duration is known to a tenth, and these durations: those of blocks in which
	 * every record has a time stand for the others, so that long ones, which are known more
	 * often, do not count for more.
	 */
	uint64_t timed;
	struct ep_quantiles durations;
	struct ep_quantiles sampled; /* private, until they are among `durations` */
	uint64_t whole;              /* private: calls that have a duration */
	int64_t median, p90, p99;    /* 0 when there is none */
};

enum ep_stats_key {
	EP_STATS_SELF,
	EP_STATS_TOTAL,
	EP_STATS_CALLS,
	EP_STATS_MIN,
	EP_STATS_MEDIAN,
	EP_STATS_P90,
	EP_STATS_P99,
	EP_STATS_MAX,
	EP_STATS_RUNNING,
	EP_STATS_WAITING,
	EP_STATS_NAME,
};

struct ep_stats {
	struct ep_stat **list;
	size_t count, capacity;
	uint64_t calls, timed; /* in all; spans are not counted */
	uint64_t gaps;         /* places where history is missing */
	int64_t unplaced; /* ns that threads were off their CPUs where no call is known to have been
			     open */
};

/* NULL selection: all. */
void ep_stats_create(struct ep_stats *stats, const struct ep_trace *trace, struct ep_names *names,
		     const struct ep_selection *selection, bool by_thread);
void ep_stats_deinit(struct ep_stats *stats);

/* Greatest first, names from A; `reverse`: the other way round. Equal ones by name, module and
 * thread. */
void ep_stats_sort(struct ep_stats *stats, enum ep_stats_key key, bool reverse);

/* The number that it is sorted by; 0 for the name. */
int64_t ep_stat_value(const struct ep_stat *stat, enum ep_stats_key key);

#endif
