/* SPDX-License-Identifier: BSD-2-Clause */
/* check_fit.c: what fits a line, and what is made of what does not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/util/fit.h"
#include "main.h"

static void fits(const char *name, size_t columns, const char *expected)
{
	char *cut = ep_fit_name(name, columns);

	ck_assert_str_eq(cut, expected);
	free(cut);
}

static void lines(const char *text, size_t columns, size_t indent, const char *expected)
{
	char *written;
	size_t size, count, wanted = 0;
	FILE *out = ep_open_memstream(&written, &size);

	count = ep_fit_lines(out, text, columns, indent);
	ep_close_memstream(out);
	ck_assert_str_eq(written, expected);
	for (const char *at = expected; *at; at++)
		wanted += *at == '\n';
	ck_assert_uint_eq(count, wanted);
	free(written);
}

START_TEST(names_lose_their_middle)
{
	fits("abcdefghij", 10, "abcdefghij");
	fits("abcdefghij", 9, "abcd…ghij");
	fits("abcdefghij", 4, "ab…j");
	fits("abcdefghij", EP_FIT_ALL, "abcdefghij");
	fits("", 3, "");
}
END_TEST

START_TEST(columns_are_characters)
{
	ck_assert_uint_eq(ep_fit_columns("äöü"), 3);
	ck_assert_uint_eq(ep_fit_columns("\033[1mbold\033[0m"), 4);
	ck_assert_uint_eq(ep_fit_columns("\033["), 0);
	fits("äöüäöü", 5, "äö…öü");
}
END_TEST

/* In the locale C, too, which is the tests'. */
START_TEST(wide_characters_have_two_columns_and_combining_ones_none)
{
	ck_assert_uint_eq(ep_fit_columns("漢字"), 4);
	ck_assert_uint_eq(ep_fit_columns("e\u0301te\u0301"), 3);
	ck_assert_uint_eq(ep_fit_columns("\U0001f600"), 2);
	ck_assert_uint_eq(ep_fit_columns("…→×"), 3);
	/* No UTF-8: a column a byte that begins none. */
	ck_assert_uint_eq(ep_fit_columns("\xff\xfe"), 2);
}
END_TEST

START_TEST(no_half_of_a_wide_character_is_left)
{
	fits("漢字の関数", 10, "漢字の関数");
	fits("漢字の関数", 9, "漢字…関数");
	fits("漢字の関数", 8, "漢字…数");
	fits("漢字の関数", 7, "漢…数");
	fits("漢字の関数", 6, "漢…数");
	fits("漢字の関数", 3, "…");
	fits("ae\u0301bcde\u0301f", 5, "ae\u0301…e\u0301f");
	ck_assert_str_eq(ep_fit_tail("漢字", 3), "字");
	ck_assert_str_eq(ep_fit_tail("漢字", 1), "");
	ck_assert_str_eq(ep_fit_tail("\033[1mab", 2), "\033[1mab");
	ck_assert_int_eq(ep_fit_blanks("漢字", 6), 2);
	ck_assert_int_eq(ep_fit_blanks("漢字", 3), 0);
	lines("漢字 の 関数\n", 7, 2, "漢字 の\n  関数\n");
	lines("漢字 の 関数\n", 6, 2, "漢字\n  の\n  関数\n");
}
END_TEST

START_TEST(lines_go_on_at_a_space)
{
	lines("one two three\n", 80, 2, "one two three\n");
	lines("one two three four\n", 10, 2, "one two\n  three\n  four\n");
	lines("one two three\n\nfour", EP_FIT_ALL, 2, "one two three\n\nfour\n");
	lines("  \033[1mone two\033[0m three\n", 9, 2, "  \033[1mone two\033[0m\n  three\n");
}
END_TEST

START_TEST(a_word_that_is_too_long_is_cut)
{
	lines("a abcdefghijklmnop b\n", 10, 2, "a\n  abcd…nop\n  b\n");
	lines("abcdefghijklmnop\n", 10, 2, "abcde…mnop\n");
}
END_TEST

static void one_line(const char *text, size_t columns, const char *expected)
{
	char *written;
	size_t size;
	FILE *out = ep_open_memstream(&written, &size);

	ck_assert_uint_eq(ep_fit_cut_lines(out, text, columns), 1);
	ep_close_memstream(out);
	ck_assert_str_eq(written, expected);
	free(written);
}

START_TEST(a_cut_line_stays_one)
{
	one_line("one two three\n", 13, "one two three\n");
	one_line("one two three\n", 12, "one two …\n");
	one_line("one two three", EP_FIT_ALL, "one two three\n");
	one_line("abcdefghijklmnop\n", 10, "abcd…nop …\n");
	one_line("\n", 10, "\n");
	one_line("in /abcdefgh/ijkl now\n", 14, "in /abc…ijkl …\n");
	/* No number is cut, and what was switched on goes off. */
	one_line("at 0x1234567\n", 11, "at …\n");
	one_line("\033[1mone two three\033[0m\n", 9, "\033[1mone two …\033[0m\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fit");
	TCase *tests = tcase_create("fit");

	tcase_add_test(tests, names_lose_their_middle);
	tcase_add_test(tests, columns_are_characters);
	tcase_add_test(tests, wide_characters_have_two_columns_and_combining_ones_none);
	tcase_add_test(tests, no_half_of_a_wide_character_is_left);
	tcase_add_test(tests, lines_go_on_at_a_space);
	tcase_add_test(tests, a_cut_line_stays_one);
	tcase_add_test(tests, a_word_that_is_too_long_is_cut);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
