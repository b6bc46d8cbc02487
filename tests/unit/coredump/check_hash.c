/* SPDX-License-Identifier: BSD-2-Clause */
/* check_hash.c: numbers found by their hashes. */
#include "tests/unit/main.h"

#include "coredump/util/hash.h"

static uint32_t find(const struct ep_hash *table, const uint64_t *keys, uint64_t key, uint32_t hash)
{
	uint32_t at = 0, number;

	while ((number = ep_hash_next(table, hash, &at)) != EP_HASH_NONE)
		if (keys[number] == key)
			return number;
	return EP_HASH_NONE;
}

START_TEST(everything_added_is_found_and_nothing_else)
{
	static uint64_t keys[20000];
	struct ep_hash table = {0};

	ck_assert_uint_eq(find(&table, keys, 1, ep_hash_number(1)), EP_HASH_NONE);
	for (uint32_t i = 0; i < 20000; i++) {
		keys[i] = (uint64_t)i << 4 | UINT64_C(0x7f0000000000);
		ep_hash_add(&table, ep_hash_number(keys[i]), i);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		ck_assert_uint_eq(find(&table, keys, keys[i], ep_hash_number(keys[i])), i);
		ck_assert_uint_eq(find(&table, keys, keys[i] + 1, ep_hash_number(keys[i] + 1)),
				  EP_HASH_NONE);
	}
	ep_hash_deinit(&table);
	ck_assert_uint_eq(find(&table, keys, keys[0], ep_hash_number(keys[0])), EP_HASH_NONE);
}
END_TEST

START_TEST(things_of_one_hash_are_all_met)
{
	static uint64_t keys[300];
	struct ep_hash table = {0};

	for (uint32_t i = 0; i < 300; i++) {
		keys[i] = i;
		ep_hash_add(&table, UINT32_MAX, i);
	}
	for (uint32_t i = 0; i < 300; i++)
		ck_assert_uint_eq(find(&table, keys, i, UINT32_MAX), i);
	ck_assert_uint_eq(find(&table, keys, 300, UINT32_MAX), EP_HASH_NONE);
	ep_hash_deinit(&table);
}
END_TEST

/* Steps to find one, summed: addresses are aligned, and lie in few pages. */
START_TEST(addresses_spread_over_the_table)
{
	struct ep_hash table = {0};
	uint64_t steps = 0;

	for (uint32_t i = 0; i < 30000; i++)
		ep_hash_add(&table, ep_hash_number(UINT64_C(0x555555554000) + 16 * i), i);
	for (uint32_t i = 0; i < 30000; i++) {
		uint32_t at = 0, hash = ep_hash_number(UINT64_C(0x555555554000) + 16 * i);

		while (ep_hash_next(&table, hash, &at) != i)
			;
		steps += at;
	}
	ck_assert_uint_le(steps, 2 * 30000);
	ep_hash_deinit(&table);
}
END_TEST

START_TEST(texts_and_bytes_hash_alike_and_differ_by_each_byte)
{
	ck_assert_uint_eq(ep_hash_text("main"), ep_hash_bytes("main", 4));
	ck_assert_uint_ne(ep_hash_text("main"), ep_hash_text("mian"));
	ck_assert_uint_ne(ep_hash_bytes("\0", 1), ep_hash_bytes("", 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hash");
	TCase *tests = tcase_create("hash");

	tcase_add_test(tests, everything_added_is_found_and_nothing_else);
	tcase_add_test(tests, things_of_one_hash_are_all_met);
	tcase_add_test(tests, addresses_spread_over_the_table);
	tcase_add_test(tests, texts_and_bytes_hash_alike_and_differ_by_each_byte);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
