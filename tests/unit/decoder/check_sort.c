/* SPDX-License-Identifier: BSD-2-Clause */
/* check_sort.c: lists by chance, against qsort's order. */
#include "decoder/util/sort.h"

#include <stdint.h>
#include <string.h>

#include "main.h"

struct thing {
	uint64_t address;
	uint32_t rank;
	char more[28]; /* of an odd size, as symbols are */
};

static int compare(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static uint64_t any(void)
{
	return (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
}

/* Addresses are multiples of `grain` below `span` from `base`. */
static void check(size_t count, uint64_t base, uint64_t span, uint64_t grain)
{
	struct thing *list = calloc(count + 1, sizeof(*list));
	struct thing *expected = calloc(count + 1, sizeof(*expected));

	for (size_t i = 0; i < count; i++) {
		list[i].address = base + any() % span / grain * grain;
		list[i].rank = (uint32_t)i * 2654435761u;
		memset(list[i].more, (int)i, sizeof(list[i].more));
	}
	memcpy(expected, list, count * sizeof(*list));
	qsort(expected, count, sizeof(*list), compare);
	ep_sort_by_address(list, count, sizeof(*list), compare);
	ck_assert_int_eq(memcmp(list, expected, count * sizeof(*list)), 0);
	/* What is in order stays so. */
	ep_sort_by_address(list, count, sizeof(*list), compare);
	ck_assert_int_eq(memcmp(list, expected, count * sizeof(*list)), 0);
	free(list);
	free(expected);
}

START_TEST(lists_are_in_the_order_of_compare)
{
	static const size_t counts[] = {0, 1, 2, 255, 256, 257, 5000};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		check(counts[i], 0x401000, 0x100000, 16);
		check(counts[i], 0x401000, 0x40, 16); /* many at one place */
		check(counts[i], 0, UINT64_MAX, 1);
		check(counts[i], UINT64_MAX - 4096, 4096, 1);
		check(counts[i], 0x1000, 1, 1); /* all the same */
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sort");
	TCase *tests = tcase_create("sort");

	tcase_add_test(tests, lists_are_in_the_order_of_compare);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
