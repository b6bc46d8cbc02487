/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chrome.c: the Trace Event Format, as its document "Trace Event Format" (Google, linked from
 * chrome://tracing) has it. A call is an X event, written when it ends; the viewers sort, and nest
 * by the times alone. So no two events of a thread may share a time: where they do (times known
 * within an interval, several calls left at once), the later one is moved by 1 or 2 ns, which is
 * less than the clock can tell apart. Not B and E: with them Perfetto, which draws 512 levels, ends
 * the wrong calls above a deep recursion, and speedscope wants all args twice. A call that did not
 * return is a B without an E: the viewers show it as unfinished.
 *
 * Threads follow one another, so that the calls of no more than one are in memory at a time.
 */
#include "decoder/export/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/calls/placing.h"
#include "decoder/export/systrace.h"
#include "decoder/kernel/kernel_events.h"

struct chrome {
	struct ep_outbuf out;
	const struct ep_export *export;
	const struct ep_chrome_style *style;
	FILE *file;
	struct ep_texts texts;          /* what an event has of its function */
	struct ep_function_text *heads; /* by thread: of every event */
	uint32_t *tids;
	int64_t *last; /* by thread: ns of its last event */
	int64_t zero;  /* ns, of the first record */
	bool begun;
};

/* ---- what is made once ---- */

/* "pid":1,"tid":2,"ts": */
static void heads_make(struct chrome *chrome)
{
	const struct ep_trace *trace = chrome->export->trace;

	chrome->tids = ep_export_tids(trace);
	chrome->heads = ep_calloc(trace->thread_count, sizeof(*chrome->heads));
	chrome->last = ep_calloc(trace->thread_count, sizeof(*chrome->last));
	for (size_t i = 0; i < trace->thread_count; i++) {
		struct ep_function_text *head = &chrome->heads[i];

		head->bytes = ep_asprintf("\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":",
					  trace->process.pid, chrome->tids[i]);
		head->size = strlen(head->bytes);
	}
}

/* ---- the beginning and the end of the file ---- */

static void metadata(struct ep_json *json, const struct chrome *chrome, const char *what,
		     size_t thread)
{
	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_text(json, "ph", "M");
	ep_json_member_uint(json, "pid", chrome->export->trace->process.pid);
	ep_json_member_uint(json, "tid", chrome->tids[thread]);
	ep_json_member_text(json, "name", what);
	ep_json_key(json, "args");
	ep_json_object(json);
}

static void metadata_end(struct ep_json *json)
{
	ep_json_object_end(json);
	ep_json_object_end(json);
}

/* A thread's name, and its place: in the order in which they were started. */
static void write_thread(struct ep_json *json, const struct chrome *chrome, size_t index)
{
	const struct ep_trace_thread *thread = &chrome->export->trace->threads[index];

	metadata(json, chrome, "thread_name", index);
	ep_json_member_text(json, "name", thread->name[0] ? thread->name : "thread");
	metadata_end(json);
	if (!chrome->style->sort_index)
		return;
	metadata(json, chrome, "thread_sort_index", index);
	ep_json_member_uint(json, "sort_index", thread->serial);
	metadata_end(json);
}

/* By the writer that looks after every text; later events go around it. */
static void write_head(struct chrome *chrome)
{
	const struct ep_export *export = chrome->export;
	const struct ep_trace *trace = export->trace;
	struct ep_json json;

	chrome->begun = true;
	ep_json_init(&json, chrome->file);
	ep_json_object(&json);
	ep_json_key(&json, "traceEvents");
	ep_json_array(&json);
	metadata(&json, chrome, "process_name", 0);
	ep_json_member_text(&json, "name", ep_export_program(trace));
	metadata_end(&json);
	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].block_count &&
		    (!export->selection ||
		     ep_selection_wants_thread(export->selection, &trace->threads[i])))
			write_thread(&json, chrome, i);
	ep_kernel_events_write(&json, trace, chrome->zero);
}

static void write_tail(struct chrome *chrome)
{
	struct ep_json json;

	ep_outbuf_text(&chrome->out, "\n]");
	/* The buffer is empty from here on. */
	if (ep_outbuf_finish(&chrome->out) != 0)
		return; /* ep_export_finish reports it */
	ep_json_init(&json, chrome->file);
	json.depth = 1; /* inside of the object, which has a member */
	json.has_items = 1u << 1;
	chrome->style->tail(chrome->style->context, &json);
	ep_systrace_write(&json, chrome->export->trace, chrome->zero);
	ep_systrace_write_text(&json, chrome->export->trace, chrome->export->funtrace,
			       chrome->zero);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	if (ep_json_finish(&json) != 0)
		chrome->out.failed = errno;
}

/* ---- events ---- */

/* A time of its own for an event, at least `apart` ns after the one before. */
static int64_t stamp(struct chrome *chrome, const struct ep_nest_thread *thread, int64_t apart)
{
	int64_t *last = &chrome->last[thread->index];

	if (thread->now >= *last + apart)
		*last = thread->now;
	else
		*last += apart;
	return *last;
}

static void event_head(struct chrome *chrome, char phase, const struct ep_nest_thread *thread,
		       int64_t ns)
{
	const struct ep_function_text *head = &chrome->heads[thread->index];
	char start[] = ",\n{\"ph\":\"X\",";

	if (!chrome->begun)
		write_head(chrome);
	start[9] = phase;
	ep_outbuf_put(&chrome->out, start, sizeof(start) - 1);
	ep_outbuf_put(&chrome->out, head->bytes, head->size);
	ep_outbuf_thousandth(&chrome->out, ep_ns_add(chrome->zero, ns));
}

/* A time that is an interval, as members of args:
 * ,"begin":"approximate","begin_earliest_us":1.000,"begin_latest_us":2.000 */
static void approximate(struct chrome *chrome, const char *which, const struct ep_time *time)
{
	const struct ep_trace *trace = chrome->export->trace;
	struct ep_outbuf *out = &chrome->out;

	ep_outbuf_text(out, ",\"");
	ep_outbuf_text(out, which);
	ep_outbuf_text(out, "\":\"approximate\",\"");
	ep_outbuf_text(out, which);
	ep_outbuf_text(out, "_earliest_us\":");
	ep_outbuf_thousandth(
		out, ep_ns_add(chrome->zero, ep_trace_ns(trace, trace->first_tsc, time->low)));
	if (time->high == EP_TIME_UNKNOWN)
		return;
	ep_outbuf_text(out, ",\"");
	ep_outbuf_text(out, which);
	ep_outbuf_text(out, "_latest_us\":");
	ep_outbuf_thousandth(
		out, ep_ns_add(chrome->zero, ep_trace_ns(trace, trace->first_tsc, time->high)));
}

static void word(struct chrome *chrome, bool on, const char *key_and_text)
{
	if (on)
		ep_outbuf_text(&chrome->out, key_and_text);
}

/* What the numbers don't say. */
static void write_flags(struct chrome *chrome, const struct ep_nest_frame *frame,
			const struct ep_event *event)
{
	uint32_t known = frame->flags;
	bool unwound = known & EP_CALL_UNWOUND, ended = event->kind == EP_EVENT_END;

	word(chrome, known & EP_CALL_BEFORE, ",\"began\":\"before the history: begin unknown\"");
	word(chrome, frame->mark & 1, ",\"resumed\":\"execution came back to this stack\"");
	word(chrome, event->kind == EP_EVENT_SUSPEND,
	     ",\"suspended\":\"execution went on upon another stack\"");
	word(chrome, event->kind == EP_EVENT_OPEN, ",\"unfinished\":\"did not return\"");
	word(chrome, ended && unwound,
	     ",\"ended\":\"left without a return, by an exception or longjmp\"");
	word(chrome, ended && !unwound && known & EP_CALL_ABANDONED,
	     ",\"ended\":\"left without a return\"");
	word(chrome, known & EP_CALL_SWITCHED,
	     ",\"switched\":\"its hooks were switched off: when it returned is not known\"");
	word(chrome, known & EP_CALL_ACROSS_GAP, ",\"gap\":\"history is missing inside\"");
	word(chrome, ended && known & EP_CALL_AMBIGUOUS,
	     ",\"ambiguous\":\"the return may be of an outer call of it\"");
	word(chrome, known & EP_CALL_UNSURE_WAIT,
	     ",\"wait\":\"it may have waited, or a call near it: not known which\"");
	if (!frame->begin.exact && !(known & EP_CALL_BEFORE))
		approximate(chrome, "begin", &frame->begin);
	if (ended && !event->end.exact)
		approximate(chrome, "end", &event->end);
}

static void write_call(struct chrome *chrome, const struct ep_nest_thread *thread,
		       const struct ep_nest_frame *frame, const struct ep_event *event)
{
	const struct ep_function_text *text = ep_texts_get(&chrome->texts, frame->function);
	bool open = event->kind == EP_EVENT_OPEN;
	struct ep_outbuf *out = &chrome->out;
	int64_t began = (int64_t)(frame->mark / 2);

	event_head(chrome, open ? 'B' : 'X', thread, began);
	if (!open) {
		ep_outbuf_text(out, ",\"dur\":");
		ep_outbuf_thousandth(out, stamp(chrome, thread, 2) - began);
	}
	ep_outbuf_put(out, text->bytes, text->size);
	write_flags(chrome, frame, event);
	ep_outbuf_text(out, "}}");
}

/* B events must come in order, so all of a thread when the innermost is handed out; the mark of the
 * others says that it is done. */
static void write_open(struct chrome *chrome, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	for (size_t i = 0; thread->frame->mark != UINT64_MAX && i < thread->count; i++) {
		write_call(chrome, thread, &thread->frames[i], event);
		thread->frames[i].mark = UINT64_MAX;
	}
}

/* Instants, on the thread's track. */
static void write_point(struct chrome *chrome, const struct ep_event *event)
{
	struct ep_outbuf *out = &chrome->out;
	char *name = ep_export_point(event);
	char *quoted = ep_export_quote(name);

	free(name);
	ep_outbuf_text(out, ",\"name\":");
	ep_outbuf_text(out, quoted);
	free(quoted);
	ep_outbuf_text(out, ",\"cat\":\"");
	ep_outbuf_text(out, event->point < EP_POINT_NOTE ? "point" : ep_point_word(event->point));
	ep_outbuf_text(out, "\",\"args\":{\"address\":\"");
	ep_outbuf_hex(out, event->address);
	ep_outbuf_text(out, "\"");
	if (!event->begin.exact)
		approximate(chrome, "time", &event->begin);
	ep_outbuf_text(out, "}}");
}

/* Spans are none of the calls', and may overlap: asynchronous events, each of which the viewers
 * draw on a track of its own beside the thread's. */
static void write_span(struct chrome *chrome, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	bool begins = event->point == EP_POINT_SPAN_BEGIN;
	struct ep_outbuf *out = &chrome->out;
	char *quoted = ep_export_quote(event->text), id[64];

	event_head(chrome, begins ? 'b' : 'e', thread, thread->now);
	snprintf(id, sizeof(id),
		 ",\"cat\":\"span\",\"id\":\"0x%" PRIx32 "%08" PRIx32 "\",\"name\":",
		 thread->thread->serial, (uint32_t)event->call);
	ep_outbuf_text(out, id);
	ep_outbuf_text(out, quoted);
	free(quoted);
	ep_outbuf_text(out, ",\"args\":{\"address\":\"");
	ep_outbuf_hex(out, event->address);
	ep_outbuf_text(out, "\"");
	word(chrome, event->flags & EP_CALL_ACROSS_GAP, ",\"gap\":\"history is missing inside\"");
	ep_outbuf_text(out, "}}");
}

static void write_gap(struct chrome *chrome, const struct ep_nest_thread *thread,
		      const struct ep_event *event)
{
	char *why = ep_export_gap(event);

	ep_outbuf_text(&chrome->out,
		       ",\"name\":\"history is missing\",\"cat\":\"gap\",\"args\":{\"why\":");
	ep_outbuf_text(&chrome->out, why);
	free(why);
	ep_outbuf_text(&chrome->out, ",\"missing_us\":");
	ep_outbuf_thousandth(&chrome->out, thread->gap);
	ep_outbuf_text(&chrome->out, "}}");
}

static void write_stray(struct chrome *chrome, const struct ep_event *event)
{
	const struct ep_function_text *text = ep_texts_get(&chrome->texts, event->function);

	ep_outbuf_put(&chrome->out, text->bytes, text->size);
	ep_outbuf_text(&chrome->out, ",\"stray\":\"a return that belongs to no call\"}}");
}

static void write_moment(struct chrome *chrome, const struct ep_nest_thread *thread,
			 const struct ep_event *event)
{
	if (ep_export_is_span(event)) {
		write_span(chrome, thread, event);
		return;
	}
	event_head(chrome, 'i', thread, stamp(chrome, thread, 1));
	ep_outbuf_text(&chrome->out, ",\"s\":\"t\"");
	if (event->kind == EP_EVENT_GAP)
		write_gap(chrome, thread, event);
	else if (event->kind == EP_EVENT_POINT)
		write_point(chrome, event);
	else
		write_stray(chrome, event);
}

/* A slice of its own covers what may not be a wait of the call that it is drawn in. */
static void write_wait(struct chrome *chrome, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	int64_t began;
	char *chain, *quoted;

	if (ep_place_is_certain(event->place))
		return;
	chain = ep_export_certain_chain(thread, event->place);
	quoted = ep_export_quote(chain);
	began = stamp(chrome, thread, 1);
	event_head(chrome, 'X', thread, began);
	ep_outbuf_text(&chrome->out, ",\"dur\":");
	ep_outbuf_thousandth(&chrome->out, thread->gap);
	ep_outbuf_text(&chrome->out, ",\"name\":\"" EP_EXPORT_INSIDE
				     "\",\"cat\":\"wait\",\"args\":{\"certain\":");
	ep_outbuf_text(&chrome->out, quoted);
	ep_outbuf_text(&chrome->out, "}}");
	free(quoted);
	chrome->last[thread->index] = began + thread->gap;
	free(chain);
}

/* A sink. The time of a call is taken when it begins, in order; it is written when all is known of
 * it. The mark of a frame is that time, doubled, + 1 when it was resumed. */
static int chrome_event(void *context, const struct ep_event *event,
			const struct ep_nest_thread *thread)
{
	struct chrome *chrome = context;

	switch (event->kind) {
	case EP_EVENT_BEGIN:
	case EP_EVENT_RESUME:
		thread->frame->mark =
			(uint64_t)stamp(chrome, thread, 1) * 2 + (event->kind == EP_EVENT_RESUME);
		break;
	case EP_EVENT_END:
	case EP_EVENT_SUSPEND:
		if (event->flags & EP_CALL_STRAY)
			write_moment(chrome, thread, event);
		else
			write_call(chrome, thread, thread->frame, event);
		break;
	case EP_EVENT_OPEN:
		write_open(chrome, thread, event);
		break;
	case EP_EVENT_GAP:
	case EP_EVENT_POINT:
		write_moment(chrome, thread, event);
		break;
	case EP_EVENT_WAIT:
		write_wait(chrome, thread, event);
		break;
	case EP_EVENT_LEFT:
	case EP_EVENT_OPEN_SPAN:
		break;
	}
	return ep_export_status(&chrome->out);
}

/* ---- the whole ---- */

static void chrome_deinit(struct chrome *chrome)
{
	ep_texts_deinit(&chrome->texts);
	for (size_t i = 0; i < chrome->export->trace->thread_count; i++)
		free(chrome->heads[i].bytes);
	free(chrome->heads);
	free(chrome->tids);
	free(chrome->last);
	free(chrome);
}

int ep_chrome_stream(FILE *out, const struct ep_export *export, const struct ep_chrome_style *style,
		     uint64_t *shown, struct ep_err *err)
{
	struct chrome *chrome = ep_calloc(1, sizeof(*chrome));
	const struct ep_sink sink = {.context = chrome,
				     .event = chrome_event,
				     .waits = true,
				     .any_order = true,
				     .nested = true};
	int rc;

	chrome->export = export;
	chrome->zero = ep_export_zero(export);
	chrome->style = style;
	chrome->file = out;
	chrome->texts.make = style->function;
	chrome->texts.context = style->context;
	ep_outbuf_init(&chrome->out, out);
	heads_make(chrome);
	ep_stream(export->trace, export->names, export->selection, &sink, shown);
	if (chrome->begun)
		write_tail(chrome);
	rc = ep_export_finish(&chrome->out, err);
	chrome_deinit(chrome);
	return rc;
}

/* ---- for viewers of no special wishes ---- */

/* ,"name":"f","cat":"call","args":{"file":"f.c","line":1,"module":"m", "address":"0x1" */
static char *chrome_function(void *context, const struct ep_function *function)
{
	const struct ep_export *export = context;
	struct ep_line line = ep_names_function_line(export->names, function);
	char *name = ep_export_quote(function->name);
	char *file = line.file ? ep_export_quote(line.file) : NULL;
	char *module = ep_export_quote(function->module);
	char *text, where[32] = "";

	if (line.file && line.line)
		snprintf(where, sizeof(where), ",\"line\":%" PRIu32, line.line);
	text = ep_asprintf(",\"name\":%s,\"cat\":\"call\",\"args\":{%s%s%s%s\"module\":%s,"
			   "\"address\":\"0x%" PRIx64 "\"",
			   name, file ? "\"file\":" : "", file ? file : "", file ? where : "",
			   file ? "," : "", module, function->start);
	free(name);
	free(file);
	free(module);
	return text;
}

static void chrome_tail(void *context, struct ep_json *json)
{
	const struct ep_export *export = context;
	const struct ep_trace *trace = export->trace;

	ep_json_newline(json);
	ep_json_member_text(json, "displayTimeUnit", "ns");
	ep_json_newline(json);
	ep_json_key(json, "otherData");
	ep_json_object(json);
	ep_json_member_text(json, "producer", "epitaph " EP_VERSION);
	ep_json_member_text(json, "program", ep_export_program(trace));
	ep_json_member_text(json, "command_line", trace->process.command_line);
	ep_json_member_text(json, "host", trace->process.host);
	ep_json_member_uint(json, "zero_realtime_ns", ep_trace_realtime(trace, trace->first_tsc));
	ep_json_object_end(json);
}

int ep_chrome_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err)
{
	const struct ep_chrome_style plain = {
		.context = (void *)export,
		.function = chrome_function,
		.tail = chrome_tail,
		.sort_index = true,
	};

	return ep_chrome_stream(out, export, &plain, shown, err);
}
