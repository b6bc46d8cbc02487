/* SPDX-License-Identifier: BSD-2-Clause */
/* print_json_thread.c: one thread of a report as JSON. */
#include <stdlib.h>

#include "decoder/report/print_json.h"

/* ---- state, history ---- */

static void write_state(struct ep_json *json, const struct ep_report_state *state)
{
	static const char *const words[] = {
		[EP_SLICE_RUNNING] = "running",
		[EP_SLICE_READY] = "ready",
		[EP_SLICE_BLOCKED] = "blocked",
	};
	char text[256];

	if (!state->slice && !state->inside)
		return;
	ep_json_key(json, "state");
	ep_json_object(json);
	if (state->slice) {
		ep_json_member_text(json, "is", words[state->slice->state]);
		ep_json_member_int(json, "for_ns", state->ns);
	}
	if (state->slice && state->slice->state == EP_SLICE_RUNNING &&
	    state->slice->cpu != EP_SLICE_CPU_UNKNOWN)
		ep_json_member_uint(json, "cpu", state->slice->cpu);
	if (state->ran) {
		ep_json_member_int(json, "after_running_ns", state->ran_ns);
		if (state->ran->cpu != EP_SLICE_CPU_UNKNOWN)
			ep_json_member_uint(json, "after_cpu", state->ran->cpu);
	}
	if (state->inside)
		ep_json_member_text(json, "system_call",
				    ep_systemcall_text(text, sizeof(text), &state->call));
	ep_json_object_end(json);
}

static void write_history(struct ep_json *json, const struct ep_report *report,
			  const struct ep_trace_thread *thread)
{
	const struct ep_trace *trace = report->trace;

	ep_json_key(json, "history");
	if (!thread || !thread->block_count) {
		ep_json_null(json);
		return;
	}
	ep_json_object(json);
	ep_json_member_int(json, "last_record_ago_ns", ep_trace_ago(trace, thread->last_tsc));
	ep_json_member_int(json, "span_ns",
			   ep_trace_ns(trace, thread->first_tsc, thread->last_tsc));
	ep_json_member_text(json, "reaches",
			    thread->from_start ? "start"
			    : thread->forked   ? "fork"
					       : "overwritten");
	ep_json_object_end(json);
}

/* ---- stack and calls ---- */

static void write_signal_frame(struct ep_json *json, const struct ep_function *function)
{
	ep_json_member_text(json, "function", EP_SIGNAL_FRAME_NAME);
	ep_report_json_text(json, "symbol", function->symbol);
	ep_report_json_text(json, "module", function->module);
}

static void write_row(struct ep_json *json, const struct ep_report *report,
		      const struct ep_row *row)
{
	ep_json_object(json);
	ep_json_member_text(json, "verdict", ep_verdict_name(row->verdict));
	if (row->reason)
		ep_json_member_text(json, "reason", ep_reason_name(row->reason));
	/* No code is there, so nothing is looked up but pc itself. */
	if (row->frame && row->frame->nowhere)
		ep_report_json_address(json, "function", row->frame->pc);
	else if (row->frame && row->frame->signal)
		write_signal_frame(json, row->function);
	else
		ep_report_json_function(json, row->function);
	if (row->inlined)
		ep_json_member_text(json, "inlined", row->inlined);
	if (row->frame) {
		ep_json_member_uint(json, "frame", row->number);
		ep_report_json_address(json, "pc", row->frame->pc);
		if (row->line.file && row->line.line) {
			ep_json_member_text(json, "file", row->line.file);
			ep_json_member_uint(json, "line", row->line.line);
		}
	}
	if (row->call) {
		ep_json_member_uint(json, "depth", row->call->depth);
		ep_report_json_time(report, "called", &row->call->begin);
	}
	ep_json_object_end(json);
}

static void index_or_null(struct ep_json *json, const char *key, size_t index)
{
	ep_json_key(json, key);
	if (index == EP_ROW_NONE)
		ep_json_null(json);
	else
		ep_json_uint(json, index);
}

static const char *end_name(enum ep_stack_end end)
{
	switch (end) {
	case EP_STACK_WHOLE:
		return "start";
	case EP_STACK_LIMIT:
		return "limit";
	case EP_STACK_NOWHERE:
		return "nowhere";
	case EP_STACK_UNSAVED:
		return "unsaved";
	case EP_STACK_UNREADABLE:
		return "no-unwind-information";
	case EP_STACK_REGISTERS:
		return "no-registers";
	}
	return "no-registers";
}

static void write_stack(struct ep_json *json, const struct ep_report *report,
			const struct ep_report_story *story)
{
	const struct ep_alignment *alignment = &story->alignment;

	ep_json_key(json, "stack");
	ep_json_object(json);
	ep_json_member_text(json, "end", story->unwound ? end_name(story->stack.end) : "none");
	ep_report_json_text(json, "end_text", story->unwound ? story->stack.why : story->stackless);
	if (story->more)
		ep_json_member_uint(json, "frames_left_out", story->more);
	index_or_null(json, "overwritten_from", alignment->overwritten);
	index_or_null(json, "history_ends_at", alignment->edge);
	ep_json_member_bool(json, "outermost_known", story->flight.outermost_known);
	ep_json_key(json, "rows");
	ep_json_array(json);
	for (size_t i = 0; i < alignment->count; i++) {
		ep_json_newline(json);
		write_row(json, report, &alignment->rows[i]);
	}
	ep_json_array_end(json);
	ep_json_object_end(json);
}

static void write_spans(struct ep_json *json, const struct ep_report *report,
			const struct ep_open_calls *flight)
{
	ep_json_key(json, "spans");
	ep_json_array(json);
	for (size_t i = 0; i < flight->span_count; i++) {
		ep_json_object(json);
		ep_json_member_text(json, "name", flight->spans[i].name);
		ep_report_json_time(report, "begun", &flight->spans[i].since);
		ep_json_object_end(json);
	}
	ep_json_array_end(json);
}

static void write_uncaught(struct ep_json *json, const struct ep_report *report,
			   const struct ep_exception *thrown)
{
	ep_json_key(json, "uncaught_exception");
	ep_json_object(json);
	ep_report_json_text(json, "type", thrown->type);
	ep_report_json_text(json, "thrown_in", thrown->where ? thrown->where->name : NULL);
	if (thrown->where && thrown->from && thrown->from != thrown->where)
		ep_json_member_text(json, "thrown_for", thrown->from->name);
	ep_report_json_time(report, "thrown", &thrown->when);
	ep_json_object_end(json);
}

/* ---- last calls ---- */

/* Ends by the number of their call. */
struct ends {
	const struct ep_event **list;
	size_t count;
};

static int compare_ends(const void *a, const void *b)
{
	const struct ep_event *x = *(const struct ep_event *const *)a;
	const struct ep_event *y = *(const struct ep_event *const *)b;

	return (x->call > y->call) - (x->call < y->call);
}

static bool has_no_begin(const struct ep_event *event)
{
	return event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY);
}

static bool ends_init(struct ends *ends, const struct ep_report_last *last)
{
	ends->count = 0;
	ends->list = calloc(last->count + 1, sizeof(*ends->list));
	if (!ends->list)
		return false;
	for (size_t i = 0; i < last->count; i++)
		if (last->events[i].kind == EP_EVENT_END && !has_no_begin(&last->events[i]))
			ends->list[ends->count++] = &last->events[i];
	qsort(ends->list, ends->count, sizeof(*ends->list), compare_ends);
	return true;
}

static const struct ep_event *end_of(const struct ends *ends, const struct ep_event *begin)
{
	const struct ep_event *const *found =
		bsearch(&begin, ends->list, ends->count, sizeof(*ends->list), compare_ends);

	return found ? *found : NULL;
}

static void write_flags(struct ep_json *json, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{EP_CALL_BEFORE, "began-before"},     {EP_CALL_STRAY, "stray"},
		{EP_CALL_ABANDONED, "abandoned"},     {EP_CALL_UNWOUND, "unwound"},
		{EP_CALL_ACROSS_GAP, "across-gap"},   {EP_CALL_AMBIGUOUS, "ambiguous"},
		{EP_CALL_UNSURE_WAIT, "unsure-wait"},
	};

	ep_json_key(json, "flags");
	ep_json_array(json);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & names[i].flag)
			ep_json_string(json, names[i].name);
	ep_json_array_end(json);
}

/* `begin` or `end` may be NULL, not both. */
static void write_call(const struct ep_report *report, const struct ep_event *begin,
		       const struct ep_event *end)
{
	const struct ep_event *any = begin ? begin : end;
	struct ep_json *json = report->json;

	ep_json_object(json);
	ep_json_member_text(json, "type", "call");
	ep_report_json_function(json, any->function);
	ep_json_member_uint(json, "depth", any->depth);
	if (begin)
		ep_report_json_time(report, "called", &begin->begin);
	if (end)
		ep_report_json_time(report, "returned", &end->end);
	if (begin && end)
		ep_json_member_int(json, "duration_ns",
				   ep_trace_ns(report->trace, begin->begin.best, end->end.best));
	ep_json_member_bool(json, "in_flight", begin && begin->flags & EP_CALL_OPEN);
	write_flags(json, any->flags | (end ? end->flags : 0));
	ep_json_object_end(json);
}

static void write_gap(const struct ep_report *report, const struct ep_event *gap)
{
	static const char *const names[] = {"lost-blocks", "paused", "hole", "unknown-record",
					    "text"};
	struct ep_json *json = report->json;

	ep_json_object(json);
	ep_json_member_text(json, "type", "gap");
	ep_json_key(json, "reasons");
	ep_json_array(json);
	for (unsigned i = 0; i < EP_OPEN_CALLS_GAPS; i++)
		if (gap->gap & 1u << i)
			ep_json_string(json, names[i]);
	ep_json_array_end(json);
	ep_json_member_uint(json, "lost", gap->lost);
	if (gap->text)
		ep_json_member_text(json, "text", gap->text);
	ep_report_json_time(report, "begun", &gap->begin);
	ep_report_json_time(report, "over", &gap->end);
	ep_json_object_end(json);
}

static void write_point(const struct ep_report *report, const struct ep_event *event)
{
	struct ep_json *json = report->json;

	ep_json_object(json);
	ep_json_member_text(json, "type", "point");
	ep_json_member_text(json, "point", ep_point_word(event->point));
	ep_report_json_text(json, "text", event->text);
	if (event->function)
		ep_report_json_function(json, event->function);
	ep_json_member_uint(json, "depth", event->depth);
	ep_report_json_time(report, "at", &event->begin);
	ep_json_object_end(json);
}

static void write_event(const struct ep_report *report, const struct ep_event *event,
			const struct ends *ends)
{
	if (event->kind == EP_EVENT_END && !has_no_begin(event))
		return;
	ep_json_newline(report->json);
	if (event->kind == EP_EVENT_BEGIN)
		write_call(report, event, end_of(ends, event));
	else if (event->kind == EP_EVENT_END)
		write_call(report, NULL, event);
	else if (event->kind == EP_EVENT_GAP)
		write_gap(report, event);
	else
		write_point(report, event);
}

static int write_last(const struct ep_report *report, const struct ep_report_last *last,
		      struct ep_err *err)
{
	struct ends ends;

	if (!ends_init(&ends, last))
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	ep_json_key(report->json, "last_calls");
	ep_json_array(report->json);
	for (size_t i = 0; i < last->count; i++)
		write_event(report, &last->events[i], &ends);
	ep_json_array_end(report->json);
	ep_json_member_uint(report->json, "outer_calls_left_out", last->left);
	free(ends.list);
	return EP_OK;
}

/* ---- the whole ---- */

int ep_report_json_thread(struct ep_report *report, const struct ep_report_story *story,
			  struct ep_err *err)
{
	struct ep_json *json = report->json;
	int rc;

	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_uint(json, "tid", story->tid);
	ep_report_json_text(json, "name", story->name);
	ep_json_member_bool(json, "died", story->died);
	ep_json_member_bool(json, "ended", story->ended);
	write_state(json, &story->state);
	write_history(json, report, story->thread.trace);
	if (story->uncaught)
		write_uncaught(json, report, &story->flight.thrown);
	write_stack(json, report, story);
	write_spans(json, report, &story->flight);
	rc = write_last(report, &story->last, err);
	ep_json_object_end(json);
	return rc;
}
