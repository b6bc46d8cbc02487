/* SPDX-License-Identifier: BSD-2-Clause */
/* check_output.c: whole or not at all, also where memory runs out; and one writer at a time. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/files/output.h"
#include "coredump/util/alloc.h"
#include "main.h"

static char folder[] = "/tmp/epitaph-output.XXXXXX";
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
	struct ep_output out;

	write_file("f", "old");
	ck_assert_int_eq(ep_output_open_text(&out, "f", &err), EP_OK);
	fputs("new", out.file);
	holds("f", "old");
	ep_output_abandon(&out);
	holds("f", "old");
	ck_assert_int_eq(ep_output_open_text(&out, "f", &err), EP_OK);
	fputs("new", out.file);
	ck_assert_int_eq(ep_output_commit(&out, &err), EP_OK);
	holds("f", "new");
	ck_assert_uint_eq(files_here(), 1);
}
END_TEST

START_TEST(mode_and_link_of_the_old_file_stay)
{
	struct ep_output out;
	struct stat st;

	write_file("f", "old");
	ck_assert_int_eq(chmod("f", 0640), 0);
	ck_assert_int_eq(symlink("f", "l"), 0);
	ck_assert_int_eq(ep_output_open_text(&out, "l", &err), EP_OK);
	fputs("new", out.file);
	ck_assert_int_eq(ep_output_commit(&out, &err), EP_OK);
	holds("f", "new");
	ck_assert_int_eq(lstat("l", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(stat("f", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_full_disk_leaves_nothing)
{
	struct ep_output out;

	ck_assert_int_eq(ep_output_open_text(&out, "/dev/full", &err), EP_OK);
	fputs("new", out.file);
	ck_assert_int_eq(ep_output_commit(&out, &err), EP_E_IO);
	ck_assert(strstr(err.text, "No space"));
	ck_assert_int_eq(ep_output_open_text(&out, "no/such/folder/f", &err), EP_E_IO);
	ck_assert_int_eq(ep_output_open_text(&out, "", &err), EP_E_USAGE);
	ck_assert_uint_eq(files_here(), 0);
}
END_TEST

/* From now on there are no files without a name here, as on some file systems. */
static void no_nameless_files(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, __O_TMPFILE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(99);
}

/* An output aside, with a name; nobody's memory. */
static void open_and_starve(void)
{
	struct ep_output out;

	no_nameless_files();
	if (ep_output_open(&out, "f", true, &err) || access(out.aside, F_OK))
		_exit(98);
	close(STDERR_FILENO);
	ep_out_of_memory();
}

START_TEST(memory_that_runs_out_leaves_nothing)
{
	int status;

	write_file("f", "old");
	if (fork() == 0)
		open_and_starve();
	ck_assert_int_gt(wait(&status), 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), EP_EXIT_MEMORY);
	holds("f", "old");
	ck_assert_uint_eq(files_here(), 1);
}
END_TEST

static void open_and_fork(void)
{
	struct ep_output out;
	int status;

	no_nameless_files();
	if (ep_output_open(&out, "f", true, &err) || write(out.fd, "new", 3) != 3)
		_exit(97);
	if (fork() == 0)
		exit(0);
	wait(&status);
	_exit(ep_output_commit(&out, &err) ? 96 : 0);
}

START_TEST(a_child_that_ends_leaves_its_parents_output)
{
	int status;

	if (fork() == 0)
		open_and_fork();
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	holds("f", "new");
	ck_assert_uint_eq(files_here(), 1);
}
END_TEST

/* Adds 1 to the number in the file, a hundred times. */
static void add_hundred(void)
{
	for (int i = 0; i < 100; i++) {
		struct ep_output out;
		int lock, number = 0;
		FILE *file;

		if (ep_output_lock(&lock, "sum", &err))
			_exit(1);
		file = fopen("sum", "r");
		if (file) {
			if (fscanf(file, "%d", &number) != 1)
				_exit(2);
			fclose(file);
		}
		if (ep_output_open_text(&out, "sum", &err))
			_exit(3);
		fprintf(out.file, "%d", number + 1);
		if (ep_output_commit(&out, &err))
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
	Suite *suite = suite_create("output");
	TCase *cases = tcase_create("output");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, the_old_file_stays_until_the_new_one_is_whole);
	tcase_add_test(cases, mode_and_link_of_the_old_file_stay);
	tcase_add_test(cases, a_full_disk_leaves_nothing);
	tcase_add_test(cases, memory_that_runs_out_leaves_nothing);
	tcase_add_test(cases, a_child_that_ends_leaves_its_parents_output);
	tcase_add_test(cases, four_writers_lose_nothing);
	suite_add_tcase(suite, cases);
	return ep_test_main(suite);
}
