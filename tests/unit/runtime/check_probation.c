/* SPDX-License-Identifier: BSD-2-Clause */
/* check_probation.c: when functions that went off come back, by times that are made here. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <check.h>
#include <string.h>

#include "main.h"
#include "runtime/budget/probation.h"

#define SECOND UINT64_C(2000000000) /* cycles */
#define START  UINT64_C(0x123456789000)

static struct ep_probation p;
static struct ep_block block;
static uint64_t tried[EP_PROBATION_TRIALS], rates[EP_PROBATION_TRIALS];

static uint64_t function(unsigned n)
{
	return UINT64_C(0x555555550000) + n * UINT64_C(256);
}

static void begin(void)
{
	memset(&p, 0, sizeof(p));
	p.second = SECOND;
}

/* A block of `calls` of it, and as many returns, begun at `tsc`. */
static void count(unsigned n, unsigned calls, uint64_t tsc)
{
	memset(&block, 0, sizeof(block));
	block.tsc = tsc;
	for (unsigned i = 0; i < calls; i++) {
		block.records[2 * i] = function(n) | UINT64_C(77) << EP_STAMP_SHIFT;
		block.records[2 * i + 1] = function(n) | EP_RETURN_BIT;
	}
	ep_probation_count(&p, &block);
}

/* The first time, in seconds from `from`, in steps of a tenth, at which a trial begins. */
static double due(uint64_t from)
{
	for (unsigned tenths = 0; tenths < 2000; tenths++)
		if (ep_probation_begin(&p, from + tenths * (SECOND / 10), tried))
			return tenths / 10.0;
	return -1;
}

START_TEST(it_is_tried_after_a_second)
{
	double first;

	begin();
	ck_assert(ep_probation_off(&p, function(1), 1000, START));
	ck_assert_uint_eq(p.off, 1);
	first = due(START);
	ck_assert(first >= 1 && first <= 1.4);
	ck_assert_uint_eq(tried[0], function(1));
	ck_assert_uint_eq(p.off, 0);
	ck_assert_uint_eq(p.trials, 1);
}
END_TEST

START_TEST(each_trial_that_fails_doubles_the_distance)
{
	uint64_t now = START;
	double wanted = 1;

	begin();
	ck_assert(ep_probation_off(&p, function(1), 1000, now));
	for (int i = 0; i < 10; i++) {
		double waited = due(now);

		ck_assert(waited >= wanted && waited <= wanted * 1.25 + 0.2);
		now += (uint64_t)(waited * 10) * (SECOND / 10);
		count(1, 200, now);
		ck_assert_uint_eq(ep_probation_end(&p, now + 100000, 0, tried, rates), 1);
		ck_assert_uint_eq(tried[0], function(1));
		ck_assert_uint_eq(rates[0], 200 * SECOND / 100000);
		ck_assert(ep_probation_off(&p, tried[0], rates[0], now));
		wanted = wanted < 64 ? wanted * 2 : 64;
	}
}
END_TEST

START_TEST(one_that_fits_stays_on)
{
	begin();
	ck_assert(ep_probation_off(&p, function(1), 1000000, START));
	ck_assert_uint_eq(ep_probation_begin(&p, START + 2 * SECOND, tried), 1);
	count(1, 20, START + 2 * SECOND);
	count(2, 200, START + 2 * SECOND);
	/* 20 in a hundredth of a second. */
	ck_assert_uint_eq(
		ep_probation_end(&p, START + 2 * SECOND + SECOND / 100, 2000, tried, rates), 0);
	ck_assert_uint_eq(p.off, 0);
	ck_assert_uint_eq(ep_probation_begin(&p, START + 200 * SECOND, tried), 0);
}
END_TEST

START_TEST(what_there_is_room_for_is_shared)
{
	begin();
	ck_assert(ep_probation_off(&p, function(1), 1, START));
	ck_assert(ep_probation_off(&p, function(2), 2, START));
	ck_assert_uint_eq(ep_probation_begin(&p, START + 2 * SECOND, tried), 2);
	ck_assert_uint_eq(tried[0], function(1));
	count(1, 20, START + 2 * SECOND);
	count(2, 20, START + 2 * SECOND);
	ck_assert_uint_eq(
		ep_probation_end(&p, START + 2 * SECOND + SECOND / 100, 3000, tried, rates), 1);
	ck_assert_uint_eq(tried[0], function(2));
}
END_TEST

START_TEST(few_are_tried_at_once_and_the_least_first)
{
	begin();
	for (unsigned i = 0; i < 20; i++)
		ck_assert(ep_probation_off(&p, function(i), 100 - i, START));
	ck_assert_uint_eq(ep_probation_begin(&p, START + 2 * SECOND, tried), EP_PROBATION_TRIALS);
	for (unsigned i = 0; i < EP_PROBATION_TRIALS; i++)
		ck_assert_uint_eq(tried[i], function(19 - i));
}
END_TEST

START_TEST(a_trial_ends_after_a_hundredth_of_a_second_or_some_blocks)
{
	begin();
	ck_assert(!ep_probation_ripe(&p, START));
	ck_assert(ep_probation_off(&p, function(1), 1, START));
	ck_assert_uint_eq(ep_probation_begin(&p, START + 2 * SECOND, tried), 1);
	ck_assert(!ep_probation_ripe(&p, START + 2 * SECOND + 1000));
	ck_assert(ep_probation_ripe(&p, START + 2 * SECOND + SECOND / 100));
	count(1, 9, START + SECOND); /* from before */
	for (int i = 0; i < EP_PROBATION_BLOCKS - 1; i++)
		count(1, 9, START + 2 * SECOND + 9);
	ck_assert(!ep_probation_ripe(&p, START + 2 * SECOND + 1000));
	count(1, 9, START + 2 * SECOND + 9);
	ck_assert(ep_probation_ripe(&p, START + 2 * SECOND + 1000));
}
END_TEST

START_TEST(one_that_costs_too_much_soon_after_it_came_back_waits_longer)
{
	double waited;

	begin();
	ck_assert(ep_probation_off(&p, function(1), 1, START));
	ck_assert_uint_eq(ep_probation_begin(&p, START + 2 * SECOND, tried), 1);
	ck_assert_uint_eq(ep_probation_end(&p, START + 3 * SECOND, 9, tried, rates), 0);
	ck_assert(ep_probation_off(&p, function(1), 1, START + 4 * SECOND));
	waited = due(START + 4 * SECOND);
	ck_assert(waited >= 2 && waited <= 2.7);
	/* Long after it is forgiven. */
	ck_assert_uint_eq(ep_probation_end(&p, START + 10 * SECOND, 9, tried, rates), 0);
	ck_assert(ep_probation_off(&p, function(1), 1, START + 1000 * SECOND));
	waited = due(START + 1000 * SECOND);
	ck_assert(waited >= 1 && waited <= 1.4);
}
END_TEST

START_TEST(another_phase_tries_all_at_once)
{
	uint64_t now = START;

	begin();
	for (int i = 0; i < 7; i++) {
		ck_assert(ep_probation_off(&p, function(1), 1, now));
		now += 100 * SECOND;
		ck_assert_uint_eq(ep_probation_begin(&p, now, tried), 1);
	}
	ck_assert(ep_probation_off(&p, function(1), 1, now));
	ck_assert_uint_eq(ep_probation_begin(&p, now + 2 * SECOND, tried), 0);
	ep_probation_again(&p, now + 2 * SECOND);
	ck_assert_uint_eq(ep_probation_begin(&p, now + 3 * SECOND, tried), 1);
}
END_TEST

START_TEST(what_a_child_inherits_is_tried_a_minute_later)
{
	static struct ep_probation_function before[EP_PROBATION_SLOTS];
	double first;

	begin();
	ck_assert(ep_probation_off(&p, function(1), 1, START));
	memcpy(before, p.functions, sizeof(before));
	ep_probation_inherit(&p, START + 1);
	/* A child that ends at once has copied no page of the table. */
	ck_assert_mem_eq(before, p.functions, sizeof(before));
	ck_assert(ep_probation_off(&p, function(2), 1, START + 2));
	first = due(START);
	ck_assert(first >= 1 && first <= 1.4);
	ck_assert_uint_eq(tried[0], function(2));
	ck_assert_uint_eq(p.trials, 1);
	first = due(START + 2 * SECOND);
	ck_assert(first >= 62 && first <= 80);
	ck_assert_uint_eq(tried[0], function(1));
	/* It still costs too much: its distance is the longest there is. */
	ck_assert(ep_probation_off(&p, function(1), 1, START + 100 * SECOND));
	first = due(START + 100 * SECOND);
	ck_assert(first >= 64 && first <= 80);
}
END_TEST

START_TEST(another_phase_tries_what_a_child_inherits)
{
	begin();
	ck_assert(ep_probation_off(&p, function(1), 1, START));
	ep_probation_inherit(&p, START + 1);
	ep_probation_again(&p, START + 2 * SECOND);
	ck_assert_uint_eq(ep_probation_begin(&p, START + 3 * SECOND, tried), 1);
}
END_TEST

START_TEST(one_that_cannot_go_is_left_alone_for_a_while)
{
	bool there = false;

	begin();
	ck_assert(ep_probation_off(&p, function(1), 1, START));
	ep_probation_refuse(&p, function(1), START);
	ck_assert_uint_eq(p.off, 0);
	for (unsigned i = 0; i < EP_PROBATION_SLOTS; i++) {
		there |= ep_probation_refused(&p, i, START + SECOND) == function(1);
		ck_assert_uint_eq(ep_probation_refused(&p, i, START + 11 * SECOND), 0);
	}
	ck_assert(there);
	ck_assert_uint_eq(ep_probation_begin(&p, START + 9 * SECOND, tried), 0);
}
END_TEST

START_TEST(one_that_could_not_come_back_is_off)
{
	begin();
	ck_assert(ep_probation_off(&p, function(1), 1, START));
	ck_assert_uint_eq(ep_probation_begin(&p, START + 2 * SECOND, tried), 1);
	ep_probation_cancel(&p, function(1), START + 2 * SECOND);
	ck_assert_uint_eq(p.off, 1);
	ck_assert_uint_eq(ep_probation_end(&p, START + 3 * SECOND, 0, tried, rates), 0);
	ck_assert_uint_eq(p.off, 1);
	ck_assert_uint_eq(ep_probation_begin(&p, START + 4 * SECOND, tried), 1);
}
END_TEST

START_TEST(a_full_table_lets_nobody_go)
{
	unsigned went = 0;

	begin();
	while (went < 2 * EP_PROBATION_SLOTS && ep_probation_off(&p, function(went), 1, START))
		went++;
	ck_assert_uint_eq(went, EP_PROBATION_SLOTS / 4 * 3);
	ck_assert(ep_probation_off(&p, function(0), 1, START));
}
END_TEST

int main(void)
{
	Suite *all = suite_create("probation");
	TCase *one = tcase_create("one");

	tcase_add_test(one, it_is_tried_after_a_second);
	tcase_add_test(one, each_trial_that_fails_doubles_the_distance);
	tcase_add_test(one, one_that_fits_stays_on);
	tcase_add_test(one, what_there_is_room_for_is_shared);
	tcase_add_test(one, few_are_tried_at_once_and_the_least_first);
	tcase_add_test(one, a_trial_ends_after_a_hundredth_of_a_second_or_some_blocks);
	tcase_add_test(one, one_that_costs_too_much_soon_after_it_came_back_waits_longer);
	tcase_add_test(one, another_phase_tries_all_at_once);
	tcase_add_test(one, what_a_child_inherits_is_tried_a_minute_later);
	tcase_add_test(one, another_phase_tries_what_a_child_inherits);
	tcase_add_test(one, one_that_cannot_go_is_left_alone_for_a_while);
	tcase_add_test(one, one_that_could_not_come_back_is_off);
	tcase_add_test(one, a_full_table_lets_nobody_go);
	suite_add_tcase(all, one);
	return ep_test_main(all);
}
