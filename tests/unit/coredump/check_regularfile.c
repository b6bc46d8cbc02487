/* SPDX-License-Identifier: BSD-2-Clause */
/* check_regularfile.c: what may be opened, and what must not. */
#include "coredump/files/regularfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/main.h"

static char top[4096];

static const char *in_top(const char *name)
{
	static char paths[4][8192];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void make(const char *name, const char *text)
{
	FILE *file = fopen(in_top(name), "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void setup(void)
{
	char name[] = "regularfile.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(name));
	ck_assert_ptr_nonnull(realpath(name, top));
	make("file", "inside");
	make("outside", "outside");
	mkdir(in_top("tree"), 0700);
	mkdir(in_top("tree/src"), 0700);
	make("tree/src/a.c", "int a;");
	ck_assert_int_eq(mkfifo(in_top("fifo"), 0600), 0);
	ck_assert_int_eq(symlink("fifo", in_top("to-fifo")), 0);
	ck_assert_int_eq(symlink("/dev/null", in_top("to-device")), 0);
	ck_assert_int_eq(symlink("file", in_top("to-file")), 0);
	ck_assert_int_eq(symlink("src", in_top("tree/also")), 0);
	ck_assert_int_eq(symlink("../outside", in_top("tree/out")), 0);
	ck_assert_int_eq(symlink(in_top("outside"), in_top("tree/far")), 0);
	ck_assert_int_eq(symlink("..", in_top("tree/up")), 0);
}

static void teardown(void)
{
	char command[8192];

	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	ck_assert_int_eq(system(command), 0);
}

/* What the descriptor reads; it is closed. */
static const char *text_of(int fd)
{
	static char text[64];
	ssize_t size;

	ck_assert_msg(fd >= 0, "%s", strerror(errno));
	size = read(fd, text, sizeof(text) - 1);
	ck_assert_int_ge(size, 0);
	text[size] = '\0';
	close(fd);
	return text;
}

static void refused(int fd, int error)
{
	int found = errno;

	ck_assert_int_eq(fd, -1);
	ck_assert_msg(found == error, "%s", strerror(found));
}

START_TEST(a_regular_file_is_opened_also_through_a_link)
{
	int fd = ep_regular_file_open(in_top("file"));

	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert_str_eq(text_of(fd), "inside");
	ck_assert_str_eq(text_of(ep_regular_file_open(in_top("to-file"))), "inside");
	refused(ep_regular_file_open(in_top("nothing")), ENOENT);
}
END_TEST

/* Who waits to write into the FIFO would be let through by an open. */
START_TEST(neither_fifos_nor_devices_nor_directories_are_opened)
{
	refused(ep_regular_file_open(in_top("fifo")), EINVAL);
	refused(ep_regular_file_open(in_top("to-fifo")), EINVAL);
	refused(ep_regular_file_open(in_top("to-device")), EINVAL);
	refused(ep_regular_file_open("/dev/tty"), EINVAL);
	refused(ep_regular_file_open(top), EINVAL);
}
END_TEST

START_TEST(files_that_the_kernel_makes_up_are_not_opened)
{
	char path[16384];

	refused(ep_regular_file_open("/proc/self/status"), EINVAL);
	refused(ep_regular_file_open("/proc/self/mem"), EINVAL);
	refused(ep_regular_file_open("/proc/self/fd/../maps"), EINVAL);
	if (access("/sys/kernel/notes", F_OK) == 0)
		refused(ep_regular_file_open("/sys/kernel/notes"), EINVAL);
	/* A way through /proc to a file of the disk is as good as any. */
	snprintf(path, sizeof(path), "/proc/self/root%s", in_top("file"));
	ck_assert_str_eq(text_of(ep_regular_file_open(path)), "inside");
}
END_TEST

/* libdw's way. */
START_TEST(a_plain_open_comes_to_the_same_door)
{
	refused(open(in_top("fifo"), O_RDONLY), EINVAL);
	refused(open("/dev/null", O_RDONLY), EINVAL);
	ck_assert_str_eq(text_of(open(in_top("file"), O_RDONLY)), "inside");
	ck_assert_str_eq(text_of(open("/dev/null", O_RDONLY | O_CLOEXEC)), "");
}
END_TEST

START_TEST(below_a_directory_nothing_leads_out)
{
	int tree = open(in_top("tree"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	char far[8192];

	ck_assert_int_ge(tree, 0);
	ck_assert_str_eq(text_of(ep_regular_file_open_below(tree, "src/a.c")), "int a;");
	ck_assert_str_eq(text_of(ep_regular_file_open_below(tree, "src//a.c")), "int a;");
	refused(ep_regular_file_open_below(tree, "out"), EXDEV);
	refused(ep_regular_file_open_below(tree, "far"), EXDEV);
	refused(ep_regular_file_open_below(tree, "up/outside"), EXDEV);
	refused(ep_regular_file_open_below(tree, "../outside"), EXDEV);
	refused(ep_regular_file_open_below(tree, "src"), EINVAL);
	snprintf(far, sizeof(far), "%s", in_top("tree/src/a.c"));
	refused(ep_regular_file_open_below(tree, far), EXDEV);
	close(tree);
}
END_TEST

START_TEST(what_root_and_the_reader_own_is_opened_through_their_links)
{
	char loop[8192];

	ck_assert_str_eq(text_of(ep_regular_file_open_owned(in_top("file"))), "inside");
	ck_assert_str_eq(text_of(ep_regular_file_open_owned(in_top("to-file"))), "inside");
	ck_assert_str_eq(text_of(ep_regular_file_open_owned(in_top("tree/also/a.c"))), "int a;");
	ck_assert_str_eq(text_of(ep_regular_file_open_owned(in_top("tree/up/outside"))), "outside");
	ck_assert_str_eq(text_of(ep_regular_file_open_owned(in_top("tree/far"))), "outside");
	ck_assert_str_eq(text_of(ep_regular_file_open_owned(in_top("tree//src/./../../file"))),
			 "inside");
	refused(ep_regular_file_open_owned(in_top("nothing")), ENOENT);
	refused(ep_regular_file_open_owned(in_top("file/below")), ENOTDIR);
	refused(ep_regular_file_open_owned(in_top("to-fifo")), EINVAL);
	refused(ep_regular_file_open_owned(top), EINVAL);
	snprintf(loop, sizeof(loop), "%s", in_top("loop"));
	ck_assert_int_eq(symlink(loop, loop), 0);
	refused(ep_regular_file_open_owned(loop), ELOOP);
	/* A way through /proc would take its links for those of the process. */
	snprintf(loop, sizeof(loop), "/proc/self/root%s", in_top("file"));
	refused(ep_regular_file_open_owned(loop), EPERM);
}
END_TEST

START_TEST(where_others_may_rename_nothing_is_opened)
{
	ck_assert_int_eq(chmod(in_top("tree"), 0777), 0);
	refused(ep_regular_file_open_owned(in_top("tree/src/a.c")), EPERM);
	ck_assert_int_eq(chmod(in_top("tree"), 01777), 0);
	ck_assert_str_eq(text_of(ep_regular_file_open_owned(in_top("tree/src/a.c"))), "int a;");
	if (geteuid() != 0)
		return; /* Only root can give something away. */
	ck_assert_int_eq(lchown(in_top("to-file"), 65534, 65534), 0);
	refused(ep_regular_file_open_owned(in_top("to-file")), EPERM);
	ck_assert_int_eq(lchown(in_top("tree/src/a.c"), 65534, 65534), 0);
	refused(ep_regular_file_open_owned(in_top("tree/src/a.c")), EPERM);
	ck_assert_int_eq(chown(in_top("tree/src/a.c"), 0, 0), 0);
	ck_assert_int_eq(chown(in_top("tree/src"), 65534, 65534), 0);
	refused(ep_regular_file_open_owned(in_top("tree/src/a.c")), EPERM);
	refused(ep_regular_file_open_owned(in_top("tree/src/../../file")), EPERM);
}
END_TEST

START_TEST(a_path_may_be_as_long_as_the_kernel_allows)
{
	char path[2 * 4096] = "/";

	while (strlen(path) < 4096)
		strcat(path, "a/");
	refused(ep_regular_file_open_owned(path), ENAMETOOLONG);
	memset(path, 'a', 300);
	path[0] = '/';
	path[300] = '\0';
	refused(ep_regular_file_open_owned(path), ENAMETOOLONG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("regularfile");
	TCase *tests = tcase_create("regularfile");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_regular_file_is_opened_also_through_a_link);
	tcase_add_test(tests, neither_fifos_nor_devices_nor_directories_are_opened);
	tcase_add_test(tests, files_that_the_kernel_makes_up_are_not_opened);
	tcase_add_test(tests, a_plain_open_comes_to_the_same_door);
	tcase_add_test(tests, below_a_directory_nothing_leads_out);
	tcase_add_test(tests, what_root_and_the_reader_own_is_opened_through_their_links);
	tcase_add_test(tests, where_others_may_rename_nothing_is_opened);
	tcase_add_test(tests, a_path_may_be_as_long_as_the_kernel_allows);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
