/* SPDX-License-Identifier: BSD-2-Clause */
/* check_cursor.c: a cursor never passes its end and stays put on failure. */
#include "tests/unit/main.h"

#include "coredump/util/cursor.h"

static const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};

START_TEST(a_failed_read_moves_nothing_and_writes_nothing)
{
	struct ep_cursor cursor;
	const uint8_t *view = NULL;
	uint64_t out = 42;

	ep_cursor_init(&cursor, bytes, 7);
	ck_assert_int_eq(ep_cursor_take(&cursor, &out, 8), EP_E_TRUNCATED);
	ck_assert_int_eq(ep_cursor_skip(&cursor, 8), EP_E_TRUNCATED);
	ck_assert_int_eq(ep_cursor_seek(&cursor, 8), EP_E_TRUNCATED);
	ck_assert_int_eq(ep_cursor_view(&cursor, &view, 8), EP_E_TRUNCATED);
	ck_assert_uint_eq(out, 42);
	ck_assert_ptr_null(view);
	ck_assert_uint_eq(ep_cursor_offset(&cursor), 0);
	ck_assert_uint_eq(ep_cursor_left(&cursor), 7);
}
END_TEST

START_TEST(sizes_near_the_largest_number_do_not_wrap)
{
	struct ep_cursor cursor;
	uint8_t byte;

	ep_cursor_init(&cursor, bytes, 8);
	ck_assert_int_eq(ep_cursor_skip(&cursor, 4), EP_OK);
	for (int i = 0; i < 16; i++) {
		ck_assert_int_eq(ep_cursor_skip(&cursor, UINT64_MAX - i), EP_E_TRUNCATED);
		ck_assert_int_eq(ep_cursor_seek(&cursor, UINT64_MAX - i), EP_E_TRUNCATED);
	}
	ck_assert_int_eq(ep_cursor_take(&cursor, &byte, 1), EP_OK);
	ck_assert_uint_eq(byte, 5);
}
END_TEST

START_TEST(the_end_itself_can_be_reached)
{
	struct ep_cursor cursor;
	const uint8_t *view;

	ep_cursor_init(&cursor, bytes, 8);
	ck_assert_int_eq(ep_cursor_seek(&cursor, 8), EP_OK);
	ck_assert_uint_eq(ep_cursor_left(&cursor), 0);
	ck_assert_int_eq(ep_cursor_seek(&cursor, 2), EP_OK);
	ck_assert_int_eq(ep_cursor_view(&cursor, &view, 6), EP_OK);
	ck_assert_ptr_eq(view, bytes + 2);
	ck_assert_uint_eq(ep_cursor_left(&cursor), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cursor");
	TCase *test = tcase_create("cursor");

	tcase_add_test(test, a_failed_read_moves_nothing_and_writes_nothing);
	tcase_add_test(test, sizes_near_the_largest_number_do_not_wrap);
	tcase_add_test(test, the_end_itself_can_be_reached);
	suite_add_tcase(suite, test);
	return ep_test_main(suite);
}
