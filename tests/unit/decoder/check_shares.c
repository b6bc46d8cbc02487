/* SPDX-License-Identifier: BSD-2-Clause */
/* check_shares.c: pages that are too long, without the pages. */
#include "decoder/report/print/page.h"

#include "main.h"

#define HEAD 40u

/* What a page with so much of everything prints. */
static void print(struct ep_page_shares *shares, const size_t there[EP_SHARES])
{
	for (size_t i = 0; i < EP_SHARES; i++)
		shares->printed[i] = there[i] < shares->most[i] ? there[i] : shares->most[i];
}

START_TEST(a_page_that_fits_keeps_its_shares)
{
	struct ep_page_shares shares, before;

	ep_page_shares_init(&shares, true);
	before = shares;
	ck_assert(!ep_page_shares_shrink(&shares, EP_PAGE_LINES, HEAD));
	ck_assert_mem_eq(&shares, &before, sizeof(shares));
}
END_TEST

START_TEST(who_has_most_above_a_fair_share_gives)
{
	const size_t there[EP_SHARES] = {[EP_SHARE_VARIABLES] = 6, [EP_SHARE_ROWS] = 30};
	struct ep_page_shares shares;

	ep_page_shares_init(&shares, true);
	print(&shares, there);
	ck_assert(ep_page_shares_shrink(&shares, EP_PAGE_LINES + 1, HEAD));
	ck_assert_uint_eq(shares.most[EP_SHARE_ROWS], 15);
	ck_assert_uint_eq(shares.most[EP_SHARE_VARIABLES], 12);
	for (unsigned i = 0; i < 12; i++) {
		print(&shares, there);
		ck_assert(ep_page_shares_shrink(&shares, EP_PAGE_LINES + 1, HEAD));
	}
	/* Nothing is taken where nothing is. */
	ck_assert_uint_eq(shares.most[EP_SHARE_CALLS], 8);
	ck_assert_uint_lt(shares.most[EP_SHARE_VARIABLES], 6);
}
END_TEST

START_TEST(groups_first_give_what_was_left_of_the_screen)
{
	struct ep_page_shares shares;

	ep_page_shares_init(&shares, true);
	shares.printed[EP_SHARE_GROUPS] = shares.most[EP_SHARE_GROUPS] + 1;
	shares.printed[EP_SHARE_ROWS] = 16;
	ck_assert(ep_page_shares_shrink(&shares, EP_PAGE_LINES + 3, HEAD));
	ck_assert_uint_eq(shares.spare, 3);
	ck_assert_uint_eq(shares.most[EP_SHARE_ROWS], 16);
}
END_TEST

START_TEST(in_the_end_lines_are_cut_and_then_the_head)
{
	const size_t there[EP_SHARES] = {100, 100, 100, 100, 6, 100};
	struct ep_page_shares shares;
	unsigned tries = 0;

	ep_page_shares_init(&shares, true);
	do {
		ck_assert_uint_lt(tries++, 100);
		ck_assert_uint_eq(shares.head, SIZE_MAX);
		print(&shares, there);
		ck_assert(ep_page_shares_shrink(&shares, EP_PAGE_LINES + 5, HEAD));
	} while (!shares.tight);
	for (size_t i = 0; i < EP_SHARES; i++) {
		ck_assert_uint_ge(shares.most[i], 1);
		ck_assert_uint_le(shares.most[i], 4);
	}
	print(&shares, there);
	ck_assert(ep_page_shares_shrink(&shares, EP_PAGE_LINES + 5, HEAD));
	/* One more line says how many are left out. */
	ck_assert_uint_eq(shares.head, HEAD - 5 - 1);
	ck_assert(!ep_page_shares_shrink(&shares, EP_PAGE_LINES + 5, HEAD));
}
END_TEST

START_TEST(a_page_with_all_keeps_all)
{
	struct ep_page_shares shares;

	ep_page_shares_init(&shares, false);
	ck_assert_uint_eq(shares.most[EP_SHARE_VARIABLES], SIZE_MAX);
	ck_assert_uint_eq(shares.most[EP_SHARE_WARNINGS], SIZE_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shares");
	TCase *tests = tcase_create("shares");

	tcase_add_test(tests, a_page_that_fits_keeps_its_shares);
	tcase_add_test(tests, who_has_most_above_a_fair_share_gives);
	tcase_add_test(tests, groups_first_give_what_was_left_of_the_screen);
	tcase_add_test(tests, in_the_end_lines_are_cut_and_then_the_head);
	tcase_add_test(tests, a_page_with_all_keeps_all);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
