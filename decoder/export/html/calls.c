/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c: one thread's nested stream → columns. A chunk is written when it is full, so that memory
 * does not grow with the history. */
#include "coredump/util/alloc.h"
#include "decoder/export/html/html.h"
#include "decoder/export/replay.h"

#define CHUNK_EVENTS 32768u
#define CHUNK_BYTES  (1u << 20) /* of texts and the like */

struct calls_writer {
	struct ep_outbuf *out;
	const struct ep_trace *trace;
	struct ep_html_functions *functions;
	struct ep_html_thread *thread;
	size_t index;
	struct ep_html_bytes codes, times, more, chunk;
	uint64_t events, suspended; /* calls that ever were */
	uint32_t depth;
	uint64_t low, high; /* TSC: the interval given last; high 0: none */
};

uint32_t ep_html_function(struct ep_html_functions *functions, const struct ep_function *function)
{
	uint32_t *number;

	while (functions->numbers.count <= function->id)
		ep_array_add(&functions->numbers);
	number = &functions->numbers.list[function->id];
	if (!*number) {
		ep_array_push(&functions->list, function);
		*number = (uint32_t)functions->list.count;
	}
	return *number - 1;
}

static void flush(struct calls_writer *writer)
{
	struct ep_html_bytes *chunk = &writer->chunk;

	if (!writer->events)
		return;
	chunk->count = 0;
	ep_html_put(chunk, "C", 1);
	ep_html_uint(chunk, writer->index);
	ep_html_uint(chunk, writer->events);
	ep_html_uint(chunk, writer->codes.count);
	ep_html_uint(chunk, writer->times.count);
	ep_html_uint(chunk, writer->more.count);
	ep_html_put(chunk, writer->codes.list, writer->codes.count);
	ep_html_put(chunk, writer->times.list, writer->times.count);
	if (writer->more.count)
		ep_html_put(chunk, writer->more.list, writer->more.count);
	ep_html_chunk(writer->out, chunk);
	writer->codes.count = writer->times.count = writer->more.count = 0;
	writer->events = 0;
}

static int64_t ns_of(const struct calls_writer *writer, uint64_t tsc)
{
	return ep_trace_ns(writer->trace, writer->trace->first_tsc, tsc);
}

static enum ep_html_time how_known(struct calls_writer *writer, const struct ep_time *time)
{
	if (!time || time->exact)
		return EP_HTML_TIME_EXACT;
	if (writer->high && time->low == writer->low && time->high == writer->high)
		return EP_HTML_TIME_SAME;
	writer->low = time->low;
	writer->high = time->high;
	return EP_HTML_TIME_NEW;
}

static void put_interval(struct calls_writer *writer, const struct ep_time *time, int64_t now)
{
	int64_t low = ns_of(writer, time->low);

	ep_html_int(&writer->more, low - now);
	if (time->high == EP_TIME_UNKNOWN)
		ep_html_uint(&writer->more, 0);
	else
		ep_html_uint(&writer->more, (uint64_t)(ns_of(writer, time->high) - low) + 1);
}

/* `time`: NULL: it is as exact as it can be. What the code wants more is put by the caller. */
static void put_event(struct calls_writer *writer, const struct ep_nest_thread *thread,
		      uint64_t code, const struct ep_time *time)
{
	enum ep_html_time how = how_known(writer, time);

	if (writer->events == CHUNK_EVENTS || writer->more.count > CHUNK_BYTES)
		flush(writer);
	ep_html_uint(&writer->codes, code * 4 + how);
	ep_html_uint(&writer->times, (uint64_t)(thread->now - writer->thread->last));
	if (how == EP_HTML_TIME_NEW)
		put_interval(writer, time, thread->now);
	writer->thread->last = thread->now;
	writer->events++;
}

static void put_begin(struct calls_writer *writer, const struct ep_nest_thread *thread,
		      const struct ep_event *event)
{
	uint32_t function = ep_html_function(writer->functions, event->function);
	uint32_t flags = thread->frame->flags & EP_CALL_BEFORE ? thread->frame->flags : 0;

	while (writer->thread->levels.count <= writer->depth)
		ep_array_add(&writer->thread->levels);
	writer->thread->levels.list[writer->depth++]++;
	if (event->kind == EP_EVENT_RESUME) {
		put_event(writer, thread, EP_HTML_RESUME, NULL);
		ep_html_uint(&writer->more, function);
		ep_html_uint(&writer->more, thread->frame->mark);
	} else if (flags) {
		put_event(writer, thread, EP_HTML_BEGIN_MORE, NULL);
		ep_html_uint(&writer->more, function);
		ep_html_uint(&writer->more, flags);
	} else {
		put_event(writer, thread, (uint64_t)EP_HTML_BEGIN + function,
			  &thread->frame->begin);
	}
}

static void put_point(struct calls_writer *writer, const struct ep_nest_thread *thread,
		      const struct ep_event *event, unsigned point, const char *text,
		      const struct ep_time *time)
{
	put_event(writer, thread, EP_HTML_POINT, time);
	ep_html_uint(&writer->more, point);
	ep_html_uint(&writer->more,
		     event->function
			     ? (uint64_t)ep_html_function(writer->functions, event->function) + 1
			     : 0);
	ep_html_text(&writer->more, text);
	writer->thread->points++;
}

static void put_end(struct calls_writer *writer, const struct ep_nest_thread *thread,
		    const struct ep_event *event)
{
	uint32_t flags = thread->frame ? thread->frame->flags : 0;

	if (event->flags & EP_CALL_STRAY) {
		put_point(writer, thread, event, EP_HTML_STRAY, "", &event->end);
		return;
	}
	writer->depth--;
	if (event->kind == EP_EVENT_SUSPEND) {
		if (!thread->frame->mark)
			thread->frame->mark = ++writer->suspended;
		put_event(writer, thread, EP_HTML_SUSPEND, NULL);
		ep_html_uint(&writer->more, thread->frame->mark);
		return;
	}
	if (event->kind == EP_EVENT_OPEN)
		put_event(writer, thread, EP_HTML_OPEN, NULL);
	else
		put_event(writer, thread, flags ? EP_HTML_END_MORE : EP_HTML_END, &event->end);
	if (flags || event->kind == EP_EVENT_OPEN)
		ep_html_uint(&writer->more, flags);
}

static void put_gap(struct calls_writer *writer, const struct ep_nest_thread *thread,
		    const struct ep_event *event)
{
	char why[EP_REPLAY_GAP_SIZE];

	put_event(writer, thread, EP_HTML_GAP, NULL);
	ep_html_uint(&writer->more, (uint64_t)thread->gap);
	ep_html_text(&writer->more, ep_replay_gap(why, event));
	writer->thread->gaps++;
}

static void put_wait(struct calls_writer *writer, const struct ep_nest_thread *thread,
		     const struct ep_event *event)
{
	if (!writer->depth)
		return; /* in no call: the schedule has it */
	put_event(writer, thread, EP_HTML_WAIT, NULL);
	ep_html_uint(&writer->more, (uint64_t)thread->gap);
	ep_html_uint(&writer->more, thread->own * 4 +
					    (event->place->slice->state == EP_SLICE_READY) * 2u +
					    ep_place_is_certain(event->place));
	writer->thread->waits++;
}

static void put_moment(struct calls_writer *writer, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	bool before = event->flags & EP_CALL_BEFORE;

	if (event->point == EP_POINT_SPAN_BEGIN) {
		put_event(writer, thread, EP_HTML_SPAN, &event->begin);
		ep_html_uint(&writer->more, event->call);
		ep_html_text(&writer->more, event->text);
		writer->thread->spans++;
	} else if (event->point == EP_POINT_SPAN_END && !before) {
		put_event(writer, thread, EP_HTML_SPAN_END, &event->begin);
		ep_html_uint(&writer->more, event->call);
	} else {
		put_point(writer, thread, event, event->point, event->text, &event->begin);
	}
}

/* A sink. */
static int calls_event(void *context, const struct ep_event *event,
		       const struct ep_nest_thread *thread)
{
	struct calls_writer *writer = context;

	switch (event->kind) {
	case EP_EVENT_BEGIN:
	case EP_EVENT_RESUME:
		put_begin(writer, thread, event);
		break;
	case EP_EVENT_END:
	case EP_EVENT_SUSPEND:
	case EP_EVENT_OPEN:
		put_end(writer, thread, event);
		break;
	case EP_EVENT_GAP:
		put_gap(writer, thread, event);
		break;
	case EP_EVENT_POINT:
		put_moment(writer, thread, event);
		break;
	case EP_EVENT_WAIT:
		put_wait(writer, thread, event);
		break;
	case EP_EVENT_LEFT:
	case EP_EVENT_OPEN_SPAN:
		break;
	}
	return ep_export_status(writer->out);
}

int ep_html_calls_write(struct ep_outbuf *out, const struct ep_export *export, size_t index,
			struct ep_html_functions *functions, struct ep_html_thread *thread,
			uint64_t *shown)
{
	struct calls_writer *writer = ep_calloc(1, sizeof(*writer));
	const struct ep_sink sink = {
		.context = writer, .event = calls_event, .waits = true, .nested = true};
	struct ep_selection selection = {0};
	int rc;

	if (export->selection)
		selection = *export->selection;
	selection.only = &export->trace->threads[index];
	*writer = (struct calls_writer){.out = out,
					.trace = export->trace,
					.functions = functions,
					.thread = thread,
					.index = index};
	rc = ep_stream(export->trace, export->names, &selection, &sink, shown);
	flush(writer);
	thread->there = *shown || thread->points || thread->waits || thread->spans;
	ep_array_deinit(&writer->codes);
	ep_array_deinit(&writer->times);
	ep_array_deinit(&writer->more);
	ep_array_deinit(&writer->chunk);
	free(writer);
	return rc;
}
