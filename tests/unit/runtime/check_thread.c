/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_thread.c: threads' entries, rings and gates in this very process, whose hooks are called as
 * a compiler would. Each test runs in a thread of its own.
 */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/record/ring.h"
#include "runtime/settings/settings.h"
#include "runtime/start.h"
#include "runtime/record/thread.h"

void __cyg_profile_func_enter(void *function, void *site);

#define CODE UINT64_C(0x123456789000)
#define MIB  (UINT64_C(1) << 20)

static void call(uint64_t n)
{
	__cyg_profile_func_enter((void *)(CODE + n), NULL);
}

/* The block that the caller is writing. */
static const struct ep_block *block(void)
{
	return (const void *)((ep_tls.cursor - 1) & -(uint64_t)EP_BLOCK_SIZE);
}

static uint64_t last_record(void)
{
	return (*(uint64_t *)(ep_tls.cursor - 8) & EP_ADDRESS_MASK) - CODE;
}

static void in_thread(void *(*test)(void *))
{
	pthread_t thread;

	ck_assert(ep_start());
	ck_assert_int_eq(pthread_create(&thread, NULL, test, NULL), 0);
	pthread_join(thread, NULL);
}

#define THREAD_TEST(name)             \
	static void *name##_(void *); \
	START_TEST(name)              \
	{                             \
		in_thread(name##_);   \
	}                             \
	END_TEST                      \
	static void *name##_(void *unused)

/* ---- rings ---- */

THREAD_TEST(the_first_event_makes_an_entry_and_a_ring)
{
	ck_assert_ptr_null(ep_tls.thread);
	call(1);
	ck_assert_ptr_nonnull(ep_tls.thread);
	ck_assert_uint_eq(ep_tls.thread->tid, (uint32_t)gettid());
	ck_assert_uint_eq(ep_tls.thread->ring_size, EP_BLOCK_SIZE);
	ck_assert_uint_eq(ep_tls.thread->ring_offset % EP_BLOCK_SIZE, 0);
	ck_assert_uint_eq(ep_tls.thread->state, EP_THREAD_LIVE);
	return unused;
}

THREAD_TEST(a_paused_process_gives_an_entry_and_no_ring)
{
	uint64_t committed = ep_arena->committed;

	epitaph_pause();
	for (int i = 0; i < 5000; i++)
		call(1);
	ck_assert_ptr_nonnull(ep_tls.thread);
	ck_assert_uint_eq(ep_tls.thread->ring_offset, 0);
	ck_assert_uint_eq(ep_arena->committed, committed);
	epitaph_resume();
	call(2);
	ck_assert_uint_ne(ep_tls.thread->ring_offset, 0);
	ck_assert_uint_eq(last_record(), 2);
	/* Calls were missed before the first that was recorded. */
	ck_assert_uint_eq(block()->flags, EP_BLOCK_FIRST | EP_BLOCK_RESUMED);
	return unused;
}

THREAD_TEST(a_ring_of_its_own_takes_over_between_two_records)
{
	const struct ep_block *before;

	for (uint64_t n = 1; n <= 700; n++)
		call(n);
	before = block();
	ck_assert_int_eq(epitaph_set_thread_ring(20000), 0);
	ck_assert_uint_eq(ep_tls.thread->ring_size, 2 * EP_BLOCK_SIZE);
	call(701);
	ck_assert_ptr_eq(block(), before);
	ck_assert_uint_eq(last_record(), 701);
	/* It goes round in so much. */
	for (uint64_t n = 1; n <= 7000; n++)
		call(n);
	ck_assert_uint_eq(ep_tls.thread->ring_size, 32768);
	return unused;
}

THREAD_TEST(a_ring_of_one_block_goes_round_in_it)
{
	const struct ep_block *only;

	call(1);
	ck_assert_int_eq(epitaph_set_thread_ring(EP_BLOCK_SIZE), 0);
	only = block();
	for (uint64_t n = 2; n <= 5000; n++)
		call(n);
	ck_assert_ptr_eq(block(), only);
	ck_assert_uint_ge(only->sequence, 10);
	ck_assert_uint_eq(last_record(), 5000);
	return unused;
}

THREAD_TEST(a_ring_that_was_left_serves_another_thread)
{
	uint64_t left;

	call(1);
	left = ep_tls.thread->ring_offset;
	while (ep_arena_grow(MIB))
		;
	while (ep_arena_grow(EP_BLOCK_SIZE))
		;
	/* No memory: the old ring stays. */
	errno = 0;
	ck_assert_int_eq(epitaph_set_thread_ring(2 * MIB), -1);
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_uint_eq(ep_tls.thread->ring_offset, left);
	call(2);
	ck_assert_uint_eq(last_record(), 2);
	return unused;
}

static void *change_rings(void *unused)
{
	for (int i = 0; i < 200; i++) {
		call(1);
		ck_assert_int_eq(epitaph_set_thread_ring(i % 2 ? 16384 : 32768), 0);
	}
	return unused;
}

START_TEST(changing_to_and_fro_takes_what_was_left)
{
	uint64_t before;

	ck_assert(ep_start());
	ep_settings.ring_size = 16384;
	while (ep_arena_free() > 30 * MIB)
		ep_arena_grow(MIB);
	before = ep_arena->committed;
	in_thread(change_rings);
	ck_assert_uint_le(ep_arena->committed - before, 4 * 32768);
	ck_assert_uint_ge(ep_arena->rings_reused, 190);
}
END_TEST

START_TEST(with_plenty_of_memory_what_was_left_stays_a_while)
{
	ck_assert(ep_start());
	in_thread(change_rings);
	ck_assert_uint_le(ep_arena->rings_reused, 200);
}
END_TEST

/* ---- gates ---- */

THREAD_TEST(a_thread_pause_is_the_callers_only)
{
	call(1);
	epitaph_thread_pause();
	call(2);
	ck_assert_uint_eq(last_record(), 1);
	ck_assert_uint_eq(ep_arena->gate, 0);
	ck_assert_uint_eq(ep_tls.thread->gate, 1);
	epitaph_thread_pause();
	epitaph_thread_resume();
	call(3);
	ck_assert_uint_eq(last_record(), 1);
	epitaph_thread_resume();
	call(4);
	ck_assert_uint_eq(last_record(), 4);
	ck_assert_uint_eq(block()->flags, EP_BLOCK_RESUMED);
	epitaph_thread_resume();
	call(5);
	ck_assert_uint_eq(last_record(), 5);
	ck_assert_uint_eq(block()->flags, EP_BLOCK_RESUMED);
	return unused;
}

THREAD_TEST(thread_and_process_pauses_are_counted_apart)
{
	call(1);
	epitaph_pause();
	epitaph_thread_pause();
	epitaph_resume();
	call(2);
	ck_assert_uint_eq(last_record(), 1);
	epitaph_pause();
	epitaph_thread_resume();
	call(3);
	ck_assert_uint_eq(last_record(), 1);
	epitaph_resume();
	call(4);
	ck_assert_uint_eq(last_record(), 4);
	return unused;
}

THREAD_TEST(a_pause_before_the_first_event_is_kept)
{
	epitaph_thread_resume();
	epitaph_thread_pause();
	call(1);
	ck_assert_uint_eq(ep_tls.thread->ring_offset, 0);
	epitaph_thread_resume();
	call(2);
	ck_assert_uint_eq(last_record(), 2);
	ck_assert_uint_eq(block()->flags, EP_BLOCK_FIRST | EP_BLOCK_RESUMED);
	return unused;
}

THREAD_TEST(an_ignored_thread_is_never_recorded_again)
{
	call(1);
	epitaph_ignore_thread();
	call(2);
	epitaph_thread_resume();
	epitaph_thread_pause();
	epitaph_thread_resume();
	epitaph_resume();
	call(3);
	ck_assert_uint_eq(last_record(), 1);
	ck_assert_int_eq(epitaph_set_thread_ring(MIB), -1);
	ck_assert_int_eq(errno, ENODEV);
	ck_assert_int_eq(epitaph_set_thread_timing(1), -1);
	ck_assert_int_eq(errno, ENODEV);
	return unused;
}

THREAD_TEST(timing_of_its_own_is_that_of_the_next_block)
{
	call(1);
	ck_assert_int_eq(epitaph_set_thread_timing(16), 0);
	for (int i = 0; i < 1200; i++)
		call(2);
	ck_assert_uint_eq(block()->every, 16);
	ck_assert_int_eq(epitaph_set_thread_timing(1), 0);
	for (int i = 0; i < 600; i++)
		call(2);
	ck_assert_uint_eq(block()->every, 1);
	for (unsigned every = 3; every < 200; every++)
		if (every > 64 || every & (every - 1))
			ck_assert_int_eq(epitaph_set_thread_timing(every), -1);
	return unused;
}

THREAD_TEST(the_processs_timing_may_change_under_way)
{
	ep_arena->timestamp_every = 4;
	for (int i = 0; i < 1200; i++)
		call(1);
	ck_assert_uint_eq(block()->every, 4);
	/* Not a number of records: as auto. */
	ep_arena->timestamp_every = 77;
	for (int i = 0; i < 1200; i++)
		call(1);
	ck_assert_uint_le(block()->every, 64);
	ck_assert_uint_eq(block()->every & (block()->every - 1), 0);
	return unused;
}

/* ---- signals, forks, ends ---- */

static volatile sig_atomic_t signals;

static void on_signal(int signal)
{
	(void)signal;
	epitaph_thread_pause();
	call(666);
	epitaph_thread_resume();
	call(7);
	signals++;
}

static void *send(void *target)
{
	for (int i = 0; i < 3000; i++) {
		pthread_kill(*(pthread_t *)target, SIGUSR1);
		while (signals <= i)
			;
	}
	return NULL;
}

/* Nothing that was hidden is in a ring, and each ring is whole. */
THREAD_TEST(handlers_may_pause_anywhere_also_while_the_ring_changes)
{
	pthread_t self = pthread_self(), sender;
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &action, NULL);
	call(1);
	pthread_create(&sender, NULL, send, &self);
	for (int i = 0; signals < 3000; i++) {
		call(1);
		if (i % 100 == 0)
			epitaph_set_thread_ring(i % 200 ? 65536 : 32768);
	}
	pthread_join(sender, NULL);
	for (uint64_t at = 0; at < ep_arena->committed; at += EP_BLOCK_SIZE) {
		const struct ep_block *b = (const void *)((const char *)ep_arena + at);

		if (!b->check || b->check != ep_block_check(b, at, epitaph_root.identity))
			continue;
		for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++)
			if ((b->records[i] & EP_ADDRESS_MASK) == CODE + 666)
				ck_abort_msg("recorded while paused");
	}
	return unused;
}

THREAD_TEST(a_forked_child_keeps_what_its_thread_asked_for)
{
	int status;
	pid_t child;

	call(1);
	ck_assert_int_eq(epitaph_set_thread_timing(32), 0);
	ck_assert_int_eq(epitaph_set_thread_ring(64 << 10), 0);
	epitaph_thread_pause();
	child = fork();
	if (!child) {
		call(2);
		if (ep_tls.thread->gate != 1 || ep_tls.thread->timing != 32 ||
		    ep_tls.thread->blocks)
			_exit(1);
		epitaph_thread_resume();
		call(3);
		if (last_record() != 3)
			_exit(2);
		for (int i = 0; i < 20000; i++)
			call(4);
		_exit(ep_tls.thread->ring_size == 64 << 10 ? 0 : 3);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	epitaph_thread_resume();
	return unused;
}

static struct ep_thread *ended;

static void *pause_and_end(void *unused)
{
	epitaph_thread_pause();
	call(1);
	ended = ep_tls.thread;
	return unused;
}

static void *record_one(void *unused)
{
	call(1);
	ck_assert(!ep_tls.thread || !ep_tls.cursor || ep_tls.thread->ring_offset >= EP_BLOCK_SIZE);
	return unused;
}

START_TEST(one_that_ends_without_a_ring_leaves_none)
{
	in_thread(pause_and_end);
	ck_assert_uint_eq(ended->state, EP_THREAD_DEAD);
	ck_assert_uint_eq(ended->ring_offset, 0);
	/* Its memory is not the arena's first page. */
	while (ep_arena_grow(MIB))
		;
	in_thread(record_one);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread");
	TCase *all = tcase_create("threads");

	tcase_add_test(all, the_first_event_makes_an_entry_and_a_ring);
	tcase_add_test(all, a_paused_process_gives_an_entry_and_no_ring);
	tcase_add_test(all, a_ring_of_its_own_takes_over_between_two_records);
	tcase_add_test(all, a_ring_of_one_block_goes_round_in_it);
	tcase_add_test(all, a_ring_that_was_left_serves_another_thread);
	tcase_add_test(all, changing_to_and_fro_takes_what_was_left);
	tcase_add_test(all, with_plenty_of_memory_what_was_left_stays_a_while);
	tcase_add_test(all, a_thread_pause_is_the_callers_only);
	tcase_add_test(all, thread_and_process_pauses_are_counted_apart);
	tcase_add_test(all, a_pause_before_the_first_event_is_kept);
	tcase_add_test(all, an_ignored_thread_is_never_recorded_again);
	tcase_add_test(all, timing_of_its_own_is_that_of_the_next_block);
	tcase_add_test(all, the_processs_timing_may_change_under_way);
	tcase_add_test(all, handlers_may_pause_anywhere_also_while_the_ring_changes);
	tcase_add_test(all, a_forked_child_keeps_what_its_thread_asked_for);
	tcase_add_test(all, one_that_ends_without_a_ring_leaves_none);
	suite_add_tcase(suite, all);
	return ep_test_main(suite);
}
