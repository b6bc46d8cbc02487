/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_table.c: nothing of an event is lost, though most of it is the same for neighbours: calls
 * without a time of their own share their bounds, and addresses lie near their function's start.
 */
#include "decoder/calls/call_table.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coredump/util/alloc.h"
#include "decoder/calls/placing.h"

#define SAY_EVENTS 65536u /* after so many of them it is said how far it is */

void ep_call_table_init(struct ep_call_table *table, const struct ep_trace_thread *thread,
			struct ep_call_functions *functions)
{
	*table = (struct ep_call_table){.thread = thread, .functions = functions};
}

void ep_call_table_empty(struct ep_call_table *table)
{
	for (size_t i = 0; i < table->marks.count; i++)
		if (table->marks.list[i].kind == EP_EVENT_WAIT)
			free((struct ep_wait_place *)table->marks.list[i].place);
	for (size_t i = 0; i < table->texts.count; i++)
		free(table->texts.list[i]);
	ep_hash_deinit(&table->by_text);
	for (size_t i = 0; i < table->spans.count; i++)
		free((char *)table->spans.list[i].text);
	table->rows.count = table->order.count = table->marks.count = table->bounds.count = 0;
	table->far.count = table->astray.count = table->numbers.count = 0;
	table->since.count = table->texts.count = 0;
	table->before.count = table->open.count = table->spans.count = 0;
	table->too_deep = 0;
}

void ep_call_table_deinit(struct ep_call_table *table)
{
	ep_call_table_empty(table);
	ep_array_deinit(&table->rows);
	ep_array_deinit(&table->order);
	ep_array_deinit(&table->marks);
	ep_array_deinit(&table->bounds);
	ep_array_deinit(&table->far);
	ep_array_deinit(&table->astray);
	ep_array_deinit(&table->before);
	ep_array_deinit(&table->since);
	ep_array_deinit(&table->texts);
	ep_array_deinit(&table->numbers);
	ep_array_deinit(&table->open);
	ep_array_deinit(&table->spans);
}

/* ---- rows ---- */

static inline uint32_t begin_flags(const struct ep_time *begin)
{
	return (begin->exact ? EP_CALL_ROW_BEGIN_EXACT : 0) |
	       (begin->refined ? EP_CALL_ROW_BEGIN_REFINED : 0) |
	       (begin->sampled ? EP_CALL_ROW_BEGIN_SAMPLED : 0);
}

static inline uint32_t end_flags(const struct ep_time *end)
{
	return (end->exact ? EP_CALL_ROW_END_EXACT : 0) |
	       (end->refined ? EP_CALL_ROW_END_REFINED : 0) |
	       (end->sampled ? EP_CALL_ROW_END_SAMPLED : 0);
}

static inline uint32_t bounds_of(struct ep_call_table *table, const struct ep_time *time)
{
	const struct ep_call_bounds *last;

	if (time->low == time->best && time->high == time->best)
		return 0;
	last = table->bounds.count ? &table->bounds.list[table->bounds.count - 1] : NULL;
	if (!last || last->low != time->low || last->high != time->high || last->open != time->open)
		ep_array_push(&table->bounds,
			      ((struct ep_call_bounds){time->low, time->high, time->open}));
	return (uint32_t)table->bounds.count;
}

/* From the function's start. Sets `far` in the row when it lies elsewhere. */
static inline uint32_t offset_of(struct ep_call_table *table, struct ep_call_row *row,
				 const struct ep_event *event, uint32_t far)
{
	uint64_t start = event->function ? event->function->start : 0;

	if (event->address - start < UINT32_MAX)
		return (uint32_t)(event->address - start);
	row->flags |= far;
	ep_array_push(&table->far, event->address);
	return (uint32_t)table->far.count - 1;
}

static inline uint32_t function_of(struct ep_call_table *table, const struct ep_function *function)
{
	struct ep_call_functions *functions = table->functions;

	if (!function)
		return EP_CALL_ROW_NONE;
	while (functions->by_id.count <= function->id)
		ep_array_push(&functions->by_id, NULL);
	functions->by_id.list[function->id] = function;
	return function->id;
}

/* Calls have the numbers of their rows but in a table that does not begin with the first. */
static void add_number(struct ep_call_table *table, uint64_t call)
{
	size_t rows = table->rows.count;

	if (!table->numbers.count && call == rows)
		return;
	while (table->numbers.count < rows)
		ep_array_push(&table->numbers, table->numbers.count);
	ep_array_push(&table->numbers, call);
}

uint32_t ep_call_table_row(const struct ep_call_table *table, uint64_t call)
{
	size_t low = 0, high = table->numbers.count;

	if (!high)
		return call < table->rows.count ? (uint32_t)call : EP_CALL_ROW_NONE;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->numbers.list[middle] < call)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->numbers.count && table->numbers.list[low] == call ? (uint32_t)low
									      : EP_CALL_ROW_NONE;
}

static inline void add_row(struct ep_call_table *table, const struct ep_event *event,
			   uint32_t flags)
{
	const struct ep_time *begin = &event->begin;
	struct ep_call_row *row;

	add_number(table, event->call);
	row = ep_array_slot(&table->rows);
	*row = (struct ep_call_row){
		.begin = begin->best,
		.function = function_of(table, event->function),
		.flags = flags | begin_flags(begin),
		.depth = event->depth,
		.stack = event->stack,
		.begin_bounds = bounds_of(table, begin),
	};
}

static void add_begin(struct ep_call_table *table, const struct ep_event *event)
{
	bool unsure = event->flags & EP_CALL_UNSURE_WAIT;
	struct ep_call_row *row;

	add_row(table, event, event->flags | (unsure ? EP_CALL_ROW_BEGIN_UNSURE : 0));
	row = &table->rows.list[table->rows.count - 1];
	row->begin_address = offset_of(table, row, event, EP_CALL_ROW_BEGIN_FAR);
	ep_array_push(&table->order, (uint32_t)(table->rows.count - 1) << 2 | EP_CALL_STEP_BEGIN);
}

static void add_end(struct ep_call_table *table, const struct ep_event *event)
{
	bool alone = event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY);
	uint32_t at = alone ? EP_CALL_ROW_NONE : ep_call_table_row(table, event->call);
	const struct ep_time *end = &event->end;
	struct ep_call_row *row;

	if (at == EP_CALL_ROW_NONE) {
		at = (uint32_t)table->rows.count;
		add_row(table, event, EP_CALL_ROW_ONLY_END);
	}
	row = &table->rows.list[at];
	row->end = end->best;
	row->end_bounds = bounds_of(table, end);
	row->flags |= event->flags | EP_CALL_ROW_ENDED | end_flags(end);
	if (row->flags & EP_CALL_ROW_BEGIN_EXACT && !event->begin.exact)
		row->flags |= EP_CALL_ROW_BEGIN_DOUBTED;
	row->end_address = offset_of(table, row, event, EP_CALL_ROW_END_FAR);
	if (event->astray) {
		row->flags |= EP_CALL_ROW_ASTRAY;
		ep_array_push(&table->astray,
			      ((struct ep_call_astray){table->order.count, event->astray}));
	}
	if (event->flags & EP_CALL_BEFORE)
		ep_array_push(&table->before, table->order.count);
	ep_array_push(&table->order, at << 2 | EP_CALL_STEP_END);
}

static const char *text_of(struct ep_call_table *table, const char *text)
{
	uint32_t hash, at = 0, number;

	if (!text || !*text)
		return text ? "" : NULL;
	hash = ep_hash_text(text);
	while ((number = ep_hash_next(&table->by_text, hash, &at)) != EP_HASH_NONE)
		if (!strcmp(table->texts.list[number], text))
			return table->texts.list[number];
	ep_hash_add(&table->by_text, hash, (uint32_t)table->texts.count);
	ep_array_push(&table->texts, ep_strdup(text));
	return table->texts.list[table->texts.count - 1];
}

/* As much of it as there is. */
static const struct ep_wait_place *copy_place(const struct ep_wait_place *place)
{
	size_t size =
		offsetof(struct ep_wait_place, path) + place->path_count * sizeof(place->path[0]);

	return memcpy(ep_malloc(size), place, size);
}

static void add_mark(struct ep_call_table *table, const struct ep_event *event)
{
	bool ends_span = event->kind == EP_EVENT_POINT && event->point == EP_POINT_SPAN_END;
	struct ep_call_mark mark = {
		.begin = event->begin.best,
		.end = event->end.best,
		.address = event->address,
		.call = event->call,
		.text = text_of(table, event->text),
		.function = function_of(table, event->function),
		.flags = event->flags | begin_flags(&event->begin) | end_flags(&event->end),
		.depth = event->depth,
		.stack = event->stack,
		.begin_bounds = bounds_of(table, &event->begin),
		.end_bounds = bounds_of(table, &event->end),
		.gap = event->gap,
		.in = EP_CALL_ROW_NONE,
		.kind = (uint8_t)event->kind,
		.point = (uint8_t)event->point,
	};

	if (event->kind == EP_EVENT_WAIT)
		mark.place = copy_place(event->place);
	else
		mark.lost = event->lost;
	if (ends_span) {
		ep_array_push(&table->since, event->since);
		mark.since = (uint32_t)table->since.count;
	}
	if (event->kind == EP_EVENT_GAP)
		ep_array_push(&table->before, table->order.count);
	ep_array_push(&table->order, (uint32_t)table->marks.count << 2 | EP_CALL_STEP_MARK);
	ep_array_push(&table->marks, mark);
}

void ep_call_table_add(struct ep_call_table *table, const struct ep_event *event)
{
	if (event->kind == EP_EVENT_BEGIN)
		add_begin(table, event);
	else if (event->kind == EP_EVENT_END)
		add_end(table, event);
	else
		add_mark(table, event);
}

/* ---- in which call something happened ---- */

struct open_rows {
	EP_ARRAY(uint32_t) list;
};

static void close_row(struct open_rows *open, uint32_t row)
{
	size_t at = open->list.count;

	while (at > 0 && open->list.list[at - 1] != row)
		at--;
	if (at == 0)
		return;
	memmove(&open->list.list[at - 1], &open->list.list[at],
		(open->list.count - at) * sizeof(uint32_t));
	open->list.count--;
}

static uint32_t innermost(const struct ep_call_table *table, const struct open_rows *open,
			  uint32_t stack)
{
	for (size_t i = open->list.count; i > 0; i--)
		if (table->rows.list[open->list.list[i - 1]].stack == stack)
			return open->list.list[i - 1];
	return EP_CALL_ROW_NONE;
}

void ep_call_table_finish(struct ep_call_table *table)
{
	struct open_rows open = {0};
	uint32_t stack = 0; /* that it runs on: a switch happens on the one that it leaves */
	bool points = false;

	for (size_t i = 0; i < table->marks.count && !points; i++)
		points = table->marks.list[i].kind == EP_EVENT_POINT;
	for (size_t i = 0; points && i < table->order.count; i++) {
		uint32_t entry = table->order.list[i], index = entry >> 2;

		if (ep_call_step_of(entry) == EP_CALL_STEP_MARK) {
			struct ep_call_mark *mark = &table->marks.list[index];

			if (mark->kind == EP_EVENT_POINT)
				mark->in = innermost(table, &open, stack);
			if (mark->kind != EP_EVENT_WAIT)
				stack = mark->stack;
			continue;
		}
		stack = table->rows.list[index].stack;
		if (ep_call_step_of(entry) == EP_CALL_STEP_BEGIN)
			ep_array_push(&open.list, index);
		else if (!(table->rows.list[index].flags & EP_CALL_ROW_ONLY_END))
			close_row(&open, index);
	}
	ep_array_deinit(&open.list);
}

/* ---- reading a thread ---- */

/* Tables are touched once, from their beginning to their end: a fault for each 4 KiB would be a
 * good part of the time. */
static void prefer_large_pages(void *list, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)list + page - 1) / page * page;

	if (list && size > 1 << 22)
		madvise((void *)begin, (size - (begin - (uintptr_t)list)) / page * page,
			MADV_HUGEPAGE);
}

static void reserve(struct ep_call_table *table)
{
	size_t records = table->thread->block_count * EP_BLOCK_RECORDS;

	if (table->order.capacity >= records)
		return;
	/* Most calls return: what is a little too large costs addresses, no memory. */
	ep_array_reserve(&table->rows, records / 8 * 5);
	ep_array_reserve(&table->order, records + records / 16);
	ep_array_reserve(&table->marks, records / 4);
	prefer_large_pages(table->rows.list, table->rows.capacity * sizeof(struct ep_call_row));
	prefer_large_pages(table->order.list, table->order.capacity * sizeof(uint32_t));
	prefer_large_pages(table->marks.list, table->marks.capacity * sizeof(struct ep_call_mark));
}

static void add_open(struct ep_call_table *table, const struct ep_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ep_array_push(&table->open, events[i]);
}

static void take_open(struct ep_call_table *table, const struct ep_calls *calls)
{
	const struct ep_event *events;
	size_t count;

	for (size_t i = 0; (events = ep_calls_suspended(calls, i, &count)); i++)
		add_open(table, events, count);
	events = ep_calls_open(calls, &count);
	add_open(table, events, count);
	for (size_t i = 0; i < table->open.count; i++) {
		const struct ep_event *event = &table->open.list[i];
		uint32_t row = ep_call_table_row(table, event->call);

		if (row != EP_CALL_ROW_NONE)
			table->rows.list[row].flags |= event->flags;
	}
	events = ep_calls_spans(calls, &count);
	for (size_t i = 0; i < count; i++) {
		ep_array_push(&table->spans, events[i]);
		table->spans.list[i].text = ep_strdup(events[i].text);
		table->spans.list[i].depth -= table->too_deep;
	}
}

static bool read_events(struct ep_call_table *table, struct ep_calls *calls,
			bool (*said)(void *context, size_t blocks_left), void *context)
{
	const struct ep_event *event;
	uint32_t events = 0;

	while (ep_calls_next(calls, &event) == EP_OK) {
		ep_call_table_add(table, event);
		if (++events % SAY_EVENTS == 0 && !said(context, ep_calls_blocks_left(calls)))
			return false;
	}
	return true;
}

bool ep_call_table_read(struct ep_call_table *table, const struct ep_trace *trace,
			struct ep_names *names, bool waits,
			bool (*said)(void *context, size_t blocks_left), void *context)
{
	bool held = false, going = true;

	reserve(table);
	/* Nearly always one pass is enough. */
	for (int pass = 0; pass < 2 && !held && going; pass++) {
		struct ep_calls *calls = (pass ? ep_calls_create
					       : ep_calls_create_once)(trace, table->thread, names);

		ep_call_table_empty(table);
		if (waits)
			ep_calls_with_waits(calls);
		going = read_events(table, calls, said, context);
		held = going && (pass || ep_calls_once_held(calls, &table->too_deep));
		if (held)
			take_open(table, calls);
		ep_calls_destroy(calls);
	}
	ep_call_table_finish(table);
	return going;
}

/* ---- events ---- */

static struct ep_time time_at(const struct ep_call_table *table, uint64_t best, uint32_t bounds)
{
	struct ep_time time = {.low = best, .high = best, .best = best};

	if (bounds) {
		time.low = table->bounds.list[bounds - 1].low;
		time.high = table->bounds.list[bounds - 1].high;
		time.open = table->bounds.list[bounds - 1].open;
	}
	return time;
}

/* `flags`: a row's, or a mark's. */
static struct ep_time begin_at(const struct ep_call_table *table, uint64_t best, uint32_t bounds,
			       uint32_t flags)
{
	struct ep_time time = time_at(table, best, bounds);

	time.exact = flags & EP_CALL_ROW_BEGIN_EXACT;
	time.refined = flags & EP_CALL_ROW_BEGIN_REFINED;
	time.sampled = flags & EP_CALL_ROW_BEGIN_SAMPLED;
	return time;
}

static struct ep_time end_at(const struct ep_call_table *table, uint64_t best, uint32_t bounds,
			     uint32_t flags)
{
	struct ep_time time = time_at(table, best, bounds);

	time.exact = flags & EP_CALL_ROW_END_EXACT;
	time.refined = flags & EP_CALL_ROW_END_REFINED;
	time.sampled = flags & EP_CALL_ROW_END_SAMPLED;
	return time;
}

static uint64_t address_of(const struct ep_call_table *table, const struct ep_function *function,
			   uint32_t offset, bool far)
{
	return far ? table->far.list[offset] : (function ? function->start : 0) + offset;
}

/* Of the call that ends there. */
static uint64_t astray_of(const struct ep_call_table *table, size_t at)
{
	size_t low = 0, high = table->astray.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->astray.list[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return table->astray.list[low].cycles;
}

static const struct ep_function *function_at(const struct ep_call_table *table, uint32_t id)
{
	return id == EP_CALL_ROW_NONE ? NULL : table->functions->by_id.list[id];
}

static void mark_event(const struct ep_call_table *table, const struct ep_call_mark *mark,
		       struct ep_event *out)
{
	*out = (struct ep_event){
		.kind = mark->kind,
		.thread = table->thread,
		.function = function_at(table, mark->function),
		.address = mark->address,
		.depth = mark->depth - table->too_deep,
		.flags = mark->flags & (EP_CALL_ROW_ENDED - 1),
		.stack = mark->stack,
		.call = mark->call,
		.begin = begin_at(table, mark->begin, mark->begin_bounds, mark->flags),
		.end = end_at(table, mark->end, mark->end_bounds, mark->flags),
		.gap = mark->gap,
		.point = mark->point,
		.text = mark->text,
	};
	if (mark->kind == EP_EVENT_WAIT)
		out->place = mark->place;
	else
		out->lost = mark->lost;
	if (mark->since)
		out->since = table->since.list[mark->since - 1];
}

void ep_call_table_event(const struct ep_call_table *table, size_t at, struct ep_event *out)
{
	uint32_t entry = table->order.list[at], index = entry >> 2, flags;
	const struct ep_call_row *row;

	if (ep_call_step_of(entry) == EP_CALL_STEP_MARK) {
		mark_event(table, &table->marks.list[index], out);
		return;
	}
	/* What only marks have is left as it is, unless the last one was of a mark. */
	if (out->kind > EP_EVENT_END)
		memset(out, 0, sizeof(*out));
	row = &table->rows.list[index];
	flags = row->flags;
	out->thread = table->thread;
	out->function = function_at(table, row->function);
	out->depth = row->depth - table->too_deep;
	out->stack = row->stack;
	out->call = table->numbers.count ? table->numbers.list[index] : index;
	out->begin = begin_at(table, row->begin, row->begin_bounds, flags);
	if (ep_call_step_of(entry) == EP_CALL_STEP_BEGIN) {
		out->kind = EP_EVENT_BEGIN;
		out->flags = (flags & EP_CALL_ROW_BEGIN_UNSURE ? EP_CALL_UNSURE_WAIT : 0) |
			     (flags & EP_CALL_ROW_ENDED ? 0 : EP_CALL_OPEN);
		out->address = address_of(table, out->function, row->begin_address,
					  flags & EP_CALL_ROW_BEGIN_FAR);
		out->end = (struct ep_time){0};
		out->astray = 0;
		return;
	}
	out->kind = EP_EVENT_END;
	out->flags = flags & (EP_CALL_ROW_ENDED - 1);
	if (flags & EP_CALL_ROW_BEGIN_DOUBTED)
		out->begin.exact = false;
	out->end = end_at(table, row->end, row->end_bounds, flags);
	out->address =
		address_of(table, out->function, row->end_address, flags & EP_CALL_ROW_END_FAR);
	out->astray = flags & EP_CALL_ROW_ASTRAY ? astray_of(table, at) : 0;
}
