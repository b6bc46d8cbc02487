/* SPDX-License-Identifier: BSD-2-Clause */
/* check_quantiles.c: ranks of few numbers exactly, of many nearly, compared
 * with sorting. */
#include <check.h>
#include <stdlib.h>

#include "decoder/quantiles.h"
#include "main.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The nearest rank, by its definition: the least number that at least this
 * share of all are not above. */
static uint64_t by_sorting(uint64_t *numbers, size_t count, unsigned permille)
{
	qsort(numbers, count, sizeof(*numbers), compare);
	for (size_t i = 0; i < count; i++)
		if ((i + 1) * 1000 >= count * permille)
			return numbers[i];
	return numbers[count - 1];
}

static void check(uint64_t *numbers, size_t count, bool exact)
{
	static const unsigned permilles[] = {1, 100, 500, 900, 990, 999, 1000};
	struct ep_quantiles q = {0};

	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(ep_quantiles_add(&q, numbers[i]), 0);
	ck_assert_uint_eq(q.count, count);
	for (size_t i = 0; i < sizeof(permilles) / sizeof(*permilles); i++) {
		uint64_t want = by_sorting(numbers, count, permilles[i]);
		uint64_t got = ep_quantiles_at(&q, permilles[i]);
		uint64_t off = got > want ? got - want : want - got;

		ck_assert_uint_le(off, exact ? 0 : want / 250);
	}
	ck_assert_uint_eq(q.min, numbers[0]);
	ck_assert_uint_eq(q.max, numbers[count - 1]);
	ep_quantiles_deinit(&q);
}

START_TEST(of_none_all_are_0)
{
	struct ep_quantiles q = {0};

	ck_assert_uint_eq(ep_quantiles_at(&q, 500), 0);
	ep_quantiles_deinit(&q);
}
END_TEST

START_TEST(few_are_exact)
{
	uint64_t numbers[EP_QUANTILES_EXACT];

	srand(7);
	for (size_t count = 1; count <= EP_QUANTILES_EXACT; count++) {
		for (size_t i = 0; i < count; i++)
			numbers[i] = (uint64_t)rand() << rand() % 30;
		check(numbers, count, true);
	}
}
END_TEST

START_TEST(many_are_right_to_four_in_a_thousand)
{
	uint64_t *numbers = calloc(20000, sizeof(*numbers));

	srand(11);
	for (unsigned width = 4; width <= 60; width += 4) {
		for (size_t i = 0; i < 20000; i++)
			numbers[i] =
				((uint64_t)rand() << 30 ^ (uint64_t)rand()) >>
				(60 - width);
		check(numbers, 20000, false);
		check(numbers, EP_QUANTILES_EXACT + 1, false);
	}
	free(numbers);
}
END_TEST

START_TEST(numbers_below_256_and_the_greatest_are_exact)
{
	uint64_t numbers[257];

	for (uint64_t i = 0; i < 256; i++)
		numbers[i] = i;
	check(numbers, 256, true);
	for (size_t i = 0; i < 257; i++)
		numbers[i] = UINT64_MAX;
	check(numbers, 257, true);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("quantiles");
	TCase *tests = tcase_create("quantiles");

	tcase_add_test(tests, of_none_all_are_0);
	tcase_add_test(tests, few_are_exact);
	tcase_add_test(tests, many_are_right_to_four_in_a_thousand);
	tcase_add_test(tests, numbers_below_256_and_the_greatest_are_exact);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
