/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule_records.c: slices against the thread's own records. Who read the clock ran then,
 * whatever the events say: a kernel may not tell of a switch (docs/waiting.md). So no wait reaches
 * beyond the thread's next timed record; since when it ran before that is not known.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/trace/records.h"
#include "decoder/kernel/scheduling.h"

/* Threads that had one tid, one after the other: more make no sense, and would take the time and
 * memory of each. */
#define SAME_TID 4u

/* Times at which a thread read the clock, in order. */
struct sightings {
	struct ep_records records;
	uint64_t now; /* the one in hand */
	bool ended;
};

/* The first one after `tsc`, which never goes back; 0: there is none. */
static uint64_t sighting_after(struct sightings *s, uint64_t tsc)
{
	const struct ep_trace_thread *thread = s->records.thread;
	size_t next = s->records.next_block;
	const struct ep_record *record;

	if (next < thread->block_count && thread->blocks[next].tsc <= tsc)
		ep_records_seek(&s->records, tsc);
	while (!s->ended && s->now <= tsc) {
		s->ended = ep_records_next(&s->records, &record) != EP_OK;
		if (!s->ended && record->exact && record->kind != EP_RECORD_GAP)
			s->now = record->time;
	}
	return s->now > tsc ? s->now : 0;
}

/* One of which the events say, or leave open, that it was off its CPU, and that goes on until it
 * ran. */
static bool is_doubtful(const struct ep_slice *slice)
{
	return slice->state == EP_SLICE_READY || slice->state == EP_SLICE_BLOCKED ||
	       slice->returned;
}

/* When the thread ran in `slice`; 0: it may not have. */
static uint64_t ran_in(struct sightings *s, const struct ep_slice *slice)
{
	uint64_t at = is_doubtful(slice) ? sighting_after(s, slice->begin) : 0;

	return at < slice->end ? at : 0;
}

/* From then on it ran; who woke it is not known any more. */
static void split(const struct ep_slice *slice, uint64_t at, struct ep_slice parts[2])
{
	parts[0] = (struct ep_slice){
		.begin = slice->begin, .end = at, .state = EP_SLICE_UNKNOWN, .returned = true};
	parts[1] = (struct ep_slice){.begin = at,
				     .end = slice->end,
				     .state = EP_SLICE_RUNNING,
				     .cpu = slice->returned ? slice->cpu : EP_SLICE_CPU_UNKNOWN,
				     .open = slice->open};
}

/* perf's times are another clock's: off by more than it takes to go. */
static void confront_row(struct ep_task_builder *row, struct sightings *s, uint64_t perf_until)
{
	__typeof__(row->slices) slices = {0};

	ep_array_reserve(&slices, 2 * row->slices.count);
	for (size_t i = 0; i < row->slices.count; i++) {
		const struct ep_slice *slice = &row->slices.list[i];
		uint64_t at = slice->begin > perf_until ? ran_in(s, slice) : 0;

		if (at)
			split(slice, at, &slices.list[slices.count]);
		else
			slices.list[slices.count] = *slice;
		slices.count += at ? 2 : 1;
	}
	ep_array_deinit(&row->slices);
	row->slices.list = slices.list;
	row->slices.count = slices.count;
	row->slices.capacity = slices.capacity;
}

void ep_scheduling_confront(struct ep_scheduling *s)
{
	const struct ep_trace *trace = s->trace;
	struct sightings sightings;

	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];
		struct ep_task_builder *row = ep_scheduling_known(s, thread->tid);

		if (!row || !row->slices.count || !thread->block_count ||
		    row->confronted == SAME_TID)
			continue;
		row->confronted++;
		ep_records_init(&sightings.records, trace, thread);
		sightings.now = 0;
		sightings.ended = false;
		confront_row(row, &sightings, s->perf_until);
	}
}
