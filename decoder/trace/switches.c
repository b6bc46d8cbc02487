/* SPDX-License-Identifier: BSD-2-Clause */
/* switches.c: entries in order of place; their intervals in order of time. */
#include "decoder/trace/switches.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/search.h"
#include "decoder/trace/records.h"
#include "decoder/trace/trace_parts.h"

#define NOT_YET UINT64_MAX
/* Of entries that begin before a place, so many may reach it: two libraries that lay there one
 * after the other, and entries from outside. */
#define LOOK_BACK 16u

/* ---- intervals ---- */

/* What its order allows; false: it never began. */
static bool read_interval(const struct ep_off_interval *from, struct ep_trace_off *to)
{
	*to = (struct ep_trace_off){from->off_begin, NOT_YET, NOT_YET, NOT_YET};
	if (!from->off_begin)
		return false;
	if (from->off_end < from->off_begin)
		return true;
	to->end = from->off_end;
	if (from->on_begin < from->off_end)
		return true;
	to->on_begin = from->on_begin;
	if (from->on_end >= from->on_begin)
		to->on_end = from->on_end;
	return true;
}

static int compare_offs(const void *a, const void *b)
{
	const struct ep_trace_off *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static unsigned read_intervals(const struct ep_off_interval *from, unsigned most,
			       struct ep_trace_off *to)
{
	unsigned count = 0;

	for (unsigned i = 0; i < most; i++)
		count += read_interval(&from[i], &to[count]);
	qsort(to, count, sizeof(*to), compare_offs);
	return count;
}

/* ---- entries ---- */

/* Those of which no interval is left lie before the first that is. */
static void add_untold(struct ep_trace_switched *one)
{
	uint64_t until = one->off_count ? one->off[0].begin : NOT_YET;

	memmove(&one->off[1], &one->off[0], one->off_count * sizeof(one->off[0]));
	one->off[0] = (struct ep_trace_off){0, until, until, until};
	one->off_count++;
}

static void add_entry(struct ep_trace_switches *switches, const uint8_t *bytes, bool outside)
{
	struct ep_trace_switched *one = &switches->list[switches->count];
	struct ep_switched from;

	memcpy(&from, bytes, sizeof(from));
	if (!from.start || from.end <= from.start)
		return;
	*one = (struct ep_trace_switched){
		.start = from.start,
		.end = from.end,
		.rate = from.rate,
		.count = from.count,
		.reasons = from.reasons,
		.outside = outside,
	};
	one->off_count = read_intervals(from.off, EP_SWITCHED_OFF, one->off);
	if (one->count > one->off_count)
		add_untold(one);
	switches->count += one->off_count || one->reasons;
}

static int compare_entries(const void *a, const void *b)
{
	const struct ep_trace_switched *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static void add_entries(struct ep_trace_switches *switches, const uint8_t *bytes,
			const struct ep_section *section)
{
	const struct ep_switches *head = &switches->head;
	uint64_t room = (section->size - sizeof(*head)) / section->entry_size;
	uint64_t own = head->capacity < room ? head->capacity : room;
	uint64_t count = head->count < own ? head->count : own;
	uint64_t other = head->control_capacity < room - own ? head->control_capacity : room - own;

	other = head->control_count < other ? head->control_count : other;
	switches->list = ep_calloc(count + other + 1, sizeof(*switches->list));
	bytes += sizeof(*head);
	for (uint64_t i = 0; i < count; i++)
		add_entry(switches, bytes + i * section->entry_size, false);
	bytes += own * section->entry_size;
	for (uint64_t i = 0; i < other; i++)
		add_entry(switches, bytes + i * section->entry_size, true);
	qsort(switches->list, switches->count, sizeof(*switches->list), compare_entries);
}

/* ---- when anything went off ---- */

static void find_moves(struct ep_trace_switches *switches)
{
	struct ep_trace_off *list;
	size_t count = 0, kept = 0;

	list = ep_calloc(switches->count * (EP_SWITCHED_OFF + 1) + 1, sizeof(*list));
	for (size_t i = 0; i < switches->count; i++)
		for (unsigned n = 0; n < switches->list[i].off_count; n++)
			list[count++] = switches->list[i].off[n];
	qsort(list, count, sizeof(*list), compare_offs);
	for (size_t i = 0; i < count; i++) {
		if (kept && list[i].begin <= list[kept - 1].end) {
			if (list[kept - 1].end < list[i].end)
				list[kept - 1].end = list[i].end;
			continue;
		}
		list[kept++] = list[i];
	}
	switches->moves = list;
	switches->move_count = kept;
}

bool ep_switches_moved(const struct ep_trace_switches *switches, uint64_t low, uint64_t high)
{
	const struct ep_trace_off *moves = switches->moves;
	uint64_t from = low > EP_SWITCH_SLACK ? low - EP_SWITCH_SLACK : 0;
	size_t at = ep_partition_point(switches->move_count, i, moves[i].end < from);

	return at < switches->move_count &&
	       (moves[at].begin <= high || moves[at].begin - high <= EP_SWITCH_SLACK);
}

void ep_trace_read_switches(struct ep_trace *trace)
{
	struct ep_trace_switches *switches;
	struct ep_section section;
	const uint8_t *bytes = ep_trace_section_bytes(trace, EP_SECTION_SWITCHES,
						      sizeof(struct ep_switched), &section);

	if (!bytes || section.size < sizeof(switches->head))
		return;
	switches = ep_calloc(1, sizeof(*switches));
	memcpy(&switches->head, bytes, sizeof(switches->head));
	switches->all_count = read_intervals(switches->head.all, EP_ALL_OFF, switches->all);
	add_entries(switches, bytes, &section);
	find_moves(switches);
	trace->switches = switches;
}

void ep_trace_free_switches(struct ep_trace *trace)
{
	if (!trace->switches)
		return;
	free(trace->switches->list);
	free(trace->switches->parts);
	free(trace->switches->moves);
	free(trace->switches);
}

/* ---- questions ---- */

const struct ep_trace_switched *ep_switched_next(const struct ep_trace_switches *switches,
						 uint64_t start, uint64_t end, size_t *at)
{
	const struct ep_trace_switched *list = switches->list;
	size_t i = *at + 1;

	if (*at == SIZE_MAX) {
		i = ep_partition_point(switches->count, n, list[n].start < start);
		i -= i < LOOK_BACK ? i : LOOK_BACK;
	}
	while (i < switches->count && list[i].start < end && list[i].end <= start)
		i++;
	*at = i;
	return i < switches->count && list[i].start < end ? &list[i] : NULL;
}

uint64_t ep_switched_since(const struct ep_trace_switched *one)
{
	const struct ep_trace_off *last = one->off_count ? &one->off[one->off_count - 1] : NULL;

	return last && last->on_begin == NOT_YET ? last->begin : 0;
}

const struct ep_trace_switched *ep_switched_now(const struct ep_trace *trace, uint64_t address)
{
	const struct ep_trace_switched *one;
	size_t at = SIZE_MAX;

	if (!trace || !trace->switches || address == UINT64_MAX)
		return NULL;
	while ((one = ep_switched_next(trace->switches, address, address + 1, &at)))
		if (ep_switched_since(one))
			return one;
	return NULL;
}

bool ep_switched_ever(const struct ep_trace *trace, uint64_t address)
{
	const struct ep_trace_switched *one;
	size_t at = SIZE_MAX;

	if (!trace || !trace->switches || address == UINT64_MAX)
		return false;
	while ((one = ep_switched_next(trace->switches, address, address + 1, &at)))
		if (one->off_count)
			return true;
	return false;
}

uint64_t ep_all_off_since(const struct ep_trace *trace)
{
	const struct ep_trace_switches *switches = trace->switches;
	const struct ep_trace_off *last =
		switches && switches->all_count ? &switches->all[switches->all_count - 1] : NULL;

	return last && last->on_begin == NOT_YET ? last->begin : 0;
}

double ep_switches_share(uint64_t part, uint64_t cost, uint64_t cpu)
{
	return cpu > cost ? 100.0 * (double)part / (double)(cpu - cost) : 0;
}

/* ---- everything was off ---- */

static bool may_be_behind(const struct ep_record *record, const struct ep_trace_off *all)
{
	return all->begin < EP_SWITCH_SLACK || record->high >= all->begin - EP_SWITCH_SLACK;
}

static bool is_behind(const struct ep_record *record, const struct ep_trace_off *all)
{
	return all->on_end < UINT64_MAX - EP_SWITCH_SLACK &&
	       record->low > all->on_end + EP_SWITCH_SLACK;
}

/* A pause for a thread that may not have seen it, until the next record: its hooks were off in the
 * code. */
static void add_pause(struct ep_records *records, uint64_t high)
{
	struct ep_record *gap = &records->decoded[records->count];

	records->all_told = false;
	if (records->count && gap[-1].kind == EP_RECORD_GAP && gap[-1].gap & EP_GAP_PAUSED) {
		gap[-1].high = high > gap[-1].high ? high : gap[-1].high;
		gap[-1].exact = false;
		return;
	}
	*gap = (struct ep_record){
		.kind = EP_RECORD_GAP,
		.low = records->all_low,
		.high = high > records->all_time ? high : records->all_time,
		.time = records->all_time,
		.gap = EP_GAP_PAUSED,
	};
	/* Before a thread's first record there is no history. */
	records->count += records->started || records->count || records->all_dropped;
	records->all_dropped = false;
}

static void reach_all_off(struct ep_records *records, const struct ep_record *one)
{
	const struct ep_record *next = &records->decoded[records->count];
	uint64_t begin = records->thread->blocks[records->next_block - 1].tsc;

	if (records->all_told)
		return;
	records->all_told = true;
	records->all_low = records->count ? next[-1].low : records->last;
	records->all_time = begin > records->last ? begin : records->last;
	if (one->kind == EP_RECORD_GAP)
		records->all_time = one->time;
	if (records->count)
		records->all_time = next[-1].time;
}

/* What else is missing begins with the pause. */
static bool stays_as_gap(struct ep_records *records, struct ep_record *one)
{
	if (one->kind != EP_RECORD_GAP) {
		records->all_dropped = true;
		return false;
	}
	one->low = records->all_low;
	one->time = records->all_time;
	one->high = one->high > one->time ? one->high : one->time;
	one->exact = false;
	return true;
}

/* Which hooks go off when, or come back, is not told of each: what is not certain to be from before
 * the first or from after the last is left out. True: the record stays. */
static bool stays(struct ep_records *records, const struct ep_trace_switches *switches,
		  struct ep_record *one)
{
	for (; records->all_next < switches->all_count; records->all_next++) {
		const struct ep_trace_off *all = &switches->all[records->all_next];

		if (!may_be_behind(one, all))
			break;
		reach_all_off(records, one);
		if (!is_behind(one, all))
			return stays_as_gap(records, one);
	}
	if (records->all_told)
		add_pause(records, one->low);
	return true;
}

void ep_switches_tell_pauses(const struct ep_trace_switches *switches, struct ep_records *records)
{
	struct ep_record *list = records->decoded + EP_ALL_OFF;
	unsigned count = records->count;

	memmove(list, records->decoded, count * sizeof(*list));
	records->count = 0;
	for (unsigned i = 0; i < count; i++)
		if (stays(records, switches, &list[i]))
			records->decoded[records->count++] = list[i];
}
