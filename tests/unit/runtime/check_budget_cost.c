/* SPDX-License-Identifier: BSD-2-Clause */
/* check_budget_cost.c: the account of what tracing may cost. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <check.h>

#include "main.h"
#include "runtime/budget/cost.h"

#define SHARE 50000 /* 5 % in parts per million */

START_TEST(an_account_earns_its_share_of_the_work)
{
	struct ep_cost_account account = {0, 1000000, -1000000};

	ep_cost_add(&account, 1000000, 0, SHARE);
	ck_assert_int_eq(account.balance, 50000);
	ep_cost_add(&account, 1000000, 60000, SHARE);
	ck_assert_int_eq(account.balance, 40000);
	ep_cost_add(&account, 999, 0, SHARE);
	ck_assert_int_eq(account.balance, 40049);
}
END_TEST

START_TEST(a_quiet_hour_pays_for_no_long_storm)
{
	struct ep_cost_account account = {0, 1000, -500};

	ep_cost_add(&account, UINT64_C(3600) * 3000000000, 0, SHARE);
	ck_assert_int_eq(account.balance, 1000);
	ep_cost_add(&account, 0, UINT64_C(3600) * 3000000000, SHARE);
	ck_assert_int_eq(account.balance, -500);
}
END_TEST

START_TEST(a_process_that_waits_may_take_what_the_machine_can_spare)
{
	/* 0.5 % of a second are 5 % of 100 ms. */
	ck_assert_uint_eq(ep_cost_idle(0, 1000000000, 5000, SHARE), 100000000);
	ck_assert_uint_eq(ep_cost_idle(20000000, 1000000000, 5000, SHARE), 80000000);
	ck_assert_uint_eq(ep_cost_idle(100000000, 1000000000, 5000, SHARE), 0);
	ck_assert_uint_eq(ep_cost_idle(1000000000, 1000000000, 5000, SHARE), 0);
	ck_assert_uint_eq(ep_cost_idle(0, 1000000000, 5000, 0), 0);
	/* A month of a clock of 4 GHz. */
	ck_assert_uint_gt(ep_cost_idle(0, UINT64_C(4000000000) * 2600000, 1000000, 1000),
			  UINT64_C(4000000000) * 2600000);
}
END_TEST

START_TEST(what_was_spent_is_worth_the_work_that_allows_for_it)
{
	ck_assert_uint_eq(ep_cost_paid_by(90000000, SHARE), 1800000000);
	ck_assert_uint_eq(ep_cost_paid_by(90000000, 1000), 90000000000);
	ck_assert_uint_eq(ep_cost_paid_by(0, SHARE), 0);
}
END_TEST

START_TEST(a_share_is_of_the_programs_own_work)
{
	ck_assert_uint_eq(ep_cost_share(5, 100), 50000);
	ck_assert_uint_eq(ep_cost_share(0, 100), 0);
	ck_assert_uint_eq(ep_cost_share(0, 0), 100000000);
	ck_assert_uint_eq(ep_cost_share(UINT64_C(3000000000) * 3600, 1), 100000000);
}
END_TEST

START_TEST(a_cost_that_is_guessed_too_high_leaves_a_quarter_of_the_time)
{
	ck_assert_uint_eq(ep_cost_work(1000, 100), 900);
	ck_assert_uint_eq(ep_cost_work(1000, 749), 251);
	ck_assert_uint_eq(ep_cost_work(1000, 750), 250);
	ck_assert_uint_eq(ep_cost_work(1000, 5000), 250);
}
END_TEST

START_TEST(what_goes_leaves_the_share_that_is_wanted)
{
	ck_assert_uint_eq(ep_cost_excess(1000, 80000, 20000), 750);
	ck_assert_uint_eq(ep_cost_excess(1000, 20000, 20000), 0);
	ck_assert_uint_eq(ep_cost_excess(1000, 100, 20000), 0);
}
END_TEST

/* A thread of which nine tenths pass in waiting reads the clock as if it worked all the time. */
START_TEST(the_clock_comes_to_its_part_of_a_thread_that_waits)
{
	uint32_t may = 25000;

	for (int i = 0; i < 20; i++)
		may = ep_cost_clock(may, may * 10, 25000);
	ck_assert_uint_eq(may, 2500);
	/* It waits no more. */
	for (int i = 0; i < 20; i++)
		may = ep_cost_clock(may, may, 25000);
	ck_assert_uint_eq(may, 25000);
	ck_assert_uint_eq(ep_cost_clock(25000, 0, 25000), 25000);
	ck_assert_uint_eq(ep_cost_clock(150, 100000000, 25000), 100);
}
END_TEST

/* A thousand hooks cost 3,000 cycles at least; of 60 cycles apart no more than what that makes. */
START_TEST(a_hook_is_dearer_the_more_of_the_program_lies_between)
{
	/* Nothing, 20 cycles of a narrow program, 10 of one of 500 functions. */
	ck_assert_uint_eq(ep_cost_hook1000(3 * 1000, 1000, 0, 3000, 60), 3000);
	ck_assert_uint_eq(ep_cost_hook1000((20 + 7) * 1000, 1000, 0, 3000, 60), 3000 + 20 * 200);
	ck_assert_uint_eq(ep_cost_hook1000((10 + 9) * 1000, 1000, 500, 3000, 60), 3000 + 10 * 600);
	ck_assert_uint_eq(ep_cost_hook1000((60 + 15) * 1000, 1000, 0, 3000, 60), 15000);
	ck_assert_uint_eq(ep_cost_hook1000(9999 * 1000, 1000, 0, 3000, 60), 15000);
	ck_assert_uint_eq(ep_cost_hook1000(UINT64_MAX, 1, 500, 3000, 60), 3000 + 60 * 600);
	/* CPU time has steps: none at all, or none yet. */
	ck_assert_uint_eq(ep_cost_hook1000(0, 1000, 0, 3000, 60), 3000);
	ck_assert_uint_eq(ep_cost_hook1000(1000, 0, 0, 3000, 60), 3000);
}
END_TEST

int main(void)
{
	Suite *all = suite_create("budget_cost");
	TCase *one = tcase_create("one");

	tcase_add_test(one, an_account_earns_its_share_of_the_work);
	tcase_add_test(one, a_quiet_hour_pays_for_no_long_storm);
	tcase_add_test(one, a_process_that_waits_may_take_what_the_machine_can_spare);
	tcase_add_test(one, what_was_spent_is_worth_the_work_that_allows_for_it);
	tcase_add_test(one, a_share_is_of_the_programs_own_work);
	tcase_add_test(one, a_cost_that_is_guessed_too_high_leaves_a_quarter_of_the_time);
	tcase_add_test(one, what_goes_leaves_the_share_that_is_wanted);
	tcase_add_test(one, a_hook_is_dearer_the_more_of_the_program_lies_between);
	tcase_add_test(one, the_clock_comes_to_its_part_of_a_thread_that_waits);
	suite_add_tcase(all, one);
	return ep_test_main(all);
}
