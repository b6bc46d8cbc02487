/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_kept.c: snapshots kept in memory, of this very process, whose hooks are called as a
 * compiler would. What a thread records counts up, so that a record that is torn, missing or of
 * another block shows.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/snapshot/image.h"
#include "coredump/extract/extract_kept.h"
#include "decoder/trace/trace.h"
#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/facts/loadmap.h"
#include "runtime/record/hold.h"
#include "runtime/snapshot/arena_copy.h"
#include "runtime/snapshot/kept.h"
#include "runtime/settings/settings.h"
#include "runtime/start.h"
#include "runtime/record/thread.h"

void __cyg_profile_func_enter(void *function, void *site);

#define CODE     0x100000000000
#define RECORDER 8
/* Races are for the plain build to find: the runtime is the same in both. What is sanitized is the
 * reader, which took four times as long. */
#ifdef __SANITIZE_ADDRESS__
#define SNAPSHOTS 1000
#else
#define SNAPSHOTS 10000
#endif

static void call(uint64_t n)
{
	__cyg_profile_func_enter((void *)(CODE + n), NULL);
}

static const struct ep_kept *kept_of(const struct epitaph_snapshot *snapshot)
{
	return ep_kept_find((uint64_t)snapshot);
}

/* ---- the kept arena as readers see it ---- */

struct view {
	struct ep_image image;
	struct ep_trace *trace;
};

static void view_open(struct view *view, const struct ep_kept *kept)
{
	struct ep_root root = *(const struct ep_root *)kept->address;
	uint8_t *bytes = malloc(kept->size);

	ck_assert_int_eq(memcmp(root.magic, EP_KEPT_MAGIC, EP_MAGIC_SIZE), 0);
	ck_assert_uint_eq(root.self, kept->address);
	memcpy(bytes, (const void *)kept->address, kept->size);
	memcpy(root.magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE);
	root.crc = ep_crc32(&root, offsetof(struct ep_root, crc));
	memcpy(bytes, &root, sizeof(root));
	ck_assert_int_eq(ep_image_from_bytes(&view->image, bytes, kept->size, NULL), EP_OK);
	free(bytes);
	ck_assert_int_eq(ep_trace_create(&view->trace, &view->image, NULL), EP_OK);
	ck_assert_uint_eq(view->trace->warning_count, 0);
}

static void view_close(struct view *view)
{
	ep_trace_destroy(view->trace);
	ep_image_deinit(&view->image);
}

/* Nothing of it is damaged, by the readers' own reckoning. */
static void must_be_whole(const struct ep_trace *trace)
{
	const struct ep_trace_damage *damage = &trace->damage;

	ck_assert_uint_eq(damage->pages_missing, 0);
	ck_assert_uint_eq(damage->blocks_torn, 0);
	ck_assert_uint_eq(damage->records_text, 0);
	ck_assert_uint_eq(damage->blocks_foreign, 0);
	ck_assert_uint_eq(damage->blocks_duplicate, 0);
	ck_assert_uint_eq(damage->threads_corrupt, 0);
	ck_assert_uint_eq(damage->modules_corrupt, 0);
	ck_assert_uint_eq(damage->holes, 0);
	ck_assert_uint_eq(damage->blocks_entering, 0);
	ck_assert_uint_eq(damage->blocks_backward, 0);
	ck_assert_uint_eq(damage->blocks_missed, 0);
}

static uint64_t number_of(uint64_t word)
{
	return (word & EP_ADDRESS_MASK) - CODE;
}

static bool is_escape(uint64_t word)
{
	return (word & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT;
}

/* The numbers of a thread follow on each other, from block to block too. */
static uint64_t check_counting(const struct ep_trace_thread *thread)
{
	uint64_t next = 0, seen = 0;

	for (size_t i = 0; i < thread->block_count; i++) {
		const struct ep_trace_block *b = &thread->blocks[i];

		if (i && b->lost_before)
			next = 0;
		for (uint32_t k = 0; k < b->words; k++) {
			uint64_t word = b->block->records[k];

			if (is_escape(word))
				continue;
			/* An assertion is a system call: only where it fails. */
			if (next && number_of(word) != next)
				ck_abort_msg("%lu, not %lu", (unsigned long)number_of(word),
					     (unsigned long)next);
			next = number_of(word) + 1;
			seen++;
		}
	}
	return seen;
}

/* ---- threads that record ---- */

static atomic_int stop, running;
static atomic_ullong progress[RECORDER];

static void *record(void *which)
{
	atomic_ullong *mine = which;

	running++;
	for (uint64_t n = 1; !stop; n++) {
		call(n);
		if (n % 64 == 0)
			atomic_store_explicit(mine, n, memory_order_relaxed);
	}
	return NULL;
}

static void recorders_start(pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, record, &progress[i]);
	while (running < count)
		;
	for (int i = 0; i < count; i++)
		while (!progress[i])
			;
}

static void recorders_end(pthread_t *threads, int count)
{
	stop = 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* ---- what is in it ---- */

/* Nothing is overwritten: libcheck forks for each test, so that the process began with a fork. */
static void must_begin_with_the_process(const struct ep_trace_thread *thread)
{
	ck_assert(thread->forked);
}

START_TEST(a_snapshot_has_what_was_recorded_up_to_then_and_nothing_later)
{
	struct epitaph_snapshot *snapshot;
	struct view view;

	for (uint64_t n = 1; n <= 2000; n++)
		call(n);
	snapshot = epitaph_snapshot_take();
	ck_assert_ptr_nonnull(snapshot);
	for (uint64_t n = 2001; n <= 4000; n++)
		call(n);
	view_open(&view, kept_of(snapshot));
	must_be_whole(view.trace);
	ck_assert_uint_eq(view.trace->thread_count, 1);
	must_begin_with_the_process(&view.trace->threads[0]);
	ck_assert_uint_eq(check_counting(&view.trace->threads[0]), 2000);
	ck_assert_uint_eq(view.trace->arena.kept_tsc, kept_of(snapshot)->tsc);
	ck_assert_uint_eq(view.trace->module_count,
			  ((struct ep_modules *)ep_arena_section(EP_SECTION_MODULES, NULL))->count);
	ck_assert_str_ne(view.trace->modules[0].path, "");
	ck_assert_str_ne(view.trace->process.executable, "");
	ck_assert(view.trace->clock.known);
	view_close(&view);
}
END_TEST

/* A hold ends by itself, where who copies has no processor for long: threads go on meanwhile. Their
 * later blocks are of after the snapshot, and not missing in it. */
START_TEST(blocks_that_were_entered_since_are_not_missed)
{
	struct ep_arena_copy copy = {.kept = true};
	struct ep_kept kept = {0};
	struct ep_hold hold;
	struct view view;
	char *memory;

	for (uint64_t n = 1; n <= 2000; n++)
		call(n);
	if (_i)
		copy.since = epitaph_time();
	for (uint64_t n = 2001; n <= 4000; n++)
		call(n);
	ep_loadmap_refresh();
	copy.until = __builtin_ia32_rdtsc();
	ep_arena_copy_measure(&copy);
	for (uint64_t n = 4001; n <= 9000; n++)
		call(n);
	memory = mmap(NULL, copy.head + copy.room_blocks * EP_BLOCK_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	ep_hold_begin(&hold);
	ep_arena_copy_head(&copy, memory);
	ep_arena_copy_history(&copy, &hold);
	ep_hold_end(&hold);
	kept.address = (uint64_t)memory;
	kept.size = ep_arena_copy_finish(&copy, EP_KEPT_MAGIC, kept.address);
	view_open(&view, &kept);
	must_be_whole(view.trace);
	ck_assert_uint_ge(check_counting(&view.trace->threads[0]), _i ? 2000 : 4000);
	ck_assert_uint_le(check_counting(&view.trace->threads[0]), 4000 + EP_BLOCK_RECORDS);
	view_close(&view);
}
END_TEST

/* rdtsc waits for no load: a counter may be older than the word that it is held against. */
START_TEST(a_hold_is_one_for_who_read_the_counter_before_it)
{
	uint64_t before = __builtin_ia32_rdtsc();
	struct ep_hold hold;

	ep_hold_begin(&hold);
	ep_hold_end(&hold);
	ck_assert_uint_gt(hold.until, before);
	ck_assert_uint_lt(hold.until - before, EP_HOLD_CYCLES);
}
END_TEST

START_TEST(since_leaves_out_blocks_that_were_full_then)
{
	struct epitaph_snapshot *snapshot;
	uint64_t since, seen;
	struct view view;

	for (uint64_t n = 1; n <= 20000; n++)
		call(n);
	since = epitaph_time();
	for (uint64_t n = 20001; n <= 22000; n++)
		call(n);
	snapshot = epitaph_snapshot_take_since(since);
	view_open(&view, kept_of(snapshot));
	must_be_whole(view.trace);
	seen = check_counting(&view.trace->threads[0]);
	ck_assert_uint_ge(seen, 2000);
	ck_assert_uint_le(seen, 2000 + EP_BLOCK_RECORDS);
	ck_assert_uint_eq(view.trace->arena.kept_since, since);
	view_close(&view);
	/* Of the future, each thread's present block. */
	snapshot = epitaph_snapshot_take_since(UINT64_MAX);
	view_open(&view, kept_of(snapshot));
	ck_assert_uint_eq(view.trace->block_count, 1);
	view_close(&view);
}
END_TEST

START_TEST(many_snapshots_of_eight_threads_have_valid_blocks_only)
{
	pthread_t threads[RECORDER];
	uint64_t blocks = 0, records = 0;

	recorders_start(threads, RECORDER);
	for (int i = 0; i < SNAPSHOTS; i++) {
		struct epitaph_snapshot *snapshot =
			epitaph_snapshot_take_since(epitaph_time() - 20000);
		struct view view;

		ck_assert_ptr_nonnull(snapshot);
		view_open(&view, kept_of(snapshot));
		must_be_whole(view.trace);
		ck_assert_uint_eq(view.trace->thread_count, RECORDER);
		for (size_t t = 0; t < view.trace->thread_count; t++)
			records += check_counting(&view.trace->threads[t]);
		blocks += view.trace->block_count;
		view_close(&view);
		epitaph_snapshot_free(snapshot);
	}
	recorders_end(threads, RECORDER);
	ck_assert_uint_ge(blocks, SNAPSHOTS);
	ck_assert_uint_ge(records, SNAPSHOTS);
	ck_assert_uint_eq(ep_arena->kept_refused, 0);
}
END_TEST

static void *record_some(void *which)
{
	uint64_t count = *(uint64_t *)which;

	for (uint64_t n = 1; n <= count; n++)
		call(n);
	return NULL;
}

START_TEST(threads_that_ended_are_in_it_unless_that_was_before)
{
	uint64_t count = 3000, since;
	struct epitaph_snapshot *snapshot;
	struct view view;
	pthread_t thread;

	call(1);
	pthread_create(&thread, NULL, record_some, &count);
	pthread_join(thread, NULL);
	snapshot = epitaph_snapshot_take();
	view_open(&view, kept_of(snapshot));
	ck_assert_uint_eq(view.trace->thread_count, 2);
	ck_assert_uint_eq(view.trace->threads[1].state, EP_THREAD_DEAD);
	ck_assert_uint_eq(check_counting(&view.trace->threads[1]), 3000);
	view_close(&view);
	since = epitaph_time();
	snapshot = epitaph_snapshot_take_since(since);
	view_open(&view, kept_of(snapshot));
	ck_assert_uint_eq(view.trace->thread_count, 1);
	view_close(&view);
}
END_TEST

/* What a smaller ring has no room for is left, and there until somebody wants it. */
START_TEST(what_was_recorded_before_another_ring_is_in_it)
{
	struct epitaph_snapshot *snapshot;
	struct view view;

	for (uint64_t n = 1; n <= 20000; n++)
		call(n);
	ck_assert_int_eq(epitaph_set_thread_ring(64 << 10), 0);
	ck_assert_uint_eq(ep_tls.thread->ring_size, 64 << 10);
	snapshot = epitaph_snapshot_take();
	view_open(&view, kept_of(snapshot));
	must_be_whole(view.trace);
	ck_assert_uint_eq(check_counting(&view.trace->threads[0]), 20000);
	must_begin_with_the_process(&view.trace->threads[0]);
	view_close(&view);
}
END_TEST

/* ---- memory ---- */

START_TEST(without_room_it_is_refused_and_counted)
{
	ck_assert(ep_start());
	ep_settings.keep_size = 128 << 10;
	for (uint64_t n = 1; n <= 40000; n++)
		call(n);
	errno = 0;
	ck_assert_ptr_null(epitaph_snapshot_take());
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_uint_eq(ep_arena->kept_refused, 1);
	/* A small one fits all the same. */
	ck_assert_ptr_nonnull(epitaph_snapshot_take_since(epitaph_time()));
}
END_TEST

START_TEST(none_is_kept_where_no_memory_is_allowed)
{
	ck_assert(ep_start());
	ep_settings.keep_size = 0;
	ck_assert_ptr_null(epitaph_snapshot_take());
	ck_assert_int_eq(errno, ENOMEM);
}
END_TEST

START_TEST(sixty_four_are_kept_and_freed_memory_serves_again)
{
	struct epitaph_snapshot *all[64], *more;
	uint64_t address;

	call(1);
	for (int i = 0; i < 64; i++) {
		all[i] = epitaph_snapshot_take();
		ck_assert_ptr_nonnull(all[i]);
		for (int k = 0; k < i; k++) {
			const struct ep_kept *a = kept_of(all[i]);
			const struct ep_kept *b = kept_of(all[k]);

			ck_assert(a->address + a->size <= b->address ||
				  b->address + b->size <= a->address);
		}
	}
	ck_assert_ptr_null(epitaph_snapshot_take());
	ck_assert_int_eq(errno, ENOMEM);
	/* Neighbours: the drain may have begun since, so that the next one is larger than each. */
	address = kept_of(all[17])->address;
	for (int i = 17; i < 33; i++)
		epitaph_snapshot_free(all[i]);
	more = epitaph_snapshot_take();
	ck_assert_ptr_nonnull(more);
	ck_assert_uint_eq(kept_of(more)->address, address);
	ck_assert_ptr_ne(more, all[17]);
	/* The old one means nothing any more, not even the new one. */
	epitaph_snapshot_free(all[17]);
	ck_assert_ptr_nonnull(kept_of(more));
	ck_assert_int_eq(epitaph_snapshot_save(all[17], "no.core"), -1);
	ck_assert_int_eq(errno, EINVAL);
	epitaph_snapshot_free(NULL);
	epitaph_snapshot_free((struct epitaph_snapshot *)all);
}
END_TEST

/* ---- who takes it ---- */

static void *take_many(void *unused)
{
	for (int i = 0; i < SNAPSHOTS / 5; i++) {
		struct epitaph_snapshot *snapshot = epitaph_snapshot_take_since(epitaph_time());

		ck_assert_ptr_nonnull(snapshot);
		epitaph_snapshot_free(snapshot);
	}
	return unused;
}

START_TEST(many_threads_may_take_them_at_once)
{
	pthread_t recorders[2], takers[4];
	uint32_t count = 0;
	const struct ep_kept *list;

	recorders_start(recorders, 2);
	for (int i = 0; i < 4; i++)
		pthread_create(&takers[i], NULL, take_many, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(takers[i], NULL);
	recorders_end(recorders, 2);
	list = ep_arena_section(EP_SECTION_KEPT, NULL);
	for (int i = 0; i < 64; i++)
		count += list[i].state != EP_KEPT_FREE;
	ck_assert_uint_eq(count, 0);
}
END_TEST

static volatile sig_atomic_t taken, refused;

static void take_in_handler(int signal)
{
	struct epitaph_snapshot *snapshot = epitaph_snapshot_take();

	(void)signal;
	if (snapshot)
		taken++;
	else if (errno == EBUSY)
		refused++;
	else
		abort();
	epitaph_snapshot_free(snapshot);
}

START_TEST(a_signal_handler_takes_one_or_is_told_to_try_again)
{
	struct itimerval often = {{0, 50}, {0, 50}};

	call(1);
	signal(SIGALRM, take_in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; taken < 500; i++) {
		struct epitaph_snapshot *snapshot = epitaph_snapshot_take();

		ck_assert_ptr_nonnull(snapshot);
		epitaph_snapshot_free(snapshot);
	}
	signal(SIGALRM, SIG_IGN);
}
END_TEST

START_TEST(a_forked_child_keeps_none_and_takes_its_own)
{
	struct epitaph_snapshot *parents, *own;
	int status;
	pid_t child;

	call(1);
	parents = epitaph_snapshot_take();
	child = fork();
	if (!child) {
		if (epitaph_snapshot_save(parents, "no.core") == 0 || errno != EINVAL)
			_exit(1);
		call(1);
		own = epitaph_snapshot_take();
		if (!own || own == parents)
			_exit(2);
		_exit(kept_of(own) ? 0 : 3);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(kept_of(parents));
}
END_TEST

START_TEST(a_saved_one_replaces_a_file_and_stays_kept)
{
	struct epitaph_snapshot *snapshot;
	char path[] = "/tmp/check_kept.XXXXXX", magic[4] = "";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	call(1);
	snapshot = epitaph_snapshot_take();
	ck_assert_int_eq(epitaph_snapshot_save(snapshot, path), 0);
	ck_assert_int_eq(epitaph_snapshot_save(snapshot, path), 0);
	FILE *file = fopen(path, "r");
	ck_assert_uint_eq(fread(magic, 1, 4, file), 4);
	fclose(file);
	ck_assert_int_eq(memcmp(magic, "\177ELF", 4), 0);
	unlink(path);
	ck_assert_int_eq(epitaph_snapshot_save(snapshot, "/no/such/folder/x"), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_nonnull(kept_of(snapshot));
}
END_TEST

/* ---- readers, on a table that somebody has written over ---- */

static struct ep_source *source;
static struct ep_root_found found;
static struct ep_kept_list list;
static struct ep_err err;
static struct ep_kept *entry; /* of the one that was taken, to be damaged */

static void self_open(void)
{
	call(1);
	entry = (struct ep_kept *)kept_of(epitaph_snapshot_take());
	ck_assert_int_eq(ep_source_open_live(&source, getpid(), &err), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, &err), EP_OK);
	ck_assert_uint_eq(found.arena_address, (uint64_t)ep_arena);
}

static void self_close(void)
{
	ep_kept_list_deinit(&list);
	ep_source_close(source);
}

static void list_again(void)
{
	ep_kept_list_deinit(&list);
	ep_kept_list(&list, source, &found);
}

static int extract_first(void)
{
	struct ep_extract_options options = {.force = true};
	struct ep_kept_result result;

	return ep_kept_extract(source, &found, &list.list[0], "/no/such/x.core", &options, &result,
			       &err);
}

START_TEST(entries_that_make_no_sense_are_counted_and_left_out)
{
	const struct ep_kept bad[] = {
		{.state = EP_KEPT_VALID, .number = 0, .address = 4096, .size = 4096},
		{.state = EP_KEPT_VALID, .number = 1, .address = 0, .size = 4096},
		{.state = EP_KEPT_VALID, .number = 1, .address = 4097, .size = 4096},
		{.state = EP_KEPT_VALID, .number = 1, .address = 4096, .size = 0},
		{.state = EP_KEPT_VALID, .number = 1, .address = 4096, .size = 4095},
		{.state = EP_KEPT_VALID, .number = 1, .address = 8192, .size = -UINT64_C(4096)},
	};
	struct ep_kept good;

	self_open();
	good = *entry;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		*entry = bad[i];
		list_again();
		ck_assert_uint_eq(list.count, 0);
		ck_assert_uint_eq(list.corrupt, 1);
	}
	for (uint32_t state = 0; state < 5; state++) {
		*entry = good;
		entry->state = state;
		list_again();
		ck_assert_uint_eq(list.count, state == EP_KEPT_VALID);
		ck_assert_uint_eq(list.corrupt, 0);
	}
	self_close();
}
END_TEST

START_TEST(a_table_that_lies_about_its_size_is_read_as_far_as_it_is_one)
{
	struct ep_section *section = ep_arena->sections;

	self_open();
	while (section->type != EP_SECTION_KEPT)
		section++;
	section->size = UINT64_MAX;
	list_again();
	ck_assert_uint_eq(list.count, 0);
	section->size = epitaph_root.arena_size - section->offset;
	list_again();
	ck_assert_uint_ge(list.count, 1);
	section->size = 4096;
	section->entry_size = 8;
	list_again();
	ck_assert_uint_eq(list.count, 0);
	section->entry_size = 0;
	list_again();
	ck_assert_uint_eq(list.count, 0);
	self_close();
}
END_TEST

START_TEST(one_that_is_not_there_is_not_saved)
{
	self_open();
	entry->address = 4096; /* nobody has memory there */
	list_again();
	ck_assert_uint_eq(list.count, 1);
	ck_assert_uint_eq(list.list[0].present, 0);
	ck_assert_int_eq(extract_first(), EP_E_UNSAVED);
	self_close();
}
END_TEST

START_TEST(a_damaged_first_page_is_told)
{
	struct ep_root *root;

	self_open();
	list_again();
	root = (struct ep_root *)entry->address;
	root->pid ^= 1;
	ck_assert_int_eq(extract_first(), EP_E_CORRUPT);
	root->pid ^= 1;
	root->magic[0] ^= 1;
	ck_assert_int_eq(extract_first(), EP_E_CORRUPT);
	root->magic[0] ^= 1;
	root->major++;
	ck_assert_int_eq(extract_first(), EP_E_VERSION);
	root->major--;
	/* As it was: only the folder is missing now. */
	ck_assert_int_eq(extract_first(), EP_E_IO);
	self_close();
}
END_TEST

START_TEST(one_that_is_given_back_while_it_is_read_is_told)
{
	self_open();
	list_again();
	entry->number += 1000;
	ck_assert_int_eq(extract_first(), EP_END);
	ck_assert_ptr_nonnull(strstr(err.text, "given back"));
	self_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kept");
	TCase *what = tcase_create("what is in it");
	TCase *memory = tcase_create("memory");
	TCase *who = tcase_create("who takes it");
	TCase *readers = tcase_create("readers");

	/* On a busy machine, eight threads and the sanitizers take their time. */
	tcase_set_timeout(what, 160);
	tcase_add_test(what, a_snapshot_has_what_was_recorded_up_to_then_and_nothing_later);
	tcase_add_loop_test(what, blocks_that_were_entered_since_are_not_missed, 0, 2);
	tcase_add_test(what, a_hold_is_one_for_who_read_the_counter_before_it);
	tcase_add_test(what, since_leaves_out_blocks_that_were_full_then);
	tcase_add_test(what, many_snapshots_of_eight_threads_have_valid_blocks_only);
	tcase_add_test(what, threads_that_ended_are_in_it_unless_that_was_before);
	tcase_add_test(what, what_was_recorded_before_another_ring_is_in_it);
	tcase_add_test(memory, without_room_it_is_refused_and_counted);
	tcase_add_test(memory, none_is_kept_where_no_memory_is_allowed);
	tcase_add_test(memory, sixty_four_are_kept_and_freed_memory_serves_again);
	tcase_add_test(who, many_threads_may_take_them_at_once);
	tcase_add_test(who, a_signal_handler_takes_one_or_is_told_to_try_again);
	tcase_add_test(who, a_forked_child_keeps_none_and_takes_its_own);
	tcase_add_test(who, a_saved_one_replaces_a_file_and_stays_kept);
	suite_add_tcase(suite, what);
	suite_add_tcase(suite, memory);
	suite_add_tcase(suite, who);
	tcase_add_test(readers, entries_that_make_no_sense_are_counted_and_left_out);
	tcase_add_test(readers, a_table_that_lies_about_its_size_is_read_as_far_as_it_is_one);
	tcase_add_test(readers, one_that_is_not_there_is_not_saved);
	tcase_add_test(readers, a_damaged_first_page_is_told);
	tcase_add_test(readers, one_that_is_given_back_while_it_is_read_is_told);
	suite_add_tcase(suite, readers);
	return ep_test_main(suite);
}
