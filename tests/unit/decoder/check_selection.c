/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_selection.c: which calls come out of a stream. This program has its own
 * ep_calls, whose calls are, by time (one tick is 1 ns):
 *
 *   0 main      0 ..........................................  (open)
 *   1   early     100 - 200
 *   2   outer     300 - 900
 *   3     inner     400 - 500
 *   4     deep      600 - 800
 *   5       leaf      650 - 700
 *   6   last      1000 ......................................  (open)
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/stream/stream.h"
#include "main.h"

static struct ep_trace_thread thread = {.serial = 3, .known = true, .tid = 42, .name = "worker-1"};
static struct ep_trace trace = {
	.clock = {.known = true, .ns_per_tick = 1},
	.threads = &thread,
	.thread_count = 1,
	.first_tsc = 0,
	.last_tsc = 900,
	.end = {.tsc = 1000}, /* it is known to have lived until then */
};

static const char *const names[] = {"main", "early", "outer", "inner", "deep", "leaf", "last"};
static const struct {
	uint32_t depth;
	uint64_t begin, end; /* 0: open */
} facts[] = {{0, 0, 0},     {1, 100, 200}, {1, 300, 900}, {2, 400, 500},
	     {2, 600, 800}, {3, 650, 700}, {1, 1000, 0}};
#define CALLS 7

static struct ep_function functions[CALLS];
static const struct {
	unsigned call;
	bool end;
} moments[] = {
	{0, false}, {1, false}, {1, true}, {2, false}, {3, false}, {3, true},
	{4, false}, {5, false}, {5, true}, {4, true},  {2, true},  {6, false},
};
#define MOMENTS (sizeof(moments) / sizeof(moments[0]))

/* ---- the calls ---- */

struct ep_calls {
	size_t next;
	struct ep_event event, open[CALLS];
};

/* In place of those, where there is one; and of what is open, the span. */
static const struct ep_event *script, *open_span;
static size_t script_count;

static struct ep_time at(uint64_t tsc)
{
	return (struct ep_time){.low = tsc, .high = tsc, .best = tsc, .exact = true};
}

static struct ep_event event_of(unsigned call, bool end)
{
	return (struct ep_event){
		.kind = end ? EP_EVENT_END : EP_EVENT_BEGIN,
		.thread = &thread,
		.function = &functions[call],
		.depth = facts[call].depth,
		.call = call,
		.begin = at(facts[call].begin),
		.end = at(end ? facts[call].end : 0),
	};
}

struct ep_calls *ep_calls_create(const struct ep_trace *of, const struct ep_trace_thread *of_thread,
				 struct ep_names *none)
{
	(void)none;
	ck_assert_ptr_eq(of, &trace);
	ck_assert_ptr_eq(of_thread, &thread);
	return calloc(1, sizeof(struct ep_calls));
}

struct ep_calls *ep_calls_create_once(const struct ep_trace *of,
				      const struct ep_trace_thread *of_thread,
				      struct ep_names *none)
{
	return ep_calls_create(of, of_thread, none);
}

bool ep_calls_once_held(struct ep_calls *calls, uint32_t *too_deep)
{
	ck_assert_uint_eq(calls->next, script ? script_count : MOMENTS);
	*too_deep = 0;
	return true;
}

void ep_calls_with_waits(struct ep_calls *calls)
{
	ck_abort_msg("%p", (void *)calls);
}

size_t ep_calls_blocks_left(const struct ep_calls *calls)
{
	(void)calls;
	return 0;
}

int ep_calls_next(struct ep_calls *calls, const struct ep_event **out)
{
	if (script && calls->next == script_count)
		return EP_END;
	if (script) {
		*out = &script[calls->next++];
		return EP_OK;
	}
	if (calls->next == MOMENTS)
		return EP_END;
	calls->event = event_of(moments[calls->next].call, moments[calls->next].end);
	calls->next++;
	*out = &calls->event;
	return EP_OK;
}

const struct ep_event *ep_calls_open(const struct ep_calls *of, size_t *count)
{
	struct ep_calls *calls = (struct ep_calls *)of;

	*count = 0;
	for (unsigned i = 0; i < CALLS && !script; i++)
		if (!facts[i].end)
			calls->open[(*count)++] = event_of(i, false);
	return calls->open;
}

const struct ep_event *ep_calls_suspended(const struct ep_calls *calls, size_t index, size_t *count)
{
	(void)calls, (void)index;
	*count = 0;
	return NULL;
}

const struct ep_event *ep_calls_spans(const struct ep_calls *calls, size_t *count)
{
	(void)calls;
	*count = script ? 1 : 0;
	return open_span;
}

/* For build_trace.c. */
bool ep_calls_outermost_known(const struct ep_calls *calls)
{
	return calls != NULL;
}

void ep_calls_destroy(struct ep_calls *calls)
{
	free(calls);
}

/* ---- what comes out ---- */

static void set_up(void)
{
	for (uint32_t i = 0; i < CALLS; i++)
		functions[i] = (struct ep_function){.id = i, .name = names[i], .symbol = names[i]};
}

/* Calls of which something came out. */
struct shown {
	bool begun[CALLS], ended[CALLS], open[CALLS];
};

static int take(void *context, const struct ep_event *event, const struct ep_nest_thread *none)
{
	struct shown *shown = context;
	uint64_t call = event->call;

	(void)none;
	if (event->kind == EP_EVENT_BEGIN) {
		ck_assert_int_eq((event->flags & EP_CALL_OPEN) != 0, facts[call].end == 0);
		shown->begun[call] = true;
	} else {
		ck_assert(shown->begun[call]);
		*(event->kind == EP_EVENT_END ? &shown->ended[call] : &shown->open[call]) = true;
	}
	return EP_OK;
}

static const char *chosen_so(const struct ep_selection *selection, bool any_order)
{
	static char text[CALLS + 1];
	struct shown shown = {0};
	const struct ep_sink sink = {.context = &shown, .event = take, .any_order = any_order};
	size_t length = 0;
	uint64_t count;

	ck_assert_int_eq(ep_stream(&trace, NULL, selection, &sink, &count), EP_OK);
	for (size_t i = 0; i < CALLS; i++) {
		if (shown.begun[i])
			text[length++] = (char)('0' + i);
		ck_assert_int_eq(shown.ended[i], shown.begun[i] && facts[i].end != 0);
		ck_assert_int_eq(shown.open[i], shown.begun[i] && facts[i].end == 0);
	}
	text[length] = '\0';
	ck_assert_uint_eq(length, count);
	return text;
}

/* The chosen ones as digits; the same whether threads come by themselves or not. */
static const char *chosen(struct ep_selection selection)
{
	char *first = strdup(chosen_so(&selection, false));
	const char *second = chosen_so(&selection, true);

	ck_assert_str_eq(first, second);
	free(first);
	return second;
}

#define CHOSEN(...) chosen((struct ep_selection){__VA_ARGS__})

static struct ep_when when(const char *text)
{
	struct ep_when result = {0};

	ck_assert(ep_when_parse(text, &result));
	return result;
}

START_TEST(nothing_asked_for_is_all)
{
	set_up();
	ck_assert_str_eq(CHOSEN(.depth = 0), "0123456");
}
END_TEST

START_TEST(the_last_calls_keep_their_callers)
{
	set_up();
	ck_assert_str_eq(CHOSEN(.last_calls = 1), "06");
	/* leaf, inside of deep, inside of outer, inside of main */
	ck_assert_str_eq(CHOSEN(.last_calls = 2), "02456");
	ck_assert_str_eq(CHOSEN(.last_calls = 4), "023456");
	ck_assert_str_eq(CHOSEN(.last_calls = 100), "0123456");
}
END_TEST

START_TEST(windows_keep_what_overlaps_them)
{
	set_up();
	ck_assert_str_eq(CHOSEN(.since = when("-250ns")), "0246");
	ck_assert_str_eq(CHOSEN(.since = when("+750ns")), "0246");
	ck_assert_str_eq(CHOSEN(.until = when("+350ns")), "012");
	ck_assert_str_eq(CHOSEN(.since = when("+550ns"), .until = when("-400ns")), "024");
	ck_assert_str_eq(CHOSEN(.last_ns = 250), "0246");
	/* Both bounds of the end hold. */
	ck_assert_str_eq(CHOSEN(.last_ns = 250, .since = when("+850ns")), "026");
}
END_TEST

START_TEST(names_depths_and_durations_choose)
{
	set_up();
	ck_assert_str_eq(CHOSEN(.functions = {{"*er"}, 1}), "23");
	ck_assert_str_eq(CHOSEN(.functions = {{"l[ae]*"}, 1}), "56");
	ck_assert_str_eq(CHOSEN(.functions = {{"ma"}, 1}), "");
	ck_assert_str_eq(CHOSEN(.functions = {{"ma", "l[ae]*", "*er"}, 3}), "2356");
	ck_assert_str_eq(CHOSEN(.depth = 1), "0");
	ck_assert_str_eq(CHOSEN(.depth = 2), "0126");
	/* What is open may last for long yet. */
	ck_assert_str_eq(CHOSEN(.min_duration = 150), "0246");
	ck_assert_str_eq(CHOSEN(.min_duration = 100), "012346");
}
END_TEST

/* ---- what is no call ---- */

static struct ep_event told(enum ep_event_kind kind, uint64_t call, uint64_t begin, uint64_t end)
{
	return (struct ep_event){.kind = kind,
				 .thread = &thread,
				 .function = &functions[call],
				 .call = call,
				 .begin = at(begin),
				 .end = at(end)};
}

static struct ep_event said(enum ep_point point, uint64_t when)
{
	return (struct ep_event){.kind = EP_EVENT_POINT,
				 .thread = &thread,
				 .point = point,
				 .begin = at(when),
				 .end = at(when),
				 .text = "words"};
}

static struct ep_event missing(uint64_t begin, uint64_t end)
{
	return (struct ep_event){.kind = EP_EVENT_GAP,
				 .thread = &thread,
				 .gap = EP_GAP_LOST_BLOCKS,
				 .begin = at(begin),
				 .end = at(end)};
}

static char line[256];

static int write_line(void *context, const struct ep_event *event,
		      const struct ep_nest_thread *none)
{
	static const char signs[] = {
		[EP_EVENT_BEGIN] = '(', [EP_EVENT_END] = ')',       [EP_EVENT_GAP] = '#',
		[EP_EVENT_POINT] = '.', [EP_EVENT_OPEN_SPAN] = '~',
	};
	const struct ep_time *when = event->kind == EP_EVENT_END ? &event->end : &event->begin;
	size_t used = strlen(line);

	(void)context, (void)none;
	snprintf(line + used, sizeof(line) - used, "%s%c%u", used ? " " : "", signs[event->kind],
		 (unsigned)when->best);
	return EP_OK;
}

static const char *lined(struct ep_selection selection)
{
	const struct ep_sink sink = {.event = write_line};
	uint64_t count;
	size_t used;

	line[0] = '\0';
	ck_assert_int_eq(ep_stream(&trace, NULL, &selection, &sink, &count), EP_OK);
	used = strlen(line);
	snprintf(line + used, sizeof(line) - used, " =%u", (unsigned)count);
	return line;
}

#define LINED(...) lined((struct ep_selection){__VA_ARGS__})

/* What the program said outside of all calls counts as a call does; a point inside of one goes with
 * it, a gap with what is around it. An exception that is thrown in no call is none's. */
START_TEST(gaps_and_points_go_with_their_calls)
{
	struct ep_event span = said(EP_POINT_SPAN_BEGIN, 97);
	struct ep_event events[11];

	set_up();
	events[0] = said(EP_POINT_NOTE, 10);
	events[1] = missing(20, 30);
	events[2] = told(EP_EVENT_BEGIN, 0, 40, 0);
	events[3] = said(EP_POINT_NOTE, 45);
	events[4] = told(EP_EVENT_END, 0, 40, 50);
	events[5] = said(EP_POINT_THROW, 55);
	events[6] = missing(60, 70);
	events[7] = told(EP_EVENT_BEGIN, 1, 80, 0);
	events[8] = told(EP_EVENT_END, 1, 80, 90);
	events[9] = said(EP_POINT_NOTE, 95);
	events[10] = said(EP_POINT_SPAN_BEGIN, 97);
	script = events;
	script_count = 11;
	open_span = &span;
	ck_assert_str_eq(LINED(.depth = 0), ".10 #20 (40 .45 )50 .55 #60 (80 )90 .95 .97 ~97 =5");
	ck_assert_str_eq(LINED(.last_calls = 1), ".97 =1");
	ck_assert_str_eq(LINED(.last_calls = 3), "(80 )90 .95 .97 =3");
	ck_assert_str_eq(LINED(.last_calls = 4), "(40 .45 )50 #60 (80 )90 .95 .97 =4");
	ck_assert_str_eq(LINED(.functions = {{"main"}, 1}), "#20 (40 .45 )50 #60 =1");
	ck_assert_str_eq(LINED(.since = when("+65ns")), "#60 (80 )90 .95 .97 ~97 =3");
	ck_assert_str_eq(LINED(.until = when("+55ns")), ".10 #20 (40 .45 )50 .55 =2");
	script = open_span = NULL;
}
END_TEST

START_TEST(threads_go_by_tid_serial_and_name)
{
	static const char *const yes[] = {"42", "#3", "worker-1", "work*", "*"};
	static const char *const no[] = {"4", "3", "#42", "work", "", "42 "};

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		ck_assert_msg(
			ep_selection_wants_thread(
				&(struct ep_selection){.threads = {{"no", yes[i]}, 2}}, &thread),
			"%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		ck_assert_msg(
			!ep_selection_wants_thread(
				&(struct ep_selection){.threads = {{no[i], "no"}, 2}}, &thread),
			"%s", no[i]);
}
END_TEST

START_TEST(last_and_moments_are_parsed_or_refused)
{
	struct ep_selection selection = {0};
	struct ep_when moment;

	ck_assert(ep_selection_parse_last(&selection, "200"));
	ck_assert_uint_eq(selection.last_calls, 200);
	ck_assert(ep_selection_parse_last(&selection, "5ms"));
	ck_assert_int_eq(selection.last_ns, 5000000);
	ck_assert(!ep_selection_parse_last(&selection, "0"));
	ck_assert(!ep_selection_parse_last(&selection, "-1"));
	ck_assert(!ep_selection_parse_last(&selection, "many"));
	ck_assert(!ep_selection_parse_last(&selection, "99999999999999999999999"));
	ck_assert(!ep_when_parse("10ms", &moment));
	ck_assert(!ep_when_parse("+-10ms", &moment));
	ck_assert(ep_when_parse("-10ms", &moment) && moment.from_end);
	ck_assert(ep_when_parse("+10ms", &moment) && !moment.from_end);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("selection");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, nothing_asked_for_is_all);
	tcase_add_test(tests, the_last_calls_keep_their_callers);
	tcase_add_test(tests, windows_keep_what_overlaps_them);
	tcase_add_test(tests, names_depths_and_durations_choose);
	tcase_add_test(tests, gaps_and_points_go_with_their_calls);
	tcase_add_test(tests, threads_go_by_tid_serial_and_name);
	tcase_add_test(tests, last_and_moments_are_parsed_or_refused);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
