/* SPDX-License-Identifier: BSD-2-Clause */
/* check_crash.c: a process that crashes dies, however long its snapshot takes. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "main.h"
#include "runtime/record/altstack.h"
#include "runtime/fatal/crash.h"

static int worked;

static void work(void)
{
	worked++;
}

static void hang(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (;;)
		pause();
}

static siginfo_t fault = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};

START_TEST(work_that_ends_in_time_goes_on)
{
	ep_crash_bounded(work, 100, SIGSEGV, &fault);
	ep_crash_bounded(work, 100, SIGSEGV, &fault);
	ck_assert_int_eq(worked, 2);
}
END_TEST

START_TEST(work_that_hangs_ends_by_the_same_signal)
{
	struct timespec begun, ended;
	int status;
	pid_t child;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	child = fork();
	if (!child) {
		signal(SIGSEGV, SIG_IGN);
		ep_crash_bounded(hang, 1, SIGSEGV, &fault);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	ck_assert_int_ge(ended.tv_sec - begun.tv_sec, 0);
}
END_TEST

START_TEST(each_thread_has_a_stack_for_it_once)
{
	stack_t mine, now, none = {.ss_flags = SS_DISABLE};

	sigaltstack(&none, NULL);
	ep_altstack_start();
	ck_assert_int_eq(sigaltstack(NULL, &mine), 0);
	ck_assert_int_eq(mine.ss_flags, 0);
	ck_assert_uint_ge(mine.ss_size, 32768);
	ep_altstack_start();
	sigaltstack(NULL, &now);
	ck_assert_ptr_eq(now.ss_sp, mine.ss_sp);
	ep_altstack_end();
	sigaltstack(NULL, &now);
	ck_assert_int_eq(now.ss_flags, SS_DISABLE);
}
END_TEST

START_TEST(a_stack_of_the_programs_own_stays)
{
	static char own[65536] __attribute__((aligned(16)));
	stack_t mine = {.ss_sp = own, .ss_size = sizeof own}, now;

	sigaltstack(&mine, NULL);
	ep_altstack_start();
	sigaltstack(NULL, &now);
	ck_assert_ptr_eq(now.ss_sp, own);
	ep_altstack_end();
	sigaltstack(NULL, &now);
	ck_assert_ptr_eq(now.ss_sp, own);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("crash");
	TCase *one = tcase_create("crash");

	tcase_add_test(one, work_that_ends_in_time_goes_on);
	tcase_add_test(one, work_that_hangs_ends_by_the_same_signal);
	tcase_add_test(one, each_thread_has_a_stack_for_it_once);
	tcase_add_test(one, a_stack_of_the_programs_own_stays);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
