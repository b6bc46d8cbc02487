/* SPDX-License-Identifier: BSD-2-Clause */
/* check_merge.c: several threads in one order, and the want of memory. */
#include <stdlib.h>
#include <string.h>

#include "decoder/stream/merge.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"
#include "tests/unit/main.h"

#define START UINT64_C(5000000000)
#define CODE  FAKE_KNOWN

static struct build_arena *arena;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_names names;
static struct ep_call_table tables[9];
static struct ep_call_functions functions;

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	arena = build_arena_create(&options);
}

static void open_trace(void)
{
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
}

static void teardown(void)
{
	ep_trace_destroy(trace);
	trace = NULL;
	build_image_free(&image);
	fake_names_free(&names);
	build_arena_destroy(arena);
}

static bool go_on(void *context, size_t blocks_left)
{
	(void)context, (void)blocks_left;
	return true;
}

static bool all(const struct ep_call_table *table, size_t at)
{
	(void)table, (void)at;
	return true;
}

static struct ep_merge *merge_of(const struct ep_trace *of,
				 bool (*want)(const struct ep_call_table *, size_t))
{
	for (size_t i = 0; i < of->thread_count; i++) {
		ep_call_table_init(&tables[i], &of->threads[i], &functions);
		ck_assert(ep_call_table_read(&tables[i], of, &names, false, go_on, NULL));
	}
	return ep_merge_create(tables, of->thread_count, want);
}

static void end_merge(struct ep_merge *merge)
{
	ep_merge_destroy(merge);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		ep_call_table_deinit(&tables[i]);
	ep_array_deinit(&functions.by_id);
}

static struct ep_thread *add_thread(void)
{
	return build_arena_thread(arena, 100 + arena->thread_count, "t", 8);
}

START_TEST(events_come_in_order_of_time)
{
	struct ep_thread *threads[5];
	struct ep_call_table *table;
	struct ep_merge *merge;
	uint64_t tsc = START, count = 0;
	size_t at;

	for (unsigned i = 0; i < 5; i++)
		threads[i] = add_thread();
	srand(3);
	/* The true order is that in which they are written. */
	static unsigned order[4000];
	for (unsigned i = 0; i < 4000; i++) {
		order[i] = (unsigned)rand() % 5;
		tsc += 100;
		build_call(arena, threads[order[i]], CODE, tsc);
	}
	open_trace();
	build_trace_check(trace, &names);
	merge = merge_of(trace, all);
	while ((table = ep_merge_next(merge, &at)))
		ck_assert_uint_eq(table->thread->serial, order[count++] + 1);
	ck_assert_uint_eq(count, 4000);
	ck_assert_ptr_null(ep_merge_next(merge, &at));
	end_merge(merge);
}
END_TEST

START_TEST(at_the_same_time_the_lower_serial_comes_first)
{
	struct ep_merge *merge;
	size_t at;

	for (unsigned i = 0; i < 9; i++)
		build_call(arena, add_thread(), CODE, START);
	open_trace();
	merge = merge_of(trace, all);
	for (unsigned i = 0; i < 9; i++)
		ck_assert_ptr_eq(ep_merge_next(merge, &at), &tables[i]);
	end_merge(merge);
}
END_TEST

static bool is_odd(const struct ep_call_table *table, size_t at)
{
	return table != &tables[0] && at % 2;
}

START_TEST(only_what_is_wanted_comes)
{
	struct ep_merge *merge;
	size_t at;

	for (unsigned i = 0; i < 3; i++) {
		struct ep_thread *thread = add_thread();

		for (unsigned n = 0; n < 5; n++)
			build_call(arena, thread, CODE, START + 10 * n + i);
	}
	open_trace();
	merge = merge_of(trace, is_odd);
	for (size_t n = 1; n < 5; n += 2)
		for (unsigned i = 1; i < 3; i++) {
			ck_assert_ptr_eq(ep_merge_next(merge, &at), &tables[i]);
			ck_assert_uint_eq(at, n);
		}
	ck_assert_ptr_null(ep_merge_next(merge, &at));
	end_merge(merge);
}
END_TEST

START_TEST(no_threads_make_no_events)
{
	struct ep_merge *merge;
	size_t at;

	open_trace();
	merge = merge_of(trace, all);
	ck_assert_ptr_null(ep_merge_next(merge, &at));
	end_merge(merge);
}
END_TEST

/* ---- nothing is left behind ---- */

/* The sanitizer has a malloc of its own. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static bool counting;
static long balance; /* blocks that are not freed */

void *malloc(size_t size)
{
	balance += counting;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	balance += counting;
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	balance += counting && !memory;
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	balance -= counting && memory;
	__libc_free(memory);
}

/* All of it, the names' own memory apart: they are known by now. */
static int decode_all(void)
{
	struct ep_event event = {0};
	struct ep_call_table *table;
	struct ep_merge *merge;
	struct ep_trace *again;
	int result = ep_trace_create(&again, &image, NULL);
	size_t at;

	if (result != EP_OK)
		return result;
	merge = merge_of(again, all);
	while ((table = ep_merge_next(merge, &at)))
		ep_call_table_event(table, at, &event);
	end_merge(merge);
	ep_trace_destroy(again);
	return result;
}

static void fill(void)
{
	for (unsigned i = 0; i < 3; i++) {
		struct ep_thread *thread = add_thread();

		for (unsigned n = 0; n < 1500; n++)
			build_event(arena, thread, (n % 7 ? CODE : FAKE_BARE) + n % 90 * FAKE_STEP,
				    n % 3 == 2, START + n * 100);
	}
	/* Warnings, texts, gaps, unknown threads, modules at one address. */
	arena->threads[2].state = 99;
	memset(build_block_at(arena, &arena->threads[0], 1), 'x', 99);
	build_block_at(arena, &arena->threads[1], 1)->records[9] = 0;
	build_arena_module(arena, "/a", 0x1000, 0x2000, 0, NULL, 0);
	build_arena_module(arena, "/b", 0x1800, 0x2000, 0, NULL, 0);
}

START_TEST(nothing_leaks)
{
	int result;

	fill();
	open_trace();
	build_trace_check(trace, &names);
	counting = true;
	result = decode_all();
	counting = false;
	ck_assert_int_eq(result, EP_OK);
	ck_assert_int_eq(balance, 0);
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("merge");
	TCase *tests = tcase_create("merge");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, events_come_in_order_of_time);
	tcase_add_test(tests, at_the_same_time_the_lower_serial_comes_first);
	tcase_add_test(tests, only_what_is_wanted_comes);
	tcase_add_test(tests, no_threads_make_no_events);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(tests, nothing_leaks);
#endif
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
