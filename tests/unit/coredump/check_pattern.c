/* SPDX-License-Identifier: BSD-2-Clause */
/* check_pattern.c: names from patterns stay in their directory and are new. */
#include "tests/unit/main.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "coredump/files/pattern.h"

static const struct ep_pattern_facts facts = {
	.pid = 42, .executable = "/usr/bin/server", .host = "box", .time = 1700};

START_TEST(every_item_is_replaced)
{
	char out[128];

	ck_assert_int_eq(ep_pattern_expand("/x/%e.%p.%h.%t.%%", &facts, out, sizeof(out), NULL),
			 EP_OK);
	ck_assert_str_eq(out, "/x/server.42.box.1700.%");
}
END_TEST

START_TEST(a_number_makes_the_name_new)
{
	char dir[] = "/tmp/epitaph-pattern.XXXXXX", pattern[64], out[128], expected[128];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(pattern, sizeof(pattern), "%s/s.%%n.%%n", dir);
	for (int i = 1; i <= 3; i++) {
		snprintf(expected, sizeof(expected), "%s/s.%d.%d", dir, i, i);
		ck_assert_int_eq(ep_pattern_expand(pattern, &facts, out, sizeof(out), NULL), EP_OK);
		ck_assert_str_eq(out, expected);
		/* a dangling link is a name that is taken, too */
		if (i == 2)
			ck_assert_int_eq(symlink("nowhere", out), 0);
		else
			close(open(out, O_CREAT | O_WRONLY, 0600));
	}
	for (int i = 1; i <= 3; i++) {
		snprintf(expected, sizeof(expected), "%s/s.%d.%d", dir, i, i);
		unlink(expected);
	}
	rmdir(dir);
}
END_TEST

START_TEST(a_name_from_a_core_cannot_leave_the_directory)
{
	struct ep_pattern_facts hostile = facts;
	char out[128];

	hostile.executable = "../../etc/passwd";
	hostile.host = "a/..";
	ck_assert_int_eq(ep_pattern_expand("d/%e-%h", &hostile, out, sizeof(out), NULL), EP_OK);
	ck_assert_str_eq(out, "d/passwd-unknown");
	hostile.executable = NULL;
	hostile.host = "";
	ck_assert_int_eq(ep_pattern_expand("%e-%h", &hostile, out, sizeof(out), NULL), EP_OK);
	ck_assert_str_eq(out, "unknown-unknown");
}
END_TEST

START_TEST(an_unknown_item_is_named)
{
	struct ep_err err;
	char out[16];

	ck_assert_int_eq(ep_pattern_expand("a%z", &facts, out, sizeof(out), &err), EP_E_USAGE);
	ck_assert_ptr_nonnull(strstr(err.text, "%z is not known"));
	ck_assert_int_eq(ep_pattern_expand("a%", &facts, out, sizeof(out), &err), EP_E_USAGE);
}
END_TEST

START_TEST(every_size_is_enough_or_refused)
{
	const char *whole = "server.42";
	char out[32];

	for (size_t size = 0; size <= 16; size++) {
		int rc = ep_pattern_expand("%e.%p", &facts, out, size, NULL);

		ck_assert_int_eq(rc, size > strlen(whole) ? EP_OK : EP_E_LIMIT);
		if (rc == EP_OK)
			ck_assert_str_eq(out, whole);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pattern");
	TCase *test = tcase_create("pattern");

	tcase_add_test(test, every_item_is_replaced);
	tcase_add_test(test, a_number_makes_the_name_new);
	tcase_add_test(test, a_name_from_a_core_cannot_leave_the_directory);
	tcase_add_test(test, an_unknown_item_is_named);
	tcase_add_test(test, every_size_is_enough_or_refused);
	suite_add_tcase(suite, test);
	return ep_test_main(suite);
}
