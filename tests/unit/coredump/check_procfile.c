/* SPDX-License-Identifier: BSD-2-Clause */
/* check_procfile.c: every line once, whatever its length. */
#include "coredump/files/procfile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/main.h"

#define LONGEST (sizeof(((struct ep_procfile *)NULL)->bytes) - 1)

static void write_file(const char *text, size_t size)
{
	FILE *file = fopen("lines", "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(lines_come_in_order)
{
	struct ep_procfile file;

	write_file("one\n\nthree\nlast", 15);
	ck_assert(ep_procfile_open(&file, "lines"));
	ck_assert_str_eq(ep_procfile_next(&file, '\n'), "one");
	ck_assert_str_eq(ep_procfile_next(&file, '\n'), "");
	ck_assert_str_eq(ep_procfile_next(&file, '\n'), "three");
	ck_assert_str_eq(ep_procfile_next(&file, '\n'), "last");
	ck_assert_ptr_null(ep_procfile_next(&file, '\n'));
	ep_procfile_close(&file);
}
END_TEST

/* A line of a buffer's size and those beside it, after one of 3 bytes. */
START_TEST(long_lines_are_cut)
{
	size_t length = LONGEST - 8 + (size_t)_i;
	char text[2 * LONGEST], *line;
	struct ep_procfile file;

	memset(text, 'x', sizeof(text));
	memcpy(text, "abc\n", 4);
	memcpy(text + 4 + length, "\nnext\n", 6);
	write_file(text, 4 + length + 6);
	ck_assert(ep_procfile_open(&file, "lines"));
	ck_assert_str_eq(ep_procfile_next(&file, '\n'), "abc");
	line = ep_procfile_next(&file, '\n');
	ck_assert_uint_eq(strlen(line), length < LONGEST ? length : LONGEST);
	ck_assert_uint_eq(strspn(line, "x"), strlen(line));
	ck_assert_str_eq(ep_procfile_next(&file, '\n'), "next");
	ck_assert_ptr_null(ep_procfile_next(&file, '\n'));
	ep_procfile_close(&file);
}
END_TEST

START_TEST(an_environment_is_read)
{
	struct ep_procfile file;

	write_file("A=1\0B=x\ny\0", 10);
	ck_assert(ep_procfile_open(&file, "lines"));
	ck_assert_str_eq(ep_procfile_next(&file, '\0'), "A=1");
	ck_assert_str_eq(ep_procfile_next(&file, '\0'), "B=x\ny");
	ck_assert_ptr_null(ep_procfile_next(&file, '\0'));
	ep_procfile_close(&file);
}
END_TEST

START_TEST(what_is_not_there_says_why)
{
	struct ep_procfile file;
	char text[8] = "before";

	ck_assert(!ep_procfile_open(&file, "nowhere"));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert(!ep_procfile_line("nowhere", text, sizeof(text)));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(a_first_line_is_cut_to_its_room)
{
	char text[8];

	write_file("1234567890\nx\n", 13);
	ck_assert(ep_procfile_line("lines", text, sizeof(text)));
	ck_assert_str_eq(text, "1234567");
	write_file("12\nx\n", 5);
	ck_assert(ep_procfile_line("lines", text, sizeof(text)));
	ck_assert_str_eq(text, "12");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("procfile");
	TCase *tests = tcase_create("procfile");

	tcase_add_test(tests, lines_come_in_order);
	tcase_add_loop_test(tests, long_lines_are_cut, 0, 12);
	tcase_add_test(tests, an_environment_is_read);
	tcase_add_test(tests, what_is_not_there_says_why);
	tcase_add_test(tests, a_first_line_is_cut_to_its_room);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
