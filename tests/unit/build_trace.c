/* SPDX-License-Identifier: BSD-2-Clause */
/* build_trace.c: images for tests, and the rules that every trace obeys. */
#include "tests/unit/build_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/stream/merge.h"

#define PAGE 4096u

#define RULE(holds)                                                                                \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds); \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

void build_image(struct ep_image *image, const void *bytes, size_t size)
{
	size_t pages = (size + PAGE - 1) / PAGE;

	memset(image, 0, sizeof(*image));
	/* posix_memalign, unlike aligned_alloc, takes any size: a sanitizer then sees the very
	 * first byte too many. */
	RULE(posix_memalign((void **)&image->bytes, PAGE, size ? size : 1) == 0);
	image->present = malloc(pages + 1);
	RULE(image->present != NULL);
	memset(image->present, 1, pages);
	memcpy(image->bytes, bytes, size);
	image->size = size;
	if (size >= sizeof(image->root))
		memcpy(&image->root, bytes, sizeof(image->root));
	image->address = image->root.arena_address;
}

void build_image_of(struct ep_image *image, struct build_arena *b)
{
	build_arena_seal(b);
	build_image(image, b->bytes, b->committed);
}

void build_image_lose(struct ep_image *image, size_t page)
{
	image->present[page] = 0;
	image->pages_missing++;
	memset(image->bytes + page * PAGE, 0, PAGE);
}

void build_image_free(struct ep_image *image)
{
	free(image->bytes);
	free(image->present);
	memset(image, 0, sizeof(*image));
}

/* ---- records ---- */

static void check_records(const struct ep_trace *trace, const struct ep_trace_thread *thread)
{
	struct ep_records records;
	const struct ep_record *record;
	uint64_t time = thread->block_count ? thread->blocks[0].tsc : 0;
	uint64_t words = 0, count = 0;

	for (size_t i = 0; i < thread->block_count; i++)
		words += thread->blocks[i].words;
	ep_records_init(&records, trace, thread);
	while (ep_records_next(&records, &record) == EP_OK) {
		RULE(record->low <= record->time);
		RULE(record->time <= record->high);
		RULE(record->time >= time);
		RULE(!record->exact || record->low == record->high);
		RULE((record->kind == EP_RECORD_GAP) == (record->gap != 0));
		/* a mark may tell of no place */
		RULE(record->kind > EP_RECORD_GAP ||
		     (record->kind == EP_RECORD_GAP) == (record->address < EP_ESCAPE_LIMIT));
		time = record->time;
		count++;
	}
	RULE(count <= words + thread->block_count);
}

/* ---- calls ---- */

struct open_call {
	uint64_t call;
	uint32_t depth;
	const struct ep_function *function;
	uint64_t begin;
};

struct follower {
	struct open_call *open;
	size_t count, capacity;
	uint64_t time, events;
	bool stacks; /* there are several: depths are not compared then */
};

static void push(struct follower *f, const struct ep_event *event)
{
	if (f->count == f->capacity) {
		f->capacity = f->capacity ? 2 * f->capacity : 64;
		f->open = realloc(f->open, f->capacity * sizeof(*f->open));
		RULE(f->open != NULL);
	}
	RULE(f->stacks || !f->count || event->depth > f->open[f->count - 1].depth);
	f->open[f->count++] =
		(struct open_call){event->call, event->depth, event->function, event->begin.best};
}

static void check_time(const struct ep_time *time)
{
	RULE(time->low <= time->best);
	RULE(time->best <= time->high);
	RULE(!time->exact || time->low == time->high);
}

/* Another stack: its open calls are whatever they are told to be. */
static void take_stack(struct follower *f, const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *open = ep_calls_open(calls, &count);

	f->count = 0;
	f->stacks = true;
	for (size_t i = 0; i < count; i++)
		push(f, &open[i]);
}

static void check_end(struct follower *f, const struct ep_event *event,
		      const struct ep_calls *calls)
{
	const struct open_call *top;

	check_time(&event->end);
	RULE(event->end.best >= event->begin.best);
	if (event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY)) {
		RULE(!(event->flags & EP_CALL_ABANDONED));
		RULE(!(event->flags & EP_CALL_BEFORE) || event->begin.low == 0);
		return;
	}
	if (f->count == 0) { /* an untraced fiber ended, unseen, before it */
		take_stack(f, calls);
		return;
	}
	top = &f->open[--f->count];
	RULE(top->call == event->call);
	RULE(top->depth == event->depth);
	RULE(top->function == event->function);
	RULE(top->begin == event->begin.best);
}

static void follow(struct follower *f, const struct ep_event *event, const struct ep_calls *calls)
{
	uint64_t time = event->kind == EP_EVENT_END ? event->end.best : event->begin.best;

	check_time(&event->begin);
	RULE(time >= f->time);
	f->time = time;
	f->events++;
	if (event->kind == EP_EVENT_BEGIN)
		push(f, event);
	else if (event->kind == EP_EVENT_END)
		check_end(f, event, calls);
	else if (event->kind == EP_EVENT_POINT)
		RULE(event->gap == 0 && event->text != NULL);
	if (event->kind == EP_EVENT_POINT && event->point == EP_POINT_STACK)
		take_stack(f, calls);
	if (event->kind == EP_EVENT_GAP)
		RULE(event->gap != 0 && event->function == NULL);
}

static void check_open(const struct follower *f, const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *open = ep_calls_open(calls, &count);

	RULE(count == f->count);
	for (size_t i = 0; i < count; i++) {
		RULE(open[i].kind == EP_EVENT_BEGIN);
		RULE(open[i].call == f->open[i].call);
		RULE(open[i].depth == f->open[i].depth);
	}
	/* Whoever is said to be outermost is. */
	RULE(!ep_calls_outermost_known(calls) || !count || !open[0].depth);
}

static void check_calls(const struct ep_trace *trace, const struct ep_trace_thread *thread,
			struct ep_names *names, struct follower *f)
{
	const struct ep_event *event;
	struct ep_calls *calls;

	calls = ep_calls_create(trace, thread, names);
	while (ep_calls_next(calls, &event) == EP_OK) {
		RULE(event->thread == thread);
		follow(f, event, calls);
	}
	RULE(ep_calls_next(calls, &event) == EP_END);
	check_open(f, calls);
	ep_calls_destroy(calls);
}

/* ---- tables ---- */

static bool same_time(const struct ep_time *a, const struct ep_time *b)
{
	return a->low == b->low && a->high == b->high && a->best == b->best &&
	       a->exact == b->exact && a->refined == b->refined && a->sampled == b->sampled &&
	       a->open == b->open;
}

/* A table knows of a call that begins whether it will end. */
static void check_same(const struct ep_event *a, const struct ep_event *b)
{
	RULE(a->kind == b->kind && a->thread == b->thread && a->function == b->function);
	RULE(a->address == b->address && a->depth == b->depth && a->stack == b->stack);
	RULE(a->call == b->call && a->flags == (b->flags & ~EP_CALL_OPEN));
	RULE(same_time(&a->begin, &b->begin) && same_time(&a->end, &b->end));
	RULE(a->gap == b->gap && a->lost == b->lost && a->point == b->point);
	RULE(!a->text == !b->text && (!a->text || !strcmp(a->text, b->text)));
	RULE(same_time(&a->since, &b->since));
}

static bool go_on(void *context, size_t blocks_left)
{
	(void)blocks_left;
	return !context;
}

/* What one pass put into a table is what two passes tell. */
static void check_table(const struct ep_trace *trace, struct ep_names *names,
			struct ep_call_table *table)
{
	const struct ep_event *event;
	struct ep_event own = {0};
	struct ep_calls *calls = ep_calls_create(trace, table->thread, names);
	size_t at = 0, count, open = 0;

	RULE(ep_call_table_read(table, trace, names, false, go_on, NULL));
	while (ep_calls_next(calls, &event) == EP_OK) {
		RULE(at < table->order.count);
		ep_call_table_event(table, at++, &own);
		check_same(event, &own);
	}
	RULE(at == table->order.count);
	for (size_t i = 0; ep_calls_suspended(calls, i, &count); i++)
		open += count;
	event = ep_calls_open(calls, &count);
	RULE(open + count == table->open.count);
	for (size_t i = 0; i < count; i++)
		check_same(&event[i], &table->open.list[open + i]);
	for (size_t i = 0; i < table->open.count; i++) {
		uint32_t row = ep_call_table_row(table, table->open.list[i].call);

		RULE(row != EP_CALL_ROW_NONE && !(table->rows.list[row].flags & EP_CALL_ROW_ENDED));
	}
	ep_calls_destroy(calls);
}

static bool is_wanted(const struct ep_call_table *table, size_t at)
{
	return at < table->order.count;
}

static void check_merge(struct ep_call_table *tables, size_t count)
{
	size_t *next = calloc(count + 1, sizeof(*next)), at;
	struct ep_merge *merge = ep_merge_create(tables, count, is_wanted);
	struct ep_call_table *table;
	struct ep_event event = {0};
	uint64_t latest = 0;

	RULE(next != NULL);
	while ((table = ep_merge_next(merge, &at))) {
		uint64_t time;

		RULE(at == next[table - tables]++);
		ep_call_table_event(table, at, &event);
		time = event.kind == EP_EVENT_END ? event.end.best : event.begin.best;
		RULE(time >= latest);
		latest = time;
	}
	for (size_t i = 0; i < count; i++)
		RULE(next[i] == tables[i].order.count);
	ep_merge_destroy(merge);
	free(next);
}

static void check_tables(const struct ep_trace *trace, struct ep_names *names)
{
	struct ep_call_table *tables = calloc(trace->thread_count + 1, sizeof(*tables));
	struct ep_call_functions functions = {0};

	RULE(tables != NULL);
	for (size_t i = 0; i < trace->thread_count; i++) {
		ep_call_table_init(&tables[i], &trace->threads[i], &functions);
		check_table(trace, names, &tables[i]);
	}
	check_merge(tables, trace->thread_count);
	for (size_t i = 0; i < trace->thread_count; i++)
		ep_call_table_deinit(&tables[i]);
	ep_array_deinit(&functions.by_id);
	free(tables);
}

uint64_t build_trace_check(struct ep_trace *trace, struct ep_names *names)
{
	uint64_t events = 0;

	for (size_t i = 0; i < trace->thread_count; i++) {
		struct follower alone = {0};

		RULE(i == 0 || trace->threads[i].serial > trace->threads[i - 1].serial);
		check_records(trace, &trace->threads[i]);
		check_calls(trace, &trace->threads[i], names, &alone);
		events += alone.events;
		free(alone.open);
	}
	check_tables(trace, names);
	return events;
}
