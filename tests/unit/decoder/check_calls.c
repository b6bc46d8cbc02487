/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_calls.c: records to calls, case by case. Each test writes down the records of a little
 * program and the events that are true of it:
 *
 * 	run("main( a( a) main)", "main( a( a) main)");
 *
 * f( is a call, f) a return; on the right f)! was abandoned, f)< began before, f)~ is stray, f)=
 * ambiguous, f)- across a gap; # is a gap. Functions are words; those that begin with t are thunks,
 * those with u have no bounds.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/calls/calls.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"
#include "tests/unit/main.h"

#define START UINT64_C(5000000000)
#define STEP  1000

static struct build_arena *arena;
static struct ep_thread *thread;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_names names;
static struct ep_calls *calls;
static uint64_t tsc;
static char told[65536];

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	arena = build_arena_create(&options);
	thread = build_arena_thread(arena, 101, "one", 16);
	tsc = START;
}

static void teardown(void)
{
	ep_calls_destroy(calls);
	ep_trace_destroy(trace);
	build_image_free(&image);
	fake_names_free(&names);
	build_arena_destroy(arena);
}

/* ---- words to records ---- */

/* Function n of a kind: names count from the letter after the kind's. */
static uint64_t number_of(const char *word, size_t length)
{
	uint64_t number = 0;

	for (size_t i = 0; i < length; i++)
		number = (number * 31 + (uint8_t)word[i]) % 4096;
	return number;
}

static uint64_t address_of(const char *word, size_t length, bool is_return)
{
	uint64_t base = word[0] == 't' ? FAKE_THUNK : word[0] == 'u' ? FAKE_BARE : FAKE_KNOWN;

	/* As -mfentry does it: a call a little after the first byte, a return anywhere inside. */
	return base + number_of(word, length) * FAKE_STEP +
	       (is_return ? 0x40 + tsc / STEP % 4 * 16 : 5);
}

static void lose_a_block(void)
{
	memset(build_block(arena, thread, tsc), 0, EP_BLOCK_SIZE);
}

static void pause_here(void)
{
	struct ep_block *block = build_block(arena, thread, tsc);

	block->flags |= EP_BLOCK_RESUMED;
	build_block_seal(arena, block);
}

/* # lost block, | pause, 0 hole, ^ the history begins here. */
static bool take_sign(char sign)
{
	struct build_cursor *cursor = &arena->cursors[0];

	tsc += STEP;
	if (sign == '#') {
		lose_a_block();
		build_block(arena, thread, tsc);
	} else if (sign == '|') {
		pause_here();
	} else if (sign == '0') {
		cursor->next++;
	} else if (sign == '^') {
		thread->blocks += 7;
		build_block(arena, thread, tsc);
	} else {
		return false;
	}
	return true;
}

static void write_records(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "() ");

		if (*text == ' ') {
			text++;
		} else if (!isalpha((unsigned char)*text)) {
			ck_assert(take_sign(*text++));
		} else {
			bool is_return = text[length] == ')';

			tsc += STEP;
			build_event(arena, thread, address_of(text, length, is_return), is_return,
				    tsc);
			text += length + 1;
		}
	}
}

/* ---- events to words ---- */

static const char *vocabulary[] = {"main", "a",  "b",  "c",  "d", "f", "g", "t1",
				   "t2",   "u1", "u2", "u3", "x", "y", "z", "ucold"};

static const char *word_of(uint64_t address)
{
	for (size_t i = 0; i < sizeof(vocabulary) / sizeof(*vocabulary); i++) {
		uint64_t start = address_of(vocabulary[i], strlen(vocabulary[i]), false) - 5;

		if (address >= start && address < start + FAKE_STEP)
			return vocabulary[i];
	}
	ck_abort_msg("a function that no one called");
}

static void tell(const struct ep_event *event)
{
	size_t at = strlen(told);
	uint32_t f = event->flags;

	if (event->kind == EP_EVENT_GAP)
		snprintf(told + at, sizeof(told) - at, "# ");
	else
		snprintf(told + at, sizeof(told) - at, "%s%s%s%s%s%s%s ", word_of(event->address),
			 event->kind == EP_EVENT_BEGIN ? "(" : ")",
			 f & EP_CALL_ABANDONED ? "!" : "", f & EP_CALL_BEFORE ? "<" : "",
			 f & EP_CALL_STRAY ? "~" : "", f & EP_CALL_AMBIGUOUS ? "=" : "",
			 f & EP_CALL_ACROSS_GAP ? "-" : "");
}

static void run_events(void)
{
	const struct ep_event *event;

	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	build_trace_check(trace, &names);
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	while (ep_calls_next(calls, &event) == EP_OK)
		tell(event);
	if (told[0])
		told[strlen(told) - 1] = '\0';
}

static void run(const char *records, const char *events)
{
	write_records(records);
	run_events();
	ck_assert_str_eq(told, events);
}

/* What is open at the end, outermost first. */
static void expect_open(const char *expected)
{
	size_t count;
	const struct ep_event *open = ep_calls_open(calls, &count);

	told[0] = '\0';
	for (size_t i = 0; i < count; i++)
		tell(&open[i]);
	if (told[0])
		told[strlen(told) - 1] = '\0';
	ck_assert_str_eq(told, expected);
}

/* ---- whole histories ---- */

START_TEST(balanced_calls_are_what_they_are)
{
	run("main( a( a) b( c( c) b) main)", "main( a( a) b( c( c) b) main)");
	expect_open("");
	ck_assert(ep_calls_outermost_known(calls));
}
END_TEST

START_TEST(what_did_not_return_stays_open)
{
	run("main( a( a) b( c(", "main( a( a) b( c(");
	expect_open("main( b( c(");
	ck_assert(ep_calls_outermost_known(calls));
}
END_TEST

START_TEST(recursion_pairs_the_innermost)
{
	run("f( f( f( f) f) g( f( f) g)", "f( f( f( f) f) g( f( f) g)");
	expect_open("f(");
}
END_TEST

START_TEST(a_tail_call_follows_its_caller)
{
	run("main( a( a) b( b) main)", "main( a( a) b( b) main)");
}
END_TEST

START_TEST(a_thread_without_blocks_has_no_events)
{
	run("", "");
	expect_open("");
	ck_assert(!ep_calls_outermost_known(calls));
}
END_TEST

/* ---- left without a return ---- */

START_TEST(a_longjmp_ends_the_calls_above_its_target)
{
	run("main( a( b( c( a) main)", "main( a( b( c( c)! b)! a) main)");
}
END_TEST

START_TEST(calls_after_a_longjmp_lie_deeper_until_their_caller_returns)
{
	run("main( a( b( x( x) a) main)", "main( a( b( x( x) b)! a) main)");
}
END_TEST

START_TEST(an_abandoned_call_ended_after_it_began_and_before_it_was_missed)
{
	const struct ep_event *event;
	unsigned seen = 0;

	write_records("main( a( b( a) main)");
	run_events();
	ep_calls_destroy(calls);
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	while (ep_calls_next(calls, &event) == EP_OK) {
		if (!(event->flags & EP_CALL_ABANDONED))
			continue;
		ck_assert(!event->end.exact);
		ck_assert_uint_eq(event->end.low / STEP, START / STEP + 3);
		ck_assert_uint_eq(event->end.high / STEP, START / STEP + 4);
		seen++;
	}
	ck_assert_uint_eq(seen, 1);
}
END_TEST

START_TEST(an_exception_through_recursion_is_ambiguous)
{
	run("main( f( f( f( x( f) main)", "main( f( f( f( x( x)! f)= f)! f)! main)");
}
END_TEST

/* ---- thunks ---- */

START_TEST(the_return_of_a_thunk_ends_nothing)
{
	run("main( a( b( b) t1) a) main)", "main( a( b( b) t1)~ a) main)");
}
END_TEST

START_TEST(the_return_of_a_thunk_is_no_caller_from_before)
{
	run("^ a) t1) main)", "a)< t1)~ main)<");
}
END_TEST

/* ---- before the history ---- */

static uint32_t depths[64];
static unsigned depth_count;

static void take_depths(void)
{
	const struct ep_event *event;

	ep_calls_destroy(calls);
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	depth_count = 0;
	while (ep_calls_next(calls, &event) == EP_OK)
		depths[depth_count++] = event->depth;
}

START_TEST(callers_from_before_count_in_the_depth_from_the_start)
{
	static const uint32_t expected[] = {2, 3, 3, 2, 1, 1, 1, 0, 0};

	run("^ a( b( b) a) c) d( d) main) x(", "a( b( b) a) c)< d( d) main)< x(");
	take_depths();
	ck_assert_uint_eq(depth_count, 9);
	ck_assert_mem_eq(depths, expected, sizeof(expected));
	ck_assert(!ep_calls_outermost_known(calls));
}
END_TEST

START_TEST(the_oldest_known_call_of_a_cut_history_is_not_outermost)
{
	run("^ a( b(", "a( b(");
	expect_open("a( b(");
	ck_assert(!ep_calls_outermost_known(calls));
}
END_TEST

START_TEST(an_exception_to_a_caller_from_before_ends_all_that_it_left)
{
	run("^ a( b( c) x( x) main)", "a( b( b)! a)! c)< x( x) main)<");
	take_depths();
	ck_assert_uint_eq(depths[0], 2);
	ck_assert_uint_eq(depths[4], 1);
	ck_assert_uint_eq(depths[5], 1);
	ck_assert_uint_eq(depths[7], 0);
}
END_TEST

START_TEST(a_return_out_of_nowhere_is_stray_when_the_open_calls_return_later)
{
	run("^ a( b( c) b) a) main)", "a( b( c)~ b) a) main)<");
}
END_TEST

START_TEST(a_return_out_of_nowhere_is_stray_in_a_whole_history)
{
	run("main( a( c) x(", "main( a( c)~ x(");
	expect_open("main( a( x(");
}
END_TEST

START_TEST(a_nameless_return_out_of_nowhere_is_stray)
{
	run("^ a( b( u1) x(", "a( b( u1)~ x(");
}
END_TEST

/* ---- gaps ---- */

START_TEST(what_was_open_before_a_gap_stays_open_and_is_marked)
{
	run("main( a( # x( x) a) main)", "main( a( # x( x) a)- main)-");
}
END_TEST

START_TEST(what_was_called_in_a_gap_ends_as_begun_before)
{
	run("main( | b) a( a) main)", "main( # b)<- a( a) main)-");
	take_depths();
	ck_assert_uint_eq(depths[2], 1);
	ck_assert_uint_eq(depths[3], 1);
	ck_assert_uint_eq(depths[5], 0);
}
END_TEST

START_TEST(what_returned_in_a_gap_is_missed_when_its_caller_returns)
{
	run("main( a( b( | c( c) main)", "main( a( b( # c( c) b)!- a)!- main)-");
}
END_TEST

START_TEST(open_calls_after_a_gap_say_that_history_is_missing)
{
	run("main( a( # x(", "main( a( # x(");
	expect_open("main(- a(- x(");
	ck_assert(!ep_calls_outermost_known(calls));
}
END_TEST

START_TEST(an_exception_after_a_gap_to_a_call_from_within_it)
{
	run("main( | a( b( c) main)", "main( # a( b( b)! a)! c)<- main)-");
}
END_TEST

START_TEST(a_hole_that_ate_a_call)
{
	run("main( a( a) 0 b) a( a) main)", "main( a( a) # b)<- a( a) main)-");
}
END_TEST

START_TEST(a_hole_that_ate_a_return)
{
	run("main( a( b( 0 a) c( c) main)", "main( a( b( # b)!- a)- c( c) main)-");
}
END_TEST

START_TEST(calls_of_a_gap_return_one_by_one_in_the_depth)
{
	run("main( | c) b) a) main)", "main( # c)<- b)<- a)<- main)-");
	take_depths();
	ck_assert_uint_eq(depths[2], 3);
	ck_assert_uint_eq(depths[3], 2);
	ck_assert_uint_eq(depths[4], 1);
	ck_assert_uint_eq(depths[5], 0);
}
END_TEST

START_TEST(a_worker_that_is_resumed_inside_does_not_deepen_what_was_before)
{
	run("a( a) | b) c( c)", "a( a) # b)<- c( c)");
	take_depths();
	ck_assert_uint_eq(depths[0], 0);
	ck_assert_uint_eq(depths[3], 0);
	ck_assert_uint_eq(depths[4], 0);
}
END_TEST

START_TEST(a_thread_whose_history_begins_with_a_resume_is_not_whole)
{
	pause_here();
	run("a( b( c) main)", "a( b( b)! a)! c)< main)<");
}
END_TEST

START_TEST(a_pause_that_was_not_over_is_told_at_the_end)
{
	arena->arena->gate = EP_GATE_API;
	run("main( a(", "main( a( #");
	expect_open("main(- a(-");
	ck_assert(!ep_calls_outermost_known(calls));
}
END_TEST

START_TEST(after_a_pause_nobody_is_known_to_be_outermost)
{
	arena->arena->pauses = 1;
	run("a( b(", "a( b(");
	ck_assert(!ep_calls_outermost_known(calls));
}
END_TEST

START_TEST(a_dead_thread_was_not_paused)
{
	thread->state = EP_THREAD_DEAD;
	arena->arena->gate = EP_GATE_API;
	run("main( main)", "main( main)");
}
END_TEST

START_TEST(the_loss_of_the_newest_block_is_told_at_the_end)
{
	write_records("main( a(");
	lose_a_block();
	run("", "main( a( #");
	expect_open("main(- a(-");
}
END_TEST

START_TEST(a_block_that_was_just_being_entered_is_no_loss)
{
	write_records("main( a(");
	build_block(arena, thread, tsc)->check = 0;
	run("", "main( a(");
	expect_open("main( a(");
}
END_TEST

/* ---- nothing but addresses ---- */

START_TEST(functions_without_bounds_pair_by_the_nearest_entry)
{
	run("u1( u2( u2) u3( u3) u1)", "u1( u2( u2) u3( u3) u1)");
}
END_TEST

START_TEST(functions_without_bounds_can_be_left_too)
{
	run("u1( u2( u3( u1)", "u1( u2( u3( u3)! u2)! u1)");
}
END_TEST

START_TEST(an_entry_that_comes_later_says_whose_a_return_was)
{
	run("^ u1( u1) u2) u1( u2( u2) u1)", "u1( u1) u2)< u1( u2( u2) u1)");
}
END_TEST

START_TEST(a_return_below_all_entries_is_the_top_ones_cold_part)
{
	uint64_t call = FAKE_BARE + 0x1000, cold = FAKE_BARE + 0x10;
	const struct ep_event *event;

	build_call(arena, thread, call, START);
	build_return(arena, thread, cold, START + STEP);
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	ck_assert_int_eq(ep_calls_next(calls, &event), EP_OK);
	ck_assert_int_eq(ep_calls_next(calls, &event), EP_OK);
	ck_assert_int_eq(event->kind, EP_EVENT_END);
	ck_assert_uint_eq(event->call, 0);
	ck_assert_uint_eq(event->flags, 0);
	ck_assert_uint_eq(event->address, cold);
}
END_TEST

/* ---- numbers ---- */

START_TEST(begin_and_end_of_a_call_have_one_number_and_function)
{
	const struct ep_event *event;
	uint64_t numbers[4];
	const struct ep_function *functions[4];

	write_records("a( b( b) a)");
	run_events();
	ep_calls_destroy(calls);
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(ep_calls_next(calls, &event), EP_OK);
		numbers[i] = event->call;
		functions[i] = event->function;
	}
	ck_assert_uint_eq(numbers[0], 0);
	ck_assert_uint_eq(numbers[1], 1);
	ck_assert_uint_eq(numbers[2], 1);
	ck_assert_uint_eq(numbers[3], 0);
	ck_assert_ptr_eq(functions[0], functions[3]);
	ck_assert_ptr_eq(functions[1], functions[2]);
	ck_assert_ptr_ne(functions[0], functions[1]);
}
END_TEST

static TCase *cases(const char *name)
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, setup, teardown);
	return tests;
}

static TCase *plain(void)
{
	TCase *tests = cases("plain");

	tcase_add_test(tests, balanced_calls_are_what_they_are);
	tcase_add_test(tests, what_did_not_return_stays_open);
	tcase_add_test(tests, recursion_pairs_the_innermost);
	tcase_add_test(tests, a_tail_call_follows_its_caller);
	tcase_add_test(tests, a_thread_without_blocks_has_no_events);
	tcase_add_test(tests, a_longjmp_ends_the_calls_above_its_target);
	tcase_add_test(tests, calls_after_a_longjmp_lie_deeper_until_their_caller_returns);
	tcase_add_test(tests, an_abandoned_call_ended_after_it_began_and_before_it_was_missed);
	tcase_add_test(tests, an_exception_through_recursion_is_ambiguous);
	tcase_add_test(tests, the_return_of_a_thunk_ends_nothing);
	tcase_add_test(tests, the_return_of_a_thunk_is_no_caller_from_before);
	tcase_add_test(tests, begin_and_end_of_a_call_have_one_number_and_function);
	return tests;
}

static TCase *cut(void)
{
	TCase *tests = cases("before the history");

	tcase_add_test(tests, callers_from_before_count_in_the_depth_from_the_start);
	tcase_add_test(tests, the_oldest_known_call_of_a_cut_history_is_not_outermost);
	tcase_add_test(tests, an_exception_to_a_caller_from_before_ends_all_that_it_left);
	tcase_add_test(tests, a_return_out_of_nowhere_is_stray_when_the_open_calls_return_later);
	tcase_add_test(tests, a_return_out_of_nowhere_is_stray_in_a_whole_history);
	tcase_add_test(tests, a_nameless_return_out_of_nowhere_is_stray);
	return tests;
}

static TCase *gaps(void)
{
	TCase *tests = cases("gaps");

	tcase_add_test(tests, what_was_open_before_a_gap_stays_open_and_is_marked);
	tcase_add_test(tests, what_was_called_in_a_gap_ends_as_begun_before);
	tcase_add_test(tests, what_returned_in_a_gap_is_missed_when_its_caller_returns);
	tcase_add_test(tests, open_calls_after_a_gap_say_that_history_is_missing);
	tcase_add_test(tests, an_exception_after_a_gap_to_a_call_from_within_it);
	tcase_add_test(tests, a_hole_that_ate_a_call);
	tcase_add_test(tests, a_hole_that_ate_a_return);
	tcase_add_test(tests, calls_of_a_gap_return_one_by_one_in_the_depth);
	tcase_add_test(tests, a_worker_that_is_resumed_inside_does_not_deepen_what_was_before);
	tcase_add_test(tests, a_thread_whose_history_begins_with_a_resume_is_not_whole);
	tcase_add_test(tests, a_pause_that_was_not_over_is_told_at_the_end);
	tcase_add_test(tests, after_a_pause_nobody_is_known_to_be_outermost);
	tcase_add_test(tests, a_dead_thread_was_not_paused);
	tcase_add_test(tests, the_loss_of_the_newest_block_is_told_at_the_end);
	tcase_add_test(tests, a_block_that_was_just_being_entered_is_no_loss);
	return tests;
}

static TCase *nameless(void)
{
	TCase *tests = cases("nameless");

	tcase_add_test(tests, functions_without_bounds_pair_by_the_nearest_entry);
	tcase_add_test(tests, functions_without_bounds_can_be_left_too);
	tcase_add_test(tests, an_entry_that_comes_later_says_whose_a_return_was);
	tcase_add_test(tests, a_return_below_all_entries_is_the_top_ones_cold_part);
	return tests;
}

int main(void)
{
	Suite *suite = suite_create("calls");

	suite_add_tcase(suite, plain());
	suite_add_tcase(suite, cut());
	suite_add_tcase(suite, gaps());
	suite_add_tcase(suite, nameless());
	return ep_test_main(suite);
}
