/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters.c: what tracing cost, as far as the trace knows it: how many records a thread
 * made in a second, and the part of its time that reading the clock for them took; of the process,
 * what the runtime thought that tracing takes, when it reckoned last, and how many functions were
 * switched off for that.
 */
#include "decoder/export/perfetto/perfetto.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/trace/switches.h"

static void write_counter_track(struct ep_perfetto *perfetto, uint64_t uuid, uint64_t parent,
				const char *name)
{
	ep_perfetto_track(perfetto, uuid, parent, name);
	ep_protobuf_open(&perfetto->packet, EP_PB_TRACK_COUNTER);
	ep_protobuf_uint(&perfetto->packet, EP_PB_COUNTER_UNIT, EP_PB_COUNTER_UNIT_COUNT);
	ep_perfetto_end(perfetto);
}

static void write_value(struct ep_perfetto *perfetto, uint64_t track, uint64_t tsc, double value)
{
	const struct ep_trace *trace = perfetto->export->trace;

	ep_perfetto_event(perfetto, track, ep_trace_ns(trace, trace->first_tsc, tsc),
			  EP_PB_TYPE_COUNTER);
	ep_protobuf_double(&perfetto->packet, EP_PB_TRACK_EVENT_DOUBLE, value);
	ep_perfetto_end(perfetto);
}

/* ---- of a thread ---- */

/* Records that are timed; a mark is one, too. */
static unsigned clock_reads(const struct ep_trace_block *block)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < block->words; i++) {
		uint64_t record = block->block->records[i];

		if ((record & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT)
			count += (record & (EP_ESCAPE_TYPES - 1)) == EP_ESCAPE_MARK;
		else
			count += record >> EP_STAMP_SHIFT != 0;
	}
	return count;
}

/* How many of its words were written by block_end: of the last block, those up to its last time. */
static uint32_t words_by_end(const struct ep_trace_thread *thread, size_t index)
{
	const struct ep_trace_block *block = &thread->blocks[index];
	uint32_t words = block->words;

	if (index + 1 == thread->block_count)
		while (words > 0 && !(block->block->records[words - 1] >> EP_STAMP_SHIFT))
			words--;
	return words;
}

/* When the block was full: when the next one was entered, if none is missing between. */
static uint64_t block_end(const struct ep_trace_thread *thread, size_t index)
{
	const struct ep_trace_block *next = &thread->blocks[index + 1];

	if (index + 1 == thread->block_count)
		return thread->last_tsc;
	return next->lost_before ? 0 : next->tsc;
}

static void write_thread(struct ep_perfetto *perfetto, size_t index, uint64_t read_cost)
{
	const struct ep_trace *trace = perfetto->export->trace;
	const struct ep_trace_thread *thread = &trace->threads[index];
	uint64_t parent = perfetto->threads[index].track;
	uint64_t records = ep_perfetto_uuid(trace, EP_TRACK_OF_RECORDS, index, 0);
	uint64_t clock = ep_perfetto_uuid(trace, EP_TRACK_OF_CLOCK, index, 0);

	write_counter_track(perfetto, records, parent, "tracing: records a second");
	if (read_cost)
		write_counter_track(perfetto, clock, parent,
				    "tracing: % of the time in reads of the clock");
	for (size_t i = 0; i < thread->block_count; i++) {
		const struct ep_trace_block *block = &thread->blocks[i];
		uint64_t end = block_end(thread, i);
		double seconds;

		if (block->over_count || end <= block->tsc)
			continue;
		seconds = (double)ep_trace_ns(trace, block->tsc, end) / 1e9;
		if (seconds <= 0)
			continue;
		write_value(perfetto, records, block->tsc, words_by_end(thread, i) / seconds);
		if (read_cost)
			write_value(perfetto, clock, block->tsc,
				    100.0 * clock_reads(block) * (double)read_cost /
					    (double)(end - block->tsc));
	}
}

/* ---- of the process ---- */

struct switch_moment {
	uint64_t tsc;
	int by; /* functions more that are off */
};

static int compare_moments(const void *a, const void *b)
{
	const struct switch_moment *x = a, *y = b;

	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

/* Functions whose hooks were off. */
static void write_switched(struct ep_perfetto *perfetto)
{
	const struct ep_trace *trace = perfetto->export->trace;
	const struct ep_trace_switches *switches = trace->switches;
	uint64_t track = ep_perfetto_uuid(trace, EP_TRACK_OF_SWITCHED, 0, 0);
	EP_ARRAY(struct switch_moment) moments = {0};
	int off = 0;

	for (size_t i = 0; i < switches->count; i++)
		for (unsigned j = 0; j < switches->list[i].off_count; j++) {
			const struct ep_trace_off *one = &switches->list[i].off[j];

			if (!one->begin) /* nobody knows when */
				continue;
			ep_array_push(&moments, ((struct switch_moment){one->end, 1}));
			if (one->on_end != UINT64_MAX)
				ep_array_push(&moments, ((struct switch_moment){one->on_end, -1}));
		}
	if (moments.count) {
		qsort(moments.list, moments.count, sizeof(*moments.list), compare_moments);
		write_counter_track(perfetto, track, perfetto->process,
				    "tracing: functions switched off");
	}
	for (size_t i = 0; i < moments.count; i++) {
		off += moments.list[i].by;
		if (i + 1 == moments.count || moments.list[i + 1].tsc != moments.list[i].tsc)
			write_value(perfetto, track, moments.list[i].tsc, off);
	}
	ep_array_deinit(&moments);
}

/* What epitaph info says of it: of when it was reckoned last, which the history may not reach back
 * to; then at its begin. */
static void write_cost(struct ep_perfetto *perfetto, const struct ep_switches *head)
{
	const struct ep_trace *trace = perfetto->export->trace;
	const struct {
		const char *name;
		uint64_t part, whole;
	} shares[] = {
		{"tracing: estimated overhead, %", head->cost, head->cpu},
		{"tracing: estimated overhead of late, %", head->cost_last, head->cpu_last},
	};

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		uint64_t track = ep_perfetto_uuid(trace, EP_TRACK_OF_COST, i, 0);

		if (!shares[i].whole)
			continue;
		write_counter_track(perfetto, track, perfetto->process, shares[i].name);
		write_value(perfetto, track, head->cost_tsc,
			    ep_switches_share(shares[i].part, shares[i].part, shares[i].whole));
	}
}

void ep_perfetto_counters(struct ep_perfetto *perfetto)
{
	const struct ep_trace *trace = perfetto->export->trace;

	for (size_t i = 0; i < trace->thread_count; i++)
		if (perfetto->threads[i].track)
			write_thread(perfetto, i, trace->clock.read_cost);
	if (trace->switches) {
		write_cost(perfetto, &trace->switches->head);
		write_switched(perfetto);
	}
}
