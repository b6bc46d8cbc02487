/* SPDX-License-Identifier: BSD-2-Clause */
/* check_quantiles.c: quantiles against numbers whose order is known. */
#include "decoder/util/quantiles.h"

#include "main.h"

/* Each of 1..count once, in another order: 7919 is prime. */
static void fill(struct ep_quantiles *quantiles, uint64_t count, uint64_t scale)
{
	for (uint64_t i = 0; i < count; i++)
		ep_quantiles_add(quantiles, (i * 7919 % count + 1) * scale);
}

START_TEST(few_numbers_have_exact_quantiles)
{
	struct ep_quantiles quantiles = {0};

	ck_assert_uint_eq(ep_quantiles_at(&quantiles, 50), 0);
	fill(&quantiles, 10, 1000003);
	ck_assert_uint_eq(ep_quantiles_at(&quantiles, 50), 5 * 1000003);
	ck_assert_uint_eq(ep_quantiles_at(&quantiles, 90), 9 * 1000003);
	ck_assert_uint_eq(ep_quantiles_at(&quantiles, 99), 10 * 1000003);
	ck_assert_uint_eq(quantiles.min, 1000003);
	ep_quantiles_deinit(&quantiles);
}
END_TEST

static void check_close(struct ep_quantiles *quantiles, unsigned percent, uint64_t want)
{
	uint64_t got = ep_quantiles_at(quantiles, percent);
	uint64_t off = got > want ? got - want : want - got;

	ck_assert_msg(off <= want / 250, "p%u: %lu, not %lu", percent, (unsigned long)got,
		      (unsigned long)want);
}

START_TEST(many_numbers_have_quantiles_within_0_4_percent)
{
	static const uint64_t scales[] = {1, 1000003, UINT64_C(1) << 46};

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		struct ep_quantiles quantiles = {0};

		fill(&quantiles, 100000, scales[i]);
		for (unsigned percent = 1; percent <= 100; percent++)
			check_close(&quantiles, percent, percent * 1000 * scales[i]);
		ck_assert_uint_eq(quantiles.min, scales[i]);
		ck_assert_uint_eq(quantiles.max, 100000 * scales[i]);
		ep_quantiles_deinit(&quantiles);
	}
}
END_TEST

/* Ten small numbers that stand for 90 each, and a hundred large ones for themselves. */
START_TEST(numbers_may_stand_for_several)
{
	struct ep_quantiles all = {0}, some = {0}, few = {0};

	fill(&all, 100, 1000000);
	fill(&some, 10, 1000);
	ep_quantiles_add_all(&all, &some, 90);
	ck_assert_uint_eq(all.count, 1000);
	ck_assert_uint_eq(all.min, 1000);
	ck_assert_uint_eq(all.max, 100 * 1000000);
	check_close(&all, 9, 1000);
	check_close(&all, 10, 2000);
	check_close(&all, 90, 10 * 1000);
	check_close(&all, 91, 10 * 1000000);
	ep_quantiles_add_all(&few, &some, 6);
	ck_assert_uint_eq(few.count, 60);
	ck_assert_uint_eq(ep_quantiles_at(&few, 50), 5000);
	ck_assert_uint_eq(ep_quantiles_at(&few, 51), 6000);
	ep_quantiles_add_all(&few, &some, 1);
	ck_assert_uint_eq(few.count, 70);
	check_close(&few, 50, 5000);
	ep_quantiles_deinit(&all);
	ep_quantiles_deinit(&some);
	ep_quantiles_deinit(&few);
}
END_TEST

START_TEST(the_ends_of_64_bits_have_a_step)
{
	struct ep_quantiles quantiles = {0};

	for (int i = 0; i < 100; i++) {
		ep_quantiles_add(&quantiles, 0);
		ep_quantiles_add(&quantiles, UINT64_MAX);
	}
	ck_assert_uint_eq(ep_quantiles_at(&quantiles, 50), 0);
	ck_assert_uint_eq(ep_quantiles_at(&quantiles, 100), UINT64_MAX);
	ep_quantiles_deinit(&quantiles);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("quantiles");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, few_numbers_have_exact_quantiles);
	tcase_add_test(tests, many_numbers_have_quantiles_within_0_4_percent);
	tcase_add_test(tests, numbers_may_stand_for_several);
	tcase_add_test(tests, the_ends_of_64_bits_have_a_step);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
