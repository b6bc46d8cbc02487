/* SPDX-License-Identifier: BSD-2-Clause */
/* check_keyfile.c: small text files are read, or refused with the place. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "funcount/files/keyfile.h"
#include "main.h"

static struct ep_keyfile file;
static struct ep_err err;

static void teardown(void)
{
	ep_keyfile_deinit(&file);
}

static int parse(const char *text)
{
	return ep_keyfile_parse(&file, "b", text, strlen(text), &err);
}

static const char *value_of(const char *section, const char *key)
{
	const struct ep_keyfile_line *line = ep_keyfile_find(&file, section, key);

	return line ? line->value : NULL;
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
	ck_assert_str_eq(value_of("", "version"), "1");
	ck_assert_str_eq(value_of("test a b", "calls"), "12");
	ck_assert_str_eq(value_of("test a b", "note"), "x");
	ck_assert_str_eq(value_of("other", "odd#key"), "a#b");
	ck_assert_ptr_null(value_of("other", "calls"));
	ck_assert_ptr_nonnull(ep_keyfile_find(&file, "other", NULL));
	ck_assert_ptr_null(ep_keyfile_find(&file, "test", NULL));
}
END_TEST

START_TEST(lines_come_in_their_order_with_their_places)
{
	static const struct ep_keyfile_line wanted[] = {
		{"", "version", "1", 3, 11},       {"test a b", NULL, NULL, 4, 1},
		{"test a b", "calls", "12", 5, 8}, {"test a b", "note", "x", 6, 11},
		{"other", NULL, NULL, 7, 1},       {"other", "odd#key", "a#b", 8, 11},
	};

	ck_assert_int_eq(parse(text_of_many_kinds), EP_OK);
	ck_assert_uint_eq(file.lines.count, sizeof(wanted) / sizeof(*wanted));
	for (size_t i = 0; i < file.lines.count; i++) {
		ck_assert_str_eq(file.lines.list[i].section, wanted[i].section);
		ck_assert_pstr_eq(file.lines.list[i].key, wanted[i].key);
		ck_assert_pstr_eq(file.lines.list[i].value, wanted[i].value);
		ck_assert_uint_eq(file.lines.list[i].number, wanted[i].number);
		ck_assert_uint_eq(file.lines.list[i].column, wanted[i].column);
	}
}
END_TEST

START_TEST(what_was_written_on_other_systems_is_read)
{
	ck_assert_int_eq(parse("a = 1\r\n[s]\r\nb =\r\nc = 2"), EP_OK);
	ck_assert_str_eq(value_of("", "a"), "1");
	ck_assert_str_eq(value_of("s", "b"), "");
	ck_assert_str_eq(value_of("s", "c"), "2");
	ep_keyfile_deinit(&file);
	ck_assert_int_eq(parse("a = 1\r\r\n"), EP_E_FORMAT);
}
END_TEST

START_TEST(more_than_allowed_is_refused)
{
	size_t size = EP_KEYFILE_BYTES + 1;
	char *text = malloc(size);

	memset(text, '\n', size);
	ck_assert_int_eq(ep_keyfile_parse(&file, "b", text, size, &err), EP_E_LIMIT);
	ck_assert_int_eq(ep_keyfile_parse(&file, "b", text, size - 1, &err), EP_OK);
	free(text);
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
		ck_assert_uint_eq(file.lines.count, 0);
	}
	ck_assert_int_eq(ep_keyfile_parse(&file, "b", "k = \0", 5, &err), EP_E_FORMAT);
	ck_assert(strstr(err.text, "b:1:5: "));
}
END_TEST

START_TEST(a_file_that_is_not_there_is_empty)
{
	ck_assert_int_eq(ep_keyfile_read(&file, "no/such/file", &err), EP_END);
	ck_assert_uint_eq(file.lines.count, 0);
	teardown();
	ck_assert_int_eq(ep_keyfile_read(&file, "/dev/null", &err), EP_E_FORMAT);
	ck_assert_int_eq(ep_keyfile_read(&file, "/", &err), EP_E_FORMAT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("keyfile");
	TCase *cases = tcase_create("keyfile");

	tcase_add_checked_fixture(cases, NULL, teardown);
	tcase_add_test(cases, values_are_read_without_blanks_and_comments);
	tcase_add_test(cases, lines_come_in_their_order_with_their_places);
	tcase_add_test(cases, what_was_written_on_other_systems_is_read);
	tcase_add_test(cases, more_than_allowed_is_refused);
	tcase_add_test(cases, damage_is_told_by_line_and_column);
	tcase_add_test(cases, a_file_that_is_not_there_is_empty);
	suite_add_tcase(suite, cases);
	return ep_test_main(suite);
}
