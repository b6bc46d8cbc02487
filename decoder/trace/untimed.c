/* SPDX-License-Identifier: BSD-2-Clause */
/* untimed.c: looks, and times that the kernel asked for, against even steps. */
#include "decoder/trace/untimed.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/array.h"
#include "coredump/util/search.h"
#include "decoder/trace/absences.h"
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
		if (one.check == ep_look_check(&one, trace->arena.root.identity))
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

/* Those of the thread's blocks up to `sequence`, with it or without. */
static size_t looks_before(const struct ep_trace *trace, uint32_t serial, uint64_t sequence,
			   bool with)
{
	const struct ep_trace_look *list = trace->looks.list;

	return ep_partition_point(
		trace->looks.count, i,
		list[i].serial < serial ||
			(list[i].serial == serial &&
			 (list[i].sequence < sequence || (with && list[i].sequence == sequence))));
}

/* ---- while the block is decoded ---- */

void ep_untimed_begin(struct ep_untimed *untimed, const struct ep_trace *trace,
		      const struct ep_trace_thread *thread, const struct ep_trace_block *block)
{
	size_t from = looks_before(trace, thread->serial, block->sequence, false);
	size_t end = looks_before(trace, thread->serial, block->sequence, true);

	untimed->asked = ep_thread_is_asked(thread) && !block->over_count;
	untimed->count = 0;
	untimed->absences = thread->absences;
	untimed->transitions = &trace->transitions;
	untimed->looks = trace->looks.list + from;
	untimed->look_count = block->over_count ? 0 : end - from;
	if (untimed->look_count > EP_BLOCK_RECORDS + 1)
		untimed->look_count = EP_BLOCK_RECORDS + 1;
	untimed->reached = 0;
}

static bool is_timed_event(uint64_t word)
{
	return word >> EP_STAMP_SHIFT && ep_word_is_event(word);
}

/* One that was due is not followed by another that is timed, unless the kernel asked. */
bool ep_untimed_asked(const struct ep_untimed *untimed, const struct ep_trace_block *block,
		      uint32_t at, unsigned escapes)
{
	uint32_t every = block->block->every, place = EP_BLOCK_HEADER / 8 + at;

	if (!untimed->asked || escapes)
		return untimed->asked && escapes > 1;
	if (every && place % every)
		return true;
	return at + 1 < block->words && is_timed_event(block->block->records[at + 1]);
}

void ep_untimed_add(struct ep_untimed *untimed, struct ep_untimed_run run)
{
	if (run.first < run.end && untimed->count < sizeof(untimed->runs) / sizeof(*untimed->runs))
		untimed->runs[untimed->count++] = run;
}

/* ---- settling ---- */

#define SLACK 256 /* TSC cycles */

static bool is_in(const struct ep_untimed *untimed, size_t look, const struct ep_untimed_run *run)
{
	uint64_t tsc = untimed->looks[look].tsc;

	return untimed->positions[look] >= run->first && untimed->positions[look] <= run->end &&
	       tsc > run->low && tsc < run->high;
}

/* The looks in a run: *first, and how many follow each other. They are in the order of records,
 * and of time, if all is well. */
static size_t looks_in(const struct ep_untimed *untimed, const struct ep_untimed_run *run,
		       size_t *first)
{
	size_t count = 0;

	*first = ep_partition_point(untimed->reached, i, untimed->positions[i] < run->first);
	while (*first < untimed->reached && !is_in(untimed, *first, run) &&
	       untimed->positions[*first] <= run->end)
		++*first;
	while (*first + count < untimed->reached && is_in(untimed, *first + count, run) &&
	       (!count ||
		untimed->looks[*first + count].tsc >= untimed->looks[*first + count - 1].tsc))
		count++;
	return count;
}

/* What records [first, end) usually take from the one before them: and so on to the next. */
static uint64_t usual(const uint32_t *costs, unsigned first, unsigned record)
{
	return costs[record] - (first ? costs[first - 1] : 0);
}

static void set_pace(struct ep_pace *pace, const struct ep_untimed *untimed, const uint32_t *costs,
		     const struct ep_untimed_run *run)
{
	uint64_t cycles, expected;
	size_t first;

	/* A block that is not sound has any times. */
	if (run->to != EP_RUN_DUE || looks_in(untimed, run, &first) ||
	    run->high - run->low > EP_LONG_GAP_CYCLES)
		return;
	cycles = run->high - run->low;
	expected = usual(costs, run->first, run->end);
	/* One that is slower by far may have something in it: a phase of slow calls has more of
	 * them. */
	if (pace->usual && (double)cycles / (double)expected >
				   2 * ((double)pace->cycles / (double)pace->usual) + 2) {
		pace->cycles = 2 * pace->cycles + pace->usual;
		return;
	}
	pace->cycles = cycles;
	pace->usual = expected;
}

/* Cycles for records that usually take so long; UINT64_MAX: the pace is not known. */
static uint64_t at_pace(const struct ep_pace *pace, uint64_t cost)
{
	return pace->usual ? (uint64_t)((unsigned __int128)pace->cycles * cost / pace->usual)
			   : UINT64_MAX;
}

/* Records [first, end) lie between two times, each the run's or a look's. */
struct stretch {
	unsigned first, end;
	uint64_t low, high;
	uint64_t least, most; /* what looks say of all of them */
	/* They followed the first, or preceded the second, at the thread's pace. */
	bool from_low, to_high;
};

/* What was made before a look was so until *before, and what came after since *after: where the
 * thread was away then, that is when it went and when it came again. */
static void bounds_of(const struct ep_untimed *untimed, size_t look, uint64_t *before,
		      uint64_t *after)
{
	uint64_t tsc = untimed->looks[look].tsc;
	const struct ep_absence *away = ep_absences_at(untimed->absences, tsc);

	*before = away ? away->begin : tsc + EP_LOOK_SLACK;
	*after = away ? away->end : tsc - EP_LOOK_SLACK;
}

static void place(const struct stretch *stretch, struct ep_record *records, const uint32_t *costs,
		  const struct ep_pace *pace)
{
	uint64_t length = stretch->high - stretch->low;
	uint64_t all = usual(costs, stretch->first, stretch->end);

	for (unsigned i = stretch->first; i < stretch->end; i++) {
		struct ep_record *record = &records[i];
		uint64_t part = usual(costs, stretch->first, i);
		uint64_t even = (uint64_t)((double)length / (double)all * (double)part);
		uint64_t before = at_pace(pace, part), after = at_pace(pace, all - part);

		if (stretch->from_low && before < even)
			even = before;
		else if (stretch->to_high && after < length - even)
			even = length - after;
		record->time = stretch->low + even;
		if (stretch->least > record->low && stretch->least <= record->high)
			record->low = stretch->least;
		if (stretch->most < record->high && stretch->most >= record->low)
			record->high = stretch->most;
		record->time = record->time > record->low ? record->time : record->low;
		record->time = record->time < record->high ? record->time : record->high;
	}
}

/* Records before the thread went away are no later than they would be by the thread's pace. */
static void go_on(const struct ep_untimed_run *run, struct ep_record *records,
		  const uint32_t *costs, const struct ep_pace *pace)
{
	for (unsigned i = run->first; i < run->end && run->to != EP_RUN_DUE; i++) {
		uint64_t after = at_pace(pace, usual(costs, run->first, i));

		if (after < records[i].time - run->low)
			records[i].time = run->low + after;
	}
}

/* By how much `length` is off, beyond what caches and interrupts make of it. */
static uint64_t off_by(uint64_t length, uint64_t expected)
{
	uint64_t more = length > expected ? length - expected : expected - length;
	uint64_t less = length > expected ? expected : length;

	return more > less / 4 + SLACK ? more : 0;
}

/* What the run took more or less than it usually does, or did lately; all of it, where nothing is
 * known of what is usual. */
static uint32_t unusual(const struct ep_transitions *transitions, const struct ep_untimed_run *run,
			const uint32_t *costs, const struct ep_pace *pace)
{
	uint64_t length = run->high - run->low, expected = usual(costs, run->first, run->end);
	uint64_t lately = at_pace(pace, expected), open = length;

	if (transitions->size) {
		open = off_by(length, expected / EP_TRANSITION_UNIT);
		if (pace->usual && off_by(length, lately) < open)
			open = off_by(length, lately);
	}
	open = open < length ? open : length;
	return open < UINT32_MAX ? (uint32_t)open : UINT32_MAX;
}

static void settle(const struct ep_untimed *untimed, const struct ep_untimed_run *run,
		   struct ep_record *records, const uint32_t *costs, const struct ep_pace *pace)
{
	size_t first, count = looks_in(untimed, run, &first);
	struct stretch stretch = {.first = run->first, .low = run->low, .from_low = true};
	uint64_t before, after;

	if (!count) {
		uint32_t open =
			run->to == EP_RUN_DUE ? unusual(untimed->transitions, run, costs, pace) : 0;

		for (unsigned i = run->first; i < run->end; i++)
			records[i].open = open;
		go_on(run, records, costs, pace);
		return;
	}
	for (size_t i = first; i < first + count; i++) {
		stretch.end = untimed->positions[i];
		stretch.high = untimed->looks[i].tsc;
		bounds_of(untimed, i, &before, &after);
		stretch.most = before;
		place(&stretch, records, costs, pace);
		stretch.first = stretch.end;
		stretch.low = stretch.high;
		stretch.least = after;
		stretch.from_low = false;
	}
	stretch.end = run->end;
	stretch.high = run->high;
	stretch.most = UINT64_MAX;
	stretch.from_low = run->to != EP_RUN_DUE;
	stretch.to_high = run->to == EP_RUN_DUE;
	place(&stretch, records, costs, pace);
}

/* Nothing is known of when but that it was before a look. */
static void bound(const struct ep_untimed *untimed, const struct ep_untimed_run *run,
		  struct ep_record *records)
{
	size_t first, count = looks_in(untimed, run, &first);
	uint64_t before, after;

	for (size_t i = first + count; i-- > first;) {
		bounds_of(untimed, i, &before, &after);
		for (unsigned n = run->first; n < untimed->positions[i]; n++)
			if (before < records[n].high && before >= records[n].time)
				records[n].high = before;
	}
}

void ep_untimed_settle(struct ep_untimed *untimed, struct ep_record *records, const uint32_t *costs,
		       unsigned count, struct ep_pace *pace)
{
	ep_untimed_reach(untimed, UINT32_MAX, count);
	if (!pace->usual && untimed->transitions->size)
		*pace = (struct ep_pace){1, EP_TRANSITION_UNIT};
	for (unsigned i = 0; i < untimed->count; i++) {
		const struct ep_untimed_run *one = &untimed->runs[i];

		for (unsigned next = i; !pace->usual && next < untimed->count; next++)
			set_pace(pace, untimed, costs, &untimed->runs[next]);
		if (one->to == EP_RUN_OPEN)
			bound(untimed, one, records);
		else
			settle(untimed, one, records, costs, pace);
		set_pace(pace, untimed, costs, one);
	}
}
