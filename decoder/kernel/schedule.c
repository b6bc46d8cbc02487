/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule.c: the section's chunks, in the order in which they were copied. */
#include "decoder/kernel/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/kernel/scheduling.h"

struct chunk {
	const struct ep_sched_chunk *head; /* in the section */
	const uint8_t *data;
};

struct chunks {
	struct chunk *list;
	size_t count, capacity;
};

struct section {
	const struct ep_trace *trace;
	uint64_t offset, size; /* in the image */
	struct ep_sched head;
};

static const uint8_t *part(const struct section *section, uint64_t offset, uint64_t size)
{
	if (offset > section->size || size > section->size - offset)
		return NULL;
	return ep_trace_view(section->trace, section->offset + offset, size);
}

/* A whole chunk at `at` of the section that does not leave its segment. */
static const struct ep_sched_chunk *chunk_at(const struct section *section, uint64_t at,
					     uint64_t end)
{
	const struct ep_sched_chunk *chunk;
	uint64_t size;

	if (end - at < sizeof(*chunk))
		return NULL;
	chunk = (const void *)part(section, at, sizeof(*chunk));
	if (!chunk || !chunk->check)
		return NULL;
	size = (chunk->size + UINT64_C(7)) & ~UINT64_C(7);
	if (size > end - at - sizeof(*chunk) || !part(section, at, sizeof(*chunk) + size) ||
	    chunk->check != ep_sched_check(chunk, at, section->trace->image->root.identity))
		return NULL;
	return chunk;
}

static void collect_segment(const struct section *section, uint64_t at, uint64_t end,
			    struct chunks *chunks)
{
	const struct ep_sched_chunk *chunk;
	uint64_t sequence = 0;

	while ((chunk = chunk_at(section, at, end)) != NULL &&
	       (!sequence || chunk->sequence == sequence + 1)) {
		ep_array_push(chunks, ((struct chunk){chunk, (const uint8_t *)(chunk + 1)}));
		sequence = chunk->sequence;
		at += sizeof(*chunk) + ((chunk->size + UINT64_C(7)) & ~UINT64_C(7));
	}
}

static int by_sequence(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	return (x->head->sequence > y->head->sequence) - (x->head->sequence < y->head->sequence);
}

/* Chunks whose numbers lie between are gone: of what they told nothing is known up to when the next
 * was copied. */
static void note_hole(struct ep_scheduling *s, const struct ep_sched_chunk *a)
{
	struct ep_sched_event lost = {.tsc = a->tsc, .kind = EP_SCHED_LOST};

	s->schedule->losses++;
	ep_scheduling_add(s, &lost);
}

static void read_chunks(struct ep_scheduling *s, const struct chunks *chunks,
			const struct ep_formats *formats)
{
	uint64_t last[1024] = {0}, sequence = 0;

	for (size_t i = 0; i < chunks->count; i++) {
		const struct ep_sched_chunk *head = chunks->list[i].head;
		bool good;

		if (sequence && head->sequence != sequence + 1)
			note_hole(s, chunks->list[i - 1].head);
		sequence = head->sequence;
		if (head->source == EP_SCHED_PERF) {
			good = ep_perf_records(s, chunks->list[i].data, head->size, head->cpu);
			s->perf_until = head->tsc;
		} else {
			/* perf serves until an ftrace instance does, and both recorded for a
			 * moment. */
			if (last[head->cpu % 1024] < s->perf_until)
				last[head->cpu % 1024] = s->perf_until;
			good = ep_ftrace_page(s, formats, chunks->list[i].data, head->size,
					      head->cpu, &last[head->cpu % 1024]);
		}
		s->schedule->bad += !good;
	}
}

/* What was copied before the oldest chunk that is left is overwritten. */
static uint64_t begin_of(const struct section *section, const struct chunks *chunks)
{
	if (chunks->count && chunks->list[0].head->sequence > 1)
		return chunks->list[0].head->tsc;
	return section->head.start_tsc;
}

static void read_pool(struct ep_scheduling *s, const struct section *section,
		      const struct ep_formats *formats)
{
	const struct ep_sched *head = &section->head;
	struct chunks chunks = {0};

	for (uint64_t at = 0; at < head->pool_size && head->pool_size - at >= EP_SCHED_SEGMENT;
	     at += EP_SCHED_SEGMENT)
		collect_segment(section, head->pool_offset + at,
				head->pool_offset + at + EP_SCHED_SEGMENT, &chunks);
	ep_array_sort(&chunks, by_sequence);
	s->schedule->first = begin_of(section, &chunks);
	s->schedule->last = head->stop_tsc ? head->stop_tsc : head->drained_tsc;
	read_chunks(s, &chunks, formats);
	ep_array_deinit(&chunks);
}

/* ---- the section ---- */

static bool head_makes_sense(const struct section *section)
{
	const struct ep_sched *head = &section->head;

	return head->segment_size == EP_SCHED_SEGMENT && head->formats_used <= head->formats_size &&
	       head->formats_offset <= section->size &&
	       head->formats_size <= section->size - head->formats_offset &&
	       head->pool_offset % 8 == 0 && head->pool_offset <= section->size &&
	       head->pool_size <= section->size - head->pool_offset;
}

static void read_section(struct ep_scheduling *s, const struct section *section)
{
	const struct ep_sched *head = &section->head;
	struct ep_formats formats = {.count = 0};
	const uint8_t *texts = part(section, head->formats_offset, head->formats_used);

	if (texts && head->formats_used)
		s->schedule->bad += ep_formats_read(&formats, texts, head->formats_used);
	read_pool(s, section, &formats);
	ep_scheduling_finish(s);
}

void ep_schedule_attach(struct ep_trace *trace)
{
	const struct ep_trace_section *where = &trace->sections[EP_SECTION_SCHED];
	struct section section = {trace, where->offset, where->size, {0}};
	struct ep_scheduling s = {.trace = trace};
	const uint8_t *head = part(&section, 0, sizeof(section.head));

	if (!where->there)
		return;
	if (head)
		memcpy(&section.head, head, sizeof(section.head));
	if (!head || !head_makes_sense(&section)) {
		ep_trace_warn(trace, "the head of the scheduling events makes no sense");
		return;
	}
	s.schedule = ep_calloc(1, sizeof(*s.schedule));
	s.schedule->head = section.head;
	read_section(&s, &section);
	trace->schedule = s.schedule;
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_task *task = ep_schedule_task(s.schedule, trace->threads[i].tid);

		trace->threads[i].absences = task ? &task->absences : NULL;
	}
}

void ep_schedule_detach(struct ep_trace *trace)
{
	struct ep_schedule *schedule = trace ? trace->schedule : NULL;

	if (!schedule)
		return;
	trace->schedule = NULL;
	for (size_t i = 0; i < trace->thread_count; i++)
		trace->threads[i].absences = NULL;
	for (size_t i = 0; i < schedule->task_count; i++) {
		ep_absences_deinit(&schedule->tasks[i].absences);
		free(schedule->tasks[i].slices);
		free(schedule->tasks[i].sums);
	}
	free(schedule->tasks);
	free(schedule->events);
	free(schedule->kernel_events);
	free(schedule->namings);
	free(schedule->occupations);
	free(schedule);
}
