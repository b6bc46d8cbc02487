/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_nest.c: streams written by hand (this program has its own ep_stream), and what an output
 * gets to see of them:
 *
 * 	a( begin   a) end   a<( began before   a^( a^) resumed, suspended
 * 	a!) did not return   a?) the same, of a stack that was left
 * 	# gap   * point   ~ stray
 *
 * Each is followed by its time; an end also by the call's own time.
 */
#include "decoder/stream/nest.h"
#include "decoder/stream/stream.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/main.h"

/* One tick is a nanosecond, and the trace begins at START. */
#define START UINT64_C(1000000)

static struct ep_trace_thread threads[2] = {
	{.serial = 1, .tid = 11, .from_start = true},
	{.serial = 2, .tid = 12, .from_start = true},
};
static struct ep_trace trace = {
	.clock = {.known = true, .ns_per_tick = 1},
	.threads = threads,
	.thread_count = 2,
	.first_tsc = START,
	.last_tsc = START + 100,
	.end = {.tsc = START + 100},
};
static struct ep_function functions[26];
static char names[26][2];

/* ---- the stream ---- */

enum { BEGIN, END, BEFORE, STRAY, GAP, SWITCH, UNSEEN, THROW };

struct step {
	int what;
	char function;
	uint64_t call;
	uint32_t depth;
	uint64_t from, to; /* ns; from: of the call, or gap */
	unsigned where;    /* thread, + STACK(n) of its stacks but the first */
};

#define STACK(n) (2 * (n))

static const struct step *script;
static size_t steps;

static struct ep_time at(uint64_t ns)
{
	return (struct ep_time){
		.low = START + ns, .high = START + ns, .best = START + ns, .exact = true};
}

static struct ep_event event_of(const struct step *step)
{
	struct ep_event event = {
		.kind = step->what == BEGIN    ? EP_EVENT_BEGIN
			: step->what == GAP    ? EP_EVENT_GAP
			: step->what >= SWITCH ? EP_EVENT_POINT
					       : EP_EVENT_END,
		.thread = &threads[step->where % 2],
		.function = step->function ? &functions[step->function - 'a'] : NULL,
		.depth = step->depth,
		.stack = step->where / 2,
		.call = step->call,
		.begin = at(step->from),
		.end = at(step->to),
		.gap = step->what == GAP ? EP_GAP_LOST_BLOCKS : 0,
		.point = step->what == THROW ? EP_POINT_THROW : EP_POINT_STACK,
		.text = step->what == UNSEEN ? "unseen" : "",
		.flags = step->what == BEFORE  ? EP_CALL_BEFORE
			 : step->what == STRAY ? EP_CALL_STRAY
					       : 0,
	};

	return event;
}

int ep_stream(const struct ep_trace *of, struct ep_names *names_of,
	      const struct ep_selection *selection, const struct ep_sink *sink, uint64_t *shown)
{
	(void)of;
	(void)names_of;
	(void)selection;
	*shown = 0;
	for (size_t i = 0; i < steps; i++) {
		struct ep_event event = event_of(&script[i]);

		if (event.kind == EP_EVENT_GAP || event.flags & EP_CALL_BEFORE)
			ck_assert_int_eq(sink->ahead(sink->context, &event, NULL), EP_OK);
	}
	for (size_t i = 0; i < steps; i++) {
		struct ep_event event = event_of(&script[i]);
		int rc = sink->event(sink->context, &event, NULL);

		if (rc)
			return rc;
		++*shown;
	}
	return EP_OK;
}

/* ---- the sink ---- */

static char told[65536];
static bool with_times;
static int fail_at; /* the call of the sink that fails; 0: none */

static int tell(const struct ep_nest_thread *thread, const char *format, ...)
{
	va_list list;
	size_t used = strlen(told);

	if (fail_at && --fail_at == 0)
		return EP_E_IO;
	used += (size_t)snprintf(told + used, sizeof(told) - used, "%s%s", used ? " " : "",
				 thread->index ? "2:" : "");
	va_start(list, format);
	used += (size_t)vsnprintf(told + used, sizeof(told) - used, format, list);
	va_end(list);
	if (with_times)
		snprintf(told + used, sizeof(told) - used, "%" PRId64, thread->now);
	return EP_OK;
}

static int begin(const struct ep_nest_thread *thread, const struct ep_event *event)
{
	struct ep_nest_frame *frame = thread->frame;
	bool resumed = event->kind == EP_EVENT_RESUME;

	ck_assert_ptr_eq(frame, &thread->frames[thread->count - 1]);
	ck_assert_ptr_eq(event->function, frame->function);
	if (!resumed)
		ck_assert_uint_eq(frame->mark, 0);
	frame->mark = frame->call + 1;
	return tell(thread, "%s%s(", frame->function->name,
		    resumed                         ? "^"
		    : event->flags & EP_CALL_BEFORE ? "<"
						    : "");
}

static int end(const struct ep_nest_thread *thread, const struct ep_event *event)
{
	static const char *const marks[] = {[EP_EVENT_END] = "",
					    [EP_EVENT_SUSPEND] = "^",
					    [EP_EVENT_OPEN] = "!",
					    [EP_EVENT_LEFT] = "?"};
	const struct ep_nest_frame *frame = thread->frame;
	char own[32] = "";

	/* What the sink keeps stays with its call, on every stack. */
	ck_assert_uint_eq(frame->mark, frame->call + 1);
	if (event->kind != EP_EVENT_LEFT)
		ck_assert_ptr_eq(frame, &thread->frames[thread->count - 1]);
	if (with_times)
		snprintf(own, sizeof(own), "%" PRId64 "@", frame->ran - frame->inner);
	return tell(thread, "%s%s)%s", frame->function->name, marks[event->kind], own);
}

static int take(void *context, const struct ep_event *event, const struct ep_nest_thread *thread)
{
	(void)context;
	if (event->kind == EP_EVENT_GAP || event->kind == EP_EVENT_POINT)
		return tell(thread, event->kind == EP_EVENT_GAP ? "#" : "*");
	if (event->kind == EP_EVENT_END && event->flags & EP_CALL_STRAY)
		return tell(thread, "~");
	return event->kind == EP_EVENT_BEGIN || event->kind == EP_EVENT_RESUME
		       ? begin(thread, event)
		       : end(thread, event);
}

static int run_script(const struct step *of, size_t count, const struct ep_selection *selection,
		      bool clip)
{
	const struct ep_selection all = {0};
	const struct ep_sink sink = {.event = take, .nested = true, .clip = clip};
	uint64_t shown;

	script = of;
	steps = count;
	told[0] = 0;
	return ep_nest_stream(&trace, NULL, selection ? selection : &all, &sink, &shown);
}

#define EXPECT(steps_of, wanted)                                                                 \
	do {                                                                                     \
		ck_assert_int_eq(                                                                \
			run_script(steps_of, sizeof(steps_of) / sizeof(*steps_of), NULL, false), \
			EP_OK);                                                                  \
		ck_assert_str_eq(told, wanted);                                                  \
	} while (0)

static void setup(void)
{
	for (int i = 0; i < 26; i++) {
		names[i][0] = (char)('a' + i);
		functions[i] = (struct ep_function){.id = (uint32_t)i, .name = names[i]};
	}
	with_times = false;
	fail_at = 0;
}

/* ---- tests ---- */

static const struct step simple[] = {
	{BEGIN, 'a', 0, 0, 10, 0, 0}, {BEGIN, 'b', 1, 1, 20, 0, 0}, {BEGIN, 'x', 0, 0, 21, 0, 1},
	{END, 'b', 1, 1, 20, 30, 0},  {END, 'x', 0, 0, 21, 33, 1},  {BEGIN, 'b', 2, 1, 40, 0, 0},
	{END, 'b', 2, 1, 40, 45, 0},  {END, 'a', 0, 0, 10, 50, 0},
};

START_TEST(calls_pass_as_they_are)
{
	EXPECT(simple, "a( b( 2:x( b) 2:x) b( b) a)");
	with_times = true;
	EXPECT(simple, "a(10 b(20 2:x(21 b)10@30 2:x)12@33 b(40 b)5@45 "
		       "a)25@50");
}
END_TEST

START_TEST(open_calls_last_to_the_end_innermost_first)
{
	const struct step steps_of[] = {
		{BEGIN, 'a', 0, 0, 10, 0, 0},
		{BEGIN, 'b', 1, 1, 20, 0, 0},
		{BEGIN, 'x', 0, 0, 21, 0, 1},
	};

	EXPECT(steps_of, "a( b( 2:x( b!) a!) 2:x!)");
	with_times = true;
	EXPECT(steps_of, "a(10 b(20 2:x(21 b!)80@100 a!)10@100 2:x!)79@100");
	/* A thread that has ended, when it did. */
	threads[0].state = EP_THREAD_DEAD;
	threads[0].end_tsc = START + 60;
	EXPECT(steps_of, "a(10 b(20 2:x(21 b!)40@60 a!)10@60 2:x!)79@100");
	threads[0].state = 0;
}
END_TEST

START_TEST(calls_from_before_are_outside_of_all_they_called)
{
	const struct step steps_of[] = {
		{BEGIN, 'a', 0, 2, 10, 0, 0},  {END, 'a', 0, 2, 10, 20, 0},
		{BEFORE, 'b', 1, 1, 0, 30, 0}, {BEGIN, 'c', 2, 1, 40, 0, 0},
		{END, 'c', 2, 1, 40, 50, 0},   {BEFORE, 'd', 3, 0, 0, 60, 0},
	};

	EXPECT(steps_of, "d<( b<( a( a) b) c( c) d)");
	with_times = true;
	EXPECT(steps_of, "d<(0 b<(0 a(10 a)10@20 b)20@30 c(40 c)10@50 "
			 "d)20@60");
}
END_TEST

/* One that is over when others are looked for does not begin again. */
START_TEST(a_call_from_before_ends_once)
{
	const struct step steps_of[] = {
		{BEFORE, 'a', 0, 0, 0, 10, 0}, {BEGIN, 'b', 1, 0, 20, 0, 0},
		{END, 'b', 1, 0, 20, 25, 0},   {BEGIN, 'x', 0, 1, 30, 0, 1},
		{END, 'x', 0, 1, 30, 35, 1},   {BEFORE, 'y', 1, 0, 0, 40, 1},
		{BEGIN, 'c', 2, 0, 50, 0, 0},  {END, 'c', 2, 0, 50, 60, 0},
	};

	EXPECT(steps_of, "a<( a) b( b) 2:y<( 2:x( 2:x) 2:y) c( c)");
}
END_TEST

START_TEST(calls_from_inside_of_a_gap_begin_after_it)
{
	const struct step steps_of[] = {
		{BEGIN, 'm', 0, 0, 5, 0, 0},    {BEGIN, 'a', 1, 1, 10, 0, 0},
		{END, 'a', 1, 1, 10, 20, 0},    {GAP, 0, 0, 0, 20, 60, 0},
		{BEGIN, 'c', 2, 2, 65, 0, 0},   {END, 'c', 2, 2, 65, 70, 0},
		{BEFORE, 'b', 3, 1, 60, 75, 0}, {END, 'm', 0, 0, 5, 80, 0},
	};

	EXPECT(steps_of, "m( a( a) # b<( c( c) b) m)");
	/* What is missing is nobody's own time. */
	with_times = true;
	EXPECT(steps_of, "m(5 a(10 a)10@20 #20 b<(60 c(65 c)5@70 b)10@75 "
			 "m)10@80");
}
END_TEST

START_TEST(a_stack_that_is_left_is_suspended)
{
	/* m calls a, which switches to a new stack with f > g; g switches back, a returns, m goes
	 * on with g. */
	const struct step steps_of[] = {
		{BEGIN, 'm', 0, 0, 0, 0, 0},         {BEGIN, 'a', 1, 1, 10, 0, 0},
		{SWITCH, 0, 0, 2, 20, 0, STACK(1)},  {BEGIN, 'f', 2, 0, 21, 0, STACK(1)},
		{BEGIN, 'g', 3, 1, 22, 0, STACK(1)}, {SWITCH, 0, 0, 2, 30, 0, 0},
		{END, 'a', 1, 1, 10, 40, 0},         {SWITCH, 0, 0, 1, 50, 0, STACK(1)},
		{END, 'g', 3, 1, 22, 60, STACK(1)},  {END, 'f', 2, 0, 21, 70, STACK(1)},
		{SWITCH, 0, 0, 0, 80, 0, 0},         {END, 'm', 0, 0, 0, 90, 0},
	};

	EXPECT(steps_of, "m( a( * a^) m^) f( g( * g^) f^) m^( a^( a) * m^) "
			 "f^( g^( g) f) * m^( m)");
	with_times = true;
	EXPECT(steps_of, "m(0 a(10 *20 a^)10@20 m^)10@20 f(21 g(22 *30 g^)8@30 f^)1@30 "
			 "m^(30 a^(30 a)20@40 *50 m^)20@50 f^(50 g^(50 g)18@60 f)11@70 "
			 "*80 m^(80 m)30@90");
}
END_TEST

START_TEST(points_change_nothing)
{
	const struct step steps_of[] = {
		{BEGIN, 'm', 0, 0, 0, 0, 0},  {BEGIN, 'a', 1, 1, 10, 0, 0},
		{THROW, 0, 0, 2, 20, 0, 0},   {UNSEEN, 0, 0, 2, 21, 0, 0},
		{STRAY, 'z', 2, 1, 0, 25, 0}, {END, 'a', 1, 1, 10, 30, 0},
	};

	EXPECT(steps_of, "m( a( * * ~ a) m!)");
}
END_TEST

START_TEST(stacks_that_nobody_came_back_to_are_told)
{
	const struct step steps_of[] = {
		{BEGIN, 'm', 0, 0, 0, 0, 0},
		{BEGIN, 'a', 1, 1, 10, 0, 0},
		{SWITCH, 0, 0, 2, 20, 0, STACK(7)},
		{BEGIN, 'f', 2, 0, 21, 0, STACK(7)},
	};

	EXPECT(steps_of, "m( a( * a^) m^) f( f!) a?) m?)");
}
END_TEST

/* A depth that several stacks have is no doubt: the event says which it is; also where the switch
 * is not shown. */
START_TEST(a_call_begins_on_the_stack_that_it_says)
{
	const struct step steps_of[] = {
		{BEGIN, 'm', 0, 0, 0, 0, 0},         {SWITCH, 0, 0, 1, 10, 0, STACK(1)},
		{BEGIN, 'f', 1, 0, 11, 0, STACK(1)}, {SWITCH, 0, 0, 1, 12, 0, STACK(2)},
		{BEGIN, 'g', 2, 0, 13, 0, STACK(2)}, {BEGIN, 'h', 3, 1, 21, 0, STACK(1)},
		{END, 'h', 3, 1, 21, 22, STACK(1)},  {BEGIN, 'h', 4, 1, 23, 0, 0},
	};

	EXPECT(steps_of, "m( * m^) f( * f^) g( g^) f^( h( h) f^) m^( h( h!) "
			 "m!) f?) g?)");
}
END_TEST

/* A stack of which the end only is known has its callers to itself. */
START_TEST(calls_from_before_are_of_their_own_stack)
{
	const struct step steps_of[] = {
		{BEGIN, 'm', 0, 0, 5, 0, 0},          {SWITCH, 0, 0, 1, 10, 0, STACK(1)},
		{BEGIN, 'b', 1, 1, 12, 0, STACK(1)},  {END, 'b', 1, 1, 12, 14, STACK(1)},
		{BEFORE, 'a', 2, 0, 0, 20, STACK(1)}, {SWITCH, 0, 0, 0, 30, 0, 0},
		{END, 'm', 0, 0, 5, 40, 0},
	};

	EXPECT(steps_of, "m( * m^) a<( b( b) a) * m^( m)");
}
END_TEST

/* Whatever the stream says, begins and ends nest. */
START_TEST(what_does_not_nest_is_made_to)
{
	const struct step crossed[] = {
		{BEGIN, 'a', 0, 0, 10, 0, 0},
		{BEGIN, 'b', 1, 1, 20, 0, 0},
		{END, 'a', 0, 0, 10, 30, 0},
		{END, 'b', 1, 1, 20, 40, 0},
	};
	const struct step unseen[] = {
		{BEGIN, 'a', 0, 0, 10, 0, 0},
		{BEFORE, 'z', 7, 0, 0, 30, 0},
		{END, 'b', 9, 0, 0, 40, 0},
	};

	EXPECT(crossed, "a( b( b^) a) b^( b)");
	/* The first depth was 0: nothing was to come. */
	EXPECT(unseen, "a( z<( z) b<( b) a!)");
}
END_TEST

START_TEST(times_never_go_back)
{
	const struct step steps_of[] = {
		{BEGIN, 'a', 0, 0, 50, 0, 0},
		{BEGIN, 'b', 1, 1, 40, 0, 0},
		{END, 'b', 1, 1, 40, 45, 0},
		{END, 'a', 0, 0, 50, 60, 0},
	};

	with_times = true;
	EXPECT(steps_of, "a(50 b(50 b)0@50 a)10@60");
}
END_TEST

START_TEST(clipped_times_stay_in_the_window)
{
	struct ep_selection last = {.last_ns = 75};
	struct ep_selection window = {.since = {true, false, 15}, .until = {true, true, -58}};

	with_times = true;
	ck_assert_int_eq(run_script(simple, 8, &last, true), EP_OK);
	ck_assert_str_eq(told, "a(25 b(25 2:x(25 b)5@30 2:x)8@33 b(40 b)5@45 "
			       "a)15@50");
	ck_assert_int_eq(run_script(simple, 8, &window, true), EP_OK);
	ck_assert_str_eq(told, "a(15 b(20 2:x(21 b)10@30 2:x)12@33 b(40 b)2@42 "
			       "a)15@42");
	ck_assert_int_eq(run_script(simple, 8, &window, false), EP_OK);
	ck_assert_ptr_nonnull(strstr(told, "a)25@50"));
}
END_TEST

/* The error comes through, and nothing is told after it. */
START_TEST(a_sink_that_fails_ends_the_stream)
{
	const struct step steps_of[] = {
		{BEGIN, 'm', 0, 1, 0, 0, 0},          {BEGIN, 'a', 1, 2, 10, 0, 0},
		{SWITCH, 0, 0, 2, 20, 0, STACK(1)},   {BEGIN, 'f', 2, 0, 21, 0, STACK(1)},
		{GAP, 0, 0, 0, 22, 24, STACK(1)},     {STRAY, 'g', 3, 1, 25, 25, STACK(1)},
		{BEFORE, 'o', 4, 0, 0, 30, STACK(1)}, {END, 'a', 1, 2, 10, 40, 0},
	};
	int calls = 1;

	for (;; calls++) {
		fail_at = calls;
		if (run_script(steps_of, 8, NULL, false) == EP_OK)
			break;
		ck_assert_int_eq(fail_at, 0);
		ck_assert_int_lt(calls, 100);
	}
	ck_assert_int_gt(calls, 12);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nest");
	TCase *tcase = tcase_create("nest");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, calls_pass_as_they_are);
	tcase_add_test(tcase, open_calls_last_to_the_end_innermost_first);
	tcase_add_test(tcase, calls_from_before_are_outside_of_all_they_called);
	tcase_add_test(tcase, a_call_from_before_ends_once);
	tcase_add_test(tcase, calls_from_inside_of_a_gap_begin_after_it);
	tcase_add_test(tcase, a_stack_that_is_left_is_suspended);
	tcase_add_test(tcase, points_change_nothing);
	tcase_add_test(tcase, stacks_that_nobody_came_back_to_are_told);
	tcase_add_test(tcase, a_call_begins_on_the_stack_that_it_says);
	tcase_add_test(tcase, calls_from_before_are_of_their_own_stack);
	tcase_add_test(tcase, what_does_not_nest_is_made_to);
	tcase_add_test(tcase, times_never_go_back);
	tcase_add_test(tcase, clipped_times_stay_in_the_window);
	tcase_add_test(tcase, a_sink_that_fails_ends_the_stream);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
