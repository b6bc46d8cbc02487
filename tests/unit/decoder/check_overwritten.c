/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_overwritten.c: text over records. The test knows what lay under it: what the reader hands
 * out must be that, in order, without the records that the text touched, and with all the others.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/calls/calls.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"
#include "tests/unit/main.h"

#define MODULE UINT64_C(0x555555550000) /* six letters, but for two bytes */
#define START  UINT64_C(5000000000)
#define GRAIN  16 /* as in check_records.c */
#define WORDS  300u

/* Eight functions of one module. Of each other one the lowest byte is a letter; the byte above it
 * never is, and no two have it in common. */
#define ADDRESS(n) (MODULE + 0x9100 + (n) % 8 * UINT64_C(0x100) + ((n) % 2 ? 'D' : 0x85))

struct truth {
	uint64_t address, tsc;
	bool is_return;
	bool escape; /* no record */
};

static struct build_arena *arena;
static struct ep_thread *thread;
static struct ep_block *block;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_records records;
static struct ep_names names;
static struct truth truth[EP_BLOCK_RECORDS];
static unsigned words;

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	arena = build_arena_create(&options);
	thread = build_arena_thread(arena, 101, "one", 16);
	block = NULL;
	words = 0;
}

static void forget(void)
{
	ep_trace_destroy(trace);
	trace = NULL;
	build_image_free(&image);
}

static void teardown(void)
{
	forget();
	fake_names_free(&names);
	build_arena_destroy(arena);
}

static void add_module(void)
{
	build_arena_module(arena, "/bin/one", MODULE, MODULE + 0x30000, 0, NULL, 0);
}

static void decode(void)
{
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	build_trace_check(trace, &names);
	ep_records_init(&records, trace, &trace->threads[0]);
}

/* One event, as the runtime writes it. `tsc` 0: untimed. */
static void event(uint64_t address, bool is_return, uint64_t tsc)
{
	struct build_cursor *cursor = &arena->cursors[0];
	uint32_t before = cursor->block ? cursor->next : 0;

	build_event(arena, thread, address, is_return, tsc);
	if (cursor->next - before == 2)
		truth[words++] = (struct truth){.escape = true};
	truth[words++] = (struct truth){address, tsc, is_return, false};
	block = cursor->block;
}

/* Calls and returns in one block, most of them timed; every tenth time a pause that no stamp can
 * hold. */
static void many_events(void)
{
	uint64_t tsc = START;

	event(ADDRESS(0), false, tsc);
	while (words < WORDS) {
		tsc += rand() % 10 ? 100 + (unsigned)rand() % 2000 : (unsigned)rand() % 2000000;
		event(ADDRESS((unsigned)rand() % 8), rand() % 2, rand() % 4 ? tsc : 0);
	}
}

/* `size` letters over the bytes of the block from record byte `at` on. */
static void write_text(uint32_t at, uint32_t size, bool terminated)
{
	char *to = (char *)block->records + at;

	for (uint32_t i = 0; i < size; i++)
		to[i] = (char)(' ' + rand() % ('~' - ' ' + 1));
	/* Not by chance what was there: a letter of the address. */
	to[0] = 'x';
	if (terminated)
		to[size] = '\0';
}

static const struct ep_record *next(void)
{
	const struct ep_record *record;

	ck_assert_int_eq(ep_records_next(&records, &record), EP_OK);
	return record;
}

static void expect_record(const struct truth *want)
{
	const struct ep_record *record = next();

	must(record->kind == (want->is_return ? EP_RECORD_RETURN : EP_RECORD_CALL));
	must(record->address == want->address);
	if (!want->tsc)
		return;
	must(record->low <= want->tsc + GRAIN);
	must(record->high >= want->tsc - GRAIN);
}

static void expect_range(unsigned from, unsigned end)
{
	for (unsigned i = from; i < end; i++)
		if (!truth[i].escape)
			expect_record(&truth[i]);
}

static void expect_end(void)
{
	const struct ep_record *record;

	ck_assert_int_eq(ep_records_next(&records, &record), EP_END);
}

/* ---- any text ---- */

/* Text from byte `at` on, `size` long: the records that it leaves no way of telling are from … end
 * - 1. */
static void touched(uint32_t at, uint32_t size, bool terminated, unsigned *from, unsigned *end)
{
	/* Where only a stamp is touched, an event is there all the same; an escape has its data
	 * there. */
	*from = at / 8 + (at % 8 >= 6 && !truth[at / 8].escape);
	*end = (at + size + terminated + 7) / 8;
}

static void text_anywhere(unsigned seed)
{
	uint32_t at, size;
	unsigned from, end;
	bool terminated;
	const struct ep_record *gap;

	srand(seed);
	add_module();
	many_events();
	at = 80 + (unsigned)rand() % 1000;
	size = 40 + (unsigned)rand() % 600;
	terminated = rand() % 2;
	touched(at, size, terminated, &from, &end);
	write_text(at, size, terminated);
	decode();
	expect_range(0, from);
	gap = next();
	ck_assert_int_eq(gap->kind, EP_RECORD_GAP);
	ck_assert_uint_eq(gap->gap, EP_GAP_TEXT);
	/* An escape beside it has nothing that tells whether it is whole. */
	ck_assert_uint_ge(gap->lost, end - from);
	ck_assert_uint_le(gap->lost, end - from + truth[end].escape + truth[from - 1].escape);
	ck_assert_uint_eq(trace->damage.records_text, gap->lost);
	expect_range(end, words);
	expect_end();
}

/* Some in one process: the search for leaks at its end takes longer than they do. */
#define SEEDS 15

START_TEST(text_anywhere_takes_what_it_touches_and_nothing_else)
{
	for (int seed = 0; seed < SEEDS; seed++) {
		if (seed) {
			teardown();
			setup();
		}
		text_anywhere((unsigned)(_i * SEEDS + seed));
	}
}
END_TEST

/* ---- what is none ---- */

/* Each byte of these is a letter: "DDD" or so in front of "UUUUU". */
static uint64_t letters(unsigned n)
{
	return build_record(UINT64_C(0x555555554144) + n % 8 * 0x100, false,
			    UINT64_C(0x41414) * 64 + (n % 16) * 8);
}

static void expect_all(const uint64_t *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct ep_record *record = next();

		ck_assert_int_ne(record->kind, EP_RECORD_GAP);
		ck_assert_uint_eq(record->address, list[i] & EP_ADDRESS_MASK);
	}
	expect_end();
	ck_assert_uint_eq(trace->damage.records_text, 0);
	ck_assert_str_eq(trace->damage.text, "");
}

START_TEST(records_of_a_module_are_no_text_whatever_they_look_like)
{
	uint64_t list[40];

	for (unsigned i = 0; i < 40; i++)
		list[i] = letters(i);
	build_arena_module(arena, "/bin/one", UINT64_C(0x555555554000), UINT64_C(0x555555555000), 0,
			   NULL, 0);
	build_block_of(arena, thread, START, list, 40);
	decode();
	expect_all(list, 40);
}
END_TEST

START_TEST(records_of_a_module_that_is_not_known_are_no_text_among_others)
{
	uint64_t list[40];

	for (unsigned i = 0; i < 40; i++)
		list[i] =
			i >= 10 && i < 13 ? letters(i) : build_record(ADDRESS(i), i % 2, START + i);
	build_block_of(arena, thread, START, list, 40);
	decode();
	expect_all(list, 40);
}
END_TEST

START_TEST(text_among_records_of_a_module_that_is_not_known_is_text)
{
	many_events();
	memset((char *)block->records + 800, 'A', 240);
	decode();
	expect_range(0, 100);
	ck_assert_uint_eq(next()->gap, EP_GAP_TEXT);
	ck_assert_uint_eq(trace->damage.records_text, 30);
	ck_assert_str_eq(trace->damage.text, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
}
END_TEST

START_TEST(one_record_of_letters_is_not_enough)
{
	uint64_t list[] = {build_record(ADDRESS(0), false, START), UINT64_C(0x4142434445464748),
			   build_record(ADDRESS(0), true, START + 800)};

	add_module();
	build_block_of(arena, thread, START, list, 3);
	decode();
	expect_all(list, 3);
}
END_TEST

/* ---- marks ---- */

static uint64_t data(uint32_t payload)
{
	return ep_escape_make(EP_ESCAPE_DATA, payload);
}

/* A span's name of 6 letters, in 4 data words. */
static void span_words(uint64_t *out, uint64_t tsc)
{
	out[0] = ep_escape_make(EP_ESCAPE_MARK,
				EP_MARK_SPAN_BEGIN | 4 << 5 | (uint32_t)(tsc >> 3 & 0xffff) << 10);
	out[1] = data(ADDRESS(0) & 0x3ffffff);
	out[2] = data((uint32_t)(ADDRESS(0) >> 26));
	out[3] = data('a' | 'b' << 8 | 'c' << 16);
	out[4] = data('d' | 'e' << 8 | 'f' << 16);
}

#define SPAN 1u /* its head is the second word of nine */

START_TEST(a_mark_that_text_cuts_is_gone_as_a_whole)
{
	uint64_t list[9] = {build_record(ADDRESS(0), false, START)};
	unsigned first = (unsigned)_i;

	add_module();
	for (unsigned i = 6; i < 9; i++)
		list[i] = build_record(ADDRESS(1), i % 2, START + i * 100);
	span_words(&list[SPAN], START + 100);
	block = build_block_of(arena, thread, START, list, 9);
	/* Two words, from the head's successor to the last datum. */
	memset(&block->records[first], 'x', 16);
	decode();
	ck_assert_int_eq(next()->kind, EP_RECORD_CALL);
	ck_assert_uint_eq(next()->gap, EP_GAP_TEXT);
	while (ep_records_next(&records, &(const struct ep_record *){NULL}) == EP_OK)
		;
	ep_records_init(&records, trace, &trace->threads[0]);
	next();
	/* All five words of it, and one more of the text. */
	ck_assert_uint_eq(next()->lost, first == 5 ? 6 : 5);
	for (unsigned i = first == 5 ? 7 : 6; i < 9; i++)
		ck_assert_uint_eq(next()->address, ADDRESS(1));
	expect_end();
}
END_TEST

/* ---- where nothing was lost ---- */

static void two_and_far_text(void)
{
	uint64_t list[] = {build_record(ADDRESS(0), false, START),
			   build_record(ADDRESS(0), true, START + 800)};

	block = build_block_of(arena, thread, START, list, 2);
	memset(&block->records[100], 'y', 80);
}

START_TEST(text_in_room_that_no_record_had_yet_takes_none)
{
	add_module();
	two_and_far_text();
	decode();
	ck_assert_uint_eq(next()->address, ADDRESS(0));
	ck_assert_uint_eq(next()->address, ADDRESS(0));
	expect_end();
	ck_assert_uint_eq(trace->damage.records_text, 0);
	ck_assert_uint_eq(trace->damage.holes, 0);
	ck_assert_str_eq(trace->damage.text, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
}
END_TEST

START_TEST(of_a_block_that_was_left_all_room_had_records)
{
	uint64_t list[] = {build_record(ADDRESS(0), false, START + 9000)};

	add_module();
	two_and_far_text();
	build_block_of(arena, thread, START + 9000, list, 1);
	decode();
	next();
	next();
	ck_assert_uint_eq(next()->gap, EP_GAP_HOLE);
	ck_assert_uint_eq(next()->gap, EP_GAP_TEXT);
	ck_assert_uint_eq(trace->damage.records_text, 10);
}
END_TEST

/* ---- times ---- */

/* Ten records 100 cycles apart, text over ten that took `lost` cycles, ten more. */
static void ten_and_ten(uint64_t lost)
{
	uint64_t list[30];

	add_module();
	for (unsigned i = 0; i < 30; i++)
		list[i] = build_record(ADDRESS(i), i % 2, START + i * 100 + (i < 10 ? 0 : lost));
	block = build_block_of(arena, thread, START, list, 30);
	memset(&block->records[10], 'z', 80);
}

#define LAP (UINT64_C(1) << 19) /* cycles that a stamp tells apart */

START_TEST(times_behind_text_may_be_laps_too_low)
{
	const struct ep_record *record;

	ten_and_ten(3 * LAP);
	build_block(arena, thread, START + 5 * LAP);
	decode();
	for (unsigned i = 0; i < 10; i++)
		ck_assert(next()->exact);
	next();
	record = next();
	ck_assert(!record->exact);
	ck_assert_uint_le(record->low, START + 2000 + 3 * LAP);
	ck_assert_uint_ge(record->high + GRAIN, START + 2000 + 3 * LAP);
	ck_assert_uint_le(record->high, START + 5 * LAP);
}
END_TEST

START_TEST(times_behind_text_are_exact_where_no_lap_fits)
{
	ten_and_ten(0);
	build_block(arena, thread, START + LAP / 2);
	decode();
	for (unsigned i = 0; i < 10; i++)
		ck_assert(next()->exact);
	ck_assert_int_eq(next()->kind, EP_RECORD_GAP);
	for (unsigned i = 20; i < 30; i++) {
		const struct ep_record *record = next();

		ck_assert(record->exact);
		ck_assert_uint_le(record->time, START + i * 100 + GRAIN);
		ck_assert_uint_ge(record->time + GRAIN, START + i * 100);
	}
}
END_TEST

/* ---- calls ---- */

START_TEST(calls_that_text_lies_inside_of_are_marked)
{
	uint64_t list[16];
	const struct ep_event *told;
	struct ep_calls *calls;

	add_module();
	for (unsigned i = 0; i < 16; i++)
		list[i] = build_record(ADDRESS(i < 8 ? i : 15 - i), i >= 8, START + i * 100);
	block = build_block_of(arena, thread, START, list, 16);
	/* Three calls and their returns, and the return of a fourth. */
	memset(&block->records[5], '"', 7 * 8);
	decode();
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_int_eq(ep_calls_next(calls, &told), EP_OK);
		ck_assert_int_eq(told->kind, EP_EVENT_BEGIN);
	}
	ck_assert_int_eq(ep_calls_next(calls, &told), EP_OK);
	ck_assert_int_eq(told->kind, EP_EVENT_GAP);
	ck_assert_uint_eq(told->lost, 7);
	ck_assert_str_eq(told->text, "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""
				     "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"");
	/* The fourth is seen to have ended when its caller returns. */
	for (unsigned i = 5; i-- > 0;) {
		ck_assert_int_eq(ep_calls_next(calls, &told), EP_OK);
		ck_assert_int_eq(told->kind, EP_EVENT_END);
		ck_assert_uint_eq(told->call, i);
		ck_assert(told->flags & EP_CALL_ACROSS_GAP);
		ck_assert_int_eq(!!(told->flags & EP_CALL_ABANDONED), i == 4);
	}
	ep_calls_destroy(calls);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_text");
	TCase *tests = tcase_create("trace_text");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, text_anywhere_takes_what_it_touches_and_nothing_else, 0,
			    150 / SEEDS);
	tcase_add_test(tests, records_of_a_module_are_no_text_whatever_they_look_like);
	tcase_add_test(tests, records_of_a_module_that_is_not_known_are_no_text_among_others);
	tcase_add_test(tests, text_among_records_of_a_module_that_is_not_known_is_text);
	tcase_add_test(tests, one_record_of_letters_is_not_enough);
	tcase_add_loop_test(tests, a_mark_that_text_cuts_is_gone_as_a_whole, 2, 6);
	tcase_add_test(tests, text_in_room_that_no_record_had_yet_takes_none);
	tcase_add_test(tests, of_a_block_that_was_left_all_room_had_records);
	tcase_add_test(tests, times_behind_text_may_be_laps_too_low);
	tcase_add_test(tests, times_behind_text_are_exact_where_no_lap_fits);
	tcase_add_test(tests, calls_that_text_lies_inside_of_are_marked);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
