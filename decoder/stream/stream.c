/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.c: threads are read into tables, the rows that are asked for are marked, and what is
 * marked is handed out. Whatever can be selected by itself is an item: a call, a gap, what the
 * program said outside of all calls.
 */
#include "decoder/stream/stream.h"

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/progress.h"
#include "decoder/calls/call_table.h"
#include "decoder/stream/merge.h"
#include "decoder/stream/nest.h"

#define PROGRESS_EVENTS 65536u /* after so many of them it is said how far it is */

struct stream {
	const struct ep_trace *trace;
	struct ep_names *names;
	const struct ep_selection *selection;
	const struct ep_sink *sink;
	struct ep_window window;
	struct ep_call_functions functions;
	struct ep_call_table *tables; /* of the threads that are wanted, ascending serial */
	size_t count;
	EP_ARRAY(char) matches; /* by id of a function: 'y', 'n', 0 not asked yet */
	uint64_t blocks;        /* of all of them: each is read, and handed out */
	uint64_t blocks_read, blocks_handed;
	size_t reading;           /* blocks of the one that is being read; not among blocks_read */
	uint64_t handing;         /* blocks that are being handed out; not among blocks_handed */
	uint64_t handed, entries; /* of theirs: so many, at most, of so many */
	uint64_t passing;         /* items but for gaps */
	uint64_t left_out;        /* of these */
	struct ep_event event;    /* that is handed out */
};

/* ---- what passes by itself ---- */

static bool matches(struct stream *stream, uint32_t function)
{
	const struct ep_patterns *wanted = &stream->selection->functions;
	char *match;

	if (!wanted->count)
		return true;
	while (stream->matches.count <= function)
		ep_array_add(&stream->matches);
	match = &stream->matches.list[function];
	if (!*match)
		*match = ep_patterns_match(wanted, stream->functions.by_id.list[function]->name)
				 ? 'y'
				 : 'n';
	return *match == 'y';
}

/* One that is open may last for long yet. */
static bool row_passes(struct stream *stream, const struct ep_call_table *table,
		       const struct ep_call_row *row)
{
	const struct ep_selection *selection = stream->selection;

	if (row->begin > stream->window.until ||
	    (selection->depth && row->depth - table->too_deep >= selection->depth) ||
	    !matches(stream, row->function))
		return false;
	if (!(row->flags & EP_CALL_ROW_ENDED))
		return true;
	return row->end >= stream->window.since &&
	       (!selection->min_duration ||
		ep_trace_ns(stream->trace, row->begin, row->end) >= selection->min_duration);
}

/* A point that is in no call is an item of its own where the program said it. */
static bool is_alone(const struct ep_call_mark *mark)
{
	return mark->kind == EP_EVENT_POINT && mark->in == EP_CALL_ROW_NONE &&
	       mark->point >= EP_POINT_NOTE;
}

static bool mark_passes(const struct stream *stream, const struct ep_call_mark *mark)
{
	const struct ep_selection *selection = stream->selection;

	if (mark->kind != EP_EVENT_POINT)
		return mark->begin <= stream->window.until && mark->end >= stream->window.since;
	if (mark->begin < stream->window.since || mark->begin > stream->window.until)
		return false;
	return mark->in != EP_CALL_ROW_NONE ||
	       (!selection->functions.count && (is_alone(mark) || !selection->last_calls));
}

static void judge(struct stream *stream, struct ep_call_table *table)
{
	for (size_t i = 0; i < table->rows.count; i++) {
		struct ep_call_row *row = &table->rows.list[i];

		if (!row_passes(stream, table, row))
			continue;
		row->flags |= EP_CALL_ROW_PASSES | EP_CALL_ROW_SHOWN;
		stream->passing++;
	}
	for (size_t i = 0; i < table->marks.count; i++) {
		struct ep_call_mark *mark = &table->marks.list[i];

		if (!mark_passes(stream, mark))
			continue;
		mark->flags |= EP_CALL_ROW_PASSES | EP_CALL_ROW_SHOWN;
		stream->passing += is_alone(mark);
	}
}

/* A point is part of the call that it happened in. */
static void judge_points(struct ep_call_table *table)
{
	for (size_t i = 0; i < table->marks.count; i++) {
		struct ep_call_mark *mark = &table->marks.list[i];

		if (mark->in != EP_CALL_ROW_NONE &&
		    !(table->rows.list[mark->in].flags & EP_CALL_ROW_SHOWN))
			mark->flags &= ~EP_CALL_ROW_SHOWN;
	}
}

/* ---- the last calls ---- */

/* Where an item begins that passes. */
static bool begins_item(const struct ep_call_table *table, size_t at)
{
	uint32_t entry = table->order.list[at], index = entry >> 2;
	const struct ep_call_mark *mark;
	uint32_t flags;

	if (ep_call_step_of(entry) == EP_CALL_STEP_MARK) {
		mark = &table->marks.list[index];
		return mark->flags & EP_CALL_ROW_PASSES &&
		       (mark->kind == EP_EVENT_GAP || is_alone(mark));
	}
	flags = table->rows.list[index].flags;
	return flags & EP_CALL_ROW_PASSES &&
	       (ep_call_step_of(entry) == EP_CALL_STEP_BEGIN || flags & EP_CALL_ROW_ONLY_END);
}

/* The item at hand, behind which `left` items that pass begin, and gaps. */
static void keep_item(struct stream *stream, struct ep_call_table *table, size_t at, uint64_t left)
{
	uint32_t entry = table->order.list[at];
	bool last = left < stream->selection->last_calls;
	struct ep_call_row *row;

	if (ep_call_step_of(entry) == EP_CALL_STEP_MARK) {
		struct ep_call_mark *mark = &table->marks.list[entry >> 2];

		if (last)
			return;
		mark->flags &= ~EP_CALL_ROW_SHOWN;
		stream->left_out += is_alone(mark);
		return;
	}
	row = &table->rows.list[entry >> 2];
	if (last || !(row->flags & EP_CALL_ROW_ENDED))
		return;
	row->flags &= ~EP_CALL_ROW_SHOWN;
	stream->left_out++;
}

/* A call that ends after the first of the last calls of its thread began, and began before it, is
 * around it: a line without its callers would stand at a depth that nothing explains. */
static void keep_callers(struct stream *stream, struct ep_call_table *table)
{
	uint32_t first = 0;

	for (size_t i = 0; i < table->order.count; i++) {
		uint32_t entry = table->order.list[i], index = entry >> 2;
		struct ep_call_row *row;

		if (ep_call_step_of(entry) == EP_CALL_STEP_MARK)
			continue;
		row = &table->rows.list[index];
		if (row->flags & EP_CALL_ROW_SHOWN) {
			if (!first && row->flags & EP_CALL_ROW_ENDED)
				first = index + 1;
		} else if (ep_call_step_of(entry) == EP_CALL_STEP_END && index + 1 < first &&
			   row->flags & EP_CALL_ROW_PASSES) {
			row->flags |= EP_CALL_ROW_SHOWN;
			stream->left_out--;
		}
	}
}

/* Of what passes, the last calls of all threads together, what lies between them, and those that
 * are open. */
static void keep_last(struct stream *stream)
{
	struct ep_merge *merge;
	struct ep_call_table *table;
	uint64_t left = stream->passing;
	size_t at;

	if (!stream->selection->last_calls || left <= stream->selection->last_calls)
		return;
	merge = ep_merge_create(stream->tables, stream->count, begins_item);
	while ((table = ep_merge_next(merge, &at))) {
		uint32_t entry = table->order.list[at];

		left -= ep_call_step_of(entry) != EP_CALL_STEP_MARK ||
			table->marks.list[entry >> 2].kind != EP_EVENT_GAP;
		keep_item(stream, table, at, left);
	}
	ep_merge_destroy(merge);
	for (size_t i = 0; i < stream->count; i++)
		keep_callers(stream, &stream->tables[i]);
}

/* ---- handing out ---- */

static bool is_shown(const struct ep_call_table *table, size_t at)
{
	uint32_t entry = table->order.list[at];

	return (ep_call_step_of(entry) == EP_CALL_STEP_MARK ? table->marks.list[entry >> 2].flags
							    : table->rows.list[entry >> 2].flags) &
	       EP_CALL_ROW_SHOWN;
}

static bool say_progress(const struct stream *stream, uint64_t more)
{
	return ep_progress("reading calls", stream->blocks_read + stream->blocks_handed + more,
			   2 * stream->blocks);
}

static int hand_out(struct stream *stream, const struct ep_call_table *table, size_t at)
{
	ep_call_table_event(table, at, &stream->event);
	if (++stream->handed % PROGRESS_EVENTS == 0 &&
	    !say_progress(stream, stream->handing * stream->handed / stream->entries))
		return EP_END;
	return stream->sink->event(stream->sink->context, &stream->event, NULL);
}

/* What is to be known before the first event. */
static int hand_out_ahead(struct stream *stream, const struct ep_call_table *table)
{
	int rc = EP_OK;

	for (size_t i = 0; !rc && stream->sink->ahead && i < table->before.count; i++) {
		if (!is_shown(table, table->before.list[i]))
			continue;
		ep_call_table_event(table, table->before.list[i], &stream->event);
		rc = stream->sink->ahead(stream->sink->context, &stream->event, NULL);
	}
	return rc;
}

/* What is open at the end. */
static int hand_out_open(struct stream *stream, const struct ep_call_table *table)
{
	const struct ep_selection *selection = stream->selection;
	int rc = EP_OK;

	for (size_t i = 0; !rc && i < table->open.count; i++) {
		struct ep_event open = table->open.list[i];
		uint32_t row = ep_call_table_row(table, open.call);

		open.kind = EP_EVENT_OPEN;
		if (row != EP_CALL_ROW_NONE && table->rows.list[row].flags & EP_CALL_ROW_SHOWN)
			rc = stream->sink->event(stream->sink->context, &open, NULL);
	}
	for (size_t i = 0; !rc && i < table->spans.count; i++) {
		struct ep_event open = table->spans.list[i];

		open.kind = EP_EVENT_OPEN_SPAN;
		if (!selection->functions.count && !selection->last_calls &&
		    open.begin.best <= stream->window.until)
			rc = stream->sink->event(stream->sink->context, &open, NULL);
	}
	return rc;
}

static int hand_out_all(struct stream *stream)
{
	struct ep_merge *merge = ep_merge_create(stream->tables, stream->count, is_shown);
	struct ep_call_table *table;
	size_t at;
	int rc = EP_OK;

	for (size_t i = 0; !rc && i < stream->count; i++)
		rc = hand_out_ahead(stream, &stream->tables[i]);
	while (!rc && (table = ep_merge_next(merge, &at)))
		rc = hand_out(stream, table, at);
	for (size_t i = 0; !rc && i < stream->count; i++)
		rc = hand_out_open(stream, &stream->tables[i]);
	ep_merge_destroy(merge);
	return rc;
}

/* ---- the whole ---- */

static bool goes_on(void *context, size_t blocks_left)
{
	const struct stream *stream = context;

	return say_progress(stream, stream->reading - blocks_left);
}

static bool read_table(struct stream *stream, struct ep_call_table *table)
{
	bool going;

	stream->reading = table->thread->block_count;
	going = ep_call_table_read(table, stream->trace, stream->names, stream->sink->waits,
				   goes_on, stream);
	stream->blocks_read += stream->reading;
	stream->handing += stream->reading;
	stream->entries += table->order.count;
	judge(stream, table);
	return going;
}

/* Each thread by itself, so that no more than one table is there at a time. */
static int in_turns(struct stream *stream)
{
	struct ep_call_table *table = &stream->tables[0];
	int rc = EP_OK;

	for (size_t i = 0; !rc && i < stream->count; i++) {
		ep_call_table_empty(table);
		table->thread = stream->tables[i].thread;
		rc = read_table(stream, table) ? EP_OK : EP_END;
		judge_points(table);
		rc = rc ? rc : hand_out_ahead(stream, table);
		for (size_t at = 0; !rc && at < table->order.count; at++)
			if (is_shown(table, at))
				rc = hand_out(stream, table, at);
		rc = rc ? rc : hand_out_open(stream, table);
		stream->blocks_handed += stream->handing;
		stream->handing = stream->handed = stream->entries = 0;
	}
	return rc;
}

static int together(struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		if (!read_table(stream, &stream->tables[i]))
			return EP_END;
	keep_last(stream);
	for (size_t i = 0; i < stream->count; i++)
		judge_points(&stream->tables[i]);
	return hand_out_all(stream);
}

static const struct ep_selection all;

static void stream_init(struct stream *stream, const struct ep_trace *trace,
			const struct ep_selection *selection, const struct ep_sink *sink)
{
	*stream = (struct stream){
		.trace = trace,
		.selection = selection ? selection : &all,
		.sink = sink,
		.tables = ep_calloc(trace->thread_count, sizeof(struct ep_call_table)),
	};
	stream->window = ep_selection_window(stream->selection, trace);
}

static void add_thread(struct stream *stream, const struct ep_trace_thread *thread)
{
	ep_call_table_init(&stream->tables[stream->count++], thread, &stream->functions);
	stream->blocks += thread->block_count;
}

static void stream_deinit(struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		ep_call_table_deinit(&stream->tables[i]);
	free(stream->tables);
	ep_array_deinit(&stream->functions.by_id);
	ep_array_deinit(&stream->matches);
}

int ep_stream(const struct ep_trace *trace, struct ep_names *names,
	      const struct ep_selection *selection, const struct ep_sink *sink, uint64_t *shown)
{
	struct stream stream;
	int rc;

	if (sink->nested)
		return ep_nest_stream(trace, names, selection ? selection : &all, sink, shown);
	stream_init(&stream, trace, selection, sink);
	stream.names = names;
	for (size_t i = 0; i < trace->thread_count; i++)
		if (ep_selection_wants_thread(stream.selection, &trace->threads[i]))
			add_thread(&stream, &trace->threads[i]);
	rc = sink->any_order && !stream.selection->last_calls ? in_turns(&stream)
							      : together(&stream);
	*shown = stream.passing - stream.left_out;
	ep_progress_end();
	stream_deinit(&stream);
	return rc;
}

int ep_stream_tail(const struct ep_trace *trace, const struct ep_selection *selection,
		   const struct ep_tail *tail, const struct ep_sink *sink, uint64_t *shown)
{
	struct stream stream;
	int rc;

	stream_init(&stream, trace, selection, sink);
	if (tail->events.count)
		add_thread(&stream, tail->events.list[0].thread);
	for (size_t i = 0; i < tail->events.count; i++)
		ep_call_table_add(&stream.tables[0], &tail->events.list[i]);
	if (stream.count) {
		ep_call_table_finish(&stream.tables[0]);
		stream.entries = stream.tables[0].order.count;
		judge(&stream, &stream.tables[0]);
		keep_last(&stream);
		judge_points(&stream.tables[0]);
	}
	rc = hand_out_all(&stream);
	*shown = stream.passing - stream.left_out;
	stream_deinit(&stream);
	return rc;
}
