/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_rings.c: which blocks threads get, and whose history is the price, in this very process,
 * whose hooks are called as a compiler would. What is there is found as readers do: by the blocks
 * alone.
 */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/lib/jail.h"
#include "runtime/record/ring.h"
#include "runtime/record/rings.h"
#include "runtime/record/table.h"
#include "runtime/settings/settings.h"
#include "runtime/start.h"

void __cyg_profile_func_enter(void *function, void *site);

#define CODE  UINT64_C(0x123456789000)
#define KIB   UINT64_C(1024)
#define MIB   (KIB * KIB)
#define BLOCK ((uint64_t)EP_BLOCK_SIZE)

#define SERIALS (1u << 15)

static void calls(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		__cyg_profile_func_enter((void *)(CODE + 1 + i % 4000), NULL);
}

static void *ten_calls(void *unused)
{
	calls(10);
	return unused;
}

static void run(void *(*thread)(void *), void *argument)
{
	pthread_t id;

	ck_assert_int_eq(pthread_create(&id, NULL, thread, argument), 0);
	pthread_join(id, NULL);
}

static void start(void)
{
	ck_assert(ep_start());
	ep_settings.ring_most = ep_settings.ring_size;
}

/* ---- what a reader finds ---- */

static bool holds(const struct ep_block *block)
{
	uint64_t offset = (uint64_t)block - (uint64_t)ep_arena;

	return block->check && block->check == ep_block_check(block, offset, epitaph_root.identity);
}

static unsigned calls_in(const struct ep_block *block)
{
	unsigned count = 0;

	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++) {
		uint64_t address = block->records[i] & EP_ADDRESS_MASK;

		count += address > CODE && address <= CODE + 4000;
	}
	return count;
}

/* By serial: blocks that hold, and records in them. */
struct found {
	uint64_t blocks, calls, newest, oldest;
};

static struct found *find_all(uint32_t serials)
{
	struct found *found = calloc(serials + 1, sizeof(*found));
	const struct ep_block *block = ep_arena_section(EP_SECTION_RINGS, NULL);
	const struct ep_block *end = (const void *)((const char *)ep_arena + ep_arena_opened());

	for (; block < end; block++) {
		struct found *of = &found[block->owner];

		if (!holds(block))
			continue;
		must(block->owner <= serials);
		of->blocks++;
		of->calls += calls_in(block);
		if (block->sequence > of->newest)
			of->newest = block->sequence;
		if (!of->oldest || block->sequence < of->oldest)
			of->oldest = block->sequence;
	}
	return found;
}

/* Of the owner of each block, how many of its last ones there are. */
static uint64_t *count_recent(const struct found *found, const uint64_t *said)
{
	uint64_t *recent = calloc(SERIALS + 1, sizeof(*recent));
	const struct ep_block *block = ep_arena_section(EP_SECTION_RINGS, NULL);
	const struct ep_block *end = (const void *)((const char *)ep_arena + ep_arena_opened());

	for (; block < end; block++)
		if (holds(block) &&
		    block->sequence + said[block->owner] > found[block->owner].newest)
			recent[block->owner]++;
	return recent;
}

/* What each entry says of its ring is so: of the last blocks so many are there, each once. */
static void entries_tell_the_truth(void)
{
	uint32_t room, count = ep_thread_count();
	const struct ep_thread *threads = ep_threads(&room);
	struct found *found = find_all(SERIALS);
	uint64_t *said = calloc(SERIALS + 1, sizeof(*said)), *recent;

	for (uint32_t i = 0; i < count; i++) {
		must(threads[i].ring_size % BLOCK == 0);
		said[threads[i].serial] = threads[i].ring_size / BLOCK;
		must(!threads[i].ring_size || found[threads[i].serial].newest >= threads[i].blocks);
	}
	recent = count_recent(found, said);
	for (uint32_t serial = 1; serial <= SERIALS; serial++)
		must(recent[serial] == said[serial]);
	free(found);
	free(said);
	free(recent);
}

/* ---- many threads ---- */

START_TEST(ten_thousand_short_threads_all_keep_their_history)
{
	struct found *found;

	start();
	ck_assert_uint_eq(epitaph_root.arena_size, 64 * MIB);
	for (int i = 0; i < 10000; i++)
		run(ten_calls, NULL);
	ck_assert_uint_eq(ep_arena->threads_without_ring + ep_arena->threads_untold, 0);
	found = find_all(10000);
	for (uint32_t serial = 1; serial <= 10000; serial++) {
		must(found[serial].blocks == 1);
		must(found[serial].calls == 10);
	}
	free(found);
	entries_tell_the_truth();
}
END_TEST

/* The oldest make room, and only as many as it takes. */
START_TEST(more_threads_than_memory_has_blocks_take_the_longest_ended)
{
	uint32_t kept = 0, most = 20000;
	struct found *found;
	uint64_t blocks;

	start();
	for (uint32_t i = 0; i < most; i++)
		run(ten_calls, NULL);
	ck_assert_uint_eq(ep_arena->threads_without_ring + ep_arena->threads_untold, 0);
	blocks = (ep_arena_opened() -
		  ((uint64_t)ep_arena_section(EP_SECTION_RINGS, NULL) - (uint64_t)ep_arena)) /
		 BLOCK;
	found = find_all(most);
	while (kept < most && found[most - kept].calls == 10)
		kept++;
	for (uint32_t serial = 1; serial <= most - kept; serial++)
		must(found[serial].blocks == 0);
	/* But for a piece that is not used up, and the block that stays. */
	ck_assert_uint_ge(kept + 16, blocks);
	ck_assert_uint_eq(ep_arena_free() / BLOCK, 0);
	free(found);
}
END_TEST

#define IDLE 1000

static pthread_barrier_t begun, over;

static void *idle(void *unused)
{
	calls(10);
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&over);
	return unused;
}

/* Bytes in memory of [from, to). */
static uint64_t resident(uint64_t from, uint64_t to)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	uint64_t start = 0, end = 0, kib, sum = 0;
	char line[512];

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2)
			continue;
		if (start >= from && end <= to && sscanf(line, "Rss: %" SCNu64, &kib) == 1)
			sum += kib * KIB;
	}
	fclose(file);
	return sum;
}

static uint64_t arena_resident(void)
{
	return resident((uint64_t)ep_arena, (uint64_t)ep_arena + epitaph_root.arena_size);
}

START_TEST(a_thousand_idle_threads_hold_few_pages_each)
{
	pthread_t ids[IDLE];
	pthread_attr_t small;
	uint64_t before;

	start();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * KIB);
	pthread_barrier_init(&begun, NULL, IDLE + 1);
	pthread_barrier_init(&over, NULL, IDLE + 1);
	before = arena_resident();
	for (int i = 0; i < IDLE; i++)
		ck_assert_int_eq(pthread_create(&ids[i], &small, idle, NULL), 0);
	pthread_barrier_wait(&begun);
	ck_assert_uint_ge(arena_resident() - before, IDLE * BLOCK);
	ck_assert_uint_le(arena_resident() - before, IDLE * 16 * KIB);
	ck_assert_uint_eq(ep_arena->threads_without_ring, 0);
	entries_tell_the_truth();
	pthread_barrier_wait(&over);
	for (int i = 0; i < IDLE; i++)
		pthread_join(ids[i], NULL);
}
END_TEST

START_TEST(a_thread_of_few_calls_takes_little_memory)
{
	start();
	ck_assert_uint_gt(arena_resident(), 0);
	run(ten_calls, NULL);
	ck_assert_uint_le(arena_resident(), 256 * KIB);
}
END_TEST

/* ---- storms ---- */

static void *storm(void *bytes)
{
	calls((uintptr_t)bytes / BLOCK * EP_BLOCK_RECORDS);
	return NULL;
}

static uint64_t history(uint32_t serial)
{
	struct found *found = find_all(SERIALS);
	uint64_t blocks = found[serial].blocks;

	free(found);
	return blocks * BLOCK;
}

START_TEST(storms_get_all_of_a_ring_while_there_is_room)
{
	start();
	for (int i = 0; i < 30; i++)
		run(storm, (void *)(3 * MIB));
	for (uint32_t serial = 1; serial <= 30; serial++)
		ck_assert_uint_eq(history(serial), ep_settings.ring_size);
	ck_assert_uint_eq(ep_arena->rings_reused, 0);
	entries_tell_the_truth();
}
END_TEST

static void start_growing(void)
{
	start();
	ep_settings.ring_most = 4 * MIB;
}

START_TEST(a_ring_that_reaches_back_little_grows)
{
	start_growing();
	run(storm, (void *)(3 * MIB));
	run(storm, (void *)(9 * MIB));
	ck_assert_uint_ge(history(1), 3 * MIB);
	ck_assert_uint_eq(history(2), 4 * MIB);
	ck_assert_uint_eq(ep_arena->rings_reused, 0);
	entries_tell_the_truth();
}
END_TEST

static void *storm_and_rest(void *unused)
{
	storm((void *)(MIB / 2));
	sleep(1);
	storm((void *)(MIB / 4 * 3));
	ck_assert_uint_eq(history(ep_tls.thread->serial), MIB);
	return unused;
}

START_TEST(a_ring_that_reaches_back_a_second_does_not)
{
	start_growing();
	run(storm_and_rest, NULL);
}
END_TEST

/* All of them together have a third of the memory, of which other sections have some. */
START_TEST(rings_that_grow_leave_theirs_to_those_who_come)
{
	uint64_t grown = 0;

	start_growing();
	for (int i = 0; i < 6; i++)
		run(storm, (void *)(6 * MIB));
	for (uint32_t serial = 1; serial <= 6; serial++)
		grown += history(serial);
	ck_assert_uint_ge(grown, 12 * MIB);
	ck_assert_uint_le(grown, 24 * MIB);
	for (int i = 0; i < 20; i++)
		run(storm, (void *)(3 * MIB));
	for (uint32_t serial = 7; serial <= 26; serial++)
		ck_assert_uint_eq(history(serial), MIB);
	ck_assert_uint_eq(ep_arena->rings_reused, 0);
	entries_tell_the_truth();
}
END_TEST

static void *storm_then_wait(void *bytes)
{
	storm(bytes);
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&over);
	return NULL;
}

#define STORMS 64

/* Whoever comes last has a little. */
START_TEST(storms_at_once_leave_something_for_those_who_come)
{
	pthread_t ids[STORMS];

	start();
	pthread_barrier_init(&begun, NULL, STORMS + 1);
	pthread_barrier_init(&over, NULL, STORMS + 1);
	for (int i = 0; i < STORMS; i++)
		ck_assert_int_eq(pthread_create(&ids[i], NULL, storm_then_wait, (void *)(2 * MIB)),
				 0);
	pthread_barrier_wait(&begun);
	ck_assert_uint_ge(ep_arena_free(), epitaph_root.arena_size / 5);
	for (int i = 0; i < 500; i++)
		run(ten_calls, NULL);
	ck_assert_uint_eq(ep_arena->threads_without_ring, 0);
	ck_assert_uint_eq(ep_arena->rings_reused, 0);
	for (uint32_t serial = 1; serial <= STORMS; serial++)
		ck_assert_uint_ge(history(serial), 16 * KIB);
	entries_tell_the_truth();
	pthread_barrier_wait(&over);
	for (int i = 0; i < STORMS; i++)
		pthread_join(ids[i], NULL);
}
END_TEST

/* Uses up what nobody has had, but for `blocks`. */
static void use_up(uint64_t blocks)
{
	while (ep_arena_free() >= (blocks + 256) * BLOCK)
		ep_arena_grow(256 * BLOCK);
	while (ep_arena_free() >= (blocks + 1) * BLOCK)
		ep_arena_grow(BLOCK);
}

static void *begin_then_wait(void *unused)
{
	calls(10);
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&over);
	return unused;
}

/* A storm goes round in what it has, when it has taken what the dead left: first the first. */
START_TEST(a_storm_takes_from_the_dead_and_never_from_the_quiet)
{
	pthread_t quiet;
	struct found *found;
	uint32_t kept = 0;

	start();
	pthread_barrier_init(&begun, NULL, 2);
	pthread_barrier_init(&over, NULL, 2);
	pthread_create(&quiet, NULL, begin_then_wait, NULL); /* 1 */
	pthread_barrier_wait(&begun);
	for (int i = 0; i < 100; i++) /* 2 … 101 */
		run(ten_calls, NULL);
	use_up(0);
	run(storm, (void *)(40 * BLOCK)); /* 102: all but the unused blocks are of the dead */
	found = find_all(102);
	ck_assert_uint_eq(found[1].calls, 10);
	ck_assert_uint_ge(found[102].blocks, 40);
	for (uint32_t serial = 2; serial <= 101; serial++) {
		kept += found[serial].calls == 10;
		/* Once one is kept, all that ended later are. */
		ck_assert_uint_eq(found[serial].calls, kept ? 10 : 0);
	}
	ck_assert_uint_ge(kept, 60);
	free(found);
	run(storm, (void *)(3 * MIB)); /* 103: takes all that is left */
	ck_assert_uint_eq(history(1), BLOCK);
	ck_assert_uint_gt(history(103), 100 * BLOCK);
	entries_tell_the_truth();
	pthread_barrier_wait(&over);
	pthread_join(quiet, NULL);
}
END_TEST

/* ---- a ring of one's own ---- */

static void *own_ring(void *unused)
{
	const struct ep_thread *thread;

	calls(600 * EP_BLOCK_RECORDS);
	thread = ep_tls.thread;
	ck_assert_uint_eq(history(thread->serial), MIB);
	ck_assert_int_eq(epitaph_set_thread_ring(2 * MIB), 0);
	ck_assert_uint_eq(history(thread->serial), MIB);
	calls(600 * EP_BLOCK_RECORDS);
	ck_assert_uint_eq(history(thread->serial), 2 * MIB);
	entries_tell_the_truth();
	ck_assert_int_eq(epitaph_set_thread_ring(64 * KIB), 0);
	ck_assert_uint_eq(thread->ring_size, 64 * KIB);
	/* What is left is there as long as nobody wants it. */
	ck_assert_uint_eq(history(thread->serial), 2 * MIB);
	calls(600 * EP_BLOCK_RECORDS);
	ck_assert_uint_eq(thread->ring_size, 64 * KIB);
	ck_assert_int_eq(epitaph_set_thread_ring(BLOCK), 0);
	calls(600 * EP_BLOCK_RECORDS);
	ck_assert_uint_eq(thread->ring_size, BLOCK);
	return unused;
}

START_TEST(a_ring_of_its_own_grows_and_shrinks_and_loses_no_more_than_that)
{
	start();
	run(own_ring, NULL);
}
END_TEST

static void *own_ring_first(void *unused)
{
	ck_assert_int_eq(epitaph_set_thread_ring(64 * KIB), 0);
	calls(100 * EP_BLOCK_RECORDS);
	ck_assert_uint_eq(history(ep_tls.thread->serial), 64 * KIB);
	entries_tell_the_truth();
	return unused;
}

START_TEST(a_ring_may_be_asked_for_before_the_first_call)
{
	start();
	run(own_ring_first, NULL);
}
END_TEST

/* ---- back in time ---- */

static void *walk_back(void *unused)
{
	const struct ep_block *block;
	uint64_t sequence, count = 1;

	ck_assert_ptr_null(ep_ring_block(&ep_tls));
	calls(300 * EP_BLOCK_RECORDS + 5);
	block = ep_ring_block(&ep_tls);
	sequence = block->sequence;
	ck_assert_uint_eq(sequence, ep_tls.thread->blocks);
	while ((block = ep_ring_previous_block(&ep_tls, block))) {
		count++;
		ck_assert(holds(block));
		ck_assert_uint_eq(block->owner, ep_tls.thread->serial);
		ck_assert_uint_eq(block->sequence, --sequence);
	}
	ck_assert_uint_eq(count, MIB / BLOCK);
	return unused;
}

START_TEST(a_thread_finds_its_blocks_back_to_its_oldest)
{
	start();
	run(walk_back, NULL);
}
END_TEST

/* ---- at once ---- */

static volatile sig_atomic_t signals;

static void on_signal(int signal)
{
	(void)signal;
	calls(EP_BLOCK_RECORDS * 2 / 3);
	signals++;
}

static void *come_and_go(void *times)
{
	for (uintptr_t i = 0; i < (uintptr_t)times; i++)
		run(i % 16 ? ten_calls : storm, (void *)(100 * BLOCK));
	return NULL;
}

static void *signalled(void *unused)
{
	(void)unused;
	for (int i = 0; signals < 500; i++) {
		calls(100);
		if (i % 64 == 0)
			epitaph_set_thread_ring(i % 128 ? 64 * KIB : 128 * KIB);
	}
	return NULL;
}

/* Threads begin, end, storm, change their rings and are interrupted, where memory is scarce: each
 * block is still of one, and what entries say is so. */
START_TEST(rings_stay_whole_whatever_comes_together)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t ids[4], target;

	start();
	use_up(300);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&target, NULL, signalled, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, come_and_go, (void *)(uintptr_t)300);
	for (int i = 0; i < 500; i++) {
		pthread_kill(target, SIGUSR1);
		while (signals <= i)
			;
	}
	pthread_join(target, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	ck_assert_uint_gt(ep_arena->rings_reused, 300);
	entries_tell_the_truth();
}
END_TEST

static void *storm_in_jail(void *unused)
{
	uint64_t committed;

	calls(10);
	ep_rings_open_ahead();
	ep_jail_enter(NULL);
	committed = ep_arena->committed;
	storm((void *)(3 * MIB));
	ck_assert_uint_eq(ep_arena->committed, committed);
	ck_assert_uint_eq(history(ep_tls.thread->serial), ep_settings.ring_size);
	return unused;
}

/* Its kernel may not be asked for memory any more. */
START_TEST(a_process_that_gives_up_system_calls_has_its_rings_before)
{
	start();
	run(storm_in_jail, NULL);
}
END_TEST

START_TEST(a_forked_child_has_all_memory_again)
{
	int status;
	pid_t child;

	start();
	run(storm, (void *)(3 * MIB));
	use_up(0);
	child = fork();
	if (!child) {
		calls(3 * MIB / BLOCK * EP_BLOCK_RECORDS);
		if (ep_arena->threads_without_ring || ep_arena->rings_reused)
			_exit(1);
		_exit(history(ep_tls.thread->serial) == MIB ? 0 : 2);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rings");
	TCase *all = tcase_create("rings");

	tcase_set_timeout(all, 60);
	tcase_add_test(all, ten_thousand_short_threads_all_keep_their_history);
	tcase_add_test(all, more_threads_than_memory_has_blocks_take_the_longest_ended);
	tcase_add_test(all, a_thousand_idle_threads_hold_few_pages_each);
	tcase_add_test(all, a_thread_of_few_calls_takes_little_memory);
	tcase_add_test(all, storms_get_all_of_a_ring_while_there_is_room);
	tcase_add_test(all, a_ring_that_reaches_back_little_grows);
	tcase_add_test(all, a_ring_that_reaches_back_a_second_does_not);
	tcase_add_test(all, rings_that_grow_leave_theirs_to_those_who_come);
	tcase_add_test(all, storms_at_once_leave_something_for_those_who_come);
	tcase_add_test(all, a_storm_takes_from_the_dead_and_never_from_the_quiet);
	tcase_add_test(all, a_ring_of_its_own_grows_and_shrinks_and_loses_no_more_than_that);
	tcase_add_test(all, a_ring_may_be_asked_for_before_the_first_call);
	tcase_add_test(all, a_thread_finds_its_blocks_back_to_its_oldest);
	tcase_add_test(all, rings_stay_whole_whatever_comes_together);
	tcase_add_test(all, a_process_that_gives_up_system_calls_has_its_rings_before);
	tcase_add_test(all, a_forked_child_has_all_memory_again);
	suite_add_tcase(suite, all);
	return ep_test_main(suite);
}
