/* SPDX-License-Identifier: BSD-2-Clause */
/* json_thread.c: one thread of a report as JSON. */
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/report/print/json.h"

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
	ep_json_member_object(json, "state");
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

static void write_history(struct ep_json *json, const struct ep_trace *trace,
			  const struct ep_trace_thread *thread)
{
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

static void write_row(struct ep_json *json, const struct ep_trace *trace,
		      const struct ep_alignment_row *row)
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
		ep_report_json_time(json, trace, "called", &row->call->begin);
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

static void write_stack(struct ep_json *json, const struct ep_trace *trace,
			const struct ep_report_thread *thread)
{
	const struct ep_alignment *alignment = &thread->alignment;

	ep_json_member_object(json, "stack");
	ep_json_member_text(json, "end", thread->unwound ? end_name(thread->stack.end) : "none");
	ep_report_json_text(json, "end_text",
			    thread->unwound ? thread->stack.why : thread->stackless);
	if (thread->more)
		ep_json_member_uint(json, "frames_left_out", thread->more);
	index_or_null(json, "overwritten_from", alignment->overwritten);
	index_or_null(json, "history_ends_at", alignment->edge);
	ep_json_member_bool(json, "outermost_known", thread->open.outermost_known);
	ep_json_member_array(json, "rows");
	for (size_t i = 0; i < alignment->count; i++) {
		ep_json_newline(json);
		write_row(json, trace, &alignment->rows[i]);
	}
	ep_json_array_end(json);
	ep_json_object_end(json);
}

static void write_spans(struct ep_json *json, const struct ep_trace *trace,
			const struct ep_open_calls *open)
{
	ep_json_member_array(json, "spans");
	for (size_t i = 0; i < open->span_count; i++) {
		ep_json_object(json);
		ep_json_member_text(json, "name", open->spans[i].name);
		ep_report_json_time(json, trace, "begun", &open->spans[i].since);
		ep_json_object_end(json);
	}
	ep_json_array_end(json);
}

static void write_uncaught(struct ep_json *json, const struct ep_trace *trace,
			   const struct ep_exception *exception)
{
	ep_json_member_object(json, "uncaught_exception");
	ep_report_json_text(json, "type", exception->type);
	ep_report_json_text(json, "thrown_in", exception->where ? exception->where->name : NULL);
	if (exception->where && exception->from && exception->from != exception->where)
		ep_json_member_text(json, "thrown_for", exception->from->name);
	ep_report_json_time(json, trace, "thrown", &exception->when);
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

static void ends_init(struct ends *ends, const struct ep_report_last *last)
{
	ends->count = 0;
	ends->list = ep_calloc(last->count, sizeof(*ends->list));
	for (size_t i = 0; i < last->count; i++)
		if (last->list[i].kind == EP_EVENT_END && !has_no_begin(&last->list[i]))
			ends->list[ends->count++] = &last->list[i];
	ep_array_sort(ends, compare_ends);
}

static const struct ep_event *find_end(const struct ends *ends, const struct ep_event *begin)
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
		{EP_CALL_UNSURE_WAIT, "unsure-wait"}, {EP_CALL_SWITCHED, "switched-off"},
	};

	ep_json_member_array(json, "flags");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & names[i].flag)
			ep_json_string(json, names[i].name);
	ep_json_array_end(json);
}

/* `begin` or `end` may be NULL, not both. */
static void write_call(struct ep_json *json, const struct ep_trace *trace,
		       const struct ep_event *begin, const struct ep_event *end)
{
	const struct ep_event *any = begin ? begin : end;
	ep_json_object(json);
	ep_json_member_text(json, "type", "call");
	ep_report_json_function(json, any->function);
	ep_json_member_uint(json, "depth", any->depth);
	if (begin)
		ep_report_json_time(json, trace, "called", &begin->begin);
	if (end)
		ep_report_json_time(json, trace, "returned", &end->end);
	if (begin && end)
		ep_json_member_int(json, "duration_ns",
				   ep_trace_ns(trace, begin->begin.best, end->end.best));
	ep_json_member_bool(json, "in_flight", begin && begin->flags & EP_CALL_OPEN);
	write_flags(json, any->flags | (end ? end->flags : 0));
	ep_json_object_end(json);
}

static void write_gap(struct ep_json *json, const struct ep_trace *trace,
		      const struct ep_event *gap)
{
	static const char *const names[] = {"lost-blocks", "paused", "hole", "unknown-record",
					    "text"};
	ep_json_object(json);
	ep_json_member_text(json, "type", "gap");
	ep_json_member_array(json, "reasons");
	for (unsigned i = 0; i < EP_OPEN_CALLS_GAPS; i++)
		if (gap->gap & 1u << i)
			ep_json_string(json, names[i]);
	ep_json_array_end(json);
	ep_json_member_uint(json, "lost", gap->lost);
	if (gap->text)
		ep_json_member_text(json, "text", gap->text);
	ep_report_json_time(json, trace, "begun", &gap->begin);
	ep_report_json_time(json, trace, "over", &gap->end);
	ep_json_object_end(json);
}

static void write_point(struct ep_json *json, const struct ep_trace *trace,
			const struct ep_event *event)
{
	ep_json_object(json);
	ep_json_member_text(json, "type", "point");
	ep_json_member_text(json, "point", ep_point_word(event->point));
	ep_report_json_text(json, "text", event->text);
	if (event->function)
		ep_report_json_function(json, event->function);
	ep_json_member_uint(json, "depth", event->depth);
	ep_report_json_time(json, trace, "at", &event->begin);
	ep_json_object_end(json);
}

static void write_event(struct ep_json *json, const struct ep_trace *trace,
			const struct ep_event *event, const struct ends *ends)
{
	if (event->kind == EP_EVENT_END && !has_no_begin(event))
		return;
	ep_json_newline(json);
	if (event->kind == EP_EVENT_BEGIN)
		write_call(json, trace, event, find_end(ends, event));
	else if (event->kind == EP_EVENT_END)
		write_call(json, trace, NULL, event);
	else if (event->kind == EP_EVENT_GAP)
		write_gap(json, trace, event);
	else
		write_point(json, trace, event);
}

static void write_last(struct ep_json *json, const struct ep_trace *trace,
		       const struct ep_report_last *last)
{
	struct ends ends;

	ends_init(&ends, last);
	ep_json_member_array(json, "last_calls");
	for (size_t i = 0; i < last->count; i++)
		write_event(json, trace, &last->list[i], &ends);
	ep_json_array_end(json);
	ep_json_member_uint(json, "outer_calls_left_out", last->left);
	free(ends.list);
}

/* ---- the whole ---- */

void ep_report_json_thread(struct ep_json *json, const struct ep_trace *trace,
			   const struct ep_report_thread *thread)
{
	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_uint(json, "tid", thread->tid);
	ep_report_json_text(json, "name", thread->name);
	ep_json_member_bool(json, "died", thread->died);
	ep_json_member_bool(json, "ended", thread->ended);
	write_state(json, &thread->state);
	ep_report_json_wait(json, &thread->wait);
	write_history(json, trace, thread->entry.trace);
	if (thread->uncaught)
		write_uncaught(json, trace, &thread->open.exception);
	write_stack(json, trace, thread);
	write_spans(json, trace, &thread->open);
	write_last(json, trace, &thread->last);
	ep_json_object_end(json);
}
