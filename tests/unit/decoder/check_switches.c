/* SPDX-License-Identifier: BSD-2-Clause */
/* check_switches.c: what was switched off, as the arena tells it, whole and damaged: what makes no
 * sense is left out, or is as unknown as it can be. */
#include <string.h>

#include "decoder/trace/switches.h"
#include "tests/unit/build_switches.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/main.h"

#define ROOM  6u
#define OTHER 3u
#define CODE  UINT64_C(0x400000)

static struct build_arena *arena;
static struct ep_switches *head;
static struct ep_image image;
static struct ep_trace *trace;

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	uint64_t word = build_record(CODE, false, 3001000000);
	struct ep_thread *thread;

	options.size = 128 << 10;
	options.thread_capacity = options.module_capacity = 4;
	arena = build_arena_create(&options);
	head = build_switches(arena, ROOM, OTHER);
	thread = build_arena_thread(arena, 101, "main", 2);
	build_block_of(arena, thread, 3001000000, &word, 1);
}

static void teardown(void)
{
	ep_trace_destroy(trace);
	trace = NULL;
	build_image_free(&image);
	build_arena_destroy(arena);
}

static void read_arena(void)
{
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ck_assert_uint_eq(trace->thread_count, 1);
}

static struct ep_switched *entry(uint64_t start, uint64_t size)
{
	return build_switched(head, false, CODE + start, CODE + start + size);
}

static void must_be(const struct ep_trace_off *off, uint64_t begin, uint64_t end, uint64_t on_begin,
		    uint64_t on_end)
{
	ck_assert_uint_eq(off->begin, begin);
	ck_assert_uint_eq(off->end, end);
	ck_assert_uint_eq(off->on_begin, on_begin);
	ck_assert_uint_eq(off->on_end, on_end);
}

/* ---- whole ---- */

START_TEST(intervals_come_in_order_of_time_and_place)
{
	struct ep_switched *second = entry(0x200, 0x100), *first = entry(0x100, 0x100);

	build_off(second, 50, 60, 70, 80);
	build_off(second, 90, 95, 0, 0);
	build_off(first, 10, 20, 30, 40);
	build_off(build_switched(head, true, CODE, CODE + 1), 5, 6, 7, 8);
	read_arena();
	ck_assert_uint_eq(trace->switches->count, 3);
	ck_assert(trace->switches->list[0].outside);
	ck_assert_uint_eq(trace->switches->list[1].start, CODE + 0x100);
	must_be(&trace->switches->list[1].off[0], 10, 20, 30, 40);
	ck_assert_uint_eq(trace->switches->list[2].off_count, 2);
	must_be(&trace->switches->list[2].off[1], 90, 95, UINT64_MAX, UINT64_MAX);
}
END_TEST

START_TEST(those_that_are_not_kept_lie_before_the_others)
{
	struct ep_switched *one = entry(0, 0x100);

	for (uint64_t i = 1; i <= 5; i++)
		build_off(one, 100 * i, 100 * i + 10, 100 * i + 20, 100 * i + 30);
	read_arena();
	ck_assert_uint_eq(trace->switches->list[0].off_count, 4);
	must_be(&trace->switches->list[0].off[0], 0, 300, 300, 300);
	must_be(&trace->switches->list[0].off[1], 300, 310, 320, 330);
	must_be(&trace->switches->list[0].off[3], 500, 510, 520, 530);
}
END_TEST

START_TEST(who_is_off_now_is_found_by_address)
{
	build_off(entry(0x100, 0x100), 10, 20, 0, 0);
	build_off(entry(0x200, 0x100), 10, 20, 30, 40);
	read_arena();
	ck_assert_uint_eq(ep_switched_since(ep_switched_now(trace, CODE + 0x100)), 10);
	ck_assert_ptr_nonnull(ep_switched_now(trace, CODE + 0x1ff));
	ck_assert_ptr_null(ep_switched_now(trace, CODE + 0x200));
	ck_assert_ptr_null(ep_switched_now(trace, CODE + 0xff));
	ck_assert(ep_switched_ever(trace, CODE + 0x200));
	ck_assert(!ep_switched_ever(trace, CODE + 0x300));
	ck_assert(!ep_switched_ever(trace, UINT64_MAX));
}
END_TEST

START_TEST(when_everything_was_off_is_told)
{
	head->all_count = 2;
	head->all[0] = (struct ep_off_interval){10, 20, 30, 40};
	head->all[1] = (struct ep_off_interval){50, 60, 0, 0};
	read_arena();
	ck_assert_uint_eq(trace->switches->all_count, 2);
	ck_assert_uint_eq(ep_all_off_since(trace), 50);
	ck_assert_uint_eq(trace->switches->count, 0);
}
END_TEST

START_TEST(an_arena_without_the_section_has_none)
{
	build_section_of(arena, EP_SECTION_SWITCHES)->type = 99;
	read_arena();
	ck_assert_ptr_null(trace->switches);
	ck_assert_ptr_null(ep_switched_now(trace, CODE));
	ck_assert_uint_eq(ep_all_off_since(trace), 0);
}
END_TEST

/* ---- damaged ---- */

/* What the order of the times does not allow has not happened. */
START_TEST(times_out_of_order_are_not_there_yet)
{
	static const struct ep_off_interval bad[] = {
		{100, 50, 200, 300}, {100, 110, 105, 300}, {100, 110, 120, 115}};
	struct ep_trace_off *off;

	for (unsigned i = 0; i < 3; i++) {
		struct ep_switched *one = entry(0x100 * i, 0x100);

		one->count = 1;
		one->off[0] = bad[i];
	}
	read_arena();
	off = trace->switches->list[0].off;
	must_be(off, 100, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	must_be(trace->switches->list[1].off, 100, 110, UINT64_MAX, UINT64_MAX);
	must_be(trace->switches->list[2].off, 100, 110, 120, UINT64_MAX);
}
END_TEST

START_TEST(entries_without_code_are_left_out)
{
	build_off(build_switched(head, false, 0, 0x100), 10, 20, 30, 40);
	build_off(build_switched(head, false, CODE, CODE), 10, 20, 30, 40);
	build_off(build_switched(head, false, CODE, CODE - 1), 10, 20, 30, 40);
	build_off(build_switched(head, false, CODE, CODE + 1), 10, 20, 30, 40);
	read_arena();
	ck_assert_uint_eq(trace->switches->count, 1);
}
END_TEST

START_TEST(counts_are_held_to_what_is_there)
{
	build_off(entry(0, 0x100), 10, 20, 30, 40);
	head->count = head->control_count = UINT32_MAX;
	head->capacity = _i ? UINT32_MAX : ROOM;
	head->control_capacity = UINT32_MAX;
	read_arena();
	ck_assert_uint_eq(trace->switches->count, 1);
}
END_TEST

START_TEST(a_section_that_ends_early_is_left_out_or_cut)
{
	build_off(entry(0, 0x100), 10, 20, 30, 40);
	build_section_of(arena, EP_SECTION_SWITCHES)->size =
		_i ? sizeof(struct ep_switches) + sizeof(struct ep_switched) - 8
		   : sizeof(struct ep_switches) - 8;
	read_arena();
	ck_assert(!_i == !trace->switches);
	if (_i)
		ck_assert_uint_eq(trace->switches->count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switches");
	TCase *tests = tcase_create("switches");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, intervals_come_in_order_of_time_and_place);
	tcase_add_test(tests, those_that_are_not_kept_lie_before_the_others);
	tcase_add_test(tests, who_is_off_now_is_found_by_address);
	tcase_add_test(tests, when_everything_was_off_is_told);
	tcase_add_test(tests, an_arena_without_the_section_has_none);
	tcase_add_test(tests, times_out_of_order_are_not_there_yet);
	tcase_add_test(tests, entries_without_code_are_left_out);
	tcase_add_loop_test(tests, counts_are_held_to_what_is_there, 0, 2);
	tcase_add_loop_test(tests, a_section_that_ends_early_is_left_out_or_cut, 0, 2);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
