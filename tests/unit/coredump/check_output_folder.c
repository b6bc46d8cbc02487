/* SPDX-License-Identifier: BSD-2-Clause */
/* check_output_folder.c: a folder is there whole or not at all, whatever ends its writer; with
 * files without a name, and where there are none. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/files/output_folder.h"
#include "main.h"

static char folder[] = "/tmp/epitaph-folder.XXXXXX";
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

static bool is_letter(const char *name)
{
	return strlen(name) == 1;
}

/* What `sh` prints of it. */
static void prints(const char *command, const char *wanted)
{
	FILE *out = popen(command, "r");
	char text[256] = "";
	size_t size = fread(text, 1, sizeof(text) - 1, out);

	text[size] = 0;
	pclose(out);
	ck_assert_str_eq(text, wanted);
}

/* Two files with that text, and how opening ended. */
static int make(struct ep_output_folder *out, const char *path, bool replace, const char *text)
{
	int rc = ep_output_folder_open(out, path, replace, is_letter, &err), fd;

	for (const char *name = "ab"; rc == EP_OK && *name; name++) {
		rc = ep_output_folder_add(out, (char[]){*name, 0}, &fd, &err);
		if (rc == EP_OK)
			ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	}
	return rc;
}

/* From now on there are no files without a name here, as on some file systems. */
static void no_nameless_files(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void check_life(void)
{
	struct ep_output_folder out;

	ck_assert_int_eq(make(&out, "new/", false, "1"), EP_OK);
	ck_assert_int_eq(access("new", F_OK), -1);
	ck_assert_int_eq(ep_output_folder_commit(&out, &err), EP_OK);
	prints("ls -A; cat new/*; stat -c %a new new/a", "new\n11700\n600\n");
	ck_assert_int_eq(make(&out, "new", false, "2"), EP_E_USAGE);
	ck_assert_int_eq(make(&out, "new", true, "2"), EP_OK);
	prints("cat new/*", "11");
	ep_output_folder_abandon(&out);
	prints("ls -A; cat new/*", "new\n11");
	ck_assert_int_eq(system("touch new/c"), 0);
	ck_assert_int_eq(make(&out, "new", true, "3"), EP_OK);
	ck_assert_int_eq(ep_output_folder_commit(&out, &err), EP_OK);
	prints("ls -A . new; cat new/*", ".:\nnew\n\nnew:\na\nb\n33");
	ck_assert_int_eq(system("touch new/other"), 0);
	ck_assert_int_eq(make(&out, "new", true, "4"), EP_E_USAGE);
	ck_assert_ptr_nonnull(strstr(err.text, "(other)"));
	prints("ls -A . new; cat new/*", ".:\nnew\n\nnew:\na\nb\nother\n33");
}

START_TEST(a_folder_is_whole_and_only_what_is_ours_is_replaced)
{
	check_life();
}
END_TEST

START_TEST(so_it_is_where_all_files_have_names)
{
	struct ep_output_folder out;

	no_nameless_files();
	check_life();
	ck_assert_int_eq(make(&out, "aside", false, "5"), EP_OK);
	ck_assert(!out.nameless && out.aside[0]);
	ep_output_folder_abandon(&out);
	ck_assert_int_eq(access(out.path, F_OK), -1);
}
END_TEST

/* As the program does. */
static void end_by(int signal)
{
	ep_output_folder_remove_aside();
	raise(signal);
}

/* `signal` ends a child that has written half of it; 0: exit(3) does. */
static void end_half_way(int signal, bool nameless)
{
	static struct ep_output_folder out;
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (signal != SIGKILL && signal)
			sigaction(signal,
				  &(struct sigaction){.sa_handler = end_by,
						      .sa_flags = (int)SA_RESETHAND | SA_NODEFER},
				  NULL);
		if (!nameless)
			no_nameless_files();
		if (make(&out, "half", false, "half") != EP_OK || out.nameless != nameless)
			_exit(99);
		if (!signal)
			exit(7);
		raise(signal);
		_exit(98);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	if (signal)
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == signal);
	else
		ck_assert_int_eq(WEXITSTATUS(status), 7);
	prints("ls -A", "");
}

START_TEST(whatever_ends_the_writer_nothing_stays)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	end_half_way(SIGKILL, true);
	end_half_way(0, true);
	end_half_way(0, false);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		end_half_way(signals[i], true);
		end_half_way(signals[i], false);
	}
}
END_TEST

START_TEST(a_folder_that_came_meanwhile_is_not_replaced)
{
	struct ep_output_folder out;

	ck_assert_int_eq(make(&out, "new", false, "1"), EP_OK);
	ck_assert_int_eq(system("mkdir new && touch new/theirs"), 0);
	ck_assert_int_ne(ep_output_folder_commit(&out, &err), EP_OK);
	prints("ls -A . new", ".:\nnew\n\nnew:\ntheirs\n");
	/* Nor by who replaces: what is no file of ours is not removed. */
	ck_assert_int_eq(system("rm new/theirs"), 0);
	ck_assert_int_eq(make(&out, "new", true, "1"), EP_OK);
	ck_assert_int_eq(system("touch new/theirs"), 0);
	ck_assert_int_ne(ep_output_folder_commit(&out, &err), EP_OK);
	prints("ls -A . new", ".:\nnew\n\nnew:\ntheirs\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output_folder");
	TCase *cases = tcase_create("output_folder");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, a_folder_is_whole_and_only_what_is_ours_is_replaced);
	tcase_add_test(cases, so_it_is_where_all_files_have_names);
	tcase_add_test(cases, whatever_ends_the_writer_nothing_stays);
	tcase_add_test(cases, a_folder_that_came_meanwhile_is_not_replaced);
	suite_add_tcase(suite, cases);
	return ep_test_main(suite);
}
