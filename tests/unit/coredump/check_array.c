/* SPDX-License-Identifier: BSD-2-Clause */
/* check_array.c: arrays that grow. */
#include "tests/unit/main.h"

#include <sys/resource.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"

struct pair {
	uint64_t a, b;
};

START_TEST(what_was_added_stays_in_order_and_new_items_are_zero)
{
	EP_ARRAY(struct pair) pairs = {0};

	for (uint64_t i = 0; i < 10000; i++) {
		struct pair *pair = ep_array_add(&pairs);

		ck_assert_uint_eq(pair->a | pair->b, 0);
		*pair = (struct pair){i, ~i};
	}
	ck_assert_uint_eq(pairs.count, 10000);
	for (uint64_t i = 0; i < pairs.count; i++)
		ck_assert(pairs.list[i].a == i && pairs.list[i].b == ~i);
	ep_array_deinit(&pairs);
	ck_assert_ptr_null(pairs.list);
	ck_assert_uint_eq(pairs.count, 0);
}
END_TEST

START_TEST(additions_one_by_one_move_the_list_seldom)
{
	EP_ARRAY(uint32_t) numbers = {0};
	size_t moves = 0, capacity = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		ep_array_push(&numbers, i);
		moves += numbers.capacity != capacity;
		capacity = numbers.capacity;
	}
	ck_assert_uint_le(moves, 17);
	ep_array_deinit(&numbers);
}
END_TEST

START_TEST(room_that_is_there_is_not_asked_for_again)
{
	EP_ARRAY(char) text = {0};
	char *list;

	ep_array_reserve(&text, 1000);
	list = text.list;
	ck_assert_uint_ge(text.capacity, 1000);
	for (int i = 0; i < 1000; i++)
		ep_array_push(&text, 'x');
	ck_assert_ptr_eq(text.list, list);
	ep_array_deinit(&text);
}
END_TEST

START_TEST(each_argument_is_evaluated_once)
{
	EP_ARRAY(int) lists[2] = {0};
	int at = 0, value = 0;

	ep_array_push(&lists[at++], value++);
	ck_assert_int_eq(at, 1);
	ck_assert_int_eq(value, 1);
	ck_assert_uint_eq(lists[0].count, 1);
	ep_array_deinit(&lists[0]);
}
END_TEST

START_TEST(memory_that_runs_out_ends_the_tool_with_3)
{
	volatile size_t count = SIZE_MAX / 2;

	free(ep_reallocarray(NULL, count, 4));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("array");
	TCase *tests = tcase_create("array");

	tcase_add_test(tests, what_was_added_stays_in_order_and_new_items_are_zero);
	tcase_add_test(tests, additions_one_by_one_move_the_list_seldom);
	tcase_add_test(tests, room_that_is_there_is_not_asked_for_again);
	tcase_add_test(tests, each_argument_is_evaluated_once);
	tcase_add_exit_test(tests, memory_that_runs_out_ends_the_tool_with_3, EP_EXIT_MEMORY);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
