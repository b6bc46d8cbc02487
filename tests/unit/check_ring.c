/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_ring.c: what the hooks leave in this very process's ring, word by word.
 * Each test runs in a thread of its own, so that it begins with a ring of its
 * own; the hooks are called as a compiler would.
 */
#include <check.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "main.h"
#include "runtime/arena.h"
#include "runtime/epitaph.h"
#include "runtime/mark.h"
#include "runtime/thread.h"

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

#define CODE 0x123456789000

static void call(uint64_t n)
{
	__cyg_profile_func_enter((void *)(CODE + n), NULL);
}

static void back(uint64_t n)
{
	__cyg_profile_func_exit((void *)(CODE + n), NULL);
}

/* The block that the caller is writing. */
static const struct ep_block *block(void)
{
	return (const void *)((ep_tls.cursor - 1) & -(uint64_t)EP_BLOCK_SIZE);
}

static bool is_valid(const struct ep_block *b)
{
	uint64_t offset = (uint64_t)b - (uint64_t)ep_arena;

	return b->check == ep_block_check(b, offset, epitaph_root.identity);
}

static void *the_first_block(void *unused)
{
	call(1);
	back(1);
	const struct ep_block *b = block();
	const struct ep_thread *thread = ep_tls.thread;
	ck_assert(is_valid(b));
	ck_assert_uint_eq(b->sequence, 1);
	ck_assert_uint_eq(b->flags, EP_BLOCK_FIRST);
	ck_assert_uint_eq(b->owner, thread->serial);
	ck_assert_uint_eq(b->records[0] & EP_ADDRESS_MASK, CODE + 1);
	ck_assert_uint_eq(b->records[1] & EP_ADDRESS_MASK, CODE + 1);
	ck_assert(!(b->records[0] & EP_RETURN_BIT));
	ck_assert(b->records[1] & EP_RETURN_BIT);
	/* The first record of a block is always timed. */
	ck_assert_uint_ne(b->records[0] >> EP_STAMP_SHIFT, 0);
	ck_assert_uint_eq(b->records[2], 0);
	ck_assert_uint_eq(thread->state, EP_THREAD_LIVE);
	ck_assert_uint_ge((uint64_t)b,
			  (uint64_t)ep_arena + thread->ring_offset);
	return unused;
}

static void *full_blocks(void *unused)
{
	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++)
		call(i);
	const struct ep_block *first = block();
	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++)
		ck_assert_uint_eq(first->records[i] & EP_ADDRESS_MASK,
				  CODE + i);
	call(4000);
	ck_assert_ptr_eq(block(), first + 1);
	ck_assert(is_valid(first));
	ck_assert(is_valid(block()));
	ck_assert_uint_eq(block()->sequence, 2);
	ck_assert_uint_ge(block()->tsc, first->tsc);
	return unused;
}

/* A ring that has wrapped holds its last blocks, with numbers that go on. */
static void *wrapped_ring(void *unused)
{
	uint64_t blocks, last;

	call(1);
	blocks = ep_tls.thread->ring_size / EP_BLOCK_SIZE;
	for (uint64_t i = 0; i < (blocks + 3) * EP_BLOCK_RECORDS; i++)
		call(i % 1000);
	last = block()->sequence;
	ck_assert_uint_eq(last, blocks + 4);
	ck_assert_uint_eq(ep_tls.thread->blocks, last);
	const struct ep_block *ring =
		(const void *)((char *)ep_arena + ep_tls.thread->ring_offset);
	for (uint64_t i = 0; i < blocks; i++) {
		ck_assert(is_valid(&ring[i]));
		ck_assert_uint_gt(ring[i].sequence, last - blocks);
	}
	return unused;
}

static void *a_gap(void *unused)
{
	call(1);
	nanosleep(&(struct timespec){0, 2000000}, NULL);
	back(1);
	const struct ep_block *b = block();
	uint64_t now = ep_tls.last_tsc >> EP_TICK_SHIFT;
	ck_assert_uint_lt(b->records[1] & EP_ADDRESS_MASK, EP_ESCAPE_LIMIT);
	ck_assert_uint_eq(b->records[1] % EP_ESCAPE_TYPES, EP_ESCAPE_TIME);
	ck_assert_uint_eq(ep_escape_payload(b->records[1]),
			  now >> 16 & 0x3ffffff);
	ck_assert_uint_eq(b->records[2] & EP_ADDRESS_MASK, CODE + 1);
	uint64_t bits = now & 0xffff;
	ck_assert_uint_eq(b->records[2] >> EP_STAMP_SHIFT, bits ? bits : 1);
	return unused;
}

static void *a_pause(void *unused)
{
	call(1);
	const struct ep_block *before = block();
	epitaph_pause();
	call(2);
	back(2);
	ck_assert_uint_eq(before->records[1], 0);
	epitaph_resume();
	back(1);
	ck_assert_uint_eq(block()->flags, EP_BLOCK_RESUMED);
	ck_assert_uint_eq(block()->sequence, 2);
	ck_assert_uint_eq(block()->records[0] & EP_ADDRESS_MASK, CODE + 1);
	return unused;
}

/* A mark's words as they should be: 7 and a text of 4 letters, timed. */
static void expect_mark(const uint64_t *words)
{
	uint32_t head = ep_escape_payload(words[0]);

	ck_assert_uint_eq(words[0] % EP_ESCAPE_TYPES, EP_ESCAPE_MARK);
	ck_assert_uint_lt(words[0] & EP_ADDRESS_MASK, EP_ESCAPE_LIMIT);
	ck_assert_uint_eq(head % EP_MARKS, EP_MARK_THROW);
	ck_assert_uint_eq(head >> 5 & EP_MARK_DATA_MAX, 4);
	ck_assert_uint_ne(words[0] >> EP_STAMP_SHIFT, 0);
	for (unsigned i = 1; i <= 4; i++)
		ck_assert_uint_eq(words[i] % EP_ESCAPE_TYPES, EP_ESCAPE_DATA);
	ck_assert_uint_eq(ep_escape_payload(words[1]), 0x3000007);
	ck_assert_uint_eq(ep_escape_payload(words[2]), 0x2abcdef);
	ck_assert_uint_eq(ep_escape_payload(words[3]), 0x636261);
	ck_assert_uint_eq(ep_escape_payload(words[4]), 0x64);
}

static void make_mark(void)
{
	struct ep_mark mark;

	ep_mark_init(&mark, EP_MARK_THROW);
	ck_assert(
		ep_mark_value(&mark, (UINT64_C(0x2abcdef) << 26) + 0x3000007));
	ep_mark_text(&mark, "abcd");
	ep_mark_record(&mark);
}

static void *marks(void *unused)
{
	make_mark();
	ck_assert_uint_eq(ep_tls.cursor, 0);
	call(1);
	make_mark();
	back(1);
	expect_mark(&block()->records[1]);
	ck_assert_uint_eq(block()->records[6] & EP_ADDRESS_MASK, CODE + 1);
	epitaph_pause();
	make_mark();
	ck_assert_uint_eq(block()->records[7], 0);
	epitaph_resume();
	return unused;
}

static void *a_mark_at_the_end(void *unused)
{
	for (unsigned i = 0; i < EP_BLOCK_RECORDS - 4; i++)
		call(i);
	const struct ep_block *first = block();
	make_mark();
	ck_assert_ptr_eq(block(), first + 1);
	ck_assert(is_valid(block()));
	expect_mark(&block()->records[0]);
	for (unsigned i = 1; i <= 4; i++)
		ck_assert_uint_eq(first->records[EP_BLOCK_RECORDS - i], 0);
	return unused;
}

static void *a_full_mark(void *unused)
{
	struct ep_mark mark;
	unsigned values = 0;

	call(1);
	ep_mark_init(&mark, EP_MARK_LEFT);
	while (ep_mark_value(&mark, 5))
		values++;
	ck_assert_uint_eq(values, EP_MARK_DATA_MAX / 2);
	ep_mark_text(&mark, "a text that is longer than what is left");
	ck_assert_uint_eq(mark.count, EP_MARK_DATA_MAX);
	ep_mark_record(&mark);
	ck_assert_uint_eq(ep_escape_payload(block()->records[1]) >> 5 & 31, 31);
	return unused;
}

static void run(void *(*test)(void *))
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, test, NULL), 0);
	pthread_join(thread, NULL);
}

START_TEST(a_threads_first_event_opens_its_first_block)
{
	run(the_first_block);
}
END_TEST

START_TEST(a_full_block_is_followed_by_the_next)
{
	run(full_blocks);
}
END_TEST

START_TEST(a_wrapped_ring_holds_its_last_blocks)
{
	run(wrapped_ring);
}
END_TEST

START_TEST(a_gap_is_told_by_an_escape)
{
	run(a_gap);
}
END_TEST

START_TEST(after_a_pause_a_new_block_says_so)
{
	run(a_pause);
}
END_TEST

START_TEST(a_mark_is_recorded_while_its_thread_is)
{
	run(marks);
}
END_TEST

START_TEST(a_mark_lies_in_one_block)
{
	run(a_mark_at_the_end);
}
END_TEST

START_TEST(a_mark_takes_what_fits)
{
	run(a_full_mark);
}
END_TEST

/* The dead keep their history while memory is plenty; their entries say dead.
 */
START_TEST(an_ended_thread_is_told_as_dead)
{
	uint64_t size, dead = 0;
	struct ep_thread *threads;

	for (int i = 0; i < 5; i++)
		run(the_first_block);
	threads = ep_arena_section(EP_SECTION_THREADS, &size);
	for (unsigned i = 0; i < 5; i++)
		dead += threads[i].state == EP_THREAD_DEAD &&
			threads[i].serial == i + 1 &&
			threads[i].end_tsc > threads[i].start_tsc;
	ck_assert_uint_eq(dead, 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *tcase = tcase_create("blocks");

	tcase_add_test(tcase, a_threads_first_event_opens_its_first_block);
	tcase_add_test(tcase, a_full_block_is_followed_by_the_next);
	tcase_add_test(tcase, a_wrapped_ring_holds_its_last_blocks);
	tcase_add_test(tcase, a_gap_is_told_by_an_escape);
	tcase_add_test(tcase, after_a_pause_a_new_block_says_so);
	tcase_add_test(tcase, an_ended_thread_is_told_as_dead);
	tcase_add_test(tcase, a_mark_is_recorded_while_its_thread_is);
	tcase_add_test(tcase, a_mark_lies_in_one_block);
	tcase_add_test(tcase, a_mark_takes_what_fits);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
