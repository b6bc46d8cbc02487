/* SPDX-License-Identifier: BSD-2-Clause */
/* difference.c: tables side by side, and threads in pairs. Where two sequences part is
 * sequence.c's. */
#include "decoder/stats/difference.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/stats/sequence.h"

/* ---- functions ---- */

static int compare_functions(const struct ep_function *a, const struct ep_function *b)
{
	const char *left = a->symbol[0] ? a->symbol : a->name;
	const char *right = b->symbol[0] ? b->symbol : b->name;
	int order = strcmp(left, right);

	if (order == 0)
		order = strcmp(a->module, b->module);
	return order ? order : (int)a->span - (int)b->span;
}

static int by_function(const void *left, const void *right)
{
	const struct ep_stat *const *a = left, *const *b = right;

	return compare_functions((*a)->function, (*b)->function);
}

/* Calls, signed: in b more than in a. */
static int64_t more_calls(const struct ep_pair *pair)
{
	int64_t a = pair->sides[0] ? (int64_t)pair->sides[0]->calls : 0;
	int64_t b = pair->sides[1] ? (int64_t)pair->sides[1]->calls : 0;

	return b - a;
}

static int by_change(const void *left, const void *right)
{
	const struct ep_pair *a = left, *b = right;
	int64_t x = llabs(more_calls(a)), y = llabs(more_calls(b));
	const struct ep_stat *one = a->sides[0] ? a->sides[0] : a->sides[1];
	const struct ep_stat *other = b->sides[0] ? b->sides[0] : b->sides[1];

	if (x != y)
		return x > y ? -1 : 1;
	return compare_functions(one->function, other->function);
}

/* Both tables are sorted by function. Two functions of one name on one side (static ones of two
 * files) pair up in the order of the table. */
static void pairs_fill(struct ep_difference *difference)
{
	const struct ep_stats *a = &difference->stats[0];
	const struct ep_stats *b = &difference->stats[1];
	size_t i = 0, j = 0;

	while (i < a->count || j < b->count) {
		struct ep_pair *pair = &difference->pairs[difference->pair_count++];
		int order = i == a->count   ? 1
			    : j == b->count ? -1
					    : by_function(&a->list[i], &b->list[j]);

		pair->sides[0] = order <= 0 ? a->list[i++] : NULL;
		pair->sides[1] = order >= 0 ? b->list[j++] : NULL;
	}
	qsort(difference->pairs, difference->pair_count, sizeof(*difference->pairs), by_change);
}

static void pairs_make(struct ep_difference *difference, const struct ep_side sides[2])
{
	struct ep_stats *stats = difference->stats;

	for (int i = 0; i < 2; i++) {
		ep_stats_create(&stats[i], sides[i].trace, sides[i].names, NULL, false);
		ep_array_sort(&stats[i], by_function);
	}
	difference->pairs = ep_calloc(stats[0].count + stats[1].count, sizeof(*difference->pairs));
	pairs_fill(difference);
}

bool ep_pair_moved(const struct ep_pair *pair, unsigned percent)
{
	const struct ep_stat *a = pair->sides[0], *b = pair->sides[1];
	int64_t low, high;

	if (!a || !b || a->timed < EP_MOVED_LEAST || b->timed < EP_MOVED_LEAST)
		return false;
	low = a->median < b->median ? a->median : b->median;
	high = a->median < b->median ? b->median : a->median;
	return (double)(high - low) * 100 > (double)low * percent;
}

/* ---- threads ---- */

static bool same_name(const struct ep_trace_thread *a, const struct ep_trace_thread *b)
{
	return strcmp(a->name, b->name) == 0;
}

/* Which of the threads of its name it is, in the order of their beginnings. */
static size_t ordinal(const struct ep_trace *trace, size_t index)
{
	size_t before = 0;

	for (size_t i = 0; i < index; i++)
		before += same_name(&trace->threads[i], &trace->threads[index]);
	return before;
}

static const struct ep_trace_thread *counterpart(const struct ep_trace *trace,
						 const struct ep_trace_thread *thread,
						 size_t number)
{
	for (size_t i = 0; i < trace->thread_count; i++)
		if (same_name(&trace->threads[i], thread) && number-- == 0)
			return &trace->threads[i];
	return NULL;
}

/* It had no time yet: one that was just made. */
static bool did_nothing(const struct ep_trace_thread *thread)
{
	return thread && thread->known && !thread->block_count && !thread->blocks_entered &&
	       !thread->lost_records;
}

static void parting_make(struct ep_difference *difference, const struct ep_side sides[2],
			 const struct ep_trace_thread *a, const struct ep_trace_thread *b)
{
	struct ep_parting *parting = &difference->partings[difference->parting_count++];

	parting->threads[0] = a;
	parting->threads[1] = b;
	if (a && b && a->block_count && b->block_count)
		ep_sequences_part(parting, sides);
	else
		parting->kind =
			did_nothing(a) && did_nothing(b) ? EP_PARTING_NEVER : EP_PARTING_ALONE;
}

static void partings_make(struct ep_difference *difference, const struct ep_side sides[2])
{
	const struct ep_trace *a = sides[0].trace, *b = sides[1].trace;

	difference->partings =
		ep_calloc(a->thread_count + b->thread_count, sizeof(*difference->partings));
	for (size_t i = 0; i < a->thread_count; i++)
		parting_make(difference, sides, &a->threads[i],
			     counterpart(b, &a->threads[i], ordinal(a, i)));
	for (size_t i = 0; i < b->thread_count; i++)
		if (!counterpart(a, &b->threads[i], ordinal(b, i)))
			parting_make(difference, sides, NULL, &b->threads[i]);
}

/* ---- the whole ---- */

void ep_difference_create(struct ep_difference *out, const struct ep_side sides[2])
{
	memset(out, 0, sizeof(*out));
	pairs_make(out, sides);
	partings_make(out, sides);
}

void ep_difference_deinit(struct ep_difference *difference)
{
	ep_stats_deinit(&difference->stats[0]);
	ep_stats_deinit(&difference->stats[1]);
	free(difference->pairs);
	free(difference->partings);
	memset(difference, 0, sizeof(*difference));
}

bool ep_difference_any(const struct ep_difference *difference)
{
	for (size_t i = 0; i < difference->pair_count; i++)
		if (!difference->pairs[i].sides[0] || !difference->pairs[i].sides[1] ||
		    more_calls(&difference->pairs[i]))
			return true;
	for (size_t i = 0; i < difference->parting_count; i++)
		if (difference->partings[i].kind != EP_PARTING_NEVER)
			return true;
	return false;
}
