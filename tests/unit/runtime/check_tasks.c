/* SPDX-License-Identifier: BSD-2-Clause */
/* check_tasks.c: the process's threads, by the tids that they have themselves. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/facts/tasks.h"
#include "tests/unit/main.h"

#define THREADS 3u

static pthread_barrier_t met;
static uint32_t own[THREADS + 1], listed[64];
static unsigned count;

static void *stay(void *at)
{
	*(uint32_t *)at = (uint32_t)gettid();
	pthread_barrier_wait(&met);
	pause();
	return NULL;
}

static void take(uint32_t tid)
{
	listed[count++ % 64] = tid;
}

static bool is_listed(uint32_t tid)
{
	for (unsigned i = 0; i < count; i++)
		if (listed[i] == tid)
			return true;
	return false;
}

/* All threads, and nobody else. */
static bool finds_all(void)
{
	pthread_t thread;

	pthread_barrier_init(&met, NULL, THREADS + 1);
	own[THREADS] = (uint32_t)gettid();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, stay, &own[i]);
	pthread_barrier_wait(&met);
	if (ep_tasks_each(NULL) != THREADS + 1 || ep_tasks_each(take) != THREADS + 1 ||
	    count != THREADS + 1)
		return false;
	for (unsigned i = 0; i <= THREADS; i++)
		if (!is_listed(own[i]))
			return false;
	return true;
}

START_TEST(each_thread_is_named_by_its_tid)
{
	ck_assert(finds_all());
}
END_TEST

#define NO_NAMESPACES 77

/* As pid 1 of a namespace, whose /proc is still the outer one's. */
static int look_apart(void)
{
	int user = geteuid() ? CLONE_NEWUSER : 0, status = 0;
	pid_t child;

	if (unshare(CLONE_NEWPID | user))
		return NO_NAMESPACES;
	child = fork();
	if (!child)
		_exit(getpid() == 1 && finds_all() ? 0 : 1);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

START_TEST(a_thread_in_another_namespace_than_proc_has_its_own_tid)
{
	pid_t child = fork(); /* a sanitizer's end wants this one's /proc */
	int status = 0;

	if (!child)
		_exit(look_apart());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_NAMESPACES)
		puts("no pid namespaces for this user: not tried");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("tasks");
	TCase *one = tcase_create("tasks");

	tcase_add_test(one, each_thread_is_named_by_its_tid);
	tcase_add_test(one, a_thread_in_another_namespace_than_proc_has_its_own_tid);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
