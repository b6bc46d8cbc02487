/* SPDX-License-Identifier: BSD-2-Clause */
/* check_flip.c: whose time it is that the code is changed in. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "main.h"
#include "runtime/start.h"
#include "runtime/switching/flip.h"

static void setup(void)
{
	setenv("EPITAPH_SCHED", "off", 1); /* no thread of ours */
	ck_assert(ep_start());
}

static void note_thread(struct ep_flip *flip, void *argument)
{
	(void)flip;
	*(long *)argument = syscall(SYS_gettid);
}

static void *wait_for(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

START_TEST(what_the_only_thread_does_is_its_own)
{
	uint64_t before = ep_flip_aside();
	long by = 0;

	ck_assert(ep_flip_run(note_thread, &by));
	ck_assert_int_eq(by, syscall(SYS_gettid));
	ck_assert_uint_eq(ep_flip_aside(), before);
}
END_TEST

START_TEST(what_another_thread_does_in_its_place_is_told)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t before = ep_flip_aside(), once;
	pthread_t other;
	long by = 0;

	pthread_mutex_lock(&lock);
	ck_assert_int_eq(pthread_create(&other, NULL, wait_for, &lock), 0);
	ck_assert(ep_flip_run(note_thread, &by));
	ck_assert_int_ne(by, syscall(SYS_gettid));
	once = ep_flip_aside();
	ck_assert_uint_gt(once, before);
	ck_assert(ep_flip_run(note_thread, &by));
	ck_assert_uint_gt(ep_flip_aside(), once);
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flip");
	TCase *tcase = tcase_create("flip");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, what_the_only_thread_does_is_its_own);
	tcase_add_test(tcase, what_another_thread_does_in_its_place_is_told);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
