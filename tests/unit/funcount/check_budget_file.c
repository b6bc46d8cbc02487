/* SPDX-License-Identifier: BSD-2-Clause */
/* check_budget_file.c: small text files keep what a program does not change. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "funcount/budget/budget_file.h"
#include "main.h"

static struct ep_sheet sheet;
static struct ep_err err;

static void teardown(void)
{
	ep_sheet_deinit(&sheet);
}

static int parse(const char *text)
{
	return ep_sheet_parse(&sheet, "b", text, strlen(text), &err);
}

static void prints(const char *wanted)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ep_sheet_print(&sheet, out);
	fclose(out);
	ck_assert_str_eq(text, wanted);
	free(text);
}

static const char text_of_many_kinds[] = "# top\n"
					 "\n"
					 "version = 1\n"
					 "[test a b]   # why\n"
					 "\tcalls=12 # few\n"
					 "  note =  x # y\n"
					 "[other]\n"
					 "odd#key = a#b\n";

START_TEST(values_are_read_without_blanks_and_comments)
{
	ck_assert_int_eq(parse(text_of_many_kinds), EP_OK);
	ck_assert_str_eq(ep_sheet_get(&sheet, "", "version"), "1");
	ck_assert_str_eq(ep_sheet_get(&sheet, "test a b", "calls"), "12");
	ck_assert_str_eq(ep_sheet_get(&sheet, "test a b", "note"), "x");
	ck_assert_str_eq(ep_sheet_get(&sheet, "other", "odd#key"), "a#b");
	ck_assert_ptr_null(ep_sheet_get(&sheet, "other", "calls"));
	ck_assert(ep_sheet_has_section(&sheet, "other"));
	ck_assert(!ep_sheet_has_section(&sheet, "test"));
}
END_TEST

START_TEST(what_is_not_changed_stays)
{
	ck_assert_int_eq(parse(text_of_many_kinds), EP_OK);
	prints(text_of_many_kinds);
	ck_assert_int_eq(ep_sheet_set(&sheet, "test a b", "calls", "12", &err), EP_OK);
	prints(text_of_many_kinds);
}
END_TEST

START_TEST(changes_are_made_in_place)
{
	ck_assert_int_eq(parse(text_of_many_kinds), EP_OK);
	ck_assert_int_eq(ep_sheet_set(&sheet, "test a b", "calls", "1300", &err), EP_OK);
	ck_assert_int_eq(ep_sheet_set(&sheet, "test a b", "new", "2", &err), EP_OK);
	ck_assert_int_eq(ep_sheet_set(&sheet, "third", "k", "", &err), EP_OK);
	ep_sheet_unset(&sheet, "test a b", "note");
	ep_sheet_unset(&sheet, "test a b", "note");
	prints("# top\n"
	       "\n"
	       "version = 1\n"
	       "[test a b]   # why\n"
	       "\tcalls=1300 # few\n"
	       "new = 2\n"
	       "[other]\n"
	       "odd#key = a#b\n"
	       "\n"
	       "[third]\n"
	       "k = \n");
	ck_assert_str_eq(ep_sheet_get(&sheet, "third", "k"), "");
}
END_TEST

START_TEST(a_value_that_was_empty_leaves_the_comment_one)
{
	ck_assert_int_eq(parse("a =    # one\nb = # two\nc =\n"), EP_OK);
	for (const char *key = "a\0b\0c\0"; *key; key += 2)
		ck_assert_int_eq(ep_sheet_set(&sheet, "", key, "12", &err), EP_OK);
	prints("a = 12   # one\nb =12 # two\nc =12\n");
	for (const char *key = "a\0b\0c\0"; *key; key += 2)
		ck_assert_str_eq(ep_sheet_get(&sheet, "", key), "12");
}
END_TEST

START_TEST(damage_is_told_by_line_and_column)
{
	static const struct {
		const char *text, *where;
	} damaged[] = {
		{"a = 1\nwords\n", "b:2:1: "},
		{"a = 1\n  words\n", "b:2:3: "},
		{"[x\n", "b:1:1: "},
		{"[ ]\n", "b:1:1: "},
		{"[x] y\n", "b:1:5: "},
		{"\n[x]\n[x]\n", "b:3:1: "},
		{"[x]\nk = 1\nk = 2\n", "b:3:1: "},
		{" = 1\n", "b:1:2: "},
		{"k = \1\n", "b:1:5: "},
	};

	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		ck_assert_int_eq(parse(damaged[i].text), EP_E_FORMAT);
		ck_assert_msg(!strncmp(err.text, damaged[i].where, strlen(damaged[i].where)), "%s",
			      err.text);
		ck_assert_uint_eq(sheet.count, 0);
	}
	ck_assert_int_eq(ep_sheet_parse(&sheet, "b", "k = \0", 5, &err), EP_E_FORMAT);
	ck_assert(strstr(err.text, "b:1:5: "));
}
END_TEST

START_TEST(what_would_be_read_otherwise_is_not_written)
{
	static const struct {
		const char *section, *key, *value;
	} bad[] = {
		{"s", "k", "a # b"}, {"s", "k", " a"}, {"s", "k", "a\nb = c"},
		{"s", "k=", "a"},    {"s", "#", "a"},  {"s", "[k", "a"},
		{"s]", "k", "a"},    {"s", "", "a"},   {"s", "k", "# a"},
	};

	ck_assert_int_eq(parse("x = 1\n"), EP_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_int_eq(
			ep_sheet_set(&sheet, bad[i].section, bad[i].key, bad[i].value, &err),
			EP_E_USAGE);
	prints("x = 1\n");
}
END_TEST

START_TEST(more_lines_than_allowed_are_refused)
{
	size_t size = EP_SHEET_LINES + 1;
	char *text = malloc(size);

	memset(text, '\n', size);
	ck_assert_int_eq(ep_sheet_parse(&sheet, "b", text, size, &err), EP_E_LIMIT);
	ck_assert_int_eq(ep_sheet_parse(&sheet, "b", text, size - 1, &err), EP_OK);
	free(text);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_empty)
{
	ck_assert_int_eq(ep_sheet_read(&sheet, "no/such/file", &err), EP_END);
	ck_assert_uint_eq(sheet.count, 0);
	teardown();
	ck_assert_int_eq(ep_sheet_read(&sheet, "/dev/null", &err), EP_E_FORMAT);
	ck_assert_int_eq(ep_sheet_read(&sheet, "/", &err), EP_E_FORMAT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sheet");
	TCase *cases = tcase_create("sheet");

	tcase_add_checked_fixture(cases, NULL, teardown);
	tcase_add_test(cases, values_are_read_without_blanks_and_comments);
	tcase_add_test(cases, what_is_not_changed_stays);
	tcase_add_test(cases, changes_are_made_in_place);
	tcase_add_test(cases, a_value_that_was_empty_leaves_the_comment_one);
	tcase_add_test(cases, damage_is_told_by_line_and_column);
	tcase_add_test(cases, what_would_be_read_otherwise_is_not_written);
	tcase_add_test(cases, more_lines_than_allowed_are_refused);
	tcase_add_test(cases, a_file_that_is_not_there_is_empty);
	suite_add_tcase(suite, cases);
	return ep_test_main(suite);
}
