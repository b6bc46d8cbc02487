/* SPDX-License-Identifier: BSD-2-Clause */
/* check_call_table.c: what is put into a table comes out of it as it was, field by field, and
 * points know the call that they happened in. Tables that are read from a trace: build_trace.c. */
#include <stdlib.h>
#include <string.h>

#include "decoder/calls/call_table.h"
#include "decoder/calls/placing.h"
#include "main.h"

#define CALLS  400
#define EVENTS 4000

static struct ep_trace_thread thread = {.serial = 1};
static struct ep_function functions[5];
static struct ep_slice slice;
static struct ep_call_functions met;
static struct ep_call_table table;
static struct ep_event events[EVENTS];
static struct ep_wait_place places[EVENTS];
static size_t count;

static void setup(void)
{
	srand(7);
	count = 0;
	for (uint32_t i = 0; i < 5; i++)
		functions[i] = (struct ep_function){.id = 3 * i, .start = 1000 * (i + 1)};
	ep_call_table_init(&table, &thread, &met);
}

static void teardown(void)
{
	ep_call_table_deinit(&table);
	ep_array_deinit(&met.by_id);
}

static uint64_t any(uint64_t below)
{
	return (uint64_t)rand() % below;
}

/* Of the few kinds that there are, each often: exact, or bounds that neighbours share. */
static struct ep_time any_time(void)
{
	uint64_t best = 1000 + any(1000);
	struct ep_time time = {best, best, best, any(2), any(2), any(2), 0};

	if (any(2)) {
		time.low = 500 + any(2);
		time.high = any(3) ? 2500 + any(2) : EP_TIME_UNKNOWN;
		time.open = (uint32_t)any(2) * 100;
	}
	return time;
}

static struct ep_event *add(struct ep_event event)
{
	event.thread = &thread;
	events[count] = event;
	ep_call_table_add(&table, &events[count]);
	return &events[count++];
}

static struct ep_event *begin(uint64_t call, uint32_t stack)
{
	return add((struct ep_event){
		.kind = EP_EVENT_BEGIN,
		.function = &functions[any(5)],
		.address = any(4) ? 5000 + any(100) : any(UINT32_MAX) << 20,
		.depth = (uint32_t)any(50),
		.flags = any(2) ? EP_CALL_UNSURE_WAIT : 0,
		.stack = stack,
		.call = call,
		.begin = any_time(),
	});
}

/* `of` NULL: of a call from before. */
static void end(const struct ep_event *of, uint64_t call)
{
	struct ep_event event = {.kind = EP_EVENT_END,
				 .function = &functions[any(5)],
				 .call = call,
				 .begin = any_time(),
				 .flags = EP_CALL_BEFORE};

	if (of) {
		event = *of;
		event.kind = EP_EVENT_END;
		event.flags |= any(2) ? EP_CALL_ABANDONED : 0;
		event.begin.exact &= any(4) != 0;
	}
	event.address = any(4) ? 5000 + any(100) : UINT64_MAX - any(9);
	event.end = any_time();
	event.astray = any(3) ? 0 : any(99);
	add(event);
}

static struct ep_event *point(enum ep_point kind, uint32_t stack, const char *text)
{
	return add((struct ep_event){
		.kind = EP_EVENT_POINT,
		.function = any(3) ? &functions[any(5)] : NULL,
		.address = any(1000),
		.stack = stack,
		.call = any(9),
		.begin = any_time(),
		.end = any_time(),
		.point = kind,
		.text = text,
		.since = kind == EP_POINT_SPAN_END ? any_time() : (struct ep_time){0},
	});
}

static void gap(void)
{
	add((struct ep_event){.kind = EP_EVENT_GAP,
			      .begin = any_time(),
			      .end = any_time(),
			      .gap = 1u << any(4),
			      .lost = any(99),
			      .text = any(2) ? "over it" : NULL});
}

static void wait_at(void)
{
	struct ep_wait_place *place = &places[count];

	*place = (struct ep_wait_place){.slice = &slice,
					.call = any(9),
					.innermost = &functions[any(5)],
					.whole = any(2),
					.lost = any(2),
					.path_count = (unsigned)any(EP_PLACE_PATH + 1)};
	for (unsigned i = 0; i < place->path_count; i++)
		place->path[i] = &functions[any(5)];
	add((struct ep_event){.kind = EP_EVENT_WAIT,
			      .function = &functions[any(5)],
			      .call = place->call,
			      .begin = any_time(),
			      .end = any_time(),
			      .place = place});
}

/* ---- what comes out ---- */

static void must_be_the_time(const struct ep_time *a, const struct ep_time *b)
{
	ck_assert_uint_eq(a->low, b->low);
	ck_assert_uint_eq(a->high, b->high);
	ck_assert_uint_eq(a->best, b->best);
	ck_assert_int_eq(a->exact, b->exact);
	ck_assert_int_eq(a->refined, b->refined);
	ck_assert_int_eq(a->sampled, b->sampled);
	ck_assert_uint_eq(a->open, b->open);
}

static void must_be_the_place(const struct ep_wait_place *a, const struct ep_wait_place *b)
{
	ck_assert_ptr_ne(a, b);
	ck_assert_ptr_eq(a->slice, b->slice);
	ck_assert_uint_eq(a->call, b->call);
	ck_assert_ptr_eq(a->innermost, b->innermost);
	ck_assert(a->whole == b->whole && a->lost == b->lost);
	ck_assert_uint_eq(a->path_count, b->path_count);
	for (unsigned i = 0; i < a->path_count; i++)
		ck_assert_ptr_eq(a->path[i], b->path[i]);
}

static void must_be_the_same(const struct ep_event *a, const struct ep_event *b)
{
	ck_assert_int_eq(a->kind, b->kind);
	ck_assert_ptr_eq(a->thread, b->thread);
	ck_assert_ptr_eq(a->function, b->function);
	ck_assert_uint_eq(a->address, b->address);
	ck_assert_uint_eq(a->depth, b->depth);
	ck_assert_uint_eq(a->flags & ~EP_CALL_OPEN, b->flags);
	ck_assert_uint_eq(a->stack, b->stack);
	ck_assert_uint_eq(a->call, b->call);
	must_be_the_time(&a->begin, &b->begin);
	must_be_the_time(&a->end, &b->end);
	ck_assert_uint_eq(a->gap, b->gap);
	ck_assert_int_eq(a->point, b->point);
	ck_assert_pstr_eq(a->text, b->text);
	must_be_the_time(&a->since, &b->since);
	if (a->kind == EP_EVENT_WAIT)
		must_be_the_place(a->place, b->place);
	else
		ck_assert_uint_eq(a->lost, b->lost);
}

static void must_come_out(void)
{
	struct ep_event own = {0};

	ck_assert_uint_eq(table.order.count, count);
	for (size_t i = 0; i < count; i++) {
		ep_call_table_event(&table, i, &own);
		must_be_the_same(&own, &events[i]);
	}
}

/* ---- tests ---- */

/* Numbers of calls begin with `first`. */
static void put_in(uint64_t first)
{
	static const char *const texts[] = {"", "a", "b", "a longer one"};
	const struct ep_event *open[CALLS];
	size_t depth = 0;

	for (uint64_t call = first; call < first + CALLS; call++) {
		if (any(9) == 0)
			end(NULL, call);
		else
			open[depth++] = begin(call, (uint32_t)any(2));
		for (; depth && any(2); depth--)
			end(open[depth - 1], open[depth - 1]->call);
		if (any(3) == 0)
			point((enum ep_point)any(EP_POINT_WATCHDOG + 1), 0, texts[any(4)]);
		if (any(5) == 0)
			gap();
		if (any(5) == 0)
			wait_at();
	}
}

START_TEST(events_come_out_as_they_were)
{
	put_in(0);
	must_come_out();
	ck_assert_uint_eq(table.numbers.count, 0);
}
END_TEST

START_TEST(a_table_may_begin_with_any_call)
{
	put_in(UINT64_C(5000000000));
	must_come_out();
	ck_assert_uint_eq(ep_call_table_row(&table, UINT64_C(5000000003)), 3);
	ck_assert_uint_eq(ep_call_table_row(&table, 3), EP_CALL_ROW_NONE);
}
END_TEST

START_TEST(an_emptied_table_is_as_a_new_one)
{
	put_in(0);
	ep_call_table_empty(&table);
	count = 0;
	put_in(0);
	must_come_out();
}
END_TEST

START_TEST(depths_are_corrected_in_all_events)
{
	struct ep_event own = {0};

	begin(0, 0);
	point(EP_POINT_NOTE, 0, "n");
	table.too_deep = 7;
	for (size_t i = 0; i < count; i++) {
		ep_call_table_event(&table, i, &own);
		ck_assert_uint_eq(own.depth, events[i].depth - 7);
	}
}
END_TEST

START_TEST(a_text_is_there_once)
{
	const char *first = NULL;

	for (int i = 0; i < 10; i++)
		point(EP_POINT_NOTE, 0, i % 2 ? "odd" : "even");
	ck_assert_uint_eq(table.texts.count, 2);
	first = table.marks.list[0].text;
	ck_assert_ptr_eq(table.marks.list[2].text, first);
	ck_assert_ptr_ne(table.marks.list[1].text, first);
}
END_TEST

/* 0 and 1 on the first stack; a switch, told on the one that goes on, is in what it left. */
START_TEST(a_point_is_in_the_innermost_call_of_the_stack_that_ran)
{
	static const uint32_t in[] = {EP_CALL_ROW_NONE, 1, 1, 2, 2, 1, 0, EP_CALL_ROW_NONE};
	struct ep_event outer, inner, other;

	point(EP_POINT_NOTE, 0, "before all");
	outer = *begin(0, 0);
	inner = *begin(1, 0);
	point(EP_POINT_NOTE, 0, "inside");
	point(EP_POINT_STACK, 1, "");
	other = *begin(2, 1);
	point(EP_POINT_NOTE, 1, "there");
	point(EP_POINT_STACK, 0, "");
	point(EP_POINT_NOTE, 0, "back");
	end(&inner, 1);
	point(EP_POINT_NOTE, 0, "outside of the inner one");
	end(&outer, 0);
	point(EP_POINT_NOTE, 0, "behind all");
	end(&other, 2);
	ep_call_table_finish(&table);
	ck_assert_uint_eq(table.marks.count, sizeof(in) / sizeof(*in));
	for (size_t i = 0; i < table.marks.count; i++)
		ck_assert_uint_eq(table.marks.list[i].in, in[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_table");
	TCase *tests = tcase_create("call_table");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, events_come_out_as_they_were);
	tcase_add_test(tests, a_table_may_begin_with_any_call);
	tcase_add_test(tests, an_emptied_table_is_as_a_new_one);
	tcase_add_test(tests, depths_are_corrected_in_all_events);
	tcase_add_test(tests, a_text_is_there_once);
	tcase_add_test(tests, a_point_is_in_the_innermost_call_of_the_stack_that_ran);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
