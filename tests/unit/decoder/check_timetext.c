/* SPDX-License-Identifier: BSD-2-Clause */
/* check_timetext.c: expected values are worked out by hand. */
#include "decoder/util/timetext.h"

#include <string.h>

#include "main.h"

static int64_t parsed(const char *text)
{
	int64_t ns = -1;

	ck_assert_msg(ep_timetext_parse(text, &ns), "%s", text);
	return ns;
}

START_TEST(times_are_exact_to_the_nanosecond)
{
	ck_assert_int_eq(parsed("0ns"), 0);
	ck_assert_int_eq(parsed("7ns"), 7);
	ck_assert_int_eq(parsed("1.5us"), 1500);
	ck_assert_int_eq(parsed("0.1s"), 100000000);
	ck_assert_int_eq(parsed("1.5 s"), 1500000000);
	ck_assert_int_eq(parsed(".25ms"), 250000);
	ck_assert_int_eq(parsed("-10ms"), -10000000);
	ck_assert_int_eq(parsed("1.0000000019s"), 1000000001);
	ck_assert_int_eq(parsed("2min"), INT64_C(120000000000));
	ck_assert_int_eq(parsed("1.5h"), INT64_C(5400000000000));
	ck_assert_int_eq(parsed("3\xc2\xb5s"), 3000);
	ck_assert_int_eq(parsed("0.33333333333333333333333333s"), 333333333);
	/* 2^53 + 1: no double has it. */
	ck_assert_int_eq(parsed("9007199254740993ns"), 9007199254740993);
}
END_TEST

START_TEST(a_range_that_agrees_to_a_tenth_is_one_figure)
{
	char out[EP_TIMETEXT_SIZE];

	ck_assert_str_eq(ep_timetext_range(out, 95000, 90000, 100000), "95.000 us");
	ck_assert_str_eq(ep_timetext_range(out, 95000, 89999, 100000), "~90-100 us");
	ck_assert_str_eq(ep_timetext_range(out, 5000000, 15300, 5306000), "~0.0-5.3 ms");
	ck_assert_str_eq(ep_timetext_range(out, 5, 1, 7), "~1-7 ns");
	ck_assert_str_eq(ep_timetext_range(out, 500, -3, 999), "~0-999 ns");
	ck_assert_str_eq(ep_timetext_range(out, 7000000000, 1000000000, INT64_C(123000000000)),
			 "~1-123 s");
	ck_assert_str_eq(ep_timetext_range(out, 0, 0, 0), "0 ns");
}
END_TEST

START_TEST(what_is_no_time_is_refused)
{
	static const char *const bad[] = {
		"",     "x",      "ms", "--1ms", "1",    "1.5",  "1e3s",  "0x1s",
		"1msx", "1.2.3s", ".",  ".s",    "infs", "nans", "1 m s",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t ns = 42;

		ck_assert_msg(!ep_timetext_parse(bad[i], &ns), "%s", bad[i]);
		ck_assert_int_eq(ns, 42);
	}
}
END_TEST

START_TEST(times_that_overflow_are_refused)
{
	int64_t ns = 42;

	ck_assert(ep_timetext_parse("9223372036854775807ns", &ns));
	ck_assert_int_eq(ns, INT64_MAX);
	ck_assert(!ep_timetext_parse("9223372036854775808ns", &ns));
	ck_assert(!ep_timetext_parse("99999999999999999999999s", &ns));
	ck_assert(!ep_timetext_parse("9999999999999999h", &ns));
	ck_assert_int_eq(ns, INT64_MAX);
}
END_TEST

START_TEST(times_print_with_three_decimals)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.000 us"},
		{12345, "12.345 us"},
		{999999, "999.999 us"},
		{-1234567, "-1.234 ms"},
		{INT64_C(1500000000), "1.500 s"},
		{INT64_MIN, "-9223372036.854 s"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[EP_TIMETEXT_SIZE];

		ck_assert_str_eq(ep_timetext(text, cases[i].ns), cases[i].text);
	}
}
END_TEST

START_TEST(dates_and_counts_read_well)
{
	char text[EP_TIMETEXT_SIZE + 16];

	/* 2001-09-09 01:46:40 is second 1000000000 of Unix time. */
	ck_assert_str_eq(ep_timetext_clock(text, UINT64_C(1000000000123456789)),
			 "2001-09-09 01:46:40.123456789 UTC");
	ck_assert_uint_lt(strlen(ep_timetext_clock(text, UINT64_MAX)), sizeof(text));
	ck_assert_str_eq(ep_counttext(text, 0), "0");
	ck_assert_str_eq(ep_counttext(text, 999), "999");
	ck_assert_str_eq(ep_counttext(text, 1000), "1,000");
	ck_assert_str_eq(ep_counttext(text, UINT64_MAX), "18,446,744,073,709,551,615");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timetext");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, times_are_exact_to_the_nanosecond);
	tcase_add_test(tests, a_range_that_agrees_to_a_tenth_is_one_figure);
	tcase_add_test(tests, what_is_no_time_is_refused);
	tcase_add_test(tests, times_that_overflow_are_refused);
	tcase_add_test(tests, times_print_with_three_decimals);
	tcase_add_test(tests, dates_and_counts_read_well);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
