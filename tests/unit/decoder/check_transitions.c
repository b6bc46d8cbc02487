/* SPDX-License-Identifier: BSD-2-Clause */
/* check_transitions.c: records without a time, by what such records usually take. */
#include "decoder/trace/records.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"
#include "tests/unit/main.h"

#define CODE  UINT64_C(0x401000)
#define START UINT64_C(5000000000)
/* A stamp counts 8 cycles, and one that would be 0 is written as 1. */
#define GRAIN 16

static struct build_arena *arena;
static struct ep_thread *thread;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_records records;
static struct ep_names names;

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	arena = build_arena_create(&options);
	arena->clock->read_cost = 0;
	thread = build_arena_thread(arena, 101, "one", 256);
}

static void decode(void)
{
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	build_trace_check(trace, &names);
	ep_records_init(&records, trace, &trace->threads[0]);
}

static void teardown(void)
{
	ep_trace_destroy(trace);
	build_image_free(&image);
	fake_names_free(&names);
	build_arena_destroy(arena);
}

static const struct ep_record *next(void)
{
	const struct ep_record *record;

	ck_assert_int_eq(ep_records_next(&records, &record), EP_OK);
	return record;
}

static void no_more(void)
{
	const struct ep_record *record;

	ck_assert_int_eq(ep_records_next(&records, &record), EP_END);
}

static void expect_exact(uint64_t tsc)
{
	const struct ep_record *record = next();

	ck_assert(record->exact);
	ck_assert_uint_le(record->time, tsc + GRAIN);
	ck_assert_uint_le(tsc, record->time + GRAIN);
}

/* The bounds are exact, the time is what is likely. */
static void expect_near(uint64_t low, uint64_t high, uint64_t time)
{
	const struct ep_record *record = next();

	ck_assert(!record->exact);
	ck_assert_uint_eq(record->low, low);
	ck_assert_uint_eq(record->high, high);
	ck_assert_uint_le(record->time, time + GRAIN);
	ck_assert_uint_le(time, record->time + GRAIN);
}

#define CALLED  UINT64_C(800) /* cycles in a call, and from there to the next one */
#define BETWEEN UINT64_C(80)

static uint64_t pace(unsigned i, uint64_t slower)
{
	return (i / 2 * (CALLED + BETWEEN) + (i & 1) * CALLED) * slower;
}

/* So many calls of two functions by turns, with a time for each of them, or for the first and last
 * alone. */
static void build_paced(uint64_t tsc, unsigned words, uint64_t slower, bool timed)
{
	uint64_t list[64];
	struct ep_block *block;

	for (unsigned i = 0; i < words; i++)
		list[i] =
			build_record(CODE + i / 2 % 2 * 64 + (i & 1) * 8, i & 1,
				     timed || i == 0 || i == words - 1 ? tsc + pace(i, slower) : 0);
	block = build_block_of(arena, thread, tsc, list, words);
	block->every = timed ? 1 : 64;
	build_block_seal(arena, block);
}

START_TEST(records_without_a_time_lie_as_such_records_usually_do)
{
	static const uint64_t slower[] = {1, 3};

	build_paced(START, 40, 1, true);
	build_paced(START + 100000, 40, slower[_i], false);
	decode();
	for (unsigned i = 0; i < 40; i++)
		expect_exact(START + pace(i, 1));
	expect_exact(START + 100000);
	for (unsigned i = 1; i < 39; i++)
		expect_near(START + 100000, START + 100000 + pace(39, slower[_i]),
			    START + 100000 + pace(i, slower[_i]));
	expect_exact(START + 100000 + pace(39, slower[_i]));
	no_more();
}
END_TEST

/* One of them waited: that is not what it usually takes. */
START_TEST(one_that_took_long_is_not_what_is_usual)
{
	uint64_t list[64];

	for (unsigned i = 0; i < 40; i++)
		list[i] = build_record(CODE + i / 2 % 2 * 64 + (i & 1) * 8, i & 1,
				       START + pace(i, 1) + (i > 20 ? 200000 : 0));
	build_block_of(arena, thread, START, list, 40);
	build_paced(START + 500000, 40, 1, false);
	decode();
	for (unsigned i = 0; i < 40; i++)
		expect_exact(START + pace(i, 1) + (i > 20 ? 200000 : 0));
	expect_exact(START + 500000);
	for (unsigned i = 1; i < 39; i++)
		expect_near(START + 500000, START + 500000 + pace(39, 1),
			    START + 500000 + pace(i, 1));
	expect_exact(START + 500000 + pace(39, 1));
	no_more();
}
END_TEST

/* It is in each pair with times, and in no record without: here 24 cycles. */
START_TEST(what_the_clock_takes_is_known_by_what_is_between_two_times)
{
	uint64_t list[64], tsc = START + 100000;
	struct ep_block *block;

	arena->clock->read_cost = 8;
	build_paced(START, 40, 1, true);
	for (unsigned n = 0; n < 4; n++) {
		for (unsigned i = 0; i < 40; i++)
			list[i] = build_record(CODE + i / 2 % 2 * 64 + (i & 1) * 8, i & 1,
					       i == 0 || i == 39 ? tsc + pace(i, 1) - i * 24 : 0);
		block = build_block_of(arena, thread, tsc, list, 40);
		block->every = 64;
		build_block_seal(arena, block);
		tsc += 100000;
	}
	decode();
	for (unsigned i = 0; i < 40; i++)
		expect_exact(START + pace(i, 1));
	for (unsigned n = 1; n <= 4; n++)
		for (unsigned i = 0; i < 40; i++) {
			uint64_t time = next()->time, then = START + n * 100000;

			ck_assert_uint_le(time, then + pace(i, 1) - i * 24 + GRAIN);
			ck_assert_uint_le(then + pace(i, 1) - i * 24, time + GRAIN);
		}
	no_more();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transitions");
	TCase *tests = tcase_create("transitions");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, records_without_a_time_lie_as_such_records_usually_do, 0, 2);
	tcase_add_test(tests, one_that_took_long_is_not_what_is_usual);
	tcase_add_test(tests, what_the_clock_takes_is_known_by_what_is_between_two_times);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
