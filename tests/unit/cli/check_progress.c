/* SPDX-License-Identifier: BSD-2-Clause */
/* check_progress.c: what the line says, and when: by a clock of the test's own. */
#include "cli/common/progress.h"

#include <string.h>

#include "tests/unit/main.h"

static const char what[] = "reading calls", other[] = "reading calls";
static struct ep_progress_clock clock_now;
static char text[160];

static bool shows(int64_t ms, const char *of, uint64_t done, uint64_t total)
{
	text[0] = '\0';
	return ep_progress_text(&clock_now, ms, of, done, total, text, sizeof(text));
}

static void begin(void)
{
	clock_now = (struct ep_progress_clock){0};
}

START_TEST(nothing_is_said_in_the_first_second)
{
	begin();
	ck_assert(!shows(5000, what, 0, 100));
	ck_assert(!shows(5999, what, 50, 100));
	ck_assert(shows(6000, what, 50, 100));
}
END_TEST

START_TEST(what_is_left_follows_from_what_was_done)
{
	begin();
	shows(0, what, 0, 100);
	ck_assert(shows(10000, what, 25, 100));
	ck_assert_str_eq(text, "reading calls: 25 %, about 30 s left");
	ck_assert(shows(20000, what, 100, 100));
	ck_assert_str_eq(text, "reading calls: 100 %, about 0 s left");
	ck_assert(shows(600000, what, 150, 300));
	ck_assert_str_eq(text, "reading calls: 50 %, about 10 min left");
}
END_TEST

START_TEST(without_a_total_only_the_work_is_named)
{
	begin();
	shows(0, what, 0, 0);
	ck_assert(shows(1000, what, 4711, 0));
	ck_assert_str_eq(text, "reading calls");
}
END_TEST

START_TEST(more_than_the_total_is_all_of_it)
{
	begin();
	shows(0, what, 0, 10);
	ck_assert(shows(2000, what, UINT64_MAX, 10));
	ck_assert_str_eq(text, "reading calls: 100 %, about 0 s left");
}
END_TEST

START_TEST(it_is_not_said_more_than_five_times_a_second)
{
	begin();
	shows(0, what, 0, 100);
	ck_assert(shows(1000, what, 1, 100));
	ck_assert(!shows(1199, what, 2, 100));
	ck_assert(shows(1200, what, 3, 100));
}
END_TEST

START_TEST(work_that_follows_is_shown_at_once_with_a_speed_of_its_own)
{
	begin();
	shows(0, what, 0, 100);
	ck_assert(shows(1000, what, 50, 100));
	ck_assert(!shows(1100, other, 0, 100));
	ck_assert(shows(1200, other, 0, 0));
	ck_assert_str_eq(text, "reading calls");
	/* It was 60 before it waited: 10 more took a second, and 30 are left. */
	shows(5000, what, 60, 100);
	ck_assert(shows(6000, what, 70, 100));
	ck_assert_str_eq(text, "reading calls: 70 %, about 3 s left");
}
END_TEST

START_TEST(work_that_begins_anew_has_a_speed_of_its_own)
{
	begin();
	shows(0, what, 0, 100);
	ck_assert(shows(9000, what, 90, 100));
	shows(10000, what, 0, 100);
	ck_assert(shows(11000, what, 50, 100));
	ck_assert_str_eq(text, "reading calls: 50 %, about 1 s left");
}
END_TEST

START_TEST(after_the_end_a_second_is_silent_again)
{
	begin();
	shows(0, what, 0, 100);
	ck_assert(shows(2000, what, 50, 100));
	clock_now.what = NULL;
	ck_assert(!shows(3000, what, 50, 100));
	ck_assert(!shows(3999, other, 50, 100));
	ck_assert(shows(4000, other, 50, 100));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("progress");
	TCase *tests = tcase_create("progress");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, nothing_is_said_in_the_first_second);
	tcase_add_test(tests, what_is_left_follows_from_what_was_done);
	tcase_add_test(tests, without_a_total_only_the_work_is_named);
	tcase_add_test(tests, more_than_the_total_is_all_of_it);
	tcase_add_test(tests, it_is_not_said_more_than_five_times_a_second);
	tcase_add_test(tests, work_that_follows_is_shown_at_once_with_a_speed_of_its_own);
	tcase_add_test(tests, work_that_begins_anew_has_a_speed_of_its_own);
	tcase_add_test(tests, after_the_end_a_second_is_silent_again);
	return ep_test_main(suite);
}
