/* SPDX-License-Identifier: BSD-2-Clause */
/* check_site_table.c: where the table has sites of a page, and which pages it has all of. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <check.h>

#include "main.h"
#include "runtime/switching/site_table.h"

#define PAGE   UINT64_C(4096)
#define CODE   UINT64_C(0x555555554000)
#define AROUND (UINT64_C(32) << 20) /* as far apart two places share a line of the index */

static void note(uint64_t place)
{
	const struct ep_place site = {.place = place, .kind = EP_SITE_CALL};

	ck_assert_ptr_nonnull(ep_site_note(&site));
}

START_TEST(the_sites_of_a_page_are_told_by_address)
{
	static const uint64_t places[] = {CODE + 20, CODE, CODE + 4095, CODE + 10, CODE + 5};
	static const uint64_t sorted[] = {CODE, CODE + 5, CODE + 10, CODE + 20, CODE + 4095};
	uint64_t found[8];

	ck_assert_uint_eq(ep_site_places(CODE, CODE + PAGE, found, 8), 0);
	for (unsigned i = 0; i < 5; i++)
		note(places[i]);
	note(CODE - 1);
	note(CODE + PAGE);
	note(CODE + AROUND);
	ck_assert_uint_eq(ep_site_places(CODE, CODE + PAGE, found, 8), 5);
	ck_assert_mem_eq(found, sorted, sizeof(sorted));
	ck_assert_uint_eq(ep_site_places(CODE + 5, CODE + 20, found, 8), 2);
	ck_assert_uint_eq(ep_site_places(CODE, CODE + PAGE, found, 4), 5);
	ck_assert_ptr_null(ep_site_find(CODE + 6));
	ck_assert_uint_eq(ep_site_find(CODE + 10)->place, CODE + 10);
}
END_TEST

START_TEST(what_is_known_of_a_page_is_forgotten_with_modules)
{
	ck_assert(!ep_site_page_is_known(CODE));
	ep_site_page_note(CODE + 100);
	ep_site_page_note(CODE + PAGE);
	ck_assert(ep_site_page_is_known(CODE) && ep_site_page_is_known(CODE + PAGE - 1));
	ck_assert(!ep_site_page_is_known(CODE + AROUND));
	ep_site_page_forget(CODE);
	ck_assert(!ep_site_page_is_known(CODE) && ep_site_page_is_known(CODE + PAGE));
	ep_site_page_note(CODE + PAGE + AROUND);
	ck_assert(!ep_site_page_is_known(CODE + PAGE));
	ep_site_pages_forget();
	ck_assert(!ep_site_page_is_known(CODE + PAGE + AROUND));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("site_table");
	TCase *tcase = tcase_create("site_table");

	tcase_add_test(tcase, the_sites_of_a_page_are_told_by_address);
	tcase_add_test(tcase, what_is_known_of_a_page_is_forgotten_with_modules);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
