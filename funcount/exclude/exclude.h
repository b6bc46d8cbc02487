/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exclude.h: the fewest functions whose exclusion from tracing meets a limits. Every call costs the
 * same, so those with the most calls are the fewest; of equally often called ones, leaves go first,
 * then the shorter.
 */
#ifndef EPITAPH_EXCLUDE_H
#define EPITAPH_EXCLUDE_H

#include "funcount/counts/called.h"
#include "funcount/exclude/cost.h"
#include "funcount/filter/list.h"

/* What a trace knows of a group, beside its calls. */
struct ep_exclude_times {
	int64_t median; /* ns that a call takes; -1 unknown */
	bool leaf;      /* no traced call was made by it */
};

struct ep_exclude_limits {
	const struct ep_costs *costs;
	unsigned every;       /* EPITAPH_TIMESTAMP_EVERY; 0 auto */
	double seconds;       /* CPU time without tracing, more than 0 */
	double overhead;      /* at most; infinite: no such limit */
	double calls;         /* at most; infinite: no such limit */
	double history;       /* seconds per MiB, at least; 0: no such limit */
	struct ep_list *keep; /* never excluded; NULL none. By linker's names, also without endings,
				 and by readable ones */
	const struct ep_exclude_times *times; /* of each group; NULL none */
};

struct ep_exclusion {
	size_t *groups; /* of `called`, those to exclude, most calls first */
	size_t count;
	uint64_t calls;         /* of the excluded */
	uint64_t kept_calls;    /* of what the keep list holds back */
	uint64_t unknown_calls; /* of functions without a name for a list */
	struct ep_prediction before, after;
	bool met; /* else: all that may go goes, and it does not suffice */
};

void ep_exclude(struct ep_exclusion *out, const struct ep_called *called,
		const struct ep_exclude_limits *limits);
void ep_exclusion_deinit(struct ep_exclusion *exclusion);

/* Whether the list names the group, or one of its functions. */
bool ep_exclude_keeps(struct ep_list *keep, const struct ep_called *called,
		      const struct ep_called_group *group);

#endif
