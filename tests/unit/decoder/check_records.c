/* SPDX-License-Identifier: BSD-2-Clause */
/* check_records.c: stamps to times. The true times are the test's own. */
#include <stdlib.h>
#include <string.h>

#include "decoder/trace/absences.h"
#include "decoder/trace/records.h"
#include "tests/unit/build_switches.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"
#include "tests/unit/main.h"

#define CODE  UINT64_C(0x401000)
#define START UINT64_C(5000000000)
/* A stamp counts 8 cycles, and one that would be 0 is written as 1. */
#define GRAIN 16
#define SLOTS 16

static struct build_arena *arena;
static struct ep_thread *thread;
static struct ep_look_taken *slots; /* SLOTS, none used */
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_records records;
static struct ep_names names;

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	arena = build_arena_create(&options);
	slots = build_arena_section(arena, EP_SECTION_LOOKS, sizeof(*slots),
				    SLOTS * sizeof(*slots));
	thread = build_arena_thread(arena, 101, "one", 256);
}

/* All rules of every trace are checked on the way. */
static void decode(void)
{
	build_image_of(&image, arena);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	build_trace_check(trace, &names);
	ep_records_init(&records, trace, &trace->threads[0]);
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

static const struct ep_record *next(void)
{
	const struct ep_record *record;

	ck_assert_int_eq(ep_records_next(&records, &record), EP_OK);
	return record;
}

static void no_more(void)
{
	const struct ep_record *record;

	ck_assert_int_eq(ep_records_next(&records, &record), EP_END);
	ck_assert_int_eq(ep_records_next(&records, &record), EP_END);
}

static void expect_exact(uint64_t tsc)
{
	const struct ep_record *record = next();

	ck_assert(record->exact);
	ck_assert_uint_eq(record->low, record->high);
	ck_assert_uint_eq(record->low, record->time);
	ck_assert_uint_le(record->time, tsc + GRAIN);
	ck_assert_uint_le(tsc, record->time + GRAIN);
}

static void expect_between(uint64_t low, uint64_t high, uint64_t time)
{
	const struct ep_record *record = next();

	ck_assert(!record->exact);
	ck_assert_uint_eq(record->low, low);
	ck_assert_uint_eq(record->high, high);
	ck_assert_uint_eq(record->time, time);
}

/* ---- timed records ---- */

START_TEST(a_time_survives_every_gap_up_to_the_longest)
{
	static uint64_t times[20000];
	uint64_t tsc = START;
	unsigned count = 20000;

	srand(1);
	for (unsigned i = 0; i < count; i++) {
		/* Of every size alike, 1 cycle to 2^46. */
		tsc += (((uint64_t)rand() << 31 ^ (uint64_t)rand()) &
			((UINT64_C(1) << rand() % 47) - 1)) +
		       1;
		times[i] = tsc;
		build_call(arena, thread, CODE, tsc);
	}
	ck_assert_uint_le(thread->blocks, 256);
	decode();
	for (unsigned i = 0; i < count; i++)
		expect_exact(times[i]);
	no_more();
}
END_TEST

START_TEST(gaps_around_the_limits_are_exact)
{
	static const uint64_t gaps[] = {
		1,
		7,
		8,
		EP_GAP_CYCLES - 1,
		EP_GAP_CYCLES,
		EP_GAP_CYCLES + 1,
		2 * EP_GAP_CYCLES - 9,
		2 * EP_GAP_CYCLES,
		2 * EP_GAP_CYCLES + 8,
		EP_LONG_GAP_CYCLES - 8,
		EP_LONG_GAP_CYCLES + 1,
	};
	const unsigned count = sizeof(gaps) / sizeof(gaps[0]);
	static uint64_t times[65536];
	unsigned used = 0;
	uint64_t tsc = START;

	/* From every place on the stamp's dial, roughly. */
	for (unsigned i = 0; i < 600; i++) {
		tsc += 8 * 109 + i;
		times[used++] = tsc;
		build_call(arena, thread, CODE, tsc);
		tsc += gaps[i % count];
		times[used++] = tsc;
		build_call(arena, thread, CODE, tsc);
	}
	decode();
	for (unsigned i = 0; i < used; i++)
		expect_exact(times[i]);
	no_more();
}
END_TEST

START_TEST(every_stamp_on_the_dial_is_exact_also_the_one_that_would_be_0)
{
	uint64_t tsc = START & ~UINT64_C(0x7ffff);

	for (unsigned i = 0; i < 3 * 4096; i++)
		build_call(arena, thread, CODE, tsc + i * 128);
	decode();
	for (unsigned i = 0; i < 3 * 4096; i++)
		expect_exact(tsc + i * 128);
}
END_TEST

START_TEST(a_stamp_a_little_back_is_no_lap_forward)
{
	uint64_t words[3] = {build_record(CODE, 0, START + 8000),
			     build_record(CODE, 1, START + 7000),
			     build_record(CODE, 0, START + 9000)};

	build_block_of(arena, thread, START, words, 3);
	decode();
	expect_exact(START + 8000);
	ck_assert_uint_eq(next()->time, START + 8000);
	expect_exact(START + 9000);
}
END_TEST

/* ---- untimed records ---- */

START_TEST(untimed_records_lie_in_order_between_their_anchors)
{
	build_call(arena, thread, CODE, START);
	for (unsigned i = 0; i < 7; i++)
		build_event(arena, thread, CODE, i & 1, 0);
	build_return(arena, thread, CODE, START + 8000);
	decode();
	expect_exact(START);
	for (uint64_t i = 1; i <= 7; i++)
		expect_between(START, START + 8000, START + i * 1000);
	expect_exact(START + 8000);
	no_more();
}
END_TEST

START_TEST(untimed_records_are_from_before_their_function_went_off)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct ep_switches *switches;
	struct ep_switched *one;

	build_arena_destroy(arena);
	arena = build_arena_create(&options);
	switches = build_switches(arena, 4, 0);
	one = build_switched(switches, false, CODE, CODE + 1);
	build_off(one, START + 1900, START + 2000, 0, 0);
	/* Back before the next timed record: it says nothing. */
	one = build_switched(switches, false, CODE + 16, CODE + 17);
	build_off(one, START + 100, START + 200, START + 300, START + 400);
	thread = build_arena_thread(arena, 101, "main", 4);
	build_call(arena, thread, CODE + 32, START);
	build_event(arena, thread, CODE, false, 0);
	build_event(arena, thread, CODE, true, 0);
	build_event(arena, thread, CODE, false, 0);
	for (unsigned i = 0; i < 3; i++)
		build_event(arena, thread, CODE + 16, i & 1, 0);
	build_return(arena, thread, CODE + 32, START + 8000);
	decode();
	expect_exact(START);
	for (uint64_t i = 1; i <= 3; i++)
		expect_between(START, START + 8000, START + i * 500);
	for (uint64_t i = 1; i <= 3; i++)
		expect_between(START, START + 8000, START + 1500 + i * 1625);
	expect_exact(START + 8000);
	no_more();
}
END_TEST

START_TEST(the_end_of_the_last_block_has_no_upper_bound)
{
	build_call(arena, thread, CODE, START);
	build_event(arena, thread, CODE, true, 0);
	build_event(arena, thread, CODE, false, 0);
	decode();
	expect_exact(START);
	expect_between(START, EP_TIME_UNKNOWN, START);
	expect_between(START, EP_TIME_UNKNOWN, START);
}
END_TEST

static void two_blocks(uint8_t flags, bool lose)
{
	uint64_t words[3] = {build_record(CODE, 0, START), build_record(CODE, 1, 0),
			     build_record(CODE, 0, 0)};
	struct ep_block *block;

	build_block_of(arena, thread, START, words, 3);
	if (lose)
		memset(build_block(arena, thread, START + 100), 0, EP_BLOCK_SIZE);
	words[0] = build_record(CODE, 1, START + 3000);
	block = build_block_of(arena, thread, START + 3000, words, 1);
	block->flags |= flags;
	build_block_seal(arena, block);
	decode();
	expect_exact(START);
}

START_TEST(a_block_that_goes_on_bounds_the_one_before)
{
	two_blocks(0, false);
	expect_between(START, START + 3000, START + 1000);
	expect_between(START, START + 3000, START + 2000);
	expect_exact(START + 3000);
	no_more();
}
END_TEST

/* ---- times that the kernel asked for ---- */

#define STEP UINT64_C(800) /* cycles from one event to the next */
#define AWAY UINT64_C(160000)

/*
 * Events every STEP cycles, of which one in 8 is due, by its place: the words 4, 12, 20 … The
 * thread was away before word `asked`, which and the next have a time for that. `words` in all.
 */
static void build_asked(unsigned asked, unsigned words)
{
	uint64_t list[64];
	struct ep_block *block;

	for (unsigned i = 0; i < words; i++) {
		uint64_t tsc = START + i * STEP + (i >= asked ? AWAY : 0);
		bool timed = i == 0 || (EP_BLOCK_HEADER / 8 + i) % 8 == 0 || i == asked ||
			     i == asked + 1;

		list[i] = build_record(CODE, i & 1, timed ? tsc : 0);
	}
	block = build_block_of(arena, thread, START, list, words);
	block->every = 8;
	build_block_seal(arena, block);
}

/* Events that are where they were. */
static void expect_steps(unsigned first, unsigned end, uint64_t behind)
{
	for (unsigned i = first; i < end; i++) {
		uint64_t time = next()->time;

		ck_assert_uint_le(time, START + i * STEP + behind + GRAIN);
		ck_assert_uint_le(START + i * STEP + behind, time + GRAIN);
	}
}

START_TEST(what_came_before_a_wait_went_on_at_its_pace)
{
	/* Between two that are due, the second of these, the first of all, and the last. */
	unsigned words = _i == 43 ? 44 : 45;

	thread->flags |= EP_THREAD_ASKED;
	build_asked((unsigned)_i, words);
	decode();
	expect_steps(0, (unsigned)_i, 0);
	expect_steps((unsigned)_i, words, AWAY);
	no_more();
}
END_TEST

START_TEST(a_wait_that_nobody_asked_for_is_among_what_came_before)
{
	const struct ep_record *record;

	build_asked(19, 45);
	decode();
	expect_steps(0, 13, 0);
	for (unsigned i = 13; i < 19; i++) {
		record = next();
		/* Seven steps from 12 to 19, AWAY in them. */
		ck_assert_uint_le(START + 12 * STEP + (i - 12) * AWAY / 7, record->time);
		ck_assert(!record->exact);
	}
	expect_steps(19, 45, AWAY);
}
END_TEST

START_TEST(a_large_gap_that_the_kernel_asked_for_has_two_escapes)
{
	uint64_t then = START + 13 * STEP + 4 * EP_GAP_CYCLES, words[20];
	uint64_t escape = ep_escape_make(EP_ESCAPE_TIME, then >> 19 & 0x3ffffff);
	struct ep_block *block;

	for (unsigned i = 0; i < 12; i++)
		words[i] = build_record(CODE, i & 1, i == 0 || i == 4 ? START + i * STEP : 0);
	words[12] = words[13] = escape;
	words[14] = build_record(CODE, 1, then);
	thread->flags |= EP_THREAD_ASKED;
	/* `_i`: one escape, as of a thread that ran on; it is not known where. */
	words[12] = _i ? build_record(CODE, 0, 0) : escape;
	block = build_block_of(arena, thread, START, words, 15);
	block->every = 8;
	build_block_seal(arena, block);
	decode();
	expect_steps(0, 5, 0);
	if (_i) {
		for (unsigned i = 5; i < 13; i++)
			ck_assert_uint_ge(next()->time,
					  START + 4 * STEP + (i - 4) * 4 * EP_GAP_CYCLES / 9);
	} else {
		expect_steps(5, 12, 0);
	}
	expect_exact(then);
}
END_TEST

START_TEST(a_wait_before_a_block_is_told_by_it)
{
	struct ep_block *block;

	thread->flags |= EP_THREAD_ASKED;
	build_asked(64, 44); /* not at all, and 7 behind the last that was due */
	block = build_block_of(arena, thread, START + 44 * STEP + AWAY,
			       (uint64_t[]){build_record(CODE, 0, START + 44 * STEP + AWAY)}, 1);
	block->flags |= _i ? EP_BLOCK_ASKED : 0;
	build_block_seal(arena, block);
	decode();
	expect_steps(0, 37, 0);
	if (_i)
		expect_steps(37, 44, 0);
	else
		for (unsigned i = 37; i < 44; i++)
			ck_assert_uint_ge(next()->time, START + 36 * STEP + (i - 36) * AWAY / 8);
	expect_exact(START + 44 * STEP + AWAY);
}
END_TEST

START_TEST(what_came_before_an_absence_came_before_it_began)
{
	struct ep_absences absences = {0};
	uint64_t begin = START + 18 * STEP + STEP / 2;

	thread->flags |= _i ? EP_THREAD_ASKED : 0;
	build_asked(19, 45);
	decode();
	ep_absences_add(&absences, begin, begin + AWAY);
	trace->threads[0].absences = &absences;
	expect_steps(0, 13, 0);
	for (unsigned i = 13; i < 19; i++) {
		const struct ep_record *record = next();

		ck_assert_uint_eq(record->high, _i ? begin : START + 19 * STEP + AWAY);
		ck_assert(record->refined);
		ck_assert_uint_le(record->time, START + i * STEP + STEP);
	}
	expect_steps(19, 45, AWAY);
	trace->threads[0].absences = NULL;
	ep_absences_deinit(&absences);
}
END_TEST

/* ---- looks ---- */

#define SLOW UINT64_C(13000000) /* 5 ms at 2.6 GHz */

/* The thread had made so many records of its first block. */
struct look {
	uint64_t tsc;
	unsigned records;
};

static void build_look(struct look look)
{
	struct ep_look_taken *slot = &slots[SLOTS - 1];

	*slot = (struct ep_look_taken){look.tsc, 1, thread->serial, (uint16_t)look.records, 0};
	slot->check = ep_look_check(slot, arena->arena->root.identity);
}

/* Events every STEP cycles, of which one in 32 is due: the words 28, 60 …; SLOW more before word
 * `slow`. 100 in all. */
static void build_slow(unsigned slow)
{
	uint64_t list[100];
	struct ep_block *block;

	for (unsigned i = 0; i < 100; i++) {
		uint64_t tsc = START + i * STEP + (i >= slow ? SLOW : 0);
		bool due = i == 0 || (EP_BLOCK_HEADER / 8 + i) % 32 == 0;

		list[i] = build_record(CODE, i & 1, due ? tsc : 0);
		if (i && due && i >= slow && i - slow < 32)
			/* The gap is one that needs an escape: in the place of the record before
			 * it. */
			list[i - 1] = ep_escape_make(EP_ESCAPE_TIME,
						     tsc >> (EP_TICK_SHIFT + 16) & 0x3ffffff);
	}
	block = build_block_of(arena, thread, START, list, 93);
	block->every = 32;
	build_block_seal(arena, block);
}

START_TEST(a_call_in_which_a_thread_was_seen_took_what_is_left)
{
	unsigned slow = (unsigned)_i, escape = slow <= 28 ? 27 : slow <= 60 ? 59 : 91;
	struct look look = {START + slow * STEP + SLOW / 3, slow};

	build_look(look);
	build_slow(slow);
	decode();
	for (unsigned i = 0; i < 93; i++) {
		uint64_t truth = START + i * STEP + (i >= slow ? SLOW : 0);
		const struct ep_record *record;

		if (i == escape)
			continue;
		record = next();
		ck_assert_uint_le(record->time, truth + 2 * STEP);
		ck_assert_uint_le(truth, record->time + 2 * STEP);
		ck_assert_uint_le(record->low, truth + GRAIN);
		ck_assert_uint_le(truth, record->high + GRAIN);
		if (i < slow)
			ck_assert_uint_le(record->high, look.tsc + EP_LOOK_SLACK);
		else
			ck_assert_uint_le(look.tsc, record->low + EP_LOOK_SLACK);
	}
	no_more();
}
END_TEST

/* Its number is the greatest there is: the next one would be 0, which is before all looks. */
START_TEST(a_block_of_any_number_has_its_own_looks_alone)
{
	struct ep_block *block;

	build_look((struct look){START + 40 * STEP, 40});
	for (unsigned i = 0; i < SLOTS - 1; i++)
		slots[i] = slots[SLOTS - 1];
	block = build_block_of(arena, thread, START,
			       (uint64_t[]){build_record(CODE, 0, START), build_record(CODE, 1, 0),
					    build_record(CODE, 0, START + 8000)},
			       3);
	block->sequence = UINT64_MAX;
	build_block_seal(arena, block);
	decode();
	expect_exact(START);
	expect_between(START, START + 8000, START + 4000);
	expect_exact(START + 8000);
}
END_TEST

START_TEST(looks_at_somebody_else_say_nothing)
{
	struct look look = {START + 40 * STEP + SLOW / 3, 40};
	struct ep_look_taken *slot = &slots[SLOTS - 1];

	build_look(look);
	switch (_i) {
	case 0:
		slot->check ^= 2; /* torn, or of the process that forked */
		break;
	case 1:
		slot->serial++;
		slot->check = ep_look_check(slot, arena->arena->root.identity);
		break;
	case 2:
		slot->sequence++;
		slot->check = ep_look_check(slot, arena->arena->root.identity);
		break;
	case 3: /* which that block has no time for */
		slot->tsc = START + 4 * SLOW;
		slot->check = ep_look_check(slot, arena->arena->root.identity);
		break;
	case 4: /* more than there are */
		slot->records = EP_BLOCK_RECORDS + 1;
		slot->check = ep_look_check(slot, arena->arena->root.identity);
		break;
	}
	build_slow(40);
	decode();
	for (unsigned i = 0; i < 29; i++)
		next();
	/* In even steps. */
	for (unsigned i = 29; i < 59; i++) {
		uint64_t time = next()->time;

		ck_assert_uint_ge(time, START + 28 * STEP + (i - 28) * (SLOW / 32));
		ck_assert_uint_le(time, START + 60 * STEP + (i - 28) * (SLOW / 30));
	}
}
END_TEST

START_TEST(what_was_made_before_a_look_is_not_later_though_the_thread_ended)
{
	struct look look = {START + 8000, 3};
	uint64_t list[5] = {build_record(CODE, 0, START), 0, 0, 0, 0};
	struct ep_block *block;

	for (unsigned i = 1; i < 5; i++)
		list[i] = build_record(CODE, i & 1, 0);
	build_look(look);
	block = build_block_of(arena, thread, START, list, 5);
	block->every = 32;
	build_block_seal(arena, block);
	decode();
	expect_exact(START);
	expect_between(START, START + 8000 + EP_LOOK_SLACK, START);
	expect_between(START, START + 8000 + EP_LOOK_SLACK, START);
	expect_between(START, EP_TIME_UNKNOWN, START);
	expect_between(START, EP_TIME_UNKNOWN, START);
	no_more();
}
END_TEST

static void expect_gap(uint32_t why, uint64_t lost)
{
	const struct ep_record *record = next();

	ck_assert_int_eq(record->kind, EP_RECORD_GAP);
	ck_assert_uint_eq(record->gap, why);
	ck_assert_uint_eq(record->lost, lost);
}

/* The bound holds, but nothing says where before it. */
static void expect_two_early(void)
{
	expect_between(START, START + 3000, START);
	expect_between(START, START + 3000, START);
}

START_TEST(records_before_a_lost_block_are_not_spread_over_the_loss)
{
	two_blocks(0, true);
	expect_two_early();
	expect_gap(EP_GAP_LOST_BLOCKS, 1);
	expect_exact(START + 3000);
	no_more();
}
END_TEST

START_TEST(records_before_a_pause_are_not_spread_over_the_pause)
{
	two_blocks(EP_BLOCK_RESUMED, false);
	expect_two_early();
	expect_gap(EP_GAP_PAUSED, 0);
	expect_exact(START + 3000);
}
END_TEST

START_TEST(a_lost_pause_is_both)
{
	two_blocks(EP_BLOCK_RESUMED, true);
	expect_two_early();
	expect_gap(EP_GAP_PAUSED | EP_GAP_LOST_BLOCKS, 1);
}
END_TEST

START_TEST(records_before_a_long_silence_are_not_spread_over_it)
{
	two_blocks(EP_BLOCK_LONG_GAP, false);
	expect_two_early();
	expect_exact(START + 3000);
	no_more();
}
END_TEST

START_TEST(the_beginning_of_the_history_is_no_gap)
{
	struct ep_block *block = build_block(arena, thread, START);

	block->sequence = 77;
	block->flags = EP_BLOCK_RESUMED;
	build_block_seal(arena, block);
	build_call(arena, thread, CODE, START + 800);
	decode();
	expect_exact(START + 800);
	no_more();
}
END_TEST

/* ---- words that say nothing ---- */

START_TEST(zero_words_are_a_hole_of_known_size)
{
	uint64_t words[] = {build_record(CODE, 0, START), 0, 0, 0,
			    build_record(CODE, 1, START + 800)};

	build_block_of(arena, thread, START, words, 5);
	decode();
	expect_exact(START);
	expect_gap(EP_GAP_HOLE, 3);
	expect_exact(START + 800);
	no_more();
	ck_assert_uint_eq(records.holes, 3);
}
END_TEST

START_TEST(escapes_of_a_later_version_are_told)
{
	uint64_t words[] = {build_record(CODE, 0, START), ep_escape_make(5, 12345),
			    ep_escape_make(0, 1), build_record(CODE, 1, START + 800)};

	build_block_of(arena, thread, START, words, 4);
	decode();
	expect_exact(START);
	expect_gap(EP_GAP_UNKNOWN_ESCAPE, 2);
	expect_exact(START + 800);
	no_more();
}
END_TEST

START_TEST(an_escape_at_the_end_is_no_record)
{
	uint64_t words[] = {build_record(CODE, 0, START), ep_escape_make(EP_ESCAPE_TIME, 12345)};

	build_block_of(arena, thread, START, words, 2);
	decode();
	expect_exact(START);
	no_more();
}
END_TEST

START_TEST(the_escape_of_a_dropped_call_does_no_harm)
{
	/* EPITAPH_MIN_DURATION takes the call back, its escape stays; the next record counts from
	 * the record before and has one of its own. */
	uint64_t tsc = START + 10 * EP_GAP_CYCLES, later = tsc + 3000000;
	uint64_t words[] = {
		build_record(CODE, 0, START),
		ep_escape_make(EP_ESCAPE_TIME, tsc >> 19 & 0x3ffffff),
		ep_escape_make(EP_ESCAPE_TIME, later >> 19 & 0x3ffffff),
		build_record(CODE, 1, later),
	};

	build_block_of(arena, thread, START, words, 4);
	decode();
	expect_exact(START);
	expect_exact(later);
	no_more();
}
END_TEST

/* ---- seeking ---- */

START_TEST(seeking_finds_the_block_that_covers_a_time)
{
	for (uint64_t i = 0; i < 5 * EP_BLOCK_RECORDS; i++)
		build_call(arena, thread, CODE, START + i * 100);
	decode();
	ep_records_seek(&records, START + EP_BLOCK_RECORDS * 250);
	expect_exact(START + 2 * EP_BLOCK_RECORDS * 100);
	ep_records_seek(&records, 0);
	expect_exact(START);
	ep_records_seek(&records, UINT64_MAX);
	expect_exact(START + 4 * EP_BLOCK_RECORDS * 100);
}
END_TEST

/* ---- noise ---- */

static uint64_t random_word(void)
{
	uint64_t word = (uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand();

	switch (rand() % 6) {
	case 0:
		return 0;
	case 1:
		return ep_escape_make(rand() % 8, word & 0x3ffffff);
	case 2:
		return word & ~(EP_ADDRESS_MASK - 0xfff);
	case 3:
		return build_record(FAKE_KNOWN + rand() % 9 * FAKE_STEP, rand() % 2, 0);
	default:
		return word;
	}
}

START_TEST(no_noise_breaks_a_rule)
{
	srand(_i);
	for (unsigned n = 0; n < 8; n++) {
		struct ep_block *block = build_block(arena, thread, START + rand() % 90000);

		for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++)
			block->records[i] = random_word();
		block->flags = (uint8_t)rand();
		block->sequence += rand() % 8 == 0;
		build_block_seal(arena, block);
	}
	decode();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("records");
	TCase *tests = tcase_create("records");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_time_survives_every_gap_up_to_the_longest);
	tcase_add_test(tests, gaps_around_the_limits_are_exact);
	tcase_add_test(tests, every_stamp_on_the_dial_is_exact_also_the_one_that_would_be_0);
	tcase_add_test(tests, a_stamp_a_little_back_is_no_lap_forward);
	tcase_add_test(tests, untimed_records_lie_in_order_between_their_anchors);
	tcase_add_test(tests, untimed_records_are_from_before_their_function_went_off);
	tcase_add_test(tests, the_end_of_the_last_block_has_no_upper_bound);
	tcase_add_test(tests, a_block_that_goes_on_bounds_the_one_before);
	tcase_add_loop_test(tests, what_came_before_a_wait_went_on_at_its_pace, 1, 44);
	tcase_add_test(tests, a_wait_that_nobody_asked_for_is_among_what_came_before);
	tcase_add_loop_test(tests, a_large_gap_that_the_kernel_asked_for_has_two_escapes, 0, 2);
	tcase_add_loop_test(tests, a_wait_before_a_block_is_told_by_it, 0, 2);
	tcase_add_loop_test(tests, what_came_before_an_absence_came_before_it_began, 0, 2);
	tcase_add_loop_test(tests, a_call_in_which_a_thread_was_seen_took_what_is_left, 30, 91);
	tcase_add_test(tests, a_block_of_any_number_has_its_own_looks_alone);
	tcase_add_loop_test(tests, looks_at_somebody_else_say_nothing, 0, 5);
	tcase_add_test(tests, what_was_made_before_a_look_is_not_later_though_the_thread_ended);
	tcase_add_test(tests, records_before_a_lost_block_are_not_spread_over_the_loss);
	tcase_add_test(tests, records_before_a_pause_are_not_spread_over_the_pause);
	tcase_add_test(tests, a_lost_pause_is_both);
	tcase_add_test(tests, records_before_a_long_silence_are_not_spread_over_it);
	tcase_add_test(tests, the_beginning_of_the_history_is_no_gap);
	tcase_add_test(tests, zero_words_are_a_hole_of_known_size);
	tcase_add_test(tests, escapes_of_a_later_version_are_told);
	tcase_add_test(tests, an_escape_at_the_end_is_no_record);
	tcase_add_test(tests, the_escape_of_a_dropped_call_does_no_harm);
	tcase_add_test(tests, seeking_finds_the_block_that_covers_a_time);
	tcase_add_loop_test(tests, no_noise_breaks_a_rule, 0, 40);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
