/* SPDX-License-Identifier: BSD-2-Clause */
/* check_confine.c: which system calls reach the kernel from the process that reads a crash. The
 * lists are written down again, so that whoever lets one more through says so here. */
#include "coredump/handler/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/main.h"

#define LAST 470 /* Linux 6.18's highest is file_setattr, 469 */
#define X32  0x40000000

/* The kernel asks no filter about these. But where it has laid them down itself they do nothing,
 * and end in SIGILL or ENXIO (arch/x86/kernel/uprobes.c). */
#define URETPROBE 335
#define UPROBE    336

/* ---- the sweep ---- */

static const int through[] = {
	SYS_read,
	SYS_write,
	SYS_close,
	SYS_fstat,
	SYS_poll,
	SYS_lseek,
	SYS_mmap,
	SYS_mprotect,
	SYS_munmap,
	SYS_brk,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_pread64,
	SYS_pwrite64,
	SYS_readv,
	SYS_writev,
	SYS_sched_yield,
	SYS_mremap,
	SYS_madvise,
	SYS_dup,
	SYS_getpid,
	SYS_exit,
	SYS_uname,
	SYS_fcntl,
	SYS_ftruncate,
	SYS_gettimeofday,
	SYS_getrusage,
	SYS_sysinfo,
	SYS_getuid,
	SYS_getgid,
	SYS_geteuid,
	SYS_getegid,
	SYS_gettid,
	SYS_futex,
	SYS_restart_syscall,
	SYS_sched_getaffinity,
	SYS_clock_getres,
	SYS_clock_gettime,
	SYS_exit_group,
	SYS_fallocate,
	SYS_preadv,
	SYS_getrandom,
};

/* They answer EACCES, and nothing happens. */
static const int in_vain[] = {
	SYS_open,   SYS_stat,      SYS_lstat,   SYS_ioctl,      SYS_access,
	SYS_socket, SYS_readlink,  SYS_openat,  SYS_newfstatat, SYS_readlinkat,
	SYS_statx,  SYS_faccessat, SYS_openat2, SYS_faccessat2,
};

#define HAS(list, number) has(list, sizeof(list) / sizeof((list)[0]), number)

static bool has(const int *list, size_t count, int number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return false;
}

enum { THROUGH = 10, IN_VAIN };

/* A sanitizer handles some. */
static void signals_default(void)
{
	signal(SIGSEGV, SIG_DFL);
	signal(SIGILL, SIG_DFL);
}

/* In a child of its own, which then makes that call: its status. */
static int status_of(long number, const long arguments[4])
{
	const struct ep_confinement confinement = {
		.uid = 65533, .gid = 65533, .memory = UINT64_MAX, .file = 4096, .seconds = 10};
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		long result;

		signals_default();
		syscall(SYS_close_range, 0, ~0u, 0);
		if (ep_confine(&confinement, NULL))
			_exit(1);
		result = syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], 0,
				 0);
		syscall(SYS_exit_group, result == -1 && errno == EACCES ? IN_VAIN : THROUGH);
	}
	must(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

static bool is_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

START_TEST(every_system_call_is_let_through_or_refused_or_the_end)
{
	const long none[4] = {0};

	for (int number = 0; number <= LAST; number++) {
		int status = status_of(number, none);

		if (number == SYS_rt_sigreturn) /* without a frame */
			must(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
		else if (number == SYS_exit || number == SYS_exit_group)
			must(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		else if (HAS(through, number))
			ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == THROUGH,
				      "%d should be let through: %#x", number, (unsigned)status);
		else if (HAS(in_vain, number))
			ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == IN_VAIN,
				      "%d should be refused: %#x", number, (unsigned)status);
		else if ((number == URETPROBE || number == UPROBE) && !is_killed(status))
			ck_assert_msg(WIFSIGNALED(status) ? WTERMSIG(status) == SIGILL
							  : WEXITSTATUS(status) == THROUGH,
				      "%d is no probe's alone: %#x", number, (unsigned)status);
		else
			ck_assert_msg(is_killed(status), "%d reaches the kernel: %#x", number,
				      (unsigned)status);
	}
}
END_TEST

/* Linux has more tables of system calls than one. */
START_TEST(x32_is_the_end)
{
	const long none[4] = {0};
	static const int some[] = {SYS_read, SYS_getpid, SYS_openat, 512, 520, 547};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		ck_assert_msg(is_killed(status_of(X32 | some[i], none)), "x32's %d", some[i]);
	must(is_killed(status_of(-1, none)));
}
END_TEST

START_TEST(the_calls_of_32_bits_are_the_end)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		const struct ep_confinement confinement = {.uid = 65533,
							   .gid = 65533,
							   .memory = UINT64_MAX,
							   .file = 4096,
							   .seconds = 10};
		long result = 20; /* there, getpid */

		signals_default();
		if (ep_confine(&confinement, NULL))
			_exit(1);
		__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
		syscall(SYS_exit_group, THROUGH);
	}
	must(child > 0 && waitpid(child, &status, 0) == child);
	/* A kernel without them has no such interrupt. */
	must(is_killed(status) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
}
END_TEST

/* ---- by their arguments ---- */

START_TEST(no_memory_becomes_code)
{
	const long code = PROT_READ | PROT_EXEC;
	const long both = PROT_READ | PROT_WRITE | PROT_EXEC;

	must(is_killed(status_of(SYS_mmap, (long[4]){0, 4096, code, MAP_PRIVATE | MAP_ANONYMOUS})));
	must(is_killed(status_of(SYS_mmap, (long[4]){0, 4096, both, MAP_PRIVATE | MAP_ANONYMOUS})));
	must(is_killed(status_of(SYS_mprotect, (long[4]){0, 4096, code, 0})));
	must(is_killed(status_of(SYS_mprotect, (long[4]){0, 4096, PROT_EXEC | 1L << 40, 0})));
}
END_TEST

START_TEST(a_descriptor_is_duplicated_and_nothing_else)
{
	static const int fine[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};

	for (int control = 0; control < 2048; control++) {
		bool killed;

		if (control == 64) /* the rest of Linux's begin at 1024 */
			control = 1024;
		if (control == 1064)
			break;
		killed = is_killed(status_of(SYS_fcntl, (long[4]){0, control, 0, 0}));
		ck_assert_msg(killed == !HAS(fine, control), "fcntl's %d", control);
	}
}
END_TEST

/* fstat(3) is newfstatat(2) with an empty name in some versions of glibc. */
START_TEST(a_descriptor_is_told_of_and_no_name)
{
	struct stat st;
	int status =
		status_of(SYS_newfstatat, (long[4]){AT_FDCWD, (long)"/", (long)&st, AT_EMPTY_PATH});

	must(WIFEXITED(status) && WEXITSTATUS(status) == IN_VAIN);
	must(fstat(0, &st) == 0);
	must(fstat(-1, &st) == -1 && errno == EBADF);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("confine");
	TCase *tests = tcase_create("confine");

	tcase_add_test(tests, every_system_call_is_let_through_or_refused_or_the_end);
	tcase_add_test(tests, x32_is_the_end);
	tcase_add_test(tests, the_calls_of_32_bits_are_the_end);
	tcase_add_test(tests, no_memory_becomes_code);
	tcase_add_test(tests, a_descriptor_is_duplicated_and_nothing_else);
	tcase_add_test(tests, a_descriptor_is_told_of_and_no_name);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
