/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_ring.c: what the hooks leave in this very process's ring, word by word. Each test runs in a
 * thread of its own, so that it begins with a ring of its own; the hooks are called as a compiler
 * would.
 */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <check.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/record/mark.h"
#include "runtime/record/ring.h"
#include "runtime/record/thread.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/tsc.h"

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

#define CODE UINT64_C(0x123456789000)

/*
 * A thread that was not on a CPU for EP_GAP_CYCLES, about 90 us, has a record of that, which none
 * of these tests expects: it is disturbed, and another thread tries again.
 */
#define TRIES 50

static uint64_t began; /* TSC */
static bool disturbed;

#define holds(condition)                                               \
	do {                                                           \
		if (!(condition)) {                                    \
			disturbed = ep_tsc() - began > EP_GAP_CYCLES;  \
			if (!disturbed)                                \
				ck_abort_msg("holds: %s", #condition); \
			return unused;                                 \
		}                                                      \
	} while (0)

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
	holds(is_valid(b));
	holds(b->sequence == 1);
	holds(b->flags == EP_BLOCK_FIRST);
	holds(b->owner == thread->serial);
	holds((b->records[0] & EP_ADDRESS_MASK) == CODE + 1);
	holds((b->records[1] & EP_ADDRESS_MASK) == CODE + 1);
	holds(!(b->records[0] & EP_RETURN_BIT));
	holds(b->records[1] & EP_RETURN_BIT);
	/* The first record of a block is always timed. */
	holds((b->records[0] >> EP_STAMP_SHIFT) != 0);
	holds(b->records[2] == 0);
	holds(thread->state == EP_THREAD_LIVE);
	holds((uint64_t)b >= (uint64_t)ep_arena + thread->ring_offset);
	return unused;
}

static void *full_blocks(void *unused)
{
	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++)
		call(i);
	const struct ep_block *first = block();
	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++)
		holds((first->records[i] & EP_ADDRESS_MASK) == CODE + i);
	call(4000);
	holds(block() == first + 1);
	holds(is_valid(first));
	holds(is_valid(block()));
	holds(block()->sequence == 2);
	holds(block()->tsc >= first->tsc);
	return unused;
}

/* A ring that has wrapped holds its last blocks, with numbers that go on. */
static void *wrapped_ring(void *unused)
{
	uint64_t blocks, last;

	call(1);
	blocks = ep_settings.ring_size / EP_BLOCK_SIZE;
	for (uint64_t i = 0; i < (blocks + 3) * EP_BLOCK_RECORDS; i++)
		call(i % 1000);
	last = block()->sequence;
	holds(last == blocks + 4);
	holds(ep_tls.thread->blocks == last);
	holds(ep_tls.thread->ring_size == blocks * EP_BLOCK_SIZE);
	const struct ep_block *b = block();
	for (; b; b = ep_ring_previous_block(&ep_tls, b), blocks--, last--) {
		holds(is_valid(b));
		holds(b->sequence == last);
	}
	holds(blocks == 0);
	return unused;
}

static void *a_gap(void *unused)
{
	call(1);
	nanosleep(&(struct timespec){0, 2000000}, NULL);
	back(1);
	const struct ep_block *b = block();
	uint64_t now = ep_tls.last_tsc >> EP_TICK_SHIFT;
	/* Twice where the kernel asked. */
	unsigned escapes = ep_tls.thread->flags & EP_THREAD_ASKED ? 2 : 1;
	for (unsigned i = 1; i <= escapes; i++) {
		holds((b->records[i] & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT);
		holds(b->records[i] % EP_ESCAPE_TYPES == EP_ESCAPE_TIME);
		holds(ep_escape_payload(b->records[i]) == (now >> 16 & 0x3ffffff));
	}
	holds((b->records[escapes + 1] & EP_ADDRESS_MASK) == CODE + 1);
	uint64_t bits = now & 0xffff;
	holds((b->records[escapes + 1] >> EP_STAMP_SHIFT) == (bits ? bits : 1));
	return unused;
}

static void *a_pause(void *unused)
{
	call(1);
	const struct ep_block *before = block();
	epitaph_pause();
	call(2);
	back(2);
	epitaph_resume();
	holds(before->records[1] == 0);
	back(1);
	holds(block()->flags == EP_BLOCK_RESUMED);
	holds(block()->sequence == 2);
	holds((block()->records[0] & EP_ADDRESS_MASK) == CODE + 1);
	return unused;
}

/* A mark's words as they should be: 7 and a text of 4 letters, timed. */
static bool is_mark(const uint64_t *words)
{
	static const uint32_t payloads[] = {0x3000007, 0x2abcdef, 0x636261, 0x64};
	uint32_t head = ep_escape_payload(words[0]);
	bool is = words[0] % EP_ESCAPE_TYPES == EP_ESCAPE_MARK &&
		  (words[0] & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT &&
		  head % EP_MARKS == EP_MARK_THROW && (head >> 5 & EP_MARK_DATA_MAX) == 4 &&
		  words[0] >> EP_STAMP_SHIFT != 0;

	for (unsigned i = 1; i <= 4; i++)
		is = is && words[i] % EP_ESCAPE_TYPES == EP_ESCAPE_DATA &&
		     ep_escape_payload(words[i]) == payloads[i - 1];
	return is;
}

static void make_mark(void)
{
	struct ep_mark mark;

	ep_mark_init(&mark, EP_MARK_THROW);
	ck_assert(ep_mark_value(&mark, (UINT64_C(0x2abcdef) << 26) + 0x3000007));
	ep_mark_text(&mark, "abcd");
	ep_mark_record(&mark);
}

static void *marks(void *unused)
{
	make_mark();
	holds(ep_tls.cursor == 0);
	call(1);
	make_mark();
	back(1);
	holds(is_mark(&block()->records[1]));
	holds((block()->records[6] & EP_ADDRESS_MASK) == CODE + 1);
	epitaph_pause();
	make_mark();
	epitaph_resume();
	holds(block()->records[7] == 0);
	return unused;
}

static void *a_mark_at_the_end(void *unused)
{
	for (unsigned i = 0; i < EP_BLOCK_RECORDS - 4; i++)
		call(i);
	const struct ep_block *first = block();
	make_mark();
	holds(block() == first + 1);
	holds(is_valid(block()));
	holds(is_mark(&block()->records[0]));
	for (unsigned i = 1; i <= 4; i++)
		holds(first->records[EP_BLOCK_RECORDS - i] == 0);
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
	holds(values == EP_MARK_DATA_MAX / 2);
	ep_mark_text(&mark, "a text that is longer than what is left");
	holds(mark.count == EP_MARK_DATA_MAX);
	ep_mark_record(&mark);
	holds((ep_escape_payload(block()->records[1]) >> 5 & 31) == 31);
	return unused;
}

static void run(void *(*test)(void *))
{
	pthread_t thread;

	for (int i = 0; i < TRIES; i++) {
		disturbed = false;
		began = ep_tsc();
		ck_assert_int_eq(pthread_create(&thread, NULL, test, NULL), 0);
		pthread_join(thread, NULL);
		if (!disturbed)
			return;
	}
	ck_abort_msg("disturbed %d times, or wrong", TRIES);
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

/* The dead keep their history while memory is plenty; their entries say dead. */
START_TEST(an_ended_thread_is_told_as_dead)
{
	uint64_t size, dead = 0;
	struct ep_thread *threads;

	for (int i = 0; i < 5; i++)
		run(the_first_block);
	threads = ep_arena_section(EP_SECTION_THREADS, &size);
	for (unsigned i = 0; i < 5; i++)
		dead += threads[i].state == EP_THREAD_DEAD && threads[i].serial == i + 1 &&
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
