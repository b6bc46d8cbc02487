/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_live_read.c: arenas read out of a process that goes on recording: a child of this test,
 * whose records count up, so that one that is torn, missing or of another lap shows.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/snapshot/image.h"
#include "coredump/live/live_read.h"
#include "coredump/memory/source_impl.h"
#include "decoder/trace/trace.h"
#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/settings/settings.h"
#include "runtime/start.h"

void __cyg_profile_func_enter(void *function, void *site);

#define CODE UINT64_C(0x100000000000)

/* A sanitizer sees in few of them what there is; two threads record all the time. */
#ifdef __SANITIZE_ADDRESS__
#define LOOKS 25
#else
#define LOOKS 100
#endif

static volatile int *ready; /* shared with the child */

static void *record(void *unused)
{
	for (uint64_t n = 1;; n++) {
		__cyg_profile_func_enter((void *)(CODE + n), NULL);
		if (n == 100000)
			__atomic_fetch_add(ready, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

/* Small rings: they are overwritten many times in one reading. */
static pid_t child_start(void)
{
	pthread_t thread;
	pid_t child;

	ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)ready, MAP_FAILED);
	child = fork();
	if (!child) {
		ep_start();
		ep_settings.ring_size = 64 << 10;
		pthread_create(&thread, NULL, record, NULL);
		record(NULL);
	}
	while (*ready < 2)
		usleep(100);
	return child;
}

/* Assertions are system calls: only where one fails. */
static uint64_t check_counting(const struct ep_trace_thread *thread)
{
	uint64_t next = 0, seen = 0;

	for (size_t i = 0; i < thread->block_count; i++) {
		const struct ep_trace_block *b = &thread->blocks[i];

		if (b->lost_before)
			next = 0;
		for (uint32_t k = 0; k < b->words; k++) {
			uint64_t word = b->block->records[k] & EP_ADDRESS_MASK;

			if (word < EP_ESCAPE_LIMIT)
				continue;
			if (next && word - CODE != next)
				ck_abort_msg("%lu, not %lu", (unsigned long)(word - CODE),
					     (unsigned long)next);
			next = word - CODE + 1;
			seen++;
		}
	}
	return seen;
}

static uint64_t look(struct ep_source *source, const struct ep_root_found *found)
{
	struct ep_trace *trace;
	struct ep_image image;
	uint64_t seen = 0;

	ck_assert_int_eq(ep_image_read(&image, source, found, NULL), EP_OK);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ck_assert_uint_eq(trace->damage.holes, 0);
	ck_assert_uint_eq(trace->damage.blocks_torn, 0);
	ck_assert_uint_eq(trace->damage.blocks_duplicate, 0);
	ck_assert_uint_eq(trace->damage.blocks_backward, 0);
	for (size_t i = 0; i < trace->thread_count; i++)
		seen += check_counting(&trace->threads[i]);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	return seen;
}

START_TEST(what_is_read_of_a_running_process_was_there_at_one_time)
{
	struct ep_root_found found;
	struct ep_source *source;
	pid_t child = child_start();
	uint64_t seen = 0;

	ck_assert_int_eq(ep_source_open_live(&source, child, NULL), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, NULL), EP_OK);
	for (int i = 0; i < LOOKS; i++)
		seen += look(source, &found);
	/* Most of both rings is there, mostly. */
	ck_assert_uint_ge(seen, LOOKS * EP_BLOCK_RECORDS);
	ep_source_close(source);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

START_TEST(of_a_process_that_stands_still_all_is_read)
{
	struct ep_root_found found;
	struct ep_source *source;
	pid_t child = child_start();
	uint64_t seen;

	kill(child, SIGSTOP);
	waitpid(child, NULL, WUNTRACED);
	ck_assert_int_eq(ep_source_open_live(&source, child, NULL), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, NULL), EP_OK);
	seen = look(source, &found);
	/* 16 blocks each, of which one may have been begun just now. */
	ck_assert_uint_ge(seen, 2 * 14 * (EP_BLOCK_RECORDS - 8));
	ck_assert_uint_eq(seen, look(source, &found));
	ep_source_close(source);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

START_TEST(what_a_process_writes_of_itself_was_there_at_one_time)
{
	char path[] = "/tmp/check_steady.XXXXXX";
	struct ep_root_found found;
	pthread_t threads[2];
	uint64_t seen = 0;

	close(mkstemp(path));
	ck_assert(ep_start());
	ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ep_settings.ring_size = 64 << 10;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, record, NULL);
	while (*ready < 2)
		usleep(100);
	for (int i = 0; i < LOOKS; i++) {
		struct ep_source *source;

		ck_assert_int_eq(epitaph_snapshot_write(path), 0);
		ck_assert_int_eq(ep_source_open_core(&source, path, NULL), EP_OK);
		ck_assert_int_eq(ep_root_find(source, &found, NULL), EP_OK);
		seen += look(source, &found);
		ep_source_close(source);
	}
	unlink(path);
	ck_assert_uint_ge(seen, LOOKS * EP_BLOCK_RECORDS);
}
END_TEST

static void rings_set(struct ep_source *source, const struct ep_root_found *found, uint64_t offset)
{
	uint64_t at = found->arena_address + offsetof(struct ep_arena, sections);
	struct ep_section section;

	do {
		ck_assert_int_eq(ep_source_read(source, at, &section, sizeof(section), NULL, NULL),
				 EP_OK);
		at += sizeof(section);
	} while (section.type != EP_SECTION_RINGS);
	at += offsetof(struct ep_section, offset) - sizeof(section);
	ck_assert_int_eq(pwrite(source->fd, &offset, sizeof(offset), (off_t)at), sizeof(offset));
}

START_TEST(rings_that_begin_in_no_page_of_the_arena_are_refused)
{
	static const uint64_t wrong[] = {0, 1, 8, 64, 2048, 4095, 4097, UINT64_MAX - 4095};
	struct ep_root_found found;
	struct ep_source *source;
	struct ep_image image;
	struct ep_err err;
	pid_t child = child_start();

	kill(child, SIGSTOP);
	waitpid(child, NULL, WUNTRACED);
	ck_assert_int_eq(ep_source_open_live(&source, child, NULL), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, NULL), EP_OK);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		rings_set(source, &found, wrong[i]);
		ck_assert_int_eq(ep_image_read(&image, source, &found, &err), EP_E_FORMAT);
		ck_assert_ptr_nonnull(strstr(err.text, "no page of it"));
	}
	rings_set(source, &found, found.root.arena_size + 4096);
	ck_assert_int_eq(ep_image_read(&image, source, &found, &err), EP_E_FORMAT);
	rings_set(source, &found, 4096);
	ck_assert_int_eq(ep_image_read(&image, source, &found, &err), EP_OK);
	ep_image_deinit(&image);
	ep_source_close(source);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("live_read");
	TCase *tcase = tcase_create("running");

	tcase_add_test(tcase, what_is_read_of_a_running_process_was_there_at_one_time);
	tcase_add_test(tcase, of_a_process_that_stands_still_all_is_read);
	tcase_add_test(tcase, rings_that_begin_in_no_page_of_the_arena_are_refused);
	tcase_add_test(tcase, what_a_process_writes_of_itself_was_there_at_one_time);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
