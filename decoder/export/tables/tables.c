/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.c: rows that come with the stream: calls as they end, waits, notes, spans, gaps. Functions
 * are numbers in them; their names come once, at the end (facts.c).
 */
#include "decoder/export/tables/impl.h"

#include <errno.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/calls/placing.h"
#include "decoder/export/flags.h"
#include "decoder/export/replay.h"
#include "decoder/kernel/schedule.h"
#include "decoder/util/timetext.h"

/* ---- cells ---- */

static void function_cell(struct ep_tables *tables, struct ep_table_file *file,
			  const struct ep_function *function)
{
	if (!function) {
		ep_table_null(file, 1);
		return;
	}
	while (tables->functions.count <= function->id)
		ep_array_add(&tables->functions);
	tables->functions.list[function->id] = function;
	ep_table_uint(file, function->id);
}

static void number_cell(struct ep_table_file *file, bool known, int64_t value)
{
	if (known)
		ep_table_int(file, value);
	else
		ep_table_null(file, 1);
}

/* Its earliest and its latest, of a time that is an interval. */
static void interval_cells(struct ep_tables *tables, struct ep_table_file *file,
			   const struct ep_time *time)
{
	if (time->exact) {
		ep_table_null(file, 2);
		return;
	}
	ep_table_int(file, ep_tables_ns(tables, time->low));
	number_cell(file, time->high != EP_TIME_UNKNOWN, ep_tables_ns(tables, time->high));
}

static void flags_cell(struct ep_table_file *file, const struct ep_nest_frame *frame,
		       const struct ep_event *end)
{
	const char *words[EP_EXPORT_FLAGS_MAX];
	unsigned count = ep_export_flags(frame, end, words);

	ep_table_cell(file);
	for (unsigned i = 0; i < count; i++) {
		ep_outbuf_text(&file->out, i ? " " : "");
		ep_outbuf_text(&file->out, words[i]);
	}
}

/* ---- calls ---- */

static void call_times(struct ep_tables *tables, struct ep_table_file *file,
		       const struct ep_nest_frame *frame, const struct ep_event *end)
{
	bool before = frame->flags & EP_CALL_BEFORE;
	int64_t began = ep_tables_ns(tables, frame->begin.best);
	int64_t ended = end ? ep_tables_ns(tables, end->end.best) : 0;
	struct ep_took took;
	bool open = end && !before && ep_event_took(tables->export->trace, end, &took) &&
		    !ep_times_agree(took.least, took.most);

	number_cell(file, !before, began);
	number_cell(file, end, ended);
	number_cell(file, end && !before && !open, ended - began);
	number_cell(file, open, open && took.least > 0 ? took.least : 0);
	number_cell(file, open, open ? took.most : 0);
	number_cell(file, end && !before, frame->ran - frame->inner);
	if (before) {
		ep_table_null(file, 1);
		ep_table_int(file, began);
	} else {
		interval_cells(tables, file, &frame->begin);
	}
	if (end)
		interval_cells(tables, file, &end->end);
	else
		ep_table_null(file, 2);
}

static void state_cells(struct ep_table_file *file, bool known, const struct ep_slice_times *times)
{
	if (!known) {
		ep_table_null(file, 4);
		return;
	}
	ep_table_int(file, times->running);
	ep_table_int(file, times->ready);
	ep_table_int(file, times->blocked);
	ep_table_int(file, times->unknown);
}

static void write_call(struct ep_tables *tables, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	struct ep_table_file *file = &tables->files[EP_TABLE_CALLS];
	const struct ep_trace *trace = tables->export->trace;
	const struct ep_nest_frame *frame = thread->frame;
	const struct ep_event *end = event->kind == EP_EVENT_END ? event : NULL;
	struct ep_slice_times times;

	ep_table_uint(file, thread->thread->serial);
	ep_table_uint(file, frame->call);
	number_cell(file, frame->mark, (int64_t)frame->mark - 1);
	ep_table_uint(file, frame->depth);
	function_cell(tables, file, frame->function);
	ep_table_uint(file, frame->address);
	call_times(tables, file, frame, end);
	state_cells(file, end && trace->schedule && ep_event_times(trace, end, &times), &times);
	number_cell(file, frame->astray, frame->astray);
	flags_cell(file, frame, end);
	ep_table_row(file);
}

/* ---- waits ---- */

/* The call it was certainly in, the function that it was in or inside of, and which of both. */
static void place_cells(struct ep_tables *tables, struct ep_table_file *file,
			const struct ep_nest_thread *thread, const struct ep_wait_place *place)
{
	const struct ep_nest_frame *frame = thread->own ? &thread->frames[thread->own - 1] : NULL;
	const struct ep_function *function = frame ? frame->function : NULL;
	bool inside = !place->whole;

	if (tables->leaves_out)
		inside |= place->path_count > 0;
	else if (inside && place->innermost)
		function = place->innermost;
	else if (place->path_count)
		function = place->path[place->path_count - 1];
	if (inside && !tables->leaves_out && place->innermost)
		inside = false;
	number_cell(file, frame, frame ? (int64_t)frame->call : 0);
	function_cell(tables, file, function);
	if (function)
		ep_table_bool(file, inside);
	else
		ep_table_null(file, 1);
}

/* The thread of that tid that was there at `tsc`. */
static const struct ep_trace_thread *thread_at(const struct ep_tables *tables, uint32_t tid,
					       uint64_t tsc)
{
	const struct ep_trace *trace = tables->export->trace;
	uint32_t hash = ep_hash_number(tid), at = 0, number;

	while ((number = ep_hash_next(&tables->by_tid, hash, &at)) != EP_HASH_NONE) {
		const struct ep_trace_thread *thread = &trace->threads[number];

		if (thread->tid == tid && thread->start_tsc <= tsc &&
		    (thread->state != EP_THREAD_DEAD || thread->end_tsc >= tsc))
			return thread;
	}
	return NULL;
}

static void waker_cells(struct ep_tables *tables, struct ep_table_file *file,
			const struct ep_slice *slice)
{
	static const char *const kinds[] = {[EP_WAKER_UNKNOWN] = "",
					    [EP_WAKER_THREAD] = "thread",
					    [EP_WAKER_IRQ] = "interrupt",
					    [EP_WAKER_SOFT] = "soft-interrupt"};
	const struct ep_schedule *schedule = tables->export->trace->schedule;
	bool is_thread = slice->waker_kind == EP_WAKER_THREAD && slice->waker;
	const struct ep_trace_thread *thread =
		is_thread ? thread_at(tables, slice->waker, slice->end) : NULL;
	const struct ep_task *task = is_thread ? ep_schedule_task(schedule, slice->waker) : NULL;

	ep_table_word(file, kinds[slice->waker_kind]);
	number_cell(file, is_thread, slice->waker);
	number_cell(file, thread, thread ? thread->serial : 0);
	ep_table_text(file, thread && thread->name[0] ? thread->name : task ? task->name : NULL);
}

static void write_wait(struct ep_tables *tables, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	static const char *const states[] = {[EP_SLICE_UNKNOWN] = "unknown",
					     [EP_SLICE_RUNNING] = "running",
					     [EP_SLICE_READY] = "ready",
					     [EP_SLICE_BLOCKED] = "blocked"};
	struct ep_table_file *file = &tables->files[EP_TABLE_WAITS];
	const struct ep_slice *slice = event->place->slice;
	int64_t begin = ep_tables_ns(tables, slice->begin), end = ep_tables_ns(tables, slice->end);
	char how[2] = {slice->how, 0};

	ep_table_uint(file, thread->thread->serial);
	ep_table_int(file, begin);
	ep_table_int(file, end);
	ep_table_int(file, end - begin);
	ep_table_word(file, states[slice->state]);
	ep_table_text(file, how);
	ep_table_bool(file, !slice->open);
	place_cells(tables, file, thread, event->place);
	waker_cells(tables, file, slice);
	ep_table_row(file);
}

/* ---- notes, spans, gaps ---- */

static void write_note(struct ep_tables *tables, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	struct ep_table_file *file = &tables->files[EP_TABLE_NOTES];
	const struct ep_nest_frame *frame =
		thread->count ? &thread->frames[thread->count - 1] : NULL;

	ep_table_uint(file, thread->thread->serial);
	ep_table_int(file, ep_tables_ns(tables, event->begin.best));
	interval_cells(tables, file, &event->begin);
	ep_table_word(file, ep_point_word(event->point));
	ep_table_text(file, event->text);
	number_cell(file, frame, frame ? (int64_t)frame->call : 0);
	function_cell(tables, file, event->function);
	ep_table_uint(file, event->address);
	ep_table_row(file);
}

/* By its end; NULL `begin`: it is not known. */
static void write_span(struct ep_tables *tables, const struct ep_event *event,
		       const struct ep_time *begin, const struct ep_time *end)
{
	struct ep_table_file *file = &tables->files[EP_TABLE_SPANS];
	int64_t from = begin ? ep_tables_ns(tables, begin->best) : 0;
	int64_t to = end ? ep_tables_ns(tables, end->best) : 0;

	ep_table_uint(file, event->thread->serial);
	ep_table_uint(file, event->call);
	ep_table_text(file, event->text);
	number_cell(file, begin, from);
	number_cell(file, end, to);
	number_cell(file, begin && end, to - from);
	ep_table_word(file, !end                                ? "did-not-end"
			    : !begin                            ? "began-before"
			    : event->flags & EP_CALL_ACROSS_GAP ? "across-gap"
								: "");
	ep_table_row(file);
}

static void write_point(struct ep_tables *tables, const struct ep_nest_thread *thread,
			const struct ep_event *event)
{
	if (event->point == EP_POINT_SPAN_END)
		write_span(tables, event, event->flags & EP_CALL_BEFORE ? NULL : &event->since,
			   &event->begin);
	else if (event->point != EP_POINT_SPAN_BEGIN)
		write_note(tables, thread, event);
}

static void write_gap(struct ep_tables *tables, const struct ep_event *event)
{
	struct ep_table_file *file = &tables->files[EP_TABLE_GAPS];
	char text[EP_REPLAY_GAP_SIZE];

	ep_table_uint(file, event->thread->serial);
	ep_table_int(file, ep_tables_ns(tables, event->begin.best));
	ep_table_int(file, ep_tables_ns(tables, event->end.best));
	ep_table_uint(file, event->lost);
	ep_table_text(file, ep_replay_gap(text, event));
	ep_table_row(file);
}

/* ---- the stream ---- */

int ep_tables_event(void *context, const struct ep_event *event,
		    const struct ep_nest_thread *thread)
{
	struct ep_tables *tables = context;

	switch (event->kind) {
	case EP_EVENT_BEGIN:
		/* Its caller's number, + 1: stacks change, this does not. */
		thread->frame->mark = thread->count > 1 ? thread->frame[-1].call + 1 : 0;
		break;
	case EP_EVENT_END:
		if (!(event->flags & EP_CALL_STRAY))
			write_call(tables, thread, event);
		break;
	case EP_EVENT_OPEN:
	case EP_EVENT_LEFT:
		write_call(tables, thread, event);
		break;
	case EP_EVENT_WAIT:
		write_wait(tables, thread, event);
		break;
	case EP_EVENT_POINT:
		write_point(tables, thread, event);
		break;
	case EP_EVENT_OPEN_SPAN:
		write_span(tables, event, &event->begin, NULL);
		break;
	case EP_EVENT_GAP:
		write_gap(tables, event);
		break;
	default:
		break;
	}
	return ep_export_status(&tables->files[EP_TABLE_CALLS].out);
}

/* ---- the whole ---- */

static int open_all(struct ep_tables *tables, const struct ep_tables_place *place,
		    struct ep_err *err)
{
	char name[64];
	FILE *file;
	int rc = EP_OK;

	for (unsigned i = 0; i < EP_TABLES && rc == EP_OK; i++) {
		snprintf(name, sizeof(name), "%s.csv%s", ep_table_specs[i].name, place->suffix);
		rc = place->open(place->context, name, false, &file, err);
		if (rc == EP_OK)
			ep_table_begin(&tables->files[i], file, &ep_table_specs[i]);
	}
	return rc;
}

/* `rc`: of what came before, which stays the one that is told. */
static int close_all(struct ep_tables *tables, int rc, struct ep_err *err)
{
	int reason = errno;

	for (unsigned i = 0; i < EP_TABLES; i++) {
		struct ep_table_file *file = &tables->files[i];
		int ended = file->file ? ep_table_end(file, rc ? NULL : err) : EP_OK;

		if (ended && !rc) {
			rc = ended;
			reason = errno;
			ep_err_prefix(err, "%s.csv", ep_table_specs[i].name);
		}
	}
	errno = reason;
	return rc;
}

static int write_schema(const struct ep_tables_place *place, const char *name,
			void (*write)(FILE *out, const char *suffix), struct ep_err *err)
{
	FILE *file;
	int rc = place->open(place->context, name, true, &file, err);

	if (rc)
		return rc;
	write(file, place->suffix);
	if (fclose(file))
		return ep_fail(err, EP_E_IO, 0, "%s: %m", name);
	return EP_OK;
}

static void tables_init(struct ep_tables *tables, const struct ep_export *export)
{
	tables->export = export;
	tables->leaves_out = ep_selection_leaves_out(export->selection);
	for (uint32_t i = 0; i < export->trace->thread_count; i++)
		ep_hash_add(&tables->by_tid, ep_hash_number(export->trace->threads[i].tid), i);
}

int ep_tables_write(const struct ep_tables_place *place, const struct ep_export *export,
		    uint64_t *shown, struct ep_err *err)
{
	struct ep_tables *tables = ep_calloc(1, sizeof(*tables));
	const struct ep_sink sink = {
		.context = tables, .event = ep_tables_event, .waits = true, .nested = true};
	int rc;

	*shown = 0;
	tables_init(tables, export);
	rc = open_all(tables, place, err);
	/* A file that takes no more tells so when it is closed. */
	if (rc == EP_OK &&
	    ep_stream(export->trace, export->names, export->selection, &sink, shown) == EP_OK &&
	    *shown) {
		ep_tables_frames(tables);
		ep_tables_facts(tables);
	}
	rc = close_all(tables, rc, err);
	rc = rc ? rc : write_schema(place, "schema.sql", ep_tables_schema, err);
	rc = rc ? rc : write_schema(place, "clickhouse.sql", ep_tables_clickhouse, err);
	ep_array_deinit(&tables->functions);
	ep_hash_deinit(&tables->by_tid);
	free(tables);
	return rc;
}
