/* SPDX-License-Identifier: BSD-2-Clause */
/* check_textfile.c: whole or not at all, and one writer at a time. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "funcount/counts/textfile.h"
#include "main.h"

static char folder[] = "/tmp/epitaph-textfile.XXXXXX";
static struct ep_err err;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	fputs(text, file);
	fclose(file);
}

static void holds(const char *path, const char *wanted)
{
	char text[64] = "";
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert(fgets(text, sizeof(text), file) || !*wanted);
	fclose(file);
	ck_assert_str_eq(text, wanted);
}

static unsigned files_here(void)
{
	FILE *list = popen("ls -A | wc -l", "r");
	unsigned count = 99;

	ck_assert_int_eq(fscanf(list, "%u", &count), 1);
	pclose(list);
	return count;
}

START_TEST(the_old_file_stays_until_the_new_one_is_whole)
{
	struct ep_textfile out;

	write_file("f", "old");
	ck_assert_int_eq(ep_textfile_open(&out, "f", &err), EP_OK);
	fputs("new", out.file);
	holds("f", "old");
	ep_textfile_abandon(&out);
	holds("f", "old");
	ck_assert_int_eq(ep_textfile_open(&out, "f", &err), EP_OK);
	fputs("new", out.file);
	ck_assert_int_eq(ep_textfile_commit(&out, &err), EP_OK);
	holds("f", "new");
	ck_assert_uint_eq(files_here(), 1);
}
END_TEST

START_TEST(mode_and_link_of_the_old_file_stay)
{
	struct ep_textfile out;
	struct stat st;

	write_file("f", "old");
	ck_assert_int_eq(chmod("f", 0640), 0);
	ck_assert_int_eq(symlink("f", "l"), 0);
	ck_assert_int_eq(ep_textfile_open(&out, "l", &err), EP_OK);
	fputs("new", out.file);
	ck_assert_int_eq(ep_textfile_commit(&out, &err), EP_OK);
	holds("f", "new");
	ck_assert_int_eq(lstat("l", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(stat("f", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_full_disk_leaves_nothing)
{
	struct ep_textfile out;

	ck_assert_int_eq(ep_textfile_open(&out, "/dev/full", &err), EP_OK);
	fputs("new", out.file);
	ck_assert_int_eq(ep_textfile_commit(&out, &err), EP_E_IO);
	ck_assert(strstr(err.text, "No space"));
	ck_assert_int_eq(ep_textfile_open(&out, "no/such/folder/f", &err), EP_E_IO);
	ck_assert_int_eq(ep_textfile_open(&out, "", &err), EP_E_USAGE);
	ck_assert_uint_eq(files_here(), 0);
}
END_TEST

/* Adds 1 to the number in the file, a hundred times. */
static void add_hundred(void)
{
	for (int i = 0; i < 100; i++) {
		struct ep_textfile out;
		int lock, number = 0;
		FILE *file;

		if (ep_textfile_lock(&lock, "sum", &err))
			_exit(1);
		file = fopen("sum", "r");
		if (file) {
			if (fscanf(file, "%d", &number) != 1)
				_exit(2);
			fclose(file);
		}
		if (ep_textfile_open(&out, "sum", &err))
			_exit(3);
		fprintf(out.file, "%d", number + 1);
		if (ep_textfile_commit(&out, &err))
			_exit(4);
		close(lock);
	}
	_exit(0);
}

START_TEST(four_writers_lose_nothing)
{
	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			add_hundred();
	for (int i = 0; i < 4; i++) {
		int status;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	holds("sum", "400");
	ck_assert_uint_eq(files_here(), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("textfile");
	TCase *cases = tcase_create("textfile");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, the_old_file_stays_until_the_new_one_is_whole);
	tcase_add_test(cases, mode_and_link_of_the_old_file_stay);
	tcase_add_test(cases, a_full_disk_leaves_nothing);
	tcase_add_test(cases, four_writers_lose_nothing);
	suite_add_tcase(suite, cases);
	return ep_test_main(suite);
}
