/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jsonl.c: a JSON object a line, for jq, DuckDB, pandas and the like. The fields are in
 * docs/jsonl.md; a change that is not an addition gets a new version. A call's line comes when it
 * ends, so nothing waits for a call but the calls it is inside of. The last line says how many
 * there were: a file without it is cut off.
 */
#include "decoder/export/export.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/export/flags.h"
#include "decoder/export/replay.h"
#include "decoder/util/json.h"
#include "decoder/util/timetext.h"
#include "decoder/trace/records.h"

#define VERSION 1

enum line { LINE_CALL, LINE_RETURN, LINE_GAP, LINE_POINT, LINE_KINDS };

struct jsonl {
	struct ep_outbuf out;
	struct ep_json json; /* of the line */
	const struct ep_export *export;
	FILE *file;
	struct ep_texts texts;
	struct ep_function_text (*heads)[LINE_KINDS]; /* by thread */
	uint64_t lines;
	bool begun;
};

/* ---- what is made once ---- */

/* "function":"f","module":"m","file":"f.c","line":1 */
static char *jsonl_function(void *context, const struct ep_function *function)
{
	struct jsonl *jsonl = context;
	struct ep_line line = ep_names_function_line(jsonl->export->names, function);
	struct ep_json json;
	char *text;
	size_t size;
	FILE *file = ep_open_memstream(&text, &size);

	ep_json_init(&json, file);
	ep_json_member_text(&json, "function", function->name);
	ep_json_member_text(&json, "module", function->module);
	ep_json_member_text(&json, "file", line.file);
	if (line.file && line.line)
		ep_json_member_uint(&json, "line", line.line);
	else
		ep_json_member_null(&json, "line");
	ep_close_memstream(file);
	return text;
}

/* "type":"call","thread":1,"tid":4711,"thread_name":"worker" */
static void head_make(struct ep_function_text *head, const char *type,
		      const struct ep_trace_thread *thread)
{
	FILE *file = ep_open_memstream(&head->bytes, &head->size);
	struct ep_json json;

	ep_json_init(&json, file);
	ep_json_member_text(&json, "type", type);
	ep_json_member_uint(&json, "thread", thread->serial);
	ep_json_member_uint(&json, "tid", thread->tid);
	ep_json_member_text(&json, "thread_name", thread->name);
	ep_close_memstream(file);
}

static void heads_make(struct jsonl *jsonl)
{
	static const char *const types[LINE_KINDS] = {"call", "return", "gap", "point"};
	const struct ep_trace *trace = jsonl->export->trace;

	jsonl->heads = ep_calloc(trace->thread_count, sizeof(*jsonl->heads));
	for (size_t i = 0; i < trace->thread_count; i++)
		for (unsigned line = 0; line < LINE_KINDS; line++)
			head_make(&jsonl->heads[i][line], types[line], &trace->threads[i]);
}

/* ---- the first line ---- */

static void head_thread(struct ep_json *json, const struct ep_trace *trace,
			const struct ep_trace_thread *thread)
{
	ep_json_object(json);
	ep_json_member_uint(json, "thread", thread->serial);
	ep_json_member_uint(json, "tid", thread->tid);
	ep_json_member_text(json, "name", thread->name);
	ep_json_key(json, "ended");
	ep_json_bool(json, thread->state == EP_THREAD_DEAD);
	ep_json_key(json, "whole");
	ep_json_bool(json, thread->from_start);
	ep_json_key(json, "first_ns");
	ep_json_int(json, ep_trace_ns(trace, trace->first_tsc, thread->first_tsc));
	ep_json_key(json, "last_ns");
	ep_json_int(json, ep_trace_ns(trace, trace->first_tsc, thread->last_tsc));
	ep_json_object_end(json);
}

/* The columns of all other lines, so that a reader which takes them and their types from a file's
 * first lines (DuckDB from 20,480) knows each. Those of a call are null: a sum or a mean over all
 * lines is that of the calls. */
static void head_columns(struct ep_json *json)
{
	static const char *const of_calls[] = {"call",     "parent", "depth",       "function",
					       "module",   "file",   "line",        "address",
					       "begin_ns", "end_ns", "duration_ns", "self_ns"};
	static const char *const numbers[] = {"begin_earliest_ns",
					      "begin_latest_ns",
					      "end_earliest_ns",
					      "end_latest_ns",
					      "duration_least_ns",
					      "duration_most_ns",
					      "time_ns",
					      "earliest_ns",
					      "latest_ns",
					      "unsure_wait_ns",
					      "span",
					      "lost",
					      "lines"};
	static const char *const texts[] = {"point", "text", "why"};

	for (size_t i = 0; i < sizeof(of_calls) / sizeof(*of_calls); i++) {
		ep_json_key(json, of_calls[i]);
		ep_json_null(json);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		ep_json_member_uint(json, numbers[i], 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		ep_json_member_text(json, texts[i], "");
	ep_json_key(json, "flags");
	ep_json_array(json);
	ep_json_string(json, "");
	ep_json_array_end(json);
}

static void write_head(struct jsonl *jsonl)
{
	const struct ep_trace *trace = jsonl->export->trace;
	struct ep_json json;

	jsonl->begun = true;
	ep_json_init(&json, jsonl->file);
	ep_json_object(&json);
	ep_json_member_text(&json, "type", "header");
	ep_json_member_text(&json, "format", "epitaph-jsonl");
	ep_json_member_uint(&json, "version", VERSION);
	ep_json_member_text(&json, "producer", "epitaph " EP_VERSION);
	ep_json_member_text(&json, "program", ep_export_program(trace));
	ep_json_member_text(&json, "command_line", trace->process.command_line);
	ep_json_member_text(&json, "host", trace->process.host);
	ep_json_member_uint(&json, "pid", trace->process.pid);
	ep_json_member_uint(&json, "zero_realtime_ns", ep_trace_realtime(trace, trace->first_tsc));
	ep_json_key(&json, "last_ns");
	ep_json_int(&json, ep_trace_ns(trace, trace->first_tsc, trace->last_tsc));
	ep_json_key(&json, "clock_known");
	ep_json_bool(&json, trace->clock.known);
	ep_json_member_uint(&json, "clock_error_ppb", trace->clock.error_ppb);
	ep_json_key(&json, "threads");
	ep_json_array(&json);
	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].block_count)
			head_thread(&json, trace, &trace->threads[i]);
	ep_json_array_end(&json);
	head_columns(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
}

/* ---- pieces of a line ---- */

static void line_begin(struct jsonl *jsonl, enum line line, const struct ep_nest_thread *thread)
{
	const struct ep_function_text *head = &jsonl->heads[thread->index][line];

	if (!jsonl->begun)
		write_head(jsonl);
	jsonl->lines++;
	ep_json_init_outbuf(&jsonl->json, &jsonl->out);
	ep_json_object(&jsonl->json);
	ep_json_members(&jsonl->json, head->bytes, head->size);
}

static void line_end(struct jsonl *jsonl)
{
	ep_json_object_end(&jsonl->json);
	ep_json_newline(&jsonl->json);
}

static inline void field_int(struct jsonl *jsonl, const char *key, int64_t value)
{
	ep_json_plain_int(&jsonl->json, key, value);
}

static inline void field_null(struct jsonl *jsonl, const char *key)
{
	ep_json_plain_key(&jsonl->json, key);
	ep_json_null(&jsonl->json);
}

static void address_field(struct jsonl *jsonl, uint64_t address)
{
	ep_json_plain_key(&jsonl->json, "address");
	ep_json_hex(&jsonl->json, address);
}

static int64_t ns_of(const struct jsonl *jsonl, uint64_t tsc)
{
	const struct ep_trace *trace = jsonl->export->trace;

	return ep_trace_ns(trace, trace->first_tsc, tsc);
}

/* "earliest_ns":1,"latest_ns":2 after a time that is an interval. */
static void interval(struct jsonl *jsonl, const char *earliest, const char *latest,
		     const struct ep_time *time)
{
	if (time->exact)
		return;
	field_int(jsonl, earliest, ns_of(jsonl, time->low));
	if (time->high == EP_TIME_UNKNOWN)
		field_null(jsonl, latest);
	else
		field_int(jsonl, latest, ns_of(jsonl, time->high));
}

static void function_fields(struct jsonl *jsonl, const struct ep_function *function)
{
	const struct ep_function_text *text;

	if (!function)
		return;
	text = ep_texts_get(&jsonl->texts, function);
	ep_json_members(&jsonl->json, text->bytes, text->size);
}

/* "flags":["one","two"], the words that replay --format=tsv has. */
static void flags_field(struct jsonl *jsonl, const struct ep_nest_frame *frame,
			const struct ep_event *end)
{
	const char *words[EP_EXPORT_FLAGS_MAX];
	unsigned count = ep_export_flags(frame, end, words);

	if (!count)
		return;
	ep_json_plain_key(&jsonl->json, "flags");
	ep_json_array(&jsonl->json);
	for (unsigned i = 0; i < count; i++)
		ep_json_string(&jsonl->json, words[i]);
	ep_json_array_end(&jsonl->json);
}

/* ---- lines ---- */

static void time_fields(struct jsonl *jsonl, const struct ep_nest_frame *frame,
			const struct ep_event *end)
{
	bool before = frame->flags & EP_CALL_BEFORE;
	int64_t began = ns_of(jsonl, frame->begin.best), ended;
	struct ep_took took;
	bool took_known = end && ep_event_took(jsonl->export->trace, end, &took);

	if (before)
		field_null(jsonl, "begin_ns");
	else
		field_int(jsonl, "begin_ns", began);
	if (end) {
		ended = ns_of(jsonl, end->end.best);
		field_int(jsonl, "end_ns", ended);
	} else {
		field_null(jsonl, "end_ns");
	}
	if (end && !before && (!took_known || ep_times_agree(took.least, took.most)))
		field_int(jsonl, "duration_ns", ended - began);
	else
		field_null(jsonl, "duration_ns");
	if (took_known && !before && !ep_times_agree(took.least, took.most)) {
		field_int(jsonl, "duration_least_ns", took.least > 0 ? took.least : 0);
		field_int(jsonl, "duration_most_ns", took.most);
	}
	if (before)
		field_int(jsonl, "begin_latest_ns", began);
	else
		interval(jsonl, "begin_earliest_ns", "begin_latest_ns", &frame->begin);
	if (end)
		interval(jsonl, "end_earliest_ns", "end_latest_ns", &end->end);
}

static void write_call(struct jsonl *jsonl, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	const struct ep_nest_frame *frame = thread->frame;
	const struct ep_event *end = event->kind == EP_EVENT_END ? event : NULL;

	line_begin(jsonl, LINE_CALL, thread);
	field_int(jsonl, "call", frame->call);
	if (frame->mark)
		field_int(jsonl, "parent", frame->mark - 1);
	else
		field_null(jsonl, "parent");
	field_int(jsonl, "depth", frame->depth);
	function_fields(jsonl, frame->function);
	address_field(jsonl, frame->address);
	time_fields(jsonl, frame, end);
	if (end && !(frame->flags & EP_CALL_BEFORE))
		field_int(jsonl, "self_ns", frame->ran - frame->inner);
	if (frame->astray)
		field_int(jsonl, "unsure_wait_ns", frame->astray);
	flags_field(jsonl, frame, end);
	line_end(jsonl);
}

static void gap_fields(struct jsonl *jsonl, const struct ep_event *event)
{
	char why[EP_REPLAY_GAP_SIZE];

	field_int(jsonl, "begin_ns", ns_of(jsonl, event->begin.best));
	field_int(jsonl, "end_ns", ns_of(jsonl, event->end.best));
	field_int(jsonl, "lost", (int64_t)event->lost);
	ep_json_member_text(&jsonl->json, "why", ep_replay_gap(why, event));
}

static void time_of_moment(struct jsonl *jsonl, const struct ep_time *time)
{
	field_int(jsonl, "time_ns", ns_of(jsonl, time->best));
	interval(jsonl, "earliest_ns", "latest_ns", time);
}

/* Of a span's ends: its number in the thread; of the second, since when. */
static void span_fields(struct jsonl *jsonl, const struct ep_event *event)
{
	struct ep_json *json = &jsonl->json;

	field_int(jsonl, "span", (int64_t)event->call);
	if (event->point == EP_POINT_SPAN_BEGIN)
		return;
	if (event->flags & EP_CALL_BEFORE) {
		field_null(jsonl, "begin_ns");
		return;
	}
	field_int(jsonl, "begin_ns", ns_of(jsonl, event->since.best));
	if (event->flags & EP_CALL_ACROSS_GAP) {
		ep_json_member_array(json, "flags");
		ep_json_string(json, "across-gap");
		ep_json_array_end(json);
	}
}

static void point_fields(struct jsonl *jsonl, const struct ep_event *event)
{
	ep_json_member_text(&jsonl->json, "point", ep_point_word(event->point));
	if (event->text && *event->text)
		ep_json_member_text(&jsonl->json, "text", event->text);
	if (event->point == EP_POINT_SPAN_BEGIN || event->point == EP_POINT_SPAN_END)
		span_fields(jsonl, event);
	time_of_moment(jsonl, &event->begin);
}

static void write_moment(struct jsonl *jsonl, const struct ep_nest_thread *thread,
			 const struct ep_event *event)
{
	line_begin(jsonl,
		   event->kind == EP_EVENT_END   ? LINE_RETURN
		   : event->kind == EP_EVENT_GAP ? LINE_GAP
						 : LINE_POINT,
		   thread);
	field_int(jsonl, "depth", event->depth);
	function_fields(jsonl, event->function);
	if (event->kind != EP_EVENT_GAP)
		address_field(jsonl, event->address);
	if (event->kind == EP_EVENT_GAP)
		gap_fields(jsonl, event);
	else if (event->kind == EP_EVENT_END)
		time_of_moment(jsonl, &event->end);
	else
		point_fields(jsonl, event);
	line_end(jsonl);
}

/* A sink. Waits are in the times of their calls. */
static int jsonl_event(void *context, const struct ep_event *event,
		       const struct ep_nest_thread *thread)
{
	struct jsonl *jsonl = context;

	switch (event->kind) {
	case EP_EVENT_BEGIN:
		/* Its caller's number, + 1: stacks change, this does not. */
		thread->frame->mark = thread->count > 1 ? thread->frame[-1].call + 1 : 0;
		break;
	case EP_EVENT_END:
		if (event->flags & EP_CALL_STRAY)
			write_moment(jsonl, thread, event);
		else
			write_call(jsonl, thread, event);
		break;
	case EP_EVENT_OPEN:
	case EP_EVENT_LEFT:
		write_call(jsonl, thread, event);
		break;
	case EP_EVENT_GAP:
	case EP_EVENT_POINT:
		write_moment(jsonl, thread, event);
		break;
	default:
		break;
	}
	return ep_export_status(&jsonl->out);
}

/* ---- the whole ---- */

static void jsonl_deinit(struct jsonl *jsonl)
{
	ep_texts_deinit(&jsonl->texts);
	for (size_t i = 0; i < jsonl->export->trace->thread_count; i++)
		for (unsigned line = 0; line < LINE_KINDS; line++)
			free(jsonl->heads[i][line].bytes);
	free(jsonl->heads);
	free(jsonl);
}

int ep_jsonl_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err)
{
	struct jsonl *jsonl = ep_calloc(1, sizeof(*jsonl));
	const struct ep_sink sink = {
		.context = jsonl, .event = jsonl_event, .waits = true, .nested = true};
	int rc;

	jsonl->export = export;
	jsonl->file = out;
	jsonl->texts.make = jsonl_function;
	jsonl->texts.context = jsonl;
	ep_outbuf_init(&jsonl->out, out);
	heads_make(jsonl);
	ep_stream(export->trace, export->names, export->selection, &sink, shown);
	if (jsonl->begun) {
		ep_json_init_outbuf(&jsonl->json, &jsonl->out);
		ep_json_object(&jsonl->json);
		ep_json_member_text(&jsonl->json, "type", "end");
		ep_json_member_uint(&jsonl->json, "lines", jsonl->lines);
		line_end(jsonl);
	}
	rc = ep_export_finish(&jsonl->out, err);
	jsonl_deinit(jsonl);
	return rc;
}
