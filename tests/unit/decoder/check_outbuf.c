/* SPDX-License-Identifier: BSD-2-Clause */
/* check_outbuf.c: what printf would write, through small and large pieces, and the first error. */
#include "decoder/util/outbuf.h"

#include <errno.h>
#include <inttypes.h>

#include "tests/unit/main.h"

static struct ep_outbuf out;
static char *text;
static size_t size;
static FILE *file;

static void setup(void)
{
	file = open_memstream(&text, &size);
	ep_outbuf_init(&out, file);
}

static void teardown(void)
{
	fclose(file);
	free(text);
}

static void expect(const char *wanted)
{
	ck_assert_int_eq(ep_outbuf_finish(&out), 0);
	text[ftello(file)] = 0; /* what is left of a longer one before */
	ck_assert_str_eq(text, wanted);
	rewind(file);
}

START_TEST(numbers_are_printfs)
{
	char wanted[128];

	for (unsigned bit = 0; bit < 64; bit++) {
		for (int near = -2; near <= 2; near++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)near;

			ep_outbuf_uint(&out, value);
			ep_outbuf_put(&out, " ", 1);
			ep_outbuf_int(&out, (int64_t)value);
			ep_outbuf_put(&out, " ", 1);
			ep_outbuf_hex(&out, value);
			snprintf(wanted, sizeof(wanted), "%" PRIu64 " %" PRId64 " 0x%" PRIx64,
				 value, (int64_t)value, value);
			expect(wanted);
		}
	}
	for (uint64_t value = 1; value < UINT64_MAX / 10; value *= 10) {
		ep_outbuf_uint(&out, value);
		ep_outbuf_put(&out, " ", 1);
		ep_outbuf_uint(&out, value - 1);
		snprintf(wanted, sizeof(wanted), "%" PRIu64 " %" PRIu64, value, value - 1);
		expect(wanted);
	}
}
END_TEST

START_TEST(thousandths_have_three_decimals)
{
	const struct {
		int64_t value;
		const char *text;
	} cases[] = {
		{0, "0.000"},
		{7, "0.007"},
		{70, "0.070"},
		{999, "0.999"},
		{1000, "1.000"},
		{123456, "123.456"},
		{-1, "-0.001"},
		{-123456, "-123.456"},
		{INT64_MAX, "9223372036854775.807"},
		{INT64_MIN, "-9223372036854775.808"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ep_outbuf_thousandth(&out, cases[i].value);
		expect(cases[i].text);
	}
}
END_TEST

/* Pieces of every size around the buffer's, so that each way in is taken. */
START_TEST(nothing_is_lost_between_pieces)
{
	static char piece[2 * EP_OUTBUF_SIZE];
	size_t total = 0, at = 0;

	for (size_t i = 0; i < sizeof(piece); i++)
		piece[i] = (char)('a' + i % 23);
	for (size_t length = 1; length <= sizeof(piece); length = length * 3 / 2 + 1) {
		ep_outbuf_put(&out, piece, length);
		ep_outbuf_put(&out, "|", 1);
		total += length + 1;
	}
	ck_assert_int_eq(ep_outbuf_finish(&out), 0);
	ck_assert_uint_eq(size, total);
	for (size_t length = 1; length <= sizeof(piece); length = length * 3 / 2 + 1) {
		ck_assert_mem_eq(text + at, piece, length);
		ck_assert_int_eq(text[at + length], '|');
		at += length + 1;
	}
}
END_TEST

START_TEST(a_full_disk_is_told_once_and_for_all)
{
	FILE *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(full);
	ep_outbuf_init(&out, full);
	for (unsigned i = 0; i < EP_OUTBUF_SIZE; i++)
		ep_outbuf_text(&out, "words");
	ck_assert_int_eq(out.failed, ENOSPC);
	errno = 0;
	ck_assert_int_eq(ep_outbuf_finish(&out), -1);
	ck_assert_int_eq(errno, ENOSPC);
	fclose(full);
}
END_TEST

START_TEST(a_small_text_fails_at_the_end)
{
	FILE *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(full);
	ep_outbuf_init(&out, full);
	ep_outbuf_text(&out, "words");
	ck_assert_int_eq(ep_outbuf_finish(&out), -1);
	ck_assert_int_eq(errno, ENOSPC);
	fclose(full);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outbuf");
	TCase *tcase = tcase_create("outbuf");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, numbers_are_printfs);
	tcase_add_test(tcase, thousandths_have_three_decimals);
	tcase_add_test(tcase, nothing_is_lost_between_pieces);
	tcase_add_test(tcase, a_full_disk_is_told_once_and_for_all);
	tcase_add_test(tcase, a_small_text_fails_at_the_end);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
