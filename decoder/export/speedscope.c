/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * speedscope.c: speedscope's own format (file-format-spec.ts of its sources; the schema comes with
 * its package): a profile a thread, opened and closed frames in order of time, strictly nested. The
 * threads are streamed one after the other. What a frame cannot say, its name or the profile's
 * does: both are written when all is known, behind the events.
 */
#include "decoder/calls/placing.h"
#include "decoder/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "decoder/util/json.h"
#include "decoder/trace/records.h"

#define NONE UINT32_MAX
/* Names of open calls that the name of a profile tells. */
#define OPEN_TOLD 4

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
	struct shared *frames;
	uint32_t frame_count, frame_room;
	uint32_t *numbers; /* by id * VARIANTS + variant */
	size_t number_count;
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
	uint32_t room = scope->frame_room ? scope->frame_room * 2 : 256;
	struct shared *grown;

	if (scope->frame_count == scope->frame_room) {
		grown = realloc(scope->frames, room * sizeof(*grown));
		if (!grown)
			return NONE;
		scope->frames = grown;
		scope->frame_room = room;
	}
	scope->frames[scope->frame_count] = (struct shared){function, words};
	return scope->frame_count++;
}

static int numbers_grow(struct speedscope *scope, size_t wanted)
{
	size_t count = scope->number_count ? scope->number_count : 512;
	uint32_t *grown;

	while (count <= wanted)
		count *= 2;
	grown = realloc(scope->numbers, count * sizeof(*grown));
	if (!grown)
		return EP_E_MEMORY;
	for (size_t i = scope->number_count; i < count; i++)
		grown[i] = NONE;
	scope->numbers = grown;
	scope->number_count = count;
	return EP_OK;
}

/* NONE: out of memory. */
static uint32_t frame_of(struct speedscope *scope, const struct ep_nest_frame *frame)
{
	enum variant variant = frame->flags & EP_CALL_BEFORE ? BEFORE : PLAIN;
	size_t at = (size_t)frame->function->id * VARIANTS + variant;

	if (at >= scope->number_count && numbers_grow(scope, at))
		return NONE;
	if (scope->numbers[at] == NONE)
		scope->numbers[at] =
			frame_add(scope, frame->function,
				  variant == BEFORE ? " [began before the history]" : "");
	return scope->numbers[at];
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
				    "file-format-schema.json\",\n\"exporter\":"
				    "\"epitaph " EP_VERSION "\",\n\"profiles\":[\n");
	else
		ep_outbuf_text(out, ",\n");
	ep_outbuf_text(out, "{\"type\":\"evented\",\"unit\":\"nanoseconds\","
			    "\"events\":[\n");
	scope->begun = scope->profile = true;
	scope->start = thread->now;
}

static void event(struct speedscope *scope, const char *what, uint32_t frame, int64_t at)
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
	event(scope, first ? "{\"type\":\"O\",\"frame\":" : ",\n{\"type\":\"O\",\"frame\":", frame,
	      thread->now);
}

static void close_event(struct speedscope *scope, uint32_t frame, int64_t at)
{
	event(scope, ",\n{\"type\":\"C\",\"frame\":", frame, at);
}

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

static int status(struct speedscope *scope, struct ep_err *err)
{
	return scope->out.failed ? ep_export_finish(&scope->out, EP_OK, err) : EP_OK;
}

static int begin(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
		 enum ep_nest_why why, const struct ep_event *begun, struct ep_err *err)
{
	struct speedscope *scope = context;
	size_t above = thread->count - 1;
	uint32_t number;

	(void)why;
	(void)begun;
	if (above > EP_EXPORT_DEPTH_MAX)
		return EP_OK;
	number = above < EP_EXPORT_DEPTH_MAX
			 ? frame_of(scope, frame)
			 : frame_of_words(scope, &scope->deeper, EP_EXPORT_TOO_DEEP);
	if (number == NONE)
		return out_of_memory(err);
	frame->mark = number;
	scope->approximate |= !frame->begin.exact && !(frame->flags & EP_CALL_BEFORE);
	open_event(scope, thread, number);
	return status(scope, err);
}

/* "main > last > fall", of what is open. */
static char *chain_of(const struct ep_nest_thread *thread)
{
	size_t first = thread->count > OPEN_TOLD ? thread->count - OPEN_TOLD : 0;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (size_t i = first; i < thread->count; i++)
		fprintf(file, "%s%s",
			i > first ? " > "
			: i > 0   ? "... > "
				  : "",
			thread->frames[i].function->name);
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}

static int end(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
	       enum ep_nest_why why, const struct ep_event *ended, struct ep_err *err)
{
	struct speedscope *scope = context;

	if (why == EP_NEST_LEFT)
		return EP_OK;
	if (why == EP_NEST_OPEN && !scope->open) {
		scope->open = chain_of(thread);
		if (!scope->open)
			return out_of_memory(err);
	}
	scope->approximate |= ended && !ended->end.exact;
	if (thread->count - 1 > EP_EXPORT_DEPTH_MAX)
		return EP_OK;
	close_event(scope, (uint32_t)frame->mark, thread->now);
	return status(scope, err);
}

static int moment(void *context, const struct ep_nest_thread *thread,
		  const struct ep_event *missing, struct ep_err *err)
{
	struct speedscope *scope = context;
	uint32_t frame;

	if (missing->kind != EP_EVENT_GAP || thread->gap == 0)
		return EP_OK;
	frame = frame_of_gap(scope, missing);
	if (frame == NONE)
		return out_of_memory(err);
	open_event(scope, thread, frame);
	close_event(scope, frame, thread->now + thread->gap);
	return status(scope, err);
}

/* The frames that it is not certain to lie in are closed meanwhile. */
static void interrupt(struct speedscope *scope, const struct ep_nest_thread *thread, size_t own)
{
	for (size_t i = thread->count; i > own; i--)
		if (i <= EP_EXPORT_DEPTH_MAX + 1)
			close_event(scope, (uint32_t)thread->frames[i - 1].mark, thread->now);
}

static int wait(void *context, const struct ep_nest_thread *thread, size_t own, int64_t ns,
		const struct ep_event *event, struct ep_err *err)
{
	struct speedscope *scope = context;
	struct ep_nest_thread then = *thread;
	uint32_t frame;

	if (ep_place_is_certain(event->place))
		return EP_OK;
	frame = frame_of_words(scope, &scope->inside, EP_EXPORT_INSIDE);
	if (frame == NONE)
		return out_of_memory(err);
	then.now += ns;
	interrupt(scope, thread, own);
	if (own <= EP_EXPORT_DEPTH_MAX) {
		open_event(scope, thread, frame);
		close_event(scope, frame, then.now);
	}
	for (size_t i = own; i < thread->count && i <= EP_EXPORT_DEPTH_MAX; i++)
		open_event(scope, &then, (uint32_t)thread->frames[i].mark);
	return status(scope, err);
}

/* ---- profiles ---- */

/* "worker (4711); did not return: a > b; some times are approximate" */
static char *profile_name(const struct speedscope *scope, const struct ep_trace_thread *thread)
{
	char *text = NULL, *quoted;

	if (asprintf(&text, "%s (%" PRIu32 ")%s%s%s%s", thread->name[0] ? thread->name : "thread",
		     thread->tid, scope->open ? "; did not return: " : "",
		     scope->open ? scope->open : "",
		     scope->approximate ? "; some times are approximate" : "",
		     thread->from_start ? "" : "; older calls are unknown") < 0)
		return NULL;
	quoted = ep_export_quote(text);
	free(text);
	return quoted;
}

static int profile_end(struct speedscope *scope, const struct ep_trace_thread *thread)
{
	struct ep_outbuf *out = &scope->out;
	char *name = profile_name(scope, thread);

	if (!name)
		return EP_E_MEMORY;
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
	return EP_OK;
}

static int write_thread(struct speedscope *scope, const struct ep_trace_thread *thread,
			uint64_t *shown, struct ep_err *err)
{
	const struct ep_export *export = scope->export;
	struct ep_nest_sink sink = {scope, begin, end, moment, NULL, wait};
	struct ep_selection selection = {0};
	int rc;

	if (export->selection)
		selection = *export->selection;
	if (!ep_selection_wants_thread(&selection, thread))
		return EP_OK;
	selection.only = thread;
	rc = ep_nest_stream(export->trace, export->names, &selection, false, &sink, shown, err);
	if (!rc && scope->profile && profile_end(scope, thread))
		return out_of_memory(err);
	return rc;
}

/* ---- the end of the file ---- */

static int shared_name(struct ep_json *json, const struct shared *frame)
{
	const char *name = frame->function ? frame->function->name : "";
	char *text = NULL;

	if (asprintf(&text, "%s%s", name, frame->words) < 0)
		return EP_E_MEMORY;
	ep_json_key(json, "name");
	ep_json_string(json, text);
	free(text);
	return EP_OK;
}

static int write_shared(struct speedscope *scope, struct ep_json *json, const struct shared *frame)
{
	struct ep_line line = {0};
	int rc;

	if (frame->function)
		line = ep_names_function_line(scope->export->names, frame->function);
	ep_json_newline(json);
	ep_json_object(json);
	rc = shared_name(json, frame);
	if (line.file) {
		ep_json_key(json, "file");
		ep_json_string(json, line.file);
	}
	if (line.file && line.line) {
		ep_json_key(json, "line");
		ep_json_uint(json, line.line);
	}
	ep_json_object_end(json);
	return rc;
}

/* The rest, by the writer that looks after every text. */
static int write_tail(struct speedscope *scope, struct ep_err *err)
{
	struct ep_json json;
	int rc = EP_OK;

	ep_outbuf_text(&scope->out, "\n]");
	if (ep_outbuf_finish(&scope->out) != 0)
		return EP_OK; /* told when all is done */
	ep_json_init(&json, scope->file);
	json.depth = 1; /* inside of the object, which has members */
	json.has_items = 1u << 1;
	ep_json_newline(&json);
	ep_json_key(&json, "name");
	ep_json_string(&json, ep_export_program(scope->export->trace));
	ep_json_newline(&json);
	ep_json_key(&json, "shared");
	ep_json_object(&json);
	ep_json_key(&json, "frames");
	ep_json_array(&json);
	for (uint32_t i = 0; !rc && i < scope->frame_count; i++)
		rc = write_shared(scope, &json, &scope->frames[i]);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	if (ep_json_finish(&json) != 0)
		scope->out.failed = errno;
	return rc ? out_of_memory(err) : EP_OK;
}

static int write_all(struct speedscope *scope, uint64_t *shown, struct ep_err *err)
{
	const struct ep_trace *trace = scope->export->trace;
	int rc = EP_OK;

	*shown = 0;
	for (size_t i = 0; !rc && i < trace->thread_count; i++) {
		uint64_t some = 0;

		rc = write_thread(scope, &trace->threads[i], &some, err);
		*shown += some;
	}
	return !rc && scope->begun ? write_tail(scope, err) : rc;
}

int ep_speedscope_write(FILE *out, const struct ep_export *export, uint64_t *shown,
			struct ep_err *err)
{
	struct speedscope *scope = calloc(1, sizeof(*scope));
	int rc;

	if (!scope)
		return out_of_memory(err);
	scope->export = export;
	scope->file = out;
	scope->missing = scope->paused = scope->deeper = NONE;
	scope->inside = NONE;
	ep_outbuf_init(&scope->out, out);
	rc = write_all(scope, shown, err);
	rc = ep_export_finish(&scope->out, rc, err);
	free(scope->frames);
	free(scope->numbers);
	free(scope->open);
	free(scope);
	return rc;
}
