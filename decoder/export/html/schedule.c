/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule.c: who ran where, who waited, and who woke whom. */
#include "decoder/export/html/html.h"

#include <stdlib.h>

struct slices_writer {
	const struct ep_trace *trace;
	struct ep_html_bytes bytes, slices;
	int64_t last; /* ns: the end of what was put last */
};

static int64_t ns_of(const struct ep_trace *trace, uint64_t tsc)
{
	return ep_trace_ns(trace, trace->first_tsc, tsc);
}

/* Its times, since the one before. */
static void put_times(struct slices_writer *writer, uint64_t begin, uint64_t end)
{
	int64_t from = ns_of(writer->trace, begin), to = ns_of(writer->trace, end);

	ep_html_int(&writer->slices, from - writer->last);
	ep_html_uint(&writer->slices, to > from ? (uint64_t)(to - from) : 0);
	writer->last = to > from ? to : from;
}

static void put_slice(struct slices_writer *writer, const struct ep_slice *slice)
{
	struct ep_html_bytes *bytes = &writer->slices;
	bool thread = slice->waker_kind == EP_WAKER_THREAD;

	put_times(writer, slice->begin, slice->end);
	ep_html_uint(bytes, (uint64_t)slice->state + 4 * (uint64_t)slice->waker_kind +
				    16 * (uint64_t)slice->open);
	if (slice->state == EP_SLICE_RUNNING)
		ep_html_uint(bytes, slice->cpu == EP_SLICE_CPU_UNKNOWN ? 0 : slice->cpu + 1u);
	if (slice->state != EP_SLICE_BLOCKED)
		return;
	ep_html_uint(bytes, (uint8_t)slice->how);
	if (thread)
		ep_html_uint(bytes, slice->waker);
}

static void write_chunk(struct slices_writer *writer, struct ep_outbuf *out, const char *kind,
			uint64_t number, uint64_t count)
{
	writer->bytes.count = 0;
	ep_html_put(&writer->bytes, kind, 1);
	ep_html_uint(&writer->bytes, number);
	ep_html_uint(&writer->bytes, count);
	ep_html_put(&writer->bytes, writer->slices.list, writer->slices.count);
	ep_html_chunk(out, &writer->bytes);
	writer->slices.count = 0;
	writer->last = 0;
}

/* The system gives a tid again. */
static bool is_its(const struct ep_trace_thread *thread, const struct ep_slice *slice)
{
	return slice->end > thread->start_tsc &&
	       (!thread->end_tsc || slice->begin < thread->end_tsc);
}

static void write_task(struct slices_writer *writer, struct ep_outbuf *out, size_t index)
{
	const struct ep_trace_thread *thread = &writer->trace->threads[index];
	const struct ep_task *task = ep_schedule_task(writer->trace->schedule, thread->tid);

	uint64_t count = 0;

	if (!thread->tid || !task)
		return;
	for (size_t i = 0; i < task->count; i++) {
		if (!is_its(thread, &task->slices[i]))
			continue;
		put_slice(writer, &task->slices[i]);
		count++;
	}
	if (count)
		write_chunk(writer, out, "S", index, count);
}

/* By CPU; `next` gets the lowest CPU above this one, UINT32_MAX: none. */
static void write_cpu(struct slices_writer *writer, struct ep_outbuf *out, uint32_t cpu,
		      uint32_t *next)
{
	const struct ep_schedule *schedule = writer->trace->schedule;
	uint64_t count = 0;

	*next = UINT32_MAX;
	for (size_t i = 0; i < schedule->occupation_count; i++) {
		const struct ep_occupation *one = &schedule->occupations[i];

		if (one->cpu > cpu && one->cpu < *next)
			*next = one->cpu;
		if (one->cpu != cpu || !one->tid)
			continue;
		put_times(writer, one->begin, one->end);
		ep_html_uint(&writer->slices, one->tid);
		count++;
	}
	if (count)
		write_chunk(writer, out, "O", cpu, count);
}

void ep_html_schedule_write(struct ep_outbuf *out, const struct ep_trace *trace,
			    const struct ep_html_thread *threads)
{
	struct slices_writer writer = {.trace = trace};

	if (!trace->schedule)
		return;
	for (size_t i = 0; i < trace->thread_count; i++)
		if (threads[i].there)
			write_task(&writer, out, i);
	for (uint32_t cpu = 0; trace->schedule->occupation_count && cpu != UINT32_MAX;)
		write_cpu(&writer, out, cpu, &cpu);
	ep_array_deinit(&writer.bytes);
	ep_array_deinit(&writer.slices);
}
