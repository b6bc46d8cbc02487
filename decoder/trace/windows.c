/* SPDX-License-Identifier: BSD-2-Clause */
/* windows.c: looks, and times that the kernel asked for, against even steps. */
#include "decoder/trace/windows.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/array.h"
#include "coredump/util/search.h"
#include "decoder/trace/trace_parts.h"

/* ---- looks ---- */

static int in_order(const void *a, const void *b)
{
	const struct ep_trace_look *x = a, *y = b;

	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	if (x->records != y->records)
		return x->records < y->records ? -1 : 1;
	return (x->tsc > y->tsc) - (x->tsc < y->tsc);
}

void ep_trace_read_looks(struct ep_trace *trace)
{
	struct ep_section section;
	const uint8_t *bytes = ep_trace_section_bytes(trace, EP_SECTION_LOOKS,
						      sizeof(struct ep_look_taken), &section);
	uint64_t count = bytes ? section.size / section.entry_size : 0;

	for (uint64_t i = 0; i < count; i++) {
		struct ep_look_taken one;

		memcpy(&one, bytes + i * section.entry_size, sizeof(one));
		if (one.check == ep_look_check(&one, trace->arena.root.identity) &&
		    one.records <= EP_BLOCK_RECORDS)
			ep_array_push(&trace->looks, ((struct ep_trace_look){
							     .tsc = one.tsc,
							     .sequence = one.sequence,
							     .serial = one.serial,
							     .records = one.records,
						     }));
	}
	if (trace->looks.count)
		qsort(trace->looks.list, trace->looks.count, sizeof(*trace->looks.list), in_order);
}

static size_t looks_before(const struct ep_trace *trace, uint32_t serial, uint64_t sequence)
{
	const struct ep_trace_look *list = trace->looks.list;

	return ep_partition_point(trace->looks.count, i,
				  list[i].serial < serial || (list[i].serial == serial &&
							      list[i].sequence < sequence));
}

/* ---- while the block is decoded ---- */

void ep_windows_begin(struct ep_windows *windows, const struct ep_trace *trace,
		      const struct ep_trace_thread *thread, const struct ep_trace_block *block)
{
	size_t from = looks_before(trace, thread->serial, block->sequence);
	size_t end = looks_before(trace, thread->serial, block->sequence + 1);

	windows->asked = ep_thread_is_asked(thread) && !block->over_count;
	windows->count = 0;
	windows->looks = trace->looks.list + from;
	windows->look_count = block->over_count ? 0 : end - from;
	if (windows->look_count > EP_BLOCK_RECORDS + 1)
		windows->look_count = EP_BLOCK_RECORDS + 1;
	windows->reached = 0;
}

static bool is_timed_event(uint64_t word)
{
	return word >> EP_STAMP_SHIFT && (word & EP_ADDRESS_MASK) >= EP_ESCAPE_LIMIT;
}

/* One that was due is not followed by another that is timed, unless the kernel asked. */
bool ep_windows_asked(const struct ep_windows *windows, const struct ep_trace_block *block,
		      uint32_t at, unsigned escapes)
{
	uint32_t every = block->block->every, place = EP_BLOCK_HEADER / 8 + at;

	if (!windows->asked || escapes)
		return windows->asked && escapes > 1;
	if (every && place % every)
		return true;
	return at + 1 < block->words && is_timed_event(block->block->records[at + 1]);
}

void ep_windows_add(struct ep_windows *windows, struct ep_window window)
{
	if ((windows->asked || windows->look_count) && window.first < window.end &&
	    windows->count < sizeof(windows->windows) / sizeof(*windows->windows))
		windows->windows[windows->count++] = window;
}

/* ---- settling ---- */

static bool is_in(const struct ep_windows *windows, size_t look, const struct ep_window *window)
{
	uint64_t tsc = windows->looks[look].tsc;

	return windows->positions[look] >= window->first &&
	       windows->positions[look] <= window->end && tsc > window->low && tsc < window->high;
}

/* The looks in a window: *first, and how many follow each other. They are in the order of records,
 * and of time, if all is well. */
static size_t looks_in(const struct ep_windows *windows, const struct ep_window *window,
		       size_t *first)
{
	size_t count = 0;

	*first = ep_partition_point(windows->reached, i, windows->positions[i] < window->first);
	while (*first < windows->reached && !is_in(windows, *first, window) &&
	       windows->positions[*first] <= window->end)
		++*first;
	while (*first + count < windows->reached && is_in(windows, *first + count, window) &&
	       (!count ||
		windows->looks[*first + count].tsc >= windows->looks[*first + count - 1].tsc))
		count++;
	return count;
}

/* So long took so many records, where nothing else is known of them. */
static void set_pace(const struct ep_windows *windows, const struct ep_window *window,
		     struct ep_records *records)
{
	size_t first;

	/* A block that is not sound has any times. */
	if (window->to != EP_WINDOW_DUE || looks_in(windows, window, &first) ||
	    window->high - window->low > EP_LONG_GAP_CYCLES)
		return;
	records->pace_cycles = window->high - window->low;
	records->pace_steps = window->end - window->first + 1;
}

/* Cycles for so many steps; UINT64_MAX: the pace is not known. */
static uint64_t at_pace(const struct ep_records *records, uint64_t steps)
{
	return records->pace_steps ? records->pace_cycles * steps / records->pace_steps
				   : UINT64_MAX;
}

/* Records [first, end) lie between two times, each the window's or a look's. */
struct stretch {
	unsigned first, end;
	uint64_t low, high;
	bool looked_low, looked_high; /* a look's, which is right to EP_LOOK_SLACK */
	bool from_low,
		to_high; /* they followed the first, or preceded the second, at the thread's pace */
};

static void place(const struct stretch *stretch, struct ep_records *records)
{
	uint64_t length = stretch->high - stretch->low, parts = stretch->end - stretch->first + 1;

	for (unsigned i = stretch->first; i < stretch->end; i++) {
		struct ep_record *record = &records->decoded[i];
		uint64_t steps = i - stretch->first + 1;
		uint64_t even = length / parts * steps + length % parts * steps / parts;
		uint64_t before = at_pace(records, steps), after = at_pace(records, parts - steps);

		if (stretch->from_low && before < even)
			even = before;
		else if (stretch->to_high && after < length - even)
			even = length - after;
		record->time = stretch->low + even;
		if (stretch->looked_low && record->low + EP_LOOK_SLACK < stretch->low)
			record->low = stretch->low - EP_LOOK_SLACK;
		if (stretch->looked_high && record->high > stretch->high + EP_LOOK_SLACK)
			record->high = stretch->high + EP_LOOK_SLACK;
	}
}

static void settle(const struct ep_windows *windows, const struct ep_window *window,
		   struct ep_records *records)
{
	size_t first, count = looks_in(windows, window, &first);
	struct stretch stretch = {window->first, window->first, window->low, 0,
				  false,         false,         true,        false};

	if (!count && window->to == EP_WINDOW_DUE)
		return;
	for (size_t i = first; i < first + count; i++) {
		stretch.end = windows->positions[i];
		stretch.high = windows->looks[i].tsc;
		stretch.looked_high = true;
		place(&stretch, records);
		stretch.first = stretch.end;
		stretch.low = stretch.high;
		stretch.looked_low = true;
		stretch.from_low = false;
	}
	stretch.end = window->end;
	stretch.high = window->high;
	stretch.looked_high = false;
	stretch.from_low = window->to != EP_WINDOW_DUE;
	stretch.to_high = window->to == EP_WINDOW_DUE;
	place(&stretch, records);
}

/* Nothing is known of when but that it was before a look. */
static void bound(const struct ep_windows *windows, const struct ep_window *window,
		  struct ep_records *records)
{
	size_t first, count = looks_in(windows, window, &first);

	for (size_t i = first + count; i-- > first;)
		for (unsigned n = window->first; n < windows->positions[i]; n++)
			if (records->decoded[n].high > windows->looks[i].tsc + EP_LOOK_SLACK)
				records->decoded[n].high = windows->looks[i].tsc + EP_LOOK_SLACK;
}

void ep_windows_settle(struct ep_windows *windows, struct ep_records *records)
{
	ep_windows_reach(windows, UINT32_MAX, records->count);
	for (unsigned i = 0; i < windows->count; i++) {
		const struct ep_window *one = &windows->windows[i];

		for (unsigned next = i; !records->pace_steps && next < windows->count; next++)
			set_pace(windows, &windows->windows[next], records);
		if (one->to == EP_WINDOW_OPEN)
			bound(windows, one, records);
		else
			settle(windows, one, records);
		set_pace(windows, one, records);
	}
}
