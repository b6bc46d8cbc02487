/* SPDX-License-Identifier: BSD-2-Clause */
/* check_choice.c: which functions go off first, by blocks that are made here. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <check.h>
#include <string.h>

#include "main.h"
#include "runtime/budget/choice.h"

#define LONG   UINT64_C(260000) /* cycles: a long call */
#define START  UINT64_C(0x123456789000)
#define CODE   UINT64_C(0x555555550000)
#define RETURN 80 /* bytes from a function's entry to its return */

static struct ep_choice choice;
static struct ep_block block;
static unsigned filled;
static uint64_t now;

static uint64_t function(unsigned n)
{
	return CODE + n * UINT64_C(256);
}

static void begin_block(void)
{
	memset(&block, 0, sizeof(block));
	block.tsc = now;
	filled = 0;
}

static void begin(void)
{
	now = START;
	ep_choice_begin(&choice, LONG);
	begin_block();
}

static void end_block(bool counted)
{
	ep_choice_block(&choice, &block, counted);
	begin_block();
}

/* A record `cycles` after the one before; timed, with an escape where the hooks would have one. */
static void record(uint64_t address, bool is_return, uint64_t cycles)
{
	uint64_t stamp;

	if (filled + 2 > EP_BLOCK_RECORDS)
		end_block(true);
	if (cycles > EP_GAP_CYCLES)
		block.records[filled++] = ep_escape_make(
			EP_ESCAPE_TIME, (now + cycles) >> (EP_TICK_SHIFT + 16) & 0x3ffffff);
	now += cycles;
	stamp = now >> EP_TICK_SHIFT & 0xffff;
	block.records[filled++] =
		address | (is_return ? EP_RETURN_BIT : 0) | (stamp ? stamp : 1) << EP_STAMP_SHIFT;
}

static void enter(unsigned n, uint64_t cycles)
{
	record(function(n), false, cycles);
}

static void leave(unsigned n, uint64_t cycles)
{
	record(function(n) + RETURN, true, cycles);
}

static void call(unsigned n, uint64_t cycles)
{
	enter(n, 40);
	leave(n, cycles);
}

static const struct ep_choice_function *counted(unsigned n)
{
	for (unsigned i = 0; i < EP_CHOICE_SLOTS; i++)
		if (choice.functions[i].address == function(n))
			return &choice.functions[i];
	ck_abort_msg("function %u was not seen", n);
}

static struct ep_choice_victim victims[EP_CHOICE_MOST];

static unsigned take(uint64_t wanted)
{
	end_block(true);
	return ep_choice_take(&choice, wanted, 0, victims, EP_CHOICE_MOST);
}

/* As the hooks write it between two readings of the clock; the time passes all the same. */
static void untimed(uint64_t address, bool is_return, uint64_t cycles)
{
	if (filled + 2 > EP_BLOCK_RECORDS)
		end_block(true);
	now += cycles;
	block.records[filled++] = address | (is_return ? EP_RETURN_BIT : 0);
}

START_TEST(calls_are_counted_and_timed)
{
	begin();
	for (int i = 0; i < 600; i++)
		call(1, 800);
	enter(2, 8);
	call(3, 400000); /* with an escape */
	leave(2, 8);
	end_block(true);
	ck_assert_uint_eq(choice.calls, 602);
	ck_assert_uint_eq(counted(1)->calls, 600);
	ck_assert_uint_ge(counted(1)->time, 600 * 792);
	ck_assert_uint_le(counted(1)->time, 600 * 808);
	ck_assert_uint_eq(counted(1)->longs, 0);
	ck_assert_uint_eq(counted(3)->longs, 1);
	ck_assert_uint_eq(counted(2)->longs, 1);
	ck_assert_uint_ge(counted(2)->time, 400000);
}
END_TEST

START_TEST(many_and_short_go_before_few_and_before_long)
{
	begin();
	for (int i = 0; i < 100; i++) {
		enter(1, 40); /* as often as 2 and 3, and holds both */
		call(2, 24);
		call(3, 20000);
		call(4, 24);
		call(4, 24);
		call(4, 24);
		leave(1, 40);
	}
	ck_assert_uint_eq(take(UINT64_MAX), 4);
	ck_assert_uint_eq(victims[0].address, function(4));
	ck_assert_uint_eq(victims[0].calls, 300);
	ck_assert_uint_eq(victims[1].address, function(2));
	ck_assert_uint_eq(victims[2].address, function(3));
	ck_assert_uint_eq(victims[3].address, function(1));
	ck_assert_uint_eq(ep_choice_take(&choice, UINT64_MAX, 101, victims, EP_CHOICE_MOST), 1);
}
END_TEST

/* Which of those between two timed records ran long is not known; who has many calls there, or was
 * there once of many times, is none of them. */
START_TEST(a_call_that_may_have_been_long_stays)
{
	begin();
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 20; j++) {
			call(1, 24);
			call(4, 24);
		}
		for (int j = 0; j < 5; j++) {
			untimed(function(2), false, 24);
			untimed(function(2) + RETURN, true, 24);
		}
		untimed(function(3), false, 24);
		untimed(function(3) + RETURN, true, LONG);
		if (!i) {
			untimed(function(4), false, 24);
			untimed(function(4) + RETURN, true, 24);
		}
	}
	ck_assert_uint_eq(take(UINT64_MAX), 3);
	ck_assert_uint_eq(victims[0].address, function(4));
	ck_assert_uint_eq(victims[1].address, function(1));
	ck_assert_uint_eq(victims[2].address, function(2));
}
END_TEST

START_TEST(a_call_that_ended_in_an_older_block_may_have_been_long)
{
	begin();
	call(1, 24);
	call(1, 24);
	untimed(function(2), false, 24);
	untimed(function(2) + RETURN, true, 24);
	now += LONG;
	end_block(true);
	call(1, 24);
	ck_assert_uint_eq(take(UINT64_MAX), 1);
	ck_assert_uint_eq(victims[0].address, function(1));
}
END_TEST

START_TEST(a_call_whose_end_has_no_time_yet_may_have_been_long)
{
	begin();
	call(1, 24);
	call(1, 24);
	call(1, 24);
	enter(2, 24);
	untimed(function(3), false, 24);
	untimed(function(3) + RETURN, true, 24);
	ck_assert_uint_eq(take(UINT64_MAX), 1);
	ck_assert_uint_eq(victims[0].address, function(1));
}
END_TEST

START_TEST(no_more_go_than_must)
{
	begin();
	for (int i = 0; i < 100; i++) {
		call(1, 24);
		call(1, 24);
		call(2, 24);
	}
	ck_assert_uint_eq(take(150), 1);
	ck_assert_uint_eq(victims[0].address, function(1));
}
END_TEST

START_TEST(a_function_that_ran_long_stays)
{
	begin();
	for (int i = 0; i < 40; i++)
		call(1, i == 7 ? LONG + 8 : 24);
	call(2, 24);
	ck_assert_uint_eq(take(UINT64_MAX), 1);
	ck_assert_uint_eq(victims[0].address, function(2));
}
END_TEST

/* Whoever runs most is most likely to be interrupted. */
START_TEST(one_that_was_interrupted_once_in_many_calls_goes)
{
	begin();
	for (int i = 0; i < 1000; i++)
		call(1, i == 7 ? LONG + 8 : 24);
	ck_assert_uint_eq(take(UINT64_MAX), 1);
	ck_assert_uint_eq(victims[0].address, function(1));
}
END_TEST

START_TEST(one_that_is_open_for_long_stays)
{
	begin();
	enter(1, 40);
	for (int i = 0; i < 1000; i++)
		call(2, 1000);
	ck_assert_uint_eq(take(UINT64_MAX), 1);
	ck_assert_uint_eq(victims[0].address, function(2));
}
END_TEST

/* Its entry is written over, and it is called shortly afterwards. */
START_TEST(one_whose_long_call_began_before_stays)
{
	begin();
	for (int i = 0; i < 1000; i++)
		call(2, 1000);
	leave(1, 8);
	call(1, 24);
	ck_assert_uint_eq(take(UINT64_MAX), 1);
	ck_assert_uint_eq(victims[0].address, function(2));
}
END_TEST

START_TEST(what_does_not_count_tells_of_long_calls_only)
{
	begin();
	call(1, LONG + 8);
	for (int i = 0; i < 100; i++)
		call(2, 24);
	end_block(false);
	for (int i = 0; i < 20; i++)
		call(1, 24);
	end_block(true);
	ck_assert_uint_eq(choice.calls, 20);
	ck_assert_uint_eq(take(UINT64_MAX), 0);
}
END_TEST

START_TEST(one_that_is_to_be_kept_stays)
{
	begin();
	for (int i = 0; i < 200; i++) {
		call(1, 24);
		call(2, 24);
	}
	end_block(true);
	ep_choice_keep(&choice, function(1));
	ck_assert_uint_eq(take(UINT64_MAX), 1);
	ck_assert_uint_eq(victims[0].address, function(2));
}
END_TEST

/* Without the returns of a function that was left by an exception the others' are still theirs. */
START_TEST(a_call_without_a_return_does_not_shift_the_others)
{
	begin();
	for (int i = 0; i < 100; i++) {
		enter(3, 40);
		enter(1, 40);
		leave(3, 40);
		call(2, 8000);
	}
	end_block(true);
	ck_assert_uint_le(counted(3)->time, 100 * 88);
	ck_assert_uint_ge(counted(2)->time, 100 * 7992);
}
END_TEST

/* All equally warm: one look sees them all, and all may go for it. */
/* A mark of `count` values, timed as marks are. */
static void mark(unsigned kind, const uint64_t *values, unsigned count, uint64_t cycles)
{
	uint64_t stamp;

	if (filled + 1 + 2 * count > EP_BLOCK_RECORDS)
		end_block(true);
	now += cycles;
	stamp = now >> EP_TICK_SHIFT & 0xffff;
	block.records[filled++] = ep_escape_make(
		EP_ESCAPE_MARK, (uint32_t)(kind | 2 * count << 5 | (stamp ? stamp : 1) << 10));
	for (unsigned i = 0; i < count; i++) {
		block.records[filled++] = ep_escape_make(EP_ESCAPE_DATA, values[i] & 0x3ffffff);
		block.records[filled++] = ep_escape_make(EP_ESCAPE_DATA, values[i] >> 26);
	}
}

START_TEST(a_call_that_an_exception_left_has_ended)
{
	const uint64_t left[] = {function(3) + 20, function(2) + 20};

	begin();
	for (int i = 0; i < 300; i++) {
		enter(2, 40);
		enter(3, 40);
		mark(EP_MARK_LEFT, left, 2, 4000);
	}
	end_block(true);
	ck_assert_uint_eq(choice.depth, 0);
	ck_assert_uint_le(counted(2)->time, 300 * 4200);
	ck_assert_uint_eq(take(600), 2);
}
END_TEST

START_TEST(a_call_that_a_jump_left_has_ended)
{
	const uint64_t buffer[] = {UINT64_C(0x7ffd12345678), function(3) + 20};

	begin();
	for (int i = 0; i < 300; i++) {
		if (i < 2 || i > 290) /* it is left out where nothing changed */
			mark(EP_MARK_SAVE, buffer, 1, 40);
		enter(2, 40);
		enter(3, 40);
		mark(EP_MARK_RESUME, buffer, 2, 400);
	}
	end_block(true);
	ck_assert_uint_eq(choice.depth, 0);
	ck_assert_uint_eq(take(600), 2);
}
END_TEST

START_TEST(a_thousand_that_are_equally_warm_go_at_once)
{
	bool seen[EP_CHOICE_MOST] = {false};
	unsigned count;

	begin();
	for (unsigned turn = 0; turn < 4; turn++)
		for (unsigned i = 0; i < EP_CHOICE_MOST; i++)
			call(i, 200 + i % 7);
	count = take(UINT64_MAX);
	ck_assert_uint_eq(count, EP_CHOICE_MOST);
	for (unsigned i = 0; i < count; i++) {
		ck_assert_uint_eq(victims[i].calls, 4);
		ck_assert(!seen[(victims[i].address - CODE) / 256]);
		seen[(victims[i].address - CODE) / 256] = true;
	}
}
END_TEST

START_TEST(the_order_of_many_is_that_of_their_worth)
{
	begin();
	for (unsigned i = 0; i < 500; i++)
		for (unsigned calls = 0; calls < 1 + i * 7 % 13; calls++)
			call(i, 40);
	ck_assert_uint_eq(take(UINT64_MAX), 500);
	for (unsigned i = 1; i < 500; i++)
		ck_assert_uint_ge(victims[i - 1].calls, victims[i].calls);
}
END_TEST

START_TEST(victims_are_sorted_by_address_each_with_its_calls)
{
	uint32_t seed = 1, sum = 0;

	for (unsigned count = 0; count <= EP_CHOICE_MOST; count = count * 2 + 1) {
		for (unsigned i = 0; i < count; i++) {
			seed = seed * 1103515245 + 12345;
			/* Addresses meet: what belongs to one is told by its calls. */
			victims[i].address = function(seed >> 16 & 511);
			victims[i].calls = (uint32_t)(victims[i].address >> 8) * 7;
			sum += victims[i].calls;
		}
		ep_choice_sort(victims, count);
		for (unsigned i = 0; i < count; i++) {
			ck_assert(!i || victims[i - 1].address <= victims[i].address);
			ck_assert_uint_eq(victims[i].calls,
					  (uint32_t)(victims[i].address >> 8) * 7);
			sum -= victims[i].calls;
		}
		ck_assert_uint_eq(sum, 0);
	}
}
END_TEST

/* More functions than the table has place for, deeper calls than the stack, and marks. */
START_TEST(what_is_too_much_is_left_out)
{
	begin();
	for (unsigned i = 0; i < EP_CHOICE_SLOTS; i++)
		enter(i, 8);
	for (unsigned i = 0; i < EP_CHOICE_SLOTS + 500; i++)
		leave(EP_CHOICE_SLOTS + 500 - i, 8);
	block.records[filled++] = ep_escape_make(EP_ESCAPE_MARK, 1u << 10);
	block.records[filled++] = ep_escape_make(EP_ESCAPE_DATA, 0x3ffffff);
	end_block(true);
	ck_assert_uint_le(take(UINT64_MAX), EP_CHOICE_MOST);
}
END_TEST

int main(void)
{
	Suite *all = suite_create("choice");
	TCase *one = tcase_create("one");

	tcase_add_test(one, calls_are_counted_and_timed);
	tcase_add_test(one, many_and_short_go_before_few_and_before_long);
	tcase_add_test(one, a_call_that_may_have_been_long_stays);
	tcase_add_test(one, a_call_that_ended_in_an_older_block_may_have_been_long);
	tcase_add_test(one, a_call_whose_end_has_no_time_yet_may_have_been_long);
	tcase_add_test(one, no_more_go_than_must);
	tcase_add_test(one, a_function_that_ran_long_stays);
	tcase_add_test(one, one_that_was_interrupted_once_in_many_calls_goes);
	tcase_add_test(one, one_that_is_open_for_long_stays);
	tcase_add_test(one, one_whose_long_call_began_before_stays);
	tcase_add_test(one, what_does_not_count_tells_of_long_calls_only);
	tcase_add_test(one, one_that_is_to_be_kept_stays);
	tcase_add_test(one, a_call_without_a_return_does_not_shift_the_others);
	tcase_add_test(one, a_call_that_an_exception_left_has_ended);
	tcase_add_test(one, a_call_that_a_jump_left_has_ended);
	tcase_add_test(one, a_thousand_that_are_equally_warm_go_at_once);
	tcase_add_test(one, the_order_of_many_is_that_of_their_worth);
	tcase_add_test(one, victims_are_sorted_by_address_each_with_its_calls);
	tcase_add_test(one, what_is_too_much_is_left_out);
	suite_add_tcase(all, one);
	return ep_test_main(all);
}
