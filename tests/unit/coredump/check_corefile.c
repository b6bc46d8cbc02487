/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_corefile.c: a core's file, of a process in a root of its own, which an ordinary user makes
 * in a user namespace: nothing that he lays there leads out of it. What the kernel does in each
 * case is tests/cli/catch-paths.sh's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/handler/corefile.h"
#include "main.h"

static char top[PATH_MAX]; /* top/root is the process's, top/out is not */
static pid_t process;
static struct ep_crash crash;
static bool rooted; /* false: no chroot is possible here, cwd only */

static void text_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Its working directory is below its root. */
static void process_run(int ready)
{
	bool in_root = (geteuid() == 0 || unshare(CLONE_NEWUSER) == 0) && chroot("root") == 0;

	if (chdir(in_root ? "/w" : "root/w") != 0 || write(ready, in_root ? "r" : "-", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void set_up(void)
{
	int ready[2];
	char path[64], how;

	snprintf(top, sizeof(top), "corefile.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	ck_assert_int_eq(chdir(top), 0);
	ck_assert_ptr_nonnull(getcwd(top, sizeof(top)));
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(
			mkdir((const char *[]){"root", "root/w", "out", "root/in"}[i], 0700), 0);
	text_write("out/core", "gold");
	ck_assert_int_eq(pipe(ready), 0);
	process = fork();
	if (process == 0)
		process_run(ready[1]);
	ck_assert_int_eq(read(ready[0], &how, 1), 1);
	rooted = how == 'r';
	ep_crash_init(&crash);
	snprintf(path, sizeof(path), "/proc/%d", (int)process);
	crash.proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	crash.pid = crash.inner_pid = process;
	crash.dumpable = 1;
	crash.limit = UINT64_MAX;
	for (int i = 0; i < 4; i++) {
		crash.credentials.uid[i] = geteuid();
		crash.credentials.gid[i] = getegid();
	}
	crash.credentials.group_count =
		(unsigned)getgroups(EP_CRASH_GROUPS, crash.credentials.groups);
	crash.credentials.capabilities = UINT64_MAX;
}

static void tear_down(void)
{
	char command[PATH_MAX + 16];

	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
	ep_crash_close(&crash);
	ck_assert_int_eq(chdir(".."), 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	ck_assert_int_eq(system(command), 0);
}

/* In a process of its own, as it is meant to be: the file then has "core". */
static int makes(const char *pattern)
{
	pid_t child = fork();
	int status, fd;

	if (child == 0) {
		int rc = ep_corefile_open(&crash, pattern, false, &fd, NULL);

		_exit(rc ? -rc : write(fd, "core", 4) == 4 ? 0 : 99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return (int8_t)-WEXITSTATUS(status);
}

/* As "mode text"; "" when there is none. */
static const char *file_text(const char *path)
{
	static char text[64];
	struct stat st;
	int fd = open(path, O_RDONLY | O_NOFOLLOW), used;

	text[0] = '\0';
	if (fd < 0)
		return text;
	ck_assert_int_eq(fstat(fd, &st), 0);
	used = snprintf(text, sizeof(text), "%o ", st.st_mode & 0777);
	used += (int)read(fd, text + used, 16);
	text[used] = '\0';
	close(fd);
	return text;
}

START_TEST(a_relative_name_is_in_the_working_directory)
{
	ck_assert_int_eq(makes("core"), EP_OK);
	ck_assert_str_eq(file_text("root/w/core"), "600 core");
	ck_assert_int_eq(makes("."), EP_E_IO);
	ck_assert_int_eq(makes(".."), EP_E_IO);
	ck_assert_int_eq(makes("none/"), EP_E_IO);
}
END_TEST

START_TEST(what_has_its_name_is_replaced_and_not_written_to)
{
	ck_assert_int_eq(symlink("../../out/core", "root/w/core"), 0);
	ck_assert_int_eq(makes("core"), EP_OK);
	ck_assert_str_eq(file_text("root/w/core"), "600 core");
	ck_assert_int_eq(link("out/core", "root/w/second"), 0);
	ck_assert_int_eq(makes("second"), EP_OK);
	ck_assert_str_eq(file_text("root/w/second"), "600 core");
	ck_assert_int_eq(mkfifo("root/w/fifo", 0600), 0);
	ck_assert_int_eq(makes("fifo"), EP_OK);
	ck_assert_str_eq(file_text("out/core"), "600 gold");
}
END_TEST

START_TEST(nothing_leads_out_of_the_working_directory)
{
	ck_assert_int_eq(symlink("../../out", "root/w/link"), 0);
	ck_assert_int_eq(makes("link/core"), EP_E_IO);
	ck_assert_int_eq(makes("../../out/core"), EP_E_IO);
	ck_assert_int_eq(unlink("root/w/link"), 0);
	ck_assert_int_eq(symlink(top, "root/w/link"), 0);
	ck_assert_int_eq(makes("link/out/core"), EP_E_IO);
	ck_assert_str_eq(file_text("out/core"), "600 gold");
}
END_TEST

START_TEST(nothing_leads_out_of_its_root)
{
	if (!rooted)
		return; /* no user namespaces: only root can do it here */
	ck_assert_int_eq(makes("/in/core"), EP_OK);
	ck_assert_str_eq(file_text("root/in/core"), "600 core");
	ck_assert_int_eq(symlink("../../../out", "root/up"), 0);
	ck_assert_int_eq(makes("/up/core"), EP_E_IO);
	ck_assert_int_eq(symlink(top, "root/top"), 0);
	ck_assert_int_eq(makes("/top/out/core"), EP_E_IO);
	ck_assert_int_eq(makes("/../out/core"), EP_E_IO);
	ck_assert_int_eq(symlink("/in", "root/inside"), 0);
	ck_assert_int_eq(unlink("root/in/core"), 0);
	ck_assert_int_eq(makes("/inside/core"), EP_OK);
	ck_assert_str_eq(file_text("root/in/core"), "600 core");
	ck_assert_str_eq(file_text("out/core"), "600 gold");
}
END_TEST

START_TEST(a_program_with_privileges_removes_nothing)
{
	char pattern[PATH_MAX + 16];

	crash.dumpable = 2;
	ck_assert_int_eq(makes("core"), EP_E_PERMISSION);
	ck_assert_str_eq(file_text("root/w/core"), "");
	snprintf(pattern, sizeof(pattern), "%s/out/core", top);
	ck_assert_int_ne(makes(pattern), EP_OK);
	ck_assert_str_eq(file_text("out/core"), "600 gold");
}
END_TEST

START_TEST(there_is_no_core_where_none_is_wanted_or_known)
{
	crash.limit = 4095;
	ck_assert_int_eq(makes("core"), EP_END);
	crash.limit = 4096;
	ep_crash_close(&crash);
	ck_assert_int_eq(makes("core"), EP_E_IO);
	ck_assert_str_eq(file_text("root/w/core"), "");
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("corefile");
	TCase *one = tcase_create("corefile");

	tcase_add_checked_fixture(one, set_up, tear_down);
	tcase_add_test(one, a_relative_name_is_in_the_working_directory);
	tcase_add_test(one, what_has_its_name_is_replaced_and_not_written_to);
	tcase_add_test(one, nothing_leads_out_of_the_working_directory);
	tcase_add_test(one, nothing_leads_out_of_its_root);
	tcase_add_test(one, a_program_with_privileges_removes_nothing);
	tcase_add_test(one, there_is_no_core_where_none_is_wanted_or_known);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
