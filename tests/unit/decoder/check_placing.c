/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_placing.c: scripts of calls and waits, of which only some records get a time. A letter
 * calls the function of that name: a capital one makes system calls, a small one only computes. ')'
 * returns from the innermost, '_' is a wait there, '~' the thread is preempted, and '|' gives the
 * next record a time of its own.
 */
#include <ctype.h>

#include "build_sched.h"
#include "decoder/calls/calls.h"
#include "decoder/calls/placing.h"
#include "decoder/stats/stats.h"
#include "fake_names.h"
#include "main.h"

#define START UINT64_C(1000000000)
#define MAIN  101u
#define OTHER 102u
#define STEP  1000u   /* cycles from event to event */
#define LONG  100000u /* that a wait takes */
#define DEEP  16
#define MANY  4000

struct truth { /* of a wait */
	char stack[DEEP + 1];
	uint64_t calls[DEEP];
};

static struct build_arena *arena;
static struct build_sched sched;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_names names;
static uint64_t recorded_from = START;
static struct truth truths[MANY];
static unsigned truth_count, told_count;
static uint64_t waited[MANY]; /* by call: cycles within it */
static char what[MANY];       /* what was found of each wait */

static uint64_t address_of(char name)
{
	uint64_t base = isupper((unsigned char)name) ? FAKE_WAITS : FAKE_KNOWN;

	return base + (unsigned char)name * FAKE_STEP + 8;
}

static char name_of(const struct ep_function *function)
{
	return function ? (char)(function->start / FAKE_STEP % 0x80) : '-';
}

/* ---- building ---- */

static void switch_at(uint64_t tsc, bool leaves, bool waits)
{
	static unsigned events;

	if (leaves)
		build_sched_switch(&sched, tsc, MAIN, waits ? 1 : 0x100, OTHER);
	else
		build_sched_switch(&sched, tsc, OTHER, 1, MAIN);
	if (++events % 16 == 0) {
		build_sched_flush(&sched, 0, false);
		build_sched_page(&sched, tsc);
	}
}

static void build(const char *script, uint32_t blocks)
{
	struct truth now = {{0}, {0}};
	uint64_t tsc = START + STEP, calls = 0;
	struct ep_thread *thread;
	bool timed = true;
	unsigned depth = 0;

	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	options.size = 2u << 20;
	arena = build_arena_create(&options);
	build_sched_init(&sched, arena, recorded_from);
	build_sched_page(&sched, START);
	thread = build_arena_thread(arena, MAIN, "main", blocks);
	switch_at(START + 1, false, false);
	memset(waited, 0, sizeof(waited));
	truth_count = 0;
	for (; *script; script++, tsc += STEP) {
		struct build_cursor *cursor = &arena->cursors[0];
		char name = *script;

		if (name == '|') {
			timed = true;
			continue;
		}
		if (name == '_' || name == '~') {
			switch_at(tsc, true, name == '_');
			tsc += LONG;
			switch_at(tsc, false, false);
			truths[truth_count++] = now;
			for (unsigned i = 0; i < depth; i++)
				waited[now.calls[i]] += LONG;
			continue;
		}
		timed |= cursor->next == EP_BLOCK_RECORDS;
		if (name == ')')
			name = now.stack[--depth];
		else
			now.calls[depth] = calls++;
		build_event(arena, thread, address_of(name), *script == ')', timed ? tsc : 0);
		if (*script != ')')
			now.stack[depth++] = name;
		now.stack[depth] = 0;
		timed = false;
	}
	build_sched_flush(&sched, 0, false);
	sched.head->drained_tsc = tsc;
	build_arena_seal(arena);
	ck_assert_int_eq(ep_image_from_bytes(&image, arena->bytes, arena->committed, NULL), EP_OK);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ep_schedule_attach(trace);
	ck_assert_ptr_nonnull(trace->schedule);
	ck_assert_uint_eq(trace->schedule->losses + trace->schedule->bad, 0);
}

static void tear_down(void)
{
	ep_schedule_detach(trace);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	build_arena_destroy(arena);
	fake_names_free(&names);
	memset(&names, 0, sizeof(names));
	trace = NULL;
}

/* ---- what must hold of every script ---- */

/* What is said to be certain is true. */
static void check_wait(const struct ep_wait_place *place)
{
	const struct truth *truth = &truths[told_count];
	unsigned depth = 0, deepest = (unsigned)strlen(truth->stack);

	ck_assert_uint_lt(told_count, truth_count);
	ck_assert_uint_eq(place->slice->end - place->slice->begin, LONG);
	if (place->call != EP_NO_CALL) {
		while (depth < deepest && truth->calls[depth] != place->call)
			depth++;
		ck_assert_msg(depth++ < deepest, "wait %u: not in that call", told_count);
	}
	for (unsigned i = 0; i < place->path_count; i++, depth++)
		ck_assert_int_eq(name_of(place->path[i]), truth->stack[depth]);
	if (place->whole)
		ck_assert_uint_eq(depth, deepest);
	if (place->innermost)
		ck_assert_int_eq(name_of(place->innermost), truth->stack[deepest - 1]);
	what[told_count++] = ep_place_is_certain(place) ? 'c'
			     : place->lost              ? 'l'
			     : place->whole             ? 'w'
			     : place->innermost         ? 'f'
							: 'i';
}

static void check_end(const struct ep_event *event)
{
	struct ep_slice_times times = {0, 0, 0, 0};
	int64_t truth = ep_trace_ns(trace, 0, waited[event->call]);
	bool known = ep_event_times(trace, event, &times);

	ck_assert_int_le(times.ready + times.blocked, truth + 1);
	if (!(event->flags & EP_CALL_UNSURE_WAIT) && known)
		ck_assert_int_ge(times.ready + times.blocked, truth - 1);
	else if (known)
		ck_assert_int_ge(times.unknown, 1);
}

static void check(bool tells)
{
	const struct ep_event *event;
	uint64_t last = 0, time;
	struct ep_calls *calls;

	told_count = 0;
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	if (tells)
		ep_calls_with_waits(calls);
	while (ep_calls_next(calls, &event) == EP_OK) {
		time = event->kind == EP_EVENT_END ? event->end.best : event->begin.best;
		ck_assert_uint_ge(time, last);
		last = time;
		if (event->kind == EP_EVENT_WAIT)
			check_wait(event->place);
		if (event->kind == EP_EVENT_END)
			check_end(event);
	}
	ck_assert_uint_eq(told_count, tells ? truth_count : 0);
	ep_calls_destroy(calls);
}

/* ---- examples ---- */

static const struct {
	const char *script, *found;
} examples[] = {
	/* Every record has a time of its own. */
	{"|M|f_|)_|B_|)_|)_", "ccccc"},
	/* Between two times, one call can wait: that one did. */
	{"|mf)f)B_)f)f)|f)", "c"},
	{"|mf)f)B_)f)f)|)", "c"},
	/* One of two did, of the same function. */
	{"|mf)B_)f)B)f)|f)", "w"},
	/* Of one function, by different ways. */
	{"|mA_B_))B_)|f)", "iii"},
	{"|mABf)_)f))f)B_)|f)", "ii"},
	{"|maB_))B)|f)", "f"},
	/* Of two functions. */
	{"|mf)B_)f)C)f)|f)", "i"},
	/* Or the one that calls them. */
	{"|Mf)B_)f)|f)", "i"},
	/* The same call, whatever it called meanwhile. */
	{"|Mf)f)_f)|f)", "c"},
	{"|mB_f)f)|f))", "c"},
	{"|m|Bf)_f)f)f)|))", "c"},
	/* Inside of what both are in. */
	{"|mDf)B_)C)f)|f))", "i"},
	/* Preempted anywhere. */
	{"|mf)f~)B)f)|f)", "i"},
	{"|mf)f)B_~)f)|f)", "ci"},
	/* Nothing that could wait: it did all the same. */
	{"|mf)f_)f)|f)", "i"},
	/* Returns of calls from before the window. */
	{"|mBf|f))_)f)|f)", "c"},
	{"|mBf|f)))f)C_)|f)", "i"},
	/* What comes after the last time. */
	{"|mf)|f)f)B_", "c"},
	{"|Mf)|f)f)B)_", "i"},
};

START_TEST(what_is_certain_is_told_and_no_more)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		build(examples[i].script, 4);
		check(false);
		check(true);
		what[told_count] = 0;
		ck_assert_msg(strcmp(what, examples[i].found) == 0, "%s: %s, not %s",
			      examples[i].script, what, examples[i].found);
		tear_down();
	}
}
END_TEST

/* What no events tell of is no time without waits. */
START_TEST(time_that_is_not_recorded_is_unknown)
{
	struct ep_stats stats;
	bool met = false;

	recorded_from = START + 2 * LONG;
	build("|m|B_|)|B_|)|B_|)|B_|)|)", 4);
	recorded_from = START;
	ep_stats_create(&stats, trace, &names, NULL, false);
	for (size_t i = 0; i < stats.count; i++) {
		const struct ep_stat *stat = stats.list[i];

		met |= name_of(stat->function) == 'B';
		ck_assert_int_gt(stat->unknown, ep_trace_ns(trace, 0, LONG / 2));
		ck_assert_int_gt(stat->waiting, ep_trace_ns(trace, 0, LONG));
		ck_assert_int_le(labs(stat->running + stat->waiting + stat->unknown - stat->total),
				 20);
	}
	ck_assert(met);
	ep_stats_deinit(&stats);
	tear_down();
}
END_TEST

/* ---- by chance ---- */

static unsigned seed;

static unsigned chance(unsigned below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void make_script(char *script, unsigned size)
{
	static const char functions[] = "mfgABC";
	char stack[DEEP] = "";
	unsigned depth = 0, every = 1u << chance(6), waits = 6 + chance(20);

	while (size-- > 2) {
		bool may = !depth || isupper((unsigned char)stack[depth - 1]);

		if (!chance(every))
			*script++ = '|', size--;
		if (may && !chance(waits))
			*script++ = '_';
		else if (!chance(40))
			*script++ = '~';
		else if (depth && (depth + 1 == DEEP || chance(2)))
			*script++ = ')', depth--;
		else
			*script++ = stack[depth++] = functions[chance(6)];
	}
	*script = 0;
}

START_TEST(nothing_is_certain_that_is_not_true)
{
	char script[1600];

	for (unsigned i = 0; i < 60; i++) {
		seed = 77 + i;
		make_script(script, sizeof(script) - 1);
		build(script, 4);
		check(false);
		check(true);
		tear_down();
	}
}
END_TEST

/* Its beginning was overwritten: calls have other numbers, and of some only the returns are
 * known. */
static void check_part(const struct ep_wait_place *place, const struct ep_function *owner)
{
	const struct truth *truth = &truths[told_count++];
	char path[EP_PLACE_PATH + 2] = "", *to = path;
	size_t deepest = strlen(truth->stack);

	if (owner)
		*to++ = name_of(owner);
	for (unsigned i = 0; i < place->path_count; i++)
		*to++ = name_of(place->path[i]);
	*to = 0;
	if (place->innermost)
		ck_assert_int_eq(name_of(place->innermost), truth->stack[deepest - 1]);
	ck_assert(!*path || strstr(truth->stack, path));
	if (*path && place->whole)
		ck_assert_str_eq(truth->stack + deepest - strlen(path), path);
}

static void check_wrapped(const char *script)
{
	const struct ep_event *event;
	struct ep_calls *calls;

	build(script, 2);
	told_count = 0;
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	ep_calls_with_waits(calls);
	while (ep_calls_next(calls, &event) == EP_OK)
		if (event->kind == EP_EVENT_WAIT)
			check_part(event->place, event->function);
	ck_assert_uint_eq(told_count, truth_count);
	ep_calls_destroy(calls);
	tear_down();
}

START_TEST(nor_where_the_beginning_is_gone)
{
	char script[3800];

	for (unsigned i = 0; i < 40; i++) {
		seed = 7777 + i;
		make_script(script, sizeof(script) - 1);
		check_wrapped(script);
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("placing");
	TCase *tcase = tcase_create("placing");

	tcase_add_test(tcase, what_is_certain_is_told_and_no_more);
	tcase_add_test(tcase, time_that_is_not_recorded_is_unknown);
	tcase_add_test(tcase, nothing_is_certain_that_is_not_true);
	tcase_add_test(tcase, nor_where_the_beginning_is_gone);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return ep_test_main(suite());
}
