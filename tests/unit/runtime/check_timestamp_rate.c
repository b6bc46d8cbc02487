/* SPDX-License-Identifier: BSD-2-Clause */
/* check_timestamp_rate.c: which `every` the regulator chooses, apart from any thread. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <check.h>

#include "main.h"
#include "runtime/format.h"
#include "runtime/record/timestamp_rate.h"

#define READ_COST 40
#define BUDGET    50000 /* 5 % in parts per million */

static unsigned choose(uint64_t cycles, unsigned every)
{
	return ep_timestamp_rate_choose(cycles, EP_BLOCK_RECORDS, EP_BLOCK_RECORDS / every,
					READ_COST, BUDGET);
}

START_TEST(a_quiet_thread_is_fully_timed)
{
	/* 508 reads of 40 cycles are 5 % of 406,400. */
	ck_assert_uint_eq(choose(2000000, 1), 1);
	ck_assert_uint_eq(choose(430000, 1), 1);
}
END_TEST

START_TEST(a_storm_is_timed_as_seldom_as_it_may_be)
{
	ck_assert_uint_eq(choose(508 * 8, 64), 64);
	ck_assert_uint_eq(choose(0, 1), 64);
}
END_TEST

/* All that the block took was the clock: nothing is left of it. */
START_TEST(a_clock_that_took_all_the_time_counts_for_nothing)
{
	ck_assert_uint_eq(choose(508 * READ_COST, 1), 64);
	ck_assert_uint_eq(choose(508 * READ_COST / 2, 1), 64);
}
END_TEST

START_TEST(the_clock_costs_at_most_the_budget)
{
	for (uint64_t work = 1000; work < 100000000; work = work * 5 / 4) {
		unsigned every = choose(work + 508 / 8 * READ_COST, 8);
		double share = 508.0 / every * READ_COST / (double)work;

		ck_assert_uint_eq(every & (every - 1), 0);
		ck_assert(every >= 1 && every <= 64);
		/* The most seldom there is may still be too often. */
		ck_assert(every == 64 || share <= 0.0501);
		/* Twice as often would have been too much. */
		ck_assert(every == 1 || share * 2 > 0.0499);
	}
}
END_TEST

START_TEST(a_budget_of_nothing_or_all_is_obeyed)
{
	ck_assert_uint_eq(ep_timestamp_rate_choose(1000000, 508, 508, READ_COST, 0), 64);
	ck_assert_uint_eq(ep_timestamp_rate_choose(1000000, 508, 508, READ_COST, 1000000), 1);
}
END_TEST

START_TEST(long_blocks_do_not_overflow)
{
	ck_assert_uint_eq(ep_timestamp_rate_choose(UINT64_MAX, 508, 508, READ_COST, 1000000), 1);
	ck_assert_uint_eq(choose(UINT64_C(1) << 45, 64), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timestamp_rate");
	TCase *tcase = tcase_create("choose");

	tcase_add_test(tcase, a_quiet_thread_is_fully_timed);
	tcase_add_test(tcase, a_storm_is_timed_as_seldom_as_it_may_be);
	tcase_add_test(tcase, a_clock_that_took_all_the_time_counts_for_nothing);
	tcase_add_test(tcase, the_clock_costs_at_most_the_budget);
	tcase_add_test(tcase, a_budget_of_nothing_or_all_is_obeyed);
	tcase_add_test(tcase, long_blocks_do_not_overflow);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
