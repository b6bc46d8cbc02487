/* SPDX-License-Identifier: BSD-2-Clause */
/* check_path_map.c: which beginnings of paths are replaced, and by what. */
#include <check.h>

#include "decoder/names/path_map.h"
#include "main.h"

static struct ep_path_map map;

static void teardown(void)
{
	ep_path_map_deinit(&map);
}

static const char *mapped(const char *path)
{
	return ep_path_map_find(&map, path);
}

START_TEST(without_rules_paths_stay)
{
	static const char path[] = "/build/a.c";

	ck_assert_ptr_eq(mapped(path), path);
	ck_assert_ptr_null(mapped(NULL));
}
END_TEST

START_TEST(whole_components_are_replaced)
{
	ep_path_map_add(&map, "/build/x=/home/me");
	ck_assert_str_eq(mapped("/build/x/a.c"), "/home/me/a.c");
	ck_assert_str_eq(mapped("/build/x"), "/home/me");
	ck_assert_str_eq(mapped("/build/xy/a.c"), "/build/xy/a.c");
	ck_assert_str_eq(mapped("/build/y"), "/build/y");
	ck_assert_str_eq(mapped("build/x/a.c"), "build/x/a.c");
	ck_assert_str_eq(mapped(""), "");
}
END_TEST

START_TEST(the_first_rule_that_fits_is_taken)
{
	ep_path_map_add(&map, "/a/b=/1");
	ep_path_map_add(&map, "/a=/2");
	ep_path_map_add(&map, "/a/c=/3");
	ck_assert_str_eq(mapped("/a/b/f"), "/1/f");
	ck_assert_str_eq(mapped("/a/c/f"), "/2/c/f");
}
END_TEST

START_TEST(slashes_at_the_ends_mean_nothing)
{
	ep_path_map_add(&map, "/a/=/b//");
	ep_path_map_add(&map, "/=/elsewhere");
	ck_assert_str_eq(mapped("/a/f"), "/b/f");
	ck_assert_str_eq(mapped("/c/f"), "/elsewhere/c/f");
	ck_assert_str_eq(mapped("c/f"), "c/f");
}
END_TEST

START_TEST(an_equals_sign_may_be_in_what_is_new)
{
	ep_path_map_add(&map, "/a=/b=c");
	ck_assert_str_eq(mapped("/a/f"), "/b=c/f");
}
END_TEST

START_TEST(answers_stay_where_they_are)
{
	static char paths[300][16];
	const char *first;

	ep_path_map_add(&map, "/a=/b");
	first = mapped("/a/first");
	for (int i = 0; i < 300; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/a/%d", i);
		mapped(paths[i]);
	}
	ck_assert_str_eq(first, "/b/first");
	ck_assert_ptr_eq(mapped(paths[7]), mapped(paths[7]));
	ck_assert_str_eq(mapped(paths[299]), "/b/299");
}
END_TEST

START_TEST(rules_are_OLD_and_NEW)
{
	ck_assert(ep_path_rule_valid("/a=/b"));
	ck_assert(ep_path_rule_valid("/a="));
	ck_assert(!ep_path_rule_valid("/a"));
	ck_assert(!ep_path_rule_valid("=/b"));
	ck_assert(!ep_path_rule_valid(""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("path_map");
	TCase *tests = tcase_create("path_map");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_test(tests, without_rules_paths_stay);
	tcase_add_test(tests, whole_components_are_replaced);
	tcase_add_test(tests, the_first_rule_that_fits_is_taken);
	tcase_add_test(tests, slashes_at_the_ends_mean_nothing);
	tcase_add_test(tests, an_equals_sign_may_be_in_what_is_new);
	tcase_add_test(tests, answers_stay_where_they_are);
	tcase_add_test(tests, rules_are_OLD_and_NEW);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
