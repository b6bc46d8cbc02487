/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_asks.c: what the hooks do with this very process's rseq_cs, by this very kernel. Each test
 * runs in a thread of its own; the hooks are called as a compiler would.
 */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/record/asks.h"
#include "runtime/x86_64/offsets.h"

void __cyg_profile_func_enter(void *function, void *site);

#define CODE UINT64_C(0x123456789000)

#define NEXT (ep_asks_masks + HOOK_NEXT)

/* linux/rseq.h, struct rseq_cs */
struct descriptor {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

/* A thread that is preempted has one more timed record than these tests expect: another one tries
 * again. */
#define TRIES 200

static bool disturbed;

#define holds(condition)                  \
	do {                              \
		if (!(condition)) {       \
			disturbed = true; \
			return unused;    \
		}                         \
	} while (0)

static uint64_t *word(void)
{
	return (uint64_t *)((char *)__builtin_thread_pointer() + ep_asks_at);
}

static void call(void)
{
	__cyg_profile_func_enter((void *)CODE, NULL);
}

/* Calls, of which the last is the record `at` of its block; that record's stamp. */
static uint64_t stamp_of(unsigned at)
{
	const struct ep_block *block;

	do {
		call();
		block = (const void *)((ep_tls.cursor - 1) & -(uint64_t)EP_BLOCK_SIZE);
	} while (ep_tls.cursor != (uint64_t)&block->records[at + 1]);
	return block->records[at] >> EP_STAMP_SHIFT;
}

static bool is_due(unsigned at)
{
	return (EP_BLOCK_HEADER / 8 + at) % 64 == 0;
}

/* In the second block of a thread that times every 64th record. */
static bool is_ready(void)
{
	call();
	return ep_asks_at && epitaph_set_thread_timing(64) == 0 && stamp_of(0) && stamp_of(1) + 1;
}

static void run(void *(*test)(void *))
{
	pthread_t thread;

	ck_assert_msg(ep_asks_at, "nobody asks here");
	for (int i = 0; i < TRIES; i++) {
		disturbed = false;
		ck_assert_int_eq(pthread_create(&thread, NULL, test, NULL), 0);
		pthread_join(thread, NULL);
		if (!disturbed)
			return;
	}
	ck_abort_msg("disturbed %d times, or wrong", TRIES);
}

static void nothing(int number)
{
	(void)number;
}

/* ---- descriptors ---- */

/* As rseq_get_rseq_cs of the kernel's kernel/rseq.c does; and no address lies in one. */
static void check_descriptor(uint64_t address)
{
	const struct descriptor *descriptor = (const void *)address;
	uint32_t signature;

	ck_assert_uint_eq(descriptor->version, 0);
	ck_assert_uint_eq(descriptor->flags, 0);
	ck_assert_uint_eq(descriptor->length, 0);
	ck_assert_uint_lt(descriptor->start, UINT64_C(1) << 47);
	ck_assert_uint_lt(descriptor->abort, UINT64_C(1) << 47);
	memcpy(&signature, (const char *)descriptor->abort - 4, sizeof(signature));
	ck_assert_uint_eq(signature, 0x53053053);
}

START_TEST(each_descriptor_is_a_critical_section_without_an_instruction)
{
	for (unsigned every = 2; every <= 64; every *= 2) {
		uint64_t byte = (every - 1) * 8 & 0xff;

		ck_assert_uint_eq((ep_asks_masks + byte) & 0xff, byte);
		check_descriptor(ep_asks_masks + byte);
	}
	ck_assert_uint_eq(NEXT & 0xff, 0);
	check_descriptor(NEXT);
}
END_TEST

/* ---- records ---- */

static void *only_what_is_due(void *unused)
{
	holds(is_ready());
	for (unsigned at = 2; at < 300; at++)
		holds(!!stamp_of(at) == is_due(at));
	holds(*word() == ep_asks_masks + 0xf8);
	return unused;
}

START_TEST(a_thread_that_does_not_wait_times_what_is_due)
{
	run(only_what_is_due);
}
END_TEST

static void *two_after_a_signal(void *unused)
{
	holds(is_ready());
	holds(!stamp_of(90));
	pthread_kill(pthread_self(), SIGUSR1);
	holds(*word() == 0);
	holds(stamp_of(91));
	holds(*word() == NEXT);
	holds(stamp_of(92));
	holds(*word() == ep_asks_masks + 0xf8);
	holds(!stamp_of(93));
	return unused;
}

START_TEST(two_records_are_timed_after_a_signal)
{
	signal(SIGUSR1, nothing);
	run(two_after_a_signal);
}
END_TEST

static void *first_after_a_wait(void *unused)
{
	const struct ep_block *block;

	holds(is_ready());
	holds(!stamp_of(90));
	usleep(1000);
	call();
	block = (const void *)(ep_tls.cursor & -(uint64_t)EP_BLOCK_SIZE);
	/* A gap for sure: two escapes, and the record. */
	holds((block->records[91] & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT);
	holds(block->records[91] % EP_ESCAPE_TYPES == EP_ESCAPE_TIME);
	holds(block->records[92] == block->records[91]);
	holds(block->records[93] >> EP_STAMP_SHIFT);
	holds(stamp_of(94));
	holds(!stamp_of(95));
	return unused;
}

START_TEST(a_wait_ends_before_a_timed_record)
{
	run(first_after_a_wait);
}
END_TEST

static void *a_block_after_a_signal(void *unused)
{
	const struct ep_block *block;

	holds(is_ready());
	holds(!stamp_of(EP_BLOCK_RECORDS - 1));
	pthread_kill(pthread_self(), SIGUSR1);
	call();
	block = (const void *)(ep_tls.cursor & -(uint64_t)EP_BLOCK_SIZE);
	holds(block->flags == EP_BLOCK_ASKED);
	holds(stamp_of(EP_BLOCK_RECORDS - 1) == 0);
	call();
	block = (const void *)(ep_tls.cursor & -(uint64_t)EP_BLOCK_SIZE);
	holds(block->flags == 0);
	return unused;
}

START_TEST(a_block_that_begins_behind_a_wait_says_so)
{
	signal(SIGUSR1, nothing);
	run(a_block_after_a_signal);
}
END_TEST

/* ---- who else has a say ---- */

static void *another_mask(void *unused)
{
	holds(is_ready());
	holds(*word() == ep_asks_masks + 0xf8);
	ep_asks_set_timing(&ep_tls, 0x18);
	holds(*word() == ep_asks_masks + 0x18);
	ep_asks_set_timing(&ep_tls, 0);
	holds(*word() == NEXT);
	ep_asks_set_timing(&ep_tls, 0x1f8);
	holds(*word() == ep_asks_masks + 0xf8);
	*word() = 0;
	ep_asks_set_timing(&ep_tls, 8);
	holds(*word() == 0);
	return unused;
}

START_TEST(what_is_armed_follows_the_mask)
{
	run(another_mask);
}
END_TEST

/* Its last byte is 0x40. */
static struct {
	uint8_t before[0x40];
	struct descriptor descriptor;
	uint32_t signature;
} own __attribute__((aligned(256)));

static void *a_pointer_of_its_own(void *unused)
{
	own.descriptor.abort = (uint64_t)(&own.signature + 1);
	own.signature = 0x53053053;
	holds(is_ready());
	holds(ep_tls.thread->flags & EP_THREAD_ASKED);
	*word() = (uint64_t)&own.descriptor;
	for (unsigned at = 2; at < 300; at++)
		holds(!!stamp_of(at) == is_due(at));
	holds(*word() == (uint64_t)&own.descriptor);
	/* Also where its byte is not the boundary's: no record is written behind the block. */
	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++)
		call();
	holds(*word() == (uint64_t)&own.descriptor);
	holds(!(ep_tls.thread->flags & EP_THREAD_ASKED));
	return unused;
}

START_TEST(a_pointer_of_the_programs_own_stays)
{
	run(a_pointer_of_its_own);
}
END_TEST

static void *paused(void *unused)
{
	uint64_t cursor;

	holds(is_ready());
	holds(!stamp_of(90));
	cursor = ep_tls.cursor;
	epitaph_pause();
	for (int i = 0; i < 1000; i++)
		call();
	holds(ep_tls.cursor == cursor);
	epitaph_resume();
	return unused;
}

START_TEST(a_pause_is_a_pause)
{
	run(paused);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("asks");
	TCase *tcase = tcase_create("asks");

	tcase_add_test(tcase, each_descriptor_is_a_critical_section_without_an_instruction);
	tcase_add_test(tcase, a_thread_that_does_not_wait_times_what_is_due);
	tcase_add_test(tcase, two_records_are_timed_after_a_signal);
	tcase_add_test(tcase, a_wait_ends_before_a_timed_record);
	tcase_add_test(tcase, a_block_that_begins_behind_a_wait_says_so);
	tcase_add_test(tcase, what_is_armed_follows_the_mask);
	tcase_add_test(tcase, a_pointer_of_the_programs_own_stays);
	tcase_add_test(tcase, a_pause_is_a_pause);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
