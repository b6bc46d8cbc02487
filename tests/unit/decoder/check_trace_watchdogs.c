/* SPDX-License-Identifier: BSD-2-Clause */
/* check_trace_watchdogs.c: watchdogs and the stacks of a miss, whole and damaged: what makes no
 * sense is left out, and the trace is read. */
#include <string.h>

#include "decoder/trace/trace.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/build_watchdogs.h"
#include "tests/unit/main.h"

#define DOGS   3u
#define STACKS 2u
#define BYTES  256u

static struct build_arena *arena;
static struct ep_watchdog *dogs;
static struct ep_stacks *stacks;
static struct ep_image image;
static struct ep_trace *trace;

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct ep_thread *thread;
	uint64_t word = build_record(0x401000, false, 3001000000);

	options.size = 256 << 10;
	options.thread_capacity = options.module_capacity = 4;
	arena = build_arena_create(&options);
	dogs = build_watchdogs(arena, DOGS);
	stacks = build_stacks(arena, STACKS, BYTES);
	thread = build_arena_thread(arena, 101, "main", 2);
	build_block_of(arena, thread, 3001000000, &word, 1);
}

static void forget(void)
{
	ep_trace_destroy(trace);
	trace = NULL;
	build_image_free(&image);
}

static void teardown(void)
{
	forget();
	build_arena_destroy(arena);
}

static void read_arena(void)
{
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ck_assert_uint_eq(trace->thread_count, 1);
}

/* ---- whole ---- */

START_TEST(watchdogs_are_read)
{
	const struct ep_trace_watchdog *one;

	dogs[1].state = EP_WATCHDOG_PAUSED;
	dogs[2].misses = 5;
	dogs[2].missed_tsc = 9000000;
	dogs[2].missed_fed = 4000000;
	dogs[2].missed_by = 102;
	dogs[2].deadline = UINT64_MAX;
	memset(dogs[2].name, 'n', sizeof(dogs[2].name));
	read_arena();
	ck_assert_uint_eq(trace->watchdog_count, DOGS);
	one = trace->watchdogs;
	ck_assert_str_eq(one->name, "dog 1");
	ck_assert_uint_eq(one->id, 1);
	ck_assert_uint_eq(one->action, EP_WATCHDOG_ABORT);
	ck_assert_int_eq(one->deadline, 1000000);
	ck_assert_uint_eq(one->fed_by, 101);
	ck_assert(!one->paused && one[1].paused);
	ck_assert_uint_eq(one[0].misses, 0);
	ck_assert_uint_eq(one[2].misses, 5);
	ck_assert_uint_eq(one[2].missed_by, 102);
	/* Never, rather than in the past. */
	ck_assert_int_eq(one[2].deadline, INT64_MAX);
	ck_assert_uint_eq(strlen(one[2].name), sizeof(dogs[2].name));
}
END_TEST

START_TEST(stacks_are_read)
{
	read_arena();
	ck_assert_uint_eq(trace->stack_count, STACKS);
	ck_assert_uint_eq(trace->stacks_watchdog, 1);
	ck_assert_uint_eq(trace->stacks_missing, 0);
	ck_assert_uint_eq(trace->stacks[1].tid, 102);
	ck_assert_uint_eq(trace->stacks[1].size, BYTES);
	ck_assert_uint_eq(trace->stacks[1].bytes[0], 'b');
	ck_assert_uint_eq(trace->stacks[1].bytes[BYTES - 1], 'b');
}
END_TEST

START_TEST(how_late_is_told_by_the_last_record_or_the_miss)
{
	/* Start and record lie one second apart, at 3 GHz. */
	dogs[1].state = EP_WATCHDOG_PAUSED;
	dogs[2].missed_fed = dogs[2].fed_tsc;
	dogs[2].missed_tsc = dogs[2].fed_tsc + UINT64_C(6000000000);
	read_arena();
	ck_assert_int_eq(ep_trace_watchdog_late(trace, &trace->watchdogs[0]), 999000000);
	ck_assert_int_eq(ep_trace_watchdog_late(trace, &trace->watchdogs[1]), 0);
	ck_assert_int_eq(ep_trace_watchdog_late(trace, &trace->watchdogs[2]), 1999000000);
}
END_TEST

START_TEST(one_in_time_is_not_late)
{
	dogs[0].deadline = 1000000001;
	dogs[1].fed_tsc = UINT64_C(3001000000);
	dogs[2].missed_tsc = UINT64_C(6000000000); /* fed since */
	dogs[2].missed_fed = 5;
	dogs[2].fed_tsc = UINT64_C(3001000000);
	read_arena();
	for (unsigned i = 0; i < DOGS; i++)
		ck_assert_int_eq(ep_trace_watchdog_late(trace, &trace->watchdogs[i]), 0);
}
END_TEST

/* ---- damaged ---- */

START_TEST(a_watchdog_that_is_none_is_left_out)
{
	static const uint32_t states[] = {EP_WATCHDOG_FREE, EP_WATCHDOG_MAKING, 77};

	dogs[1].state = states[_i];
	read_arena();
	ck_assert_uint_eq(trace->watchdog_count, DOGS - 1);
	ck_assert_str_eq(trace->watchdogs[1].name, "dog 3");
}
END_TEST

/* 0: as it was. */
static const struct fault {
	uint32_t entry_size;
	uint64_t offset, size;
} faults[] = {
	{64, 0, 0},       {260, 0, 0},        {1u << 20, 0, 0},        {0, 4100, 0},
	{0, 0, 1u << 30}, {0, 0, UINT64_MAX}, {0, UINT64_MAX - 63, 0}, {0, 1u << 20, 0},
};

START_TEST(a_section_that_makes_no_sense_is_as_if_it_were_not_there)
{
	static const uint32_t types[] = {EP_SECTION_WATCHDOGS, EP_SECTION_STACKS};
	const struct fault *fault = &faults[_i / 2];
	struct ep_section *section = build_section_of(arena, types[_i % 2]);

	if (fault->entry_size)
		section->entry_size = fault->entry_size;
	if (fault->offset)
		section->offset = fault->offset;
	if (fault->size)
		section->size = fault->size;
	read_arena();
	ck_assert_uint_eq(trace->watchdog_count, _i % 2 ? DOGS : 0);
	ck_assert_uint_eq(trace->stack_count, _i % 2 ? 0 : STACKS);
}
END_TEST

START_TEST(a_section_that_was_cut_off_has_what_is_left)
{
	build_section_of(arena, EP_SECTION_WATCHDOGS)->size -= 8;
	build_section_of(arena, EP_SECTION_STACKS)->size -= 8;
	read_arena();
	ck_assert_uint_eq(trace->watchdog_count, DOGS - 1);
	ck_assert_uint_eq(trace->stack_count, STACKS - 1);
	ck_assert_uint_eq(trace->stacks_missing, 1);
	ck_assert_uint_eq(trace->stacks[0].tid, 101);
}
END_TEST

START_TEST(stacks_without_a_head_that_holds_are_none)
{
	switch (_i) {
	case 0:
		stacks->tsc = 0;
		break;
	case 1:
		stacks->count = UINT32_MAX;
		break;
	case 2:
		build_section_of(arena, EP_SECTION_STACKS)->size = sizeof(*stacks) - 8;
		break;
	}
	read_arena();
	ck_assert_uint_eq(trace->stack_count, 0);
	ck_assert_uint_eq(trace->stacks_tsc, 0);
	ck_assert_uint_eq(trace->watchdog_count, DOGS);
}
END_TEST

START_TEST(a_stack_outside_of_its_section_is_missing)
{
	struct ep_stack_taken *one = build_stack_at(stacks, 0);

	stacks->unasked = 4;
	switch (_i) {
	case 0:
		one->state = 0; /* no answer */
		break;
	case 1:
		one->offset = UINT64_MAX;
		break;
	case 2:
		one->size = UINT64_MAX;
		break;
	case 3:
		one->offset = build_section_of(arena, EP_SECTION_STACKS)->size - BYTES + 1;
		break;
	case 4:
		one->address = UINT64_MAX - BYTES + 1;
		break;
	}
	read_arena();
	ck_assert_uint_eq(trace->stack_count, STACKS - 1);
	ck_assert_uint_eq(trace->stacks[0].tid, 102);
	ck_assert_uint_eq(trace->stacks_missing, 5);
}
END_TEST

START_TEST(a_page_that_was_not_saved_makes_none_up)
{
	build_image_of(&image, arena);
	build_image_lose(&image, build_section_of(arena, EP_SECTION_WATCHDOGS)->offset / 4096);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ck_assert_uint_eq(trace->watchdog_count, 0);
	ck_assert_uint_eq(trace->stack_count, STACKS);
}
END_TEST

/* The sanitizers watch. */
START_TEST(every_byte_may_be_wrong)
{
	uint8_t *bytes = _i ? (uint8_t *)stacks : (uint8_t *)dogs;
	size_t size = _i ? sizeof(*stacks) + sizeof(struct ep_stack_taken) : sizeof(*dogs);

	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 0xff;
		read_arena();
		ck_assert_uint_le(trace->watchdog_count, DOGS);
		ck_assert_uint_le(trace->stack_count, STACKS);
		for (size_t k = 0; k < trace->watchdog_count; k++)
			ck_assert_int_ge(ep_trace_watchdog_late(trace, &trace->watchdogs[k]), 0);
		forget();
		bytes[i] ^= 0xff;
	}
}
END_TEST

static TCase *cases(const char *name)
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, setup, teardown);
	return tests;
}

int main(void)
{
	Suite *suite = suite_create("trace_watchdogs");
	TCase *whole = cases("whole"), *damaged = cases("damaged");

	tcase_add_test(whole, watchdogs_are_read);
	tcase_add_test(whole, stacks_are_read);
	tcase_add_test(whole, how_late_is_told_by_the_last_record_or_the_miss);
	tcase_add_test(whole, one_in_time_is_not_late);
	tcase_add_loop_test(damaged, a_watchdog_that_is_none_is_left_out, 0, 3);
	tcase_add_loop_test(damaged, a_section_that_makes_no_sense_is_as_if_it_were_not_there, 0,
			    2 * sizeof(faults) / sizeof(*faults));
	tcase_add_test(damaged, a_section_that_was_cut_off_has_what_is_left);
	tcase_add_loop_test(damaged, stacks_without_a_head_that_holds_are_none, 0, 3);
	tcase_add_loop_test(damaged, a_stack_outside_of_its_section_is_missing, 0, 5);
	tcase_add_test(damaged, a_page_that_was_not_saved_makes_none_up);
	tcase_add_loop_test(damaged, every_byte_may_be_wrong, 0, 2);
	suite_add_tcase(suite, whole);
	suite_add_tcase(suite, damaged);
	return ep_test_main(suite);
}
