/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * speedscope.c: speedscope's own format (file-format-spec.ts of its sources; the schema comes with
 * its package): a profile a thread, opened and closed frames in order of time, strictly nested. The
 * threads are streamed one after the other. What a frame cannot say, its name or the profile's
 * does: both are written when all is known, behind the events.
 */
#include "decoder/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/calls/placing.h"
#include "decoder/util/json.h"
#include "decoder/trace/records.h"

#define NONE UINT32_MAX
/* Open calls that the name of a profile names. */
#define OPEN_NAMED 4

enum variant { PLAIN, BEFORE, VARIANTS };

/* A frame of the file: a function, or one of the words. */
struct shared {
	const struct ep_function *function; /* NULL: words */
	const char *words;                  /* after the name */
};

struct speedscope {
	struct ep_outbuf out;
	const struct ep_export *export;
	FILE *file;
	EP_ARRAY(struct shared) frames;
	EP_ARRAY(uint32_t) numbers; /* by id * VARIANTS + variant: of its frame, + 1 */
	uint32_t missing, paused, deeper, inside; /* frames of words, or NONE */
	bool begun;                               /* the file */
	/* the profile at hand */
	bool profile;
	bool approximate;
	int64_t start, last; /* ns */
	char *open;          /* the calls that did not return; NULL: all did */
};

/* ---- frames ---- */

static uint32_t frame_add(struct speedscope *scope, const struct ep_function *function,
			  const char *words)
{
	ep_array_push(&scope->frames, ((struct shared){function, words}));
	return (uint32_t)scope->frames.count - 1;
}

static uint32_t frame_of(struct speedscope *scope, const struct ep_nest_frame *frame)
{
	enum variant variant = frame->flags & EP_CALL_BEFORE ? BEFORE : PLAIN;
	size_t at = (size_t)frame->function->id * VARIANTS + variant;

	while (scope->numbers.count <= at)
		ep_array_add(&scope->numbers);
	if (!scope->numbers.list[at])
		scope->numbers.list[at] =
			1 + frame_add(scope, frame->function,
				      variant == BEFORE ? " [began before the history]" : "");
	return scope->numbers.list[at] - 1;
}

static uint32_t frame_of_words(struct speedscope *scope, uint32_t *frame, const char *words)
{
	if (*frame == NONE)
		*frame = frame_add(scope, NULL, words);
	return *frame;
}

static uint32_t frame_of_gap(struct speedscope *scope, const struct ep_event *event)
{
	if (event->gap & EP_GAP_PAUSED)
		return frame_of_words(scope, &scope->paused, "[tracing was paused]");
	return frame_of_words(scope, &scope->missing, "[history is missing]");
}

/* ---- events ---- */

static void profile_begin(struct speedscope *scope, const struct ep_nest_thread *thread)
{
	struct ep_outbuf *out = &scope->out;

	if (!scope->begun)
		ep_outbuf_text(out, "{\"$schema\":\"https://www.speedscope.app/"
				    "file-format-schema.json\",\n\"exporter\":\"epitaph " EP_VERSION
				    "\",\n\"profiles\":[\n");
	else
		ep_outbuf_text(out, ",\n");
	ep_outbuf_text(out, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"events\":[\n");
	scope->begun = scope->profile = true;
	scope->start = thread->now;
}

static void write_event(struct speedscope *scope, const char *what, uint32_t frame, int64_t at)
{
	ep_outbuf_text(&scope->out, what);
	ep_outbuf_uint(&scope->out, frame);
	ep_outbuf_text(&scope->out, ",\"at\":");
	ep_outbuf_int(&scope->out, at);
	ep_outbuf_put(&scope->out, "}", 1);
	scope->last = at;
}

static void open_event(struct speedscope *scope, const struct ep_nest_thread *thread,
		       uint32_t frame)
{
	bool first = !scope->profile;

	if (first)
		profile_begin(scope, thread);
	write_event(scope,
		    first ? "{\"type\":\"O\",\"frame\":" : ",\n{\"type\":\"O\",\"frame\":", frame,
		    thread->now);
}

static void close_event(struct speedscope *scope, uint32_t frame, int64_t at)
{
	write_event(scope, ",\n{\"type\":\"C\",\"frame\":", frame, at);
}

static void open_call(struct speedscope *scope, const struct ep_nest_thread *thread)
{
	struct ep_nest_frame *frame = thread->frame;
	size_t above = thread->count - 1;

	if (above > EP_EXPORT_DEPTH_MAX)
		return;
	frame->mark = above < EP_EXPORT_DEPTH_MAX
			      ? frame_of(scope, frame)
			      : frame_of_words(scope, &scope->deeper, EP_EXPORT_TOO_DEEP);
	scope->approximate |= !frame->begin.exact && !(frame->flags & EP_CALL_BEFORE);
	open_event(scope, thread, (uint32_t)frame->mark);
}

/* "main > last > fall", of what is open. */
static char *chain_of(const struct ep_nest_thread *thread)
{
	size_t first = thread->count > OPEN_NAMED ? thread->count - OPEN_NAMED : 0, size;
	char *text;
	FILE *file = ep_open_memstream(&text, &size);

	for (size_t i = first; i < thread->count; i++)
		fprintf(file, "%s%s",
			i > first ? " > "
			: i > 0   ? "... > "
				  : "",
			thread->frames[i].function->name);
	ep_close_memstream(file);
	return text;
}

static void close_call(struct speedscope *scope, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	if (event->kind == EP_EVENT_OPEN && !scope->open)
		scope->open = chain_of(thread);
	scope->approximate |= event->kind == EP_EVENT_END && !event->end.exact;
	if (thread->count - 1 <= EP_EXPORT_DEPTH_MAX)
		close_event(scope, (uint32_t)thread->frame->mark, thread->now);
}

static void write_gap(struct speedscope *scope, const struct ep_nest_thread *thread,
		      const struct ep_event *event)
{
	uint32_t frame;

	if (thread->gap == 0)
		return;
	frame = frame_of_gap(scope, event);
	open_event(scope, thread, frame);
	close_event(scope, frame, thread->now + thread->gap);
}

/* The frames that it is not certain to lie in are closed meanwhile. */
static void write_wait(struct speedscope *scope, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	struct ep_nest_thread then = *thread;
	uint32_t frame;

	if (ep_place_is_certain(event->place))
		return;
	frame = frame_of_words(scope, &scope->inside, EP_EXPORT_INSIDE);
	then.now += thread->gap;
	for (size_t i = thread->count; i > thread->own; i--)
		if (i <= EP_EXPORT_DEPTH_MAX + 1)
			close_event(scope, (uint32_t)thread->frames[i - 1].mark, thread->now);
	if (thread->own <= EP_EXPORT_DEPTH_MAX) {
		open_event(scope, thread, frame);
		close_event(scope, frame, then.now);
	}
	for (size_t i = thread->own; i < thread->count && i <= EP_EXPORT_DEPTH_MAX; i++)
		open_event(scope, &then, (uint32_t)thread->frames[i].mark);
}

/* A sink. */
static int speedscope_event(void *context, const struct ep_event *event,
			    const struct ep_nest_thread *thread)
{
	struct speedscope *scope = context;

	switch (event->kind) {
	case EP_EVENT_BEGIN:
	case EP_EVENT_RESUME:
		open_call(scope, thread);
		break;
	case EP_EVENT_END:
	case EP_EVENT_SUSPEND:
	case EP_EVENT_OPEN:
		if (!(event->flags & EP_CALL_STRAY))
			close_call(scope, thread, event);
		break;
	case EP_EVENT_GAP:
		write_gap(scope, thread, event);
		break;
	case EP_EVENT_WAIT:
		write_wait(scope, thread, event);
		break;
	default:
		break;
	}
	return ep_export_status(&scope->out);
}

/* ---- profiles ---- */

/* "worker (4711); did not return: a > b; some times are approximate" */
static char *profile_name(const struct speedscope *scope, const struct ep_trace_thread *thread)
{
	char *text = ep_asprintf(
		"%s (%" PRIu32 ")%s%s%s%s", thread->name[0] ? thread->name : "thread", thread->tid,
		scope->open ? "; did not return: " : "", scope->open ? scope->open : "",
		scope->approximate ? "; some times are approximate" : "",
		thread->from_start ? "" : "; older calls are unknown");
	char *quoted = ep_export_quote(text);

	free(text);
	return quoted;
}

static void profile_end(struct speedscope *scope, const struct ep_trace_thread *thread)
{
	struct ep_outbuf *out = &scope->out;
	char *name = profile_name(scope, thread);

	ep_outbuf_text(out, "\n],\"startValue\":");
	ep_outbuf_int(out, scope->start);
	ep_outbuf_text(out, ",\"endValue\":");
	ep_outbuf_int(out, scope->last);
	ep_outbuf_text(out, ",\"name\":");
	ep_outbuf_text(out, name);
	ep_outbuf_text(out, "}");
	free(name);
	free(scope->open);
	scope->open = NULL;
	scope->profile = scope->approximate = false;
}

static int write_thread(struct speedscope *scope, const struct ep_trace_thread *thread,
			uint64_t *shown)
{
	const struct ep_export *export = scope->export;
	const struct ep_sink sink = {
		.context = scope, .event = speedscope_event, .waits = true, .nested = true};
	struct ep_selection selection = {0};
	int rc;

	if (export->selection)
		selection = *export->selection;
	if (!ep_selection_wants_thread(&selection, thread))
		return EP_OK;
	selection.only = thread;
	rc = ep_stream(export->trace, export->names, &selection, &sink, shown);
	if (!rc && scope->profile)
		profile_end(scope, thread);
	return rc;
}

/* ---- the end of the file ---- */

static void write_shared(const struct speedscope *scope, struct ep_json *json,
			 const struct shared *frame)
{
	const char *name = frame->function ? frame->function->name : "";
	char *text = ep_asprintf("%s%s", name, frame->words);
	struct ep_line line = {0};

	if (frame->function)
		line = ep_names_function_line(scope->export->names, frame->function);
	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_text(json, "name", text);
	if (line.file)
		ep_json_member_text(json, "file", line.file);
	if (line.file && line.line)
		ep_json_member_uint(json, "line", line.line);
	ep_json_object_end(json);
	free(text);
}

/* The rest, by the writer that looks after every text. */
static void write_tail(struct speedscope *scope)
{
	struct ep_json json;

	ep_outbuf_text(&scope->out, "\n]");
	if (ep_outbuf_finish(&scope->out) != 0)
		return; /* ep_export_finish reports it */
	ep_json_init(&json, scope->file);
	json.depth = 1; /* inside of the object, which has members */
	json.has_items = 1u << 1;
	ep_json_newline(&json);
	ep_json_member_text(&json, "name", ep_export_program(scope->export->trace));
	ep_json_newline(&json);
	ep_json_key(&json, "shared");
	ep_json_object(&json);
	ep_json_key(&json, "frames");
	ep_json_array(&json);
	for (size_t i = 0; i < scope->frames.count; i++)
		write_shared(scope, &json, &scope->frames.list[i]);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	if (ep_json_finish(&json) != 0)
		scope->out.failed = errno;
}

static void write_all(struct speedscope *scope, uint64_t *shown)
{
	const struct ep_trace *trace = scope->export->trace;
	int rc = EP_OK;

	*shown = 0;
	for (size_t i = 0; !rc && i < trace->thread_count; i++) {
		uint64_t some = 0;

		rc = write_thread(scope, &trace->threads[i], &some);
		*shown += some;
	}
	if (!rc && scope->begun)
		write_tail(scope);
}

int ep_speedscope_write(FILE *out, const struct ep_export *export, uint64_t *shown,
			struct ep_err *err)
{
	struct speedscope *scope = ep_calloc(1, sizeof(*scope));
	int rc;

	scope->export = export;
	scope->file = out;
	scope->missing = scope->paused = scope->deeper = NONE;
	scope->inside = NONE;
	ep_outbuf_init(&scope->out, out);
	write_all(scope, shown);
	rc = ep_export_finish(&scope->out, err);
	ep_array_deinit(&scope->frames);
	ep_array_deinit(&scope->numbers);
	free(scope->open);
	free(scope);
	return rc;
}
