/* SPDX-License-Identifier: BSD-2-Clause */
/* check_live.c: a running process is read without being stopped, and what cannot be is told with
 * what to do next. */
#include "tests/unit/main.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/live/live.h"

static struct ep_source *source;
static struct ep_err err;
static char marker[64] = "before";

static void *wait_for_ever(void *unused)
{
	prctl(PR_SET_NAME, "second");
	pause();
	return unused;
}

/* A child with two threads, a closed page and a changed marker. */
static pid_t child_start(uint8_t **closed)
{
	int ends[2];
	pid_t pid;
	char byte;

	*closed = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(*closed, 0x3c, 8192);
	ck_assert_int_eq(munmap(*closed + 4096, 4096), 0);
	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		strcpy(marker, "after");
		mprotect(*closed, 4096, PROT_NONE);
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		usleep(20000);
		if (write(ends[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

START_TEST(memory_is_the_processs_own)
{
	uint8_t *closed, byte = 0xee;
	pid_t pid = child_start(&closed);
	char text[64], name[32];
	size_t done;

	snprintf(name, sizeof(name), "pid:%d", pid);
	ck_assert_int_eq(ep_source_open(&source, name, &err), EP_OK);
	ck_assert_int_eq(ep_source_kind(source), EP_SOURCE_LIVE);
	ck_assert_int_eq(ep_source_pid(source), pid);
	ck_assert_ptr_null(ep_source_path(source));
	ck_assert_int_eq(ep_source_read_string(source, (uintptr_t)marker, text, sizeof(text), &err),
			 EP_OK);
	ck_assert_str_eq(text, "after");
	/* without read permission, /proc/PID/mem still gives it */
	ck_assert_int_eq(ep_source_read(source, (uintptr_t)closed, &byte, 1, NULL, &err), EP_OK);
	ck_assert_uint_eq(byte, 0x3c);
	ck_assert_int_eq(
		ep_source_read(source, (uintptr_t)closed + 4000, text, sizeof(text), &done, &err),
		EP_OK);
	ck_assert_int_eq(ep_source_read(source, 8, &byte, 1, NULL, &err), EP_E_UNMAPPED);
	ck_assert_int_eq(ep_source_read(source, UINT64_MAX - 3, text, 16, NULL, &err),
			 EP_E_UNMAPPED);
	ep_source_close(source);
	child_end(pid);
}
END_TEST

START_TEST(a_read_ends_where_the_mapping_does)
{
	uint8_t *closed, out[8192];
	pid_t pid = child_start(&closed);
	size_t done;
	int rc;

	memset(out, 0xee, sizeof(out));
	ck_assert_int_eq(ep_source_open_live(&source, pid, &err), EP_OK);
	rc = ep_source_read(source, (uintptr_t)closed, out, sizeof(out), &done, &err);
	if (rc) { /* nothing else came to lie there */
		ck_assert_int_eq(rc, EP_E_UNMAPPED);
		ck_assert_uint_eq(done, 4096);
		ck_assert_uint_eq(out[4096], 0xee);
	}
	ck_assert_uint_eq(out[4095], 0x3c);
	ep_source_close(source);
	child_end(pid);
}
END_TEST

START_TEST(threads_have_names_and_no_registers)
{
	const struct ep_source_thread *threads;
	const struct ep_mapping *mappings;
	const struct ep_segment *segments;
	uint8_t *closed;
	pid_t pid = child_start(&closed);
	uint64_t value;
	size_t count;

	ck_assert_int_eq(ep_source_open_live(&source, pid, &err), EP_OK);
	threads = ep_source_threads(source, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(threads[0].tid, pid);
	ck_assert_str_eq(threads[1].name, "second");
	ck_assert(!threads[0].has_registers && !threads[1].has_registers);
	mappings = ep_source_mappings(source, &count);
	ck_assert_uint_gt(count, 0);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(mappings[i].path[0], '/');
	segments = ep_source_segments(source, &count);
	for (size_t i = 1; i < count; i++)
		ck_assert_uint_ge(segments[i].address,
				  segments[i - 1].address + segments[i - 1].memory_size);
	ck_assert_int_eq(ep_source_auxv(source, 6 /* AT_PAGESZ */, &value), EP_OK);
	ck_assert_uint_eq(value, 4096);
	ep_source_notes(source, &count);
	ck_assert_uint_eq(count, 0);
	ep_source_close(source);
	child_end(pid);
}
END_TEST

START_TEST(a_process_that_ends_meanwhile_is_told)
{
	uint8_t *closed;
	pid_t pid = child_start(&closed);
	char byte;

	ck_assert_int_eq(ep_source_open_live(&source, pid, &err), EP_OK);
	child_end(pid);
	ck_assert_int_eq(ep_source_read(source, (uintptr_t)marker, &byte, 1, NULL, &err), EP_E_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "has ended"));
	ep_source_close(source);
}
END_TEST

START_TEST(a_pid_that_is_gone_sends_to_the_core)
{
	pid_t pid = fork();
	char name[16];

	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	snprintf(name, sizeof(name), "%d", pid);
	ck_assert_int_eq(ep_source_open(&source, name, &err), EP_E_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "no such process"));
	ck_assert_ptr_nonnull(strstr(err.text, "core"));
}
END_TEST

START_TEST(a_zombie_is_called_one)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	usleep(100000);
	ck_assert_int_eq(ep_source_open_live(&source, pid, &err), EP_E_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "zombie"));
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(without_permission_it_says_which)
{
	uint8_t *closed;
	pid_t pid = child_start(&closed), other;
	int status;

	if (geteuid() != 0) {
		child_end(pid);
		return; /* only root can become somebody else */
	}
	other = fork();
	if (other == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(9);
		if (ep_source_open_live(&source, pid, &err) != EP_E_PERMISSION)
			_exit(1);
		_exit(strstr(err.text, "root") ? 0 : 2);
	}
	waitpid(other, &status, 0);
	ck_assert_int_eq(status, 0);
	child_end(pid);
}
END_TEST

START_TEST(a_kernel_thread_has_no_memory)
{
	char text[64] = "";
	int fd = open("/proc/2/comm", O_RDONLY | O_CLOEXEC);

	/* pid 2 is kthreadd, but for a container */
	if (fd < 0 || read(fd, text, 63) <= 0 || strcmp(text, "kthreadd\n"))
		return;
	close(fd);
	ck_assert_int_eq(ep_source_open_live(&source, 2, &err), EP_E_FORMAT);
	ck_assert_ptr_nonnull(strstr(err.text, "kernel"));
}
END_TEST

START_TEST(names_that_are_no_pid_are_told)
{
	static const char *const names[] = {"pid:", "pid:x", "pid:0", "pid:-1", "pid:99999999999"};

	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(ep_source_open(&source, names[i], &err), EP_E_USAGE);
}
END_TEST

static int share(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return 0;
}

/* The memory outlives the program by a sibling that shares it. */
START_TEST(after_an_exec_the_memory_is_still_the_one_that_was_opened)
{
	static char stack[16384] __attribute__((aligned(16)));
	static volatile int *shared;
	char text[sizeof(marker)];
	int memory, sibling;
	pid_t pid;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0) {
		shared[0] = clone(share, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		while (!shared[1])
			usleep(1000);
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	while (!shared[0])
		usleep(1000);
	sibling = shared[0];
	ck_assert_int_eq(ep_source_open_live(&source, pid, &err), EP_OK);
	memory = ep_source_live_memory(source);
	ck_assert_int_eq(pread(memory, text, sizeof(text), (off_t)(uintptr_t)marker), sizeof(text));
	close(memory);
	shared[1] = 1;
	do {
		usleep(1000);
		memory = ep_source_live_memory(source);
		ck_assert_int_ge(memory, 0);
		text[0] = (char)(pread(memory, text, sizeof(text), (off_t)(uintptr_t)marker) > 0);
		close(memory);
	} while (text[0]);
	ck_assert_int_eq(ep_source_read(source, (uintptr_t)marker, text, sizeof(text), NULL, &err),
			 EP_OK);
	ck_assert_int_eq(memcmp(text, marker, sizeof(text)), 0);
	kill(sibling, SIGKILL);
	/* Now nobody has it any more, and the process runs another program. */
	while (ep_source_read(source, (uintptr_t)marker, text, 1, NULL, &err) == EP_OK)
		usleep(1000);
	ck_assert_ptr_nonnull(strstr(err.text, "another program"));
	child_end(pid);
	ck_assert_int_lt(ep_source_live_memory(source), 0);
	ep_source_close(source);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("live");
	TCase *test = tcase_create("live");

	tcase_add_test(test, memory_is_the_processs_own);
	tcase_add_test(test, a_read_ends_where_the_mapping_does);
	tcase_add_test(test, threads_have_names_and_no_registers);
	tcase_add_test(test, a_process_that_ends_meanwhile_is_told);
	tcase_add_test(test, a_pid_that_is_gone_sends_to_the_core);
	tcase_add_test(test, a_zombie_is_called_one);
	tcase_add_test(test, without_permission_it_says_which);
	tcase_add_test(test, a_kernel_thread_has_no_memory);
	tcase_add_test(test, names_that_are_no_pid_are_told);
	tcase_add_test(test, after_an_exec_the_memory_is_still_the_one_that_was_opened);
	suite_add_tcase(suite, test);
	return ep_test_main(suite);
}
