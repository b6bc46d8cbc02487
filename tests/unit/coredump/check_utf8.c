/* SPDX-License-Identifier: BSD-2-Clause */
/* check_utf8.c: characters that are shown, and those that would change how others are. */
#include "coredump/util/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/main.h"

static void shows(const char *text, const char *wanted)
{
	char *shown = ep_utf8_escape(text, strlen(text));

	ck_assert_str_eq(shown, wanted);
	free(shown);
}

START_TEST(what_turns_or_breaks_lines_is_shown_as_bytes)
{
	shows("a\u2028b\u2029c", "a\\xe2\\x80\\xa8b\\xe2\\x80\\xa9c");
	shows("exe\u202egnp.", "exe\\xe2\\x80\\xaegnp.");
	shows("\u2066\u2069", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
	shows("\u200f\u061c", "\\xe2\\x80\\x8f\\xd8\\x9c");
	shows("\xc2\x9b", "\\xc2\\x9b");
	shows("\ufeff", "\\xef\\xbb\\xbf");
	shows("\U000e0041", "\\xf3\\xa0\\x81\\x81");
}
END_TEST

START_TEST(letters_of_all_alphabets_are_shown_as_they_are)
{
	static const char text[] =
		"Zoë Ψ ж עברית عربي 漢字 한글 ไทย 😀 e\u0301 \u2027\u202f\u205f\u2070";

	shows(text, text);
}
END_TEST

START_TEST(a_code_point_is_what_its_bytes_say)
{
	ck_assert_uint_eq(ep_utf8_code_point("A", 1), 'A');
	ck_assert_uint_eq(ep_utf8_code_point("\xc3\xa9", 2), 0xe9);
	ck_assert_uint_eq(ep_utf8_code_point("\xe2\x80\xae", 3), 0x202e);
	ck_assert_uint_eq(ep_utf8_code_point("\xf4\x8f\xbf\xbf", 4), 0x10ffff);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("utf8");
	TCase *tests = tcase_create("utf8");

	tcase_add_test(tests, what_turns_or_breaks_lines_is_shown_as_bytes);
	tcase_add_test(tests, letters_of_all_alphabets_are_shown_as_they_are);
	tcase_add_test(tests, a_code_point_is_what_its_bytes_say);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
