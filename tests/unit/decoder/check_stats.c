/* SPDX-License-Identifier: BSD-2-Clause */
/* check_stats.c: sums of calls that have no times of their own. */
#include "decoder/stats/stats.h"

#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"
#include "tests/unit/main.h"

#define CODE    FAKE_KNOWN
#define SIZE    FAKE_STEP /* of a function, of which there are two */
#define START   UINT64_C(5000000000)
#define CALLED  UINT64_C(8000) /* cycles in a call, and from there to the next one */
#define BETWEEN UINT64_C(800)
#define RECORDS 40u
#define CALLS   (RECORDS / 4) /* of each function, in a block */

static struct build_arena *arena;
static struct ep_thread *thread;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_names names;
static struct ep_stats stats;

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	arena = build_arena_create(&options);
	arena->clock->read_cost = 0;
	thread = build_arena_thread(arena, 101, "one", 256);
}

static void teardown(void)
{
	ep_stats_deinit(&stats);
	ep_trace_destroy(trace);
	build_image_free(&image);
	fake_names_free(&names);
	build_arena_destroy(arena);
}

static uint64_t pace(unsigned i)
{
	return i / 2 * (CALLED + BETWEEN) + (i & 1) * CALLED;
}

/* Calls of two functions by turns, with a time for each record, or for the first and last alone;
 * those took `more` or `less` than usual. */
static void build(uint64_t tsc, bool timed, uint64_t more, uint64_t less)
{
	uint64_t list[RECORDS];
	struct ep_block *block;

	for (unsigned i = 0; i < RECORDS; i++) {
		uint64_t then = tsc + pace(i) + (i ? more : 0) - (i ? less : 0);

		list[i] = build_record(CODE + i / 2 % 2 * SIZE + (i & 1) * 8, i & 1,
				       timed || i == 0 || i == RECORDS - 1 ? then : 0);
	}
	block = build_block_of(arena, thread, tsc, list, RECORDS);
	block->every = timed ? 1 : 64;
	build_block_seal(arena, block);
}

static void decode(void)
{
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	build_trace_check(trace, &names);
	ep_stats_create(&stats, trace, &names, NULL, false);
	ck_assert_uint_eq(stats.count, 2);
}

static int64_t ns(uint64_t cycles)
{
	return ep_trace_ns(trace, 0, cycles);
}

static void ck_assert_near(int64_t got, int64_t want)
{
	ck_assert_int_le(got, want + want / 50 + ns(64));
	ck_assert_int_ge(got, want - want / 50 - ns(64));
}

START_TEST(what_took_as_long_as_usual_is_one_figure)
{
	build(START, true, 0, 0);
	build(START + 1000000, false, 0, 0);
	decode();
	for (size_t i = 0; i < 2; i++) {
		const struct ep_stat *stat = stats.list[i];

		ck_assert_near(stat->self, ns(2 * CALLS * CALLED));
		ck_assert_int_eq(stat->self_least, stat->self);
		ck_assert_int_eq(stat->self_most, stat->self);
		ck_assert_int_eq(stat->total_least, stat->total);
		ck_assert_int_eq(stat->total_most, stat->total);
	}
}
END_TEST

/* One call of either, or the caller between them, took 20 times as long: nobody knows which. */
START_TEST(what_took_longer_may_be_either_s)
{
	const uint64_t more = 20 * CALLED;

	build(START, true, 0, 0);
	build(START + 1000000, false, more, 0);
	decode();
	for (size_t i = 0; i < 2; i++) {
		const struct ep_stat *stat = stats.list[i];

		ck_assert_near(stat->self_least, ns(2 * CALLS * CALLED));
		ck_assert_near(stat->self_most, ns(2 * CALLS * CALLED + more));
		ck_assert_int_gt(stat->self, stat->self_least);
		ck_assert_int_lt(stat->self, stat->self_most);
		ck_assert_near(stat->total_least, ns(2 * CALLS * CALLED));
		ck_assert_near(stat->total_most, ns(2 * CALLS * CALLED + more));
	}
}
END_TEST

/* Most of them were shorter: either's may still have been as long as ever. */
START_TEST(what_took_shorter_may_be_either_s)
{
	const uint64_t left = 8 * CALLED;

	build(START, true, 0, 0);
	build(START + 1000000, false, 0, pace(RECORDS - 1) - left);
	decode();
	for (size_t i = 0; i < 2; i++) {
		const struct ep_stat *stat = stats.list[i];

		ck_assert_near(stat->self_least, ns(CALLS * CALLED));
		ck_assert_near(stat->self_most, ns(CALLS * CALLED + left));
	}
}
END_TEST

/* Nothing has a time but every 64th: all is open. */
START_TEST(where_nothing_is_usual_all_is_open)
{
	build(START, false, 0, 0);
	decode();
	for (size_t i = 0; i < 2; i++) {
		ck_assert_near(stats.list[i]->self_least, 0);
		ck_assert_near(stats.list[i]->self_most, ns(pace(RECORDS - 1)));
	}
}
END_TEST

/* All that were sampled stand for those that were not. */
START_TEST(quantiles_are_those_of_all_calls)
{
	build(START, true, 0, 0);
	for (unsigned i = 1; i < 20; i++)
		build(START + i * 1000000, false, 0, 0);
	decode();
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(stats.list[i]->calls, 20 * CALLS);
		ck_assert_uint_eq(stats.list[i]->timed, CALLS);
		ck_assert_uint_eq(stats.list[i]->durations.count, 20 * CALLS);
		ck_assert_near(stats.list[i]->p99, ns(CALLED));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stats");
	TCase *tests = tcase_create("stats");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, what_took_as_long_as_usual_is_one_figure);
	tcase_add_test(tests, what_took_longer_may_be_either_s);
	tcase_add_test(tests, what_took_shorter_may_be_either_s);
	tcase_add_test(tests, where_nothing_is_usual_all_is_open);
	tcase_add_test(tests, quantiles_are_those_of_all_calls);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
