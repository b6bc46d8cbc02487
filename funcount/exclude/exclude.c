/* SPDX-License-Identifier: BSD-2-Clause */
/* exclude.c: the fewest functions that meet the limits. */
#include "funcount/exclude/exclude.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

/* ---- what stays ---------------------------------------------------------- */

static bool keeps_function(struct ep_list *keep, const struct ep_function *function)
{
	return ep_list_find(keep, function->name) || ep_list_find(keep, function->symbol);
}

bool ep_exclude_keeps(struct ep_list *keep, const struct ep_called *called,
		      const struct ep_called_group *group)
{
	bool kept = keep && ep_list_find(keep, group->name);

	for (size_t i = 0; keep && i < group->count; i++)
		kept |= keeps_function(keep, called->functions[group->first + i].function);
	return kept;
}

/* ---- in which order ------------------------------------------------------ */

/* A group, with what decides among equals. */
struct candidate {
	const struct ep_called_group *group;
	size_t index;
	bool leaf;
	int64_t median;
};

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->group->calls != y->group->calls)
		return x->group->calls < y->group->calls ? 1 : -1;
	if (x->leaf != y->leaf)
		return x->leaf ? -1 : 1;
	if (x->group->size != y->group->size)
		return x->group->size < y->group->size ? -1 : 1;
	if (x->median != y->median)
		return x->median < y->median ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Those that may be excluded, in order; what may not is added up. */
static size_t gather(struct candidate *candidates, struct ep_exclusion *out,
		     const struct ep_called *called, const struct ep_exclude_limits *limits)
{
	size_t count = 0;

	for (size_t i = 0; i < called->group_count; i++) {
		const struct ep_called_group *group = &called->groups[i];

		if (ep_exclude_keeps(limits->keep, called, group))
			out->kept_calls += group->calls;
		else if (!group->known)
			out->unknown_calls += group->calls;
		else
			candidates[count++] =
				(struct candidate){group, i, limits->times && limits->times[i].leaf,
						   limits->times ? limits->times[i].median : -1};
	}
	qsort(candidates, count, sizeof(*candidates), compare);
	return count;
}

/* ---- how many ------------------------------------------------------------ */

static double most_calls(const struct ep_exclude_limits *limits)
{
	double most = limits->calls;

	if (isfinite(limits->overhead))
		most = fmin(most, ep_cost_calls_for_overhead(limits->costs, limits->every,
							     limits->overhead, limits->seconds));
	if (limits->history > 0)
		most = fmin(most, ep_cost_calls_for_history(limits->costs, limits->every,
							    limits->history, limits->seconds));
	return most;
}

static struct ep_prediction predict(const struct ep_exclude_limits *limits, uint64_t calls)
{
	return ep_cost_predict(limits->costs, limits->every, (double)calls, limits->seconds);
}

void ep_exclude(struct ep_exclusion *out, const struct ep_called *called,
		const struct ep_exclude_limits *limits)
{
	size_t room = called->group_count, count;
	struct candidate *candidates = ep_calloc(room, sizeof(*candidates));
	double most = most_calls(limits);

	*out = (struct ep_exclusion){.groups = ep_calloc(room, sizeof(size_t))};
	count = gather(candidates, out, called, limits);
	for (size_t i = 0; i < count && (double)(called->calls - out->calls) > most; i++) {
		out->groups[out->count++] = candidates[i].index;
		out->calls += candidates[i].group->calls;
	}
	free(candidates);
	out->met = (double)(called->calls - out->calls) <= most;
	out->before = predict(limits, called->calls);
	out->after = predict(limits, called->calls - out->calls);
}

void ep_exclusion_deinit(struct ep_exclusion *exclusion)
{
	free(exclusion->groups);
	*exclusion = (struct ep_exclusion){0};
}
