/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_jumps.c: exceptions, longjmp and stacks, case by case. A test writes down the records of a
 * little program, word by word, and what is true of it:
 *
 * 	a( a)   call and return of function a
 * 	a! a& a< a_ a*   a throws, throws again, a frame of it is left, its
 * 			clean-up code begins, it catches
 * 	@1 ^1 ~12 %1f   setjmp of buffer 1, longjmp to it, from buffer 1 to 2,
 * 			f is to run in buffer 1 and then buffer 9
 * 	#       a block is lost
 *
 * and in what is told: a)! left then, a)? left, thought so, a)~ stray,
 * a)< began before, a)= ambiguous; throw, again, catch, jump, stack, unseen.
 */
#include <check.h>
#include <stdio.h>
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
	build_block(arena, thread, START);
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

static uint64_t code(char function, unsigned offset)
{
	return FAKE_KNOWN + (uint64_t)(function - 'a') * FAKE_STEP + offset;
}

static uint64_t buffer(char digit)
{
	return digit == '0' ? 0 : 0x7f0000001000 + (uint64_t)digit * 512;
}

static void mark(unsigned kind, const uint64_t *values, unsigned count, const char *text)
{
	struct build_cursor *cursor = &arena->cursors[0];
	uint64_t *at = &cursor->block->records[cursor->next];
	unsigned data = 0;

	for (unsigned i = 0; i < count; i++) {
		at[++data] = ep_escape_make(EP_ESCAPE_DATA, values[i] & 0x3ffffff);
		at[++data] = ep_escape_make(EP_ESCAPE_DATA, (uint32_t)(values[i] >> 26));
	}
	for (; text && *text; text += strnlen(text, 3)) {
		uint32_t three = 0;

		for (unsigned i = 0; i < strnlen(text, 3); i++)
			three |= (uint32_t)(uint8_t)text[i] << 8 * i;
		at[++data] = ep_escape_make(EP_ESCAPE_DATA, three);
	}
	at[0] = ep_escape_make(EP_ESCAPE_MARK,
			       kind | data << 5 | (uint32_t)(tsc >> EP_TICK_SHIFT & 0xffff) << 10);
	cursor->next += 1 + data;
	cursor->last_tsc = tsc;
	ck_assert_uint_lt(cursor->next, EP_BLOCK_RECORDS);
}

static void mark_at(unsigned kind, char function)
{
	mark(kind, (const uint64_t[]){code(function, 0x30)}, 1,
	     kind == EP_MARK_THROW ? "St13runtime_error" : NULL);
}

static void lose_a_block(void)
{
	memset(build_block(arena, thread, tsc), 0, EP_BLOCK_SIZE);
	build_block(arena, thread, tsc);
}

static void write_word(const char *w)
{
	static const char marks[] = "!&<_*";
	static const unsigned kinds[] = {EP_MARK_THROW, EP_MARK_RETHROW, EP_MARK_LEFT,
					 EP_MARK_LANDED, EP_MARK_CAUGHT};

	tsc += STEP;
	if (w[0] == '#')
		lose_a_block();
	else if (w[0] == '@')
		mark(EP_MARK_SAVE, (uint64_t[]){buffer(w[1])}, 1, NULL);
	else if (w[0] == '^')
		mark(EP_MARK_RESUME, (uint64_t[]){buffer(w[1]), code('z', 0x20)}, 2, NULL);
	else if (w[0] == '|')
		mark(EP_MARK_PARENT, (uint64_t[]){buffer(w[1])}, 1, NULL);
	else if (w[0] == '~')
		mark(EP_MARK_SWAP, (uint64_t[]){buffer(w[1]), buffer(w[2]), code('z', 0x20)}, 3,
		     NULL);
	else if (w[0] == '%')
		mark(EP_MARK_FRESH, (uint64_t[]){buffer(w[1]), buffer('9'), code(w[2], 0)}, 3,
		     NULL);
	else if (strchr(marks, w[1]))
		mark_at(kinds[strchr(marks, w[1]) - marks], w[0]);
	else
		build_event(arena, thread, code(w[0], w[1] == ')' ? 0x40 : 5), w[1] == ')', tsc);
}

/* ---- events to words ---- */

static void tell(const struct ep_event *event)
{
	static const char *const points[] = {
		[EP_POINT_THROW] = "throw", [EP_POINT_RETHROW] = "again",
		[EP_POINT_CATCH] = "catch", [EP_POINT_LONGJMP] = "jump",
		[EP_POINT_STACK] = "stack",
	};
	size_t at = strlen(told);
	uint32_t f = event->flags;
	const char *left = f & EP_CALL_UNWOUND ? "!" : f & EP_CALL_ABANDONED ? "?" : "";

	if (event->kind == EP_EVENT_GAP)
		snprintf(told + at, sizeof(told) - at, "# ");
	else if (event->kind == EP_EVENT_POINT)
		snprintf(told + at, sizeof(told) - at, "%s ",
			 event->point == EP_POINT_STACK && *event->text ? "unseen"
									: points[event->point]);
	else
		snprintf(told + at, sizeof(told) - at, "%c%s%s%s%s%s ",
			 (char)('a' + (event->address - FAKE_KNOWN) / FAKE_STEP),
			 event->kind == EP_EVENT_BEGIN ? "(" : ")", left,
			 f & EP_CALL_STRAY ? "~" : "", f & EP_CALL_BEFORE ? "<" : "",
			 f & EP_CALL_AMBIGUOUS ? "=" : "");
	if (event->kind == EP_EVENT_END && f & EP_CALL_UNWOUND)
		ck_assert(event->end.exact);
}

static void run(const char *records, const char *events)
{
	const struct ep_event *event;
	char *words = strdup(records), *rest = words, *word;

	while ((word = strsep(&rest, " ")))
		write_word(word);
	free(words);
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	told[0] = 0;
	while (ep_calls_next(calls, &event) == EP_OK) {
		tell(event);
		if (event->kind == EP_EVENT_POINT && event->point == EP_POINT_THROW)
			ck_assert_str_eq(event->text, "std::runtime_error");
	}
	told[strlen(told) - 1] = 0;
	ck_assert_str_eq(told, events);
}

/* ---- exceptions ---- */

START_TEST(an_exception_ends_the_calls_whose_frames_are_left)
{
	run("m( a( b( c( c! c< b< a* a) m)", "m( a( b( c( throw c)! b)! catch a) m)");
}
END_TEST

START_TEST(of_a_recursion_the_level_that_caught_goes_on)
{
	run("f( f( f( f! f< f< f* x( x) f)", "f( f( f( throw f)! f)! catch x( x) f)");
}
END_TEST

START_TEST(a_frame_that_is_not_traced_ends_nothing)
{
	run("m( a( b( b! b< u< a< w* m)", "m( a( b( throw b)! a)! catch m)");
}
END_TEST

START_TEST(calls_inlined_into_a_frame_that_is_left_end_with_it)
{
	run("m( a( i( i! a< m* m)", "m( a( i( throw i)! a)! catch m)");
}
END_TEST

START_TEST(cleanup_code_runs_inside_of_the_frame_that_it_belongs_to)
{
	run("m( a( b( b! b< a_ d( d) a< m* m)", "m( a( b( throw b)! d( d) a)! catch m)");
}
END_TEST

START_TEST(a_return_hook_in_cleanup_code_ends_the_call_once)
{
	run("f( f( f( f! f_ f) f< f_ f) f< f* f)", "f( f( f( throw f) f) catch f)");
}
END_TEST

START_TEST(an_exception_within_cleanup_code_is_its_own)
{
	run("f( f( f! f_ d( d! u< d* d) f) f< f* x( x) f)",
	    "f( f( throw d( throw catch d) f) catch x( x) f)");
}
END_TEST

START_TEST(what_is_thrown_again_leaves_the_catcher)
{
	run("m( a( b( b! b< a* a& a< m* m)", "m( a( b( throw b)! catch again a)! catch m)");
}
END_TEST

/* ---- longjmp ---- */

START_TEST(longjmp_goes_back_to_the_call_that_saved)
{
	run("f( @1 f( f( ^1 x( x) f)", "f( f( f( jump f)! f)! x( x) f)");
}
END_TEST

START_TEST(a_parent_goes_on_where_it_called_vfork)
{
	static const char *const flows[][2] = {
		/* Without the mark the innermost f returns. */
		{"f( f( @1 f( f( |1 f) f)", "f( f( f( f( f)? f)? f) f)"},
		/* One in a child, and one that failed. */
		{"f( @1 f( @2 f( |2 x( |1 @1 |1 f)", "f( f( f( f)? x( x)? f)? f)"},
		/* One whose vfork lies before the history. */
		{"f( # a( b( |1 f)", "f( # a( b( b)? a)? f)"},
	};

	run(flows[_i][0], flows[_i][1]);
}
END_TEST

START_TEST(the_last_save_of_a_buffer_counts)
{
	run("f( @1 f( @1 f( ^1 f) f)", "f( f( f( jump f)! f) f)");
}
END_TEST

START_TEST(a_place_saved_where_history_is_missing_is_outside_of_all)
{
	thread->blocks += 7;
	lose_a_block();
	run("a( b( ^1 x( x)", "# a( b( jump b)! a)! x( x)");
}
END_TEST

START_TEST(an_unknown_buffer_in_a_whole_history_tells_nothing)
{
	run("a( b( ^1 b) a)", "a( b( jump b) a)");
}
END_TEST

/* ---- stacks ---- */

START_TEST(each_stack_has_calls_of_its_own)
{
	run("m( %1f ~91 f( a( ~19 b( b) ~91 a) ~19 m)",
	    "m( stack f( a( stack b( b) stack a) stack m)");
}
END_TEST

START_TEST(a_stacks_function_returns_into_its_link)
{
	run("m( %1f ~91 f( a( a) f) b( b) m)", "m( stack f( a( a) f) stack b( b) m)");
}
END_TEST

START_TEST(a_link_is_seen_also_when_the_function_is_not_traced)
{
	run("m( %1u ~91 a( a) m)", "m( stack a( a) stack m)");
}
END_TEST

START_TEST(longjmp_between_stacks_switches_them)
{
	run("m( @1 %2f ~02 f( a( @3 ^1 b( b) ^3 c( c) a) f)",
	    "m( stack f( a( stack b( b) stack c( c) a) f) stack");
}
END_TEST

START_TEST(suspended_calls_are_told_as_open)
{
	const struct ep_event *open;
	size_t count;

	run("m( %1f ~91 f( a( ~19 b(", "m( stack f( a( stack b(");
	open = ep_calls_open(calls, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(open[1].address, code('b', 5));
	open = ep_calls_suspended(calls, 0, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(open[1].address, code('a', 5));
	ck_assert_ptr_null(ep_calls_suspended(calls, 1, &count));
}
END_TEST

/* A thread that goes on upon two stacks, and nothing tells. */
START_TEST(stacks_that_nothing_tells_of_are_noticed)
{
	run("m( a( b( m) n( b) a) n) m( a( b( m) n( b) a)",
	    "m( a( b( b)? a)? m) n( b)~ unseen a)~= n)= m( a( b( b)?= a)?= m)= "
	    "n( b)~= a)~=");
}
END_TEST

/* ---- damage ---- */

START_TEST(a_mark_without_its_data_is_a_hole)
{
	write_word("a(");
	arena->cursors[0].block->records[arena->cursors[0].next++] =
		ep_escape_make(EP_ESCAPE_MARK, EP_MARK_SAVE | 2 << 5 | 1 << 10);
	run("a)", "a( # a)");
}
END_TEST

START_TEST(an_unknown_mark_is_passed_over_with_its_data)
{
	write_word("a(");
	mark(EP_MARKS - 1, (uint64_t[]){1, 2, 3}, 3, NULL);
	run("a)", "a( # a)");
	ck_assert_uint_eq(trace->damage.holes, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jumps");
	TCase *tests = tcase_create("jumps");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, an_exception_ends_the_calls_whose_frames_are_left);
	tcase_add_test(tests, of_a_recursion_the_level_that_caught_goes_on);
	tcase_add_test(tests, a_frame_that_is_not_traced_ends_nothing);
	tcase_add_test(tests, calls_inlined_into_a_frame_that_is_left_end_with_it);
	tcase_add_test(tests, cleanup_code_runs_inside_of_the_frame_that_it_belongs_to);
	tcase_add_test(tests, a_return_hook_in_cleanup_code_ends_the_call_once);
	tcase_add_test(tests, an_exception_within_cleanup_code_is_its_own);
	tcase_add_test(tests, what_is_thrown_again_leaves_the_catcher);
	tcase_add_test(tests, longjmp_goes_back_to_the_call_that_saved);
	tcase_add_loop_test(tests, a_parent_goes_on_where_it_called_vfork, 0, 3);
	tcase_add_test(tests, the_last_save_of_a_buffer_counts);
	tcase_add_test(tests, a_place_saved_where_history_is_missing_is_outside_of_all);
	tcase_add_test(tests, an_unknown_buffer_in_a_whole_history_tells_nothing);
	tcase_add_test(tests, each_stack_has_calls_of_its_own);
	tcase_add_test(tests, a_stacks_function_returns_into_its_link);
	tcase_add_test(tests, a_link_is_seen_also_when_the_function_is_not_traced);
	tcase_add_test(tests, longjmp_between_stacks_switches_them);
	tcase_add_test(tests, suspended_calls_are_told_as_open);
	tcase_add_test(tests, stacks_that_nothing_tells_of_are_noticed);
	tcase_add_test(tests, a_mark_without_its_data_is_a_hole);
	tcase_add_test(tests, an_unknown_mark_is_passed_over_with_its_data);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
