/* SPDX-License-Identifier: BSD-2-Clause */
/* check_timetext.c: expected values are worked out by hand. */
#include "decoder/timetext.h"

#include <string.h>

#include "main.h"

static int64_t parsed(const char *text)
{
	struct ep_err err = {0};
	int64_t ns = -1;

	ck_assert_msg(ep_duration_parse(text, &ns, &err) == EP_OK, "%s: %s",
		      text, err.text);
	return ns;
}

START_TEST(durations_are_exact_to_the_nanosecond)
{
	ck_assert_int_eq(parsed("0"), 0);
	ck_assert_int_eq(parsed("7ns"), 7);
	ck_assert_int_eq(parsed("1.5us"), 1500);
	ck_assert_int_eq(parsed("0.1s"), 100000000);
	ck_assert_int_eq(parsed(".25ms"), 250000);
	ck_assert_int_eq(parsed("1.0000000019s"), 1000000001);
	ck_assert_int_eq(parsed("2min"), INT64_C(120000000000));
	ck_assert_int_eq(parsed("1.5h"), INT64_C(5400000000000));
	ck_assert_int_eq(parsed("3\xc2\xb5s"), 3000);
	ck_assert_int_eq(parsed("0.33333333333333333333333333s"), 333333333);
}
END_TEST

START_TEST(nonsense_is_refused_with_its_own_words)
{
	static const char *const bad[] = {
		"",     "x",    "ms",   "-1ms",   "+1ms", "1",  "1.5",
		"1 ms", "1msx", "1e3s", "1.2.3s", ".",    ".s", "0x10s"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ep_err err = {0};
		int64_t ns = 42;

		ck_assert_msg(ep_duration_parse(bad[i], &ns, &err) ==
				      EP_E_USAGE,
			      "%s", bad[i]);
		ck_assert_int_eq(ns, 42);
		ck_assert_ptr_nonnull(strstr(err.text, bad[i]));
	}
}
END_TEST

START_TEST(times_that_overflow_are_refused)
{
	int64_t ns = 42;

	ck_assert_int_eq(ep_duration_parse("9223372036854775807ns", &ns, NULL),
			 EP_OK);
	ck_assert_int_eq(ns, INT64_MAX);
	ck_assert_int_eq(ep_duration_parse("9223372036854775808ns", &ns, NULL),
			 EP_E_LIMIT);
	ck_assert_int_eq(
		ep_duration_parse("99999999999999999999999s", &ns, NULL),
		EP_E_LIMIT);
	ck_assert_int_eq(ep_duration_parse("9999999999999999h", &ns, NULL),
			 EP_E_LIMIT);
	ck_assert_int_eq(ns, INT64_MAX);
}
END_TEST

START_TEST(moments_need_a_side)
{
	struct ep_moment moment = {0};

	ck_assert_int_eq(ep_moment_parse("-10ms", &moment, NULL), EP_OK);
	ck_assert(moment.set && !moment.from_start);
	ck_assert_int_eq(moment.ns, 10000000);
	ck_assert_int_eq(ep_moment_parse("+1.5s", &moment, NULL), EP_OK);
	ck_assert(moment.from_start);
	ck_assert_int_eq(moment.ns, 1500000000);
	ck_assert_int_eq(ep_moment_parse("10ms", &moment, NULL), EP_E_USAGE);
	ck_assert_int_eq(ep_moment_parse("--10ms", &moment, NULL), EP_E_USAGE);
}
END_TEST

START_TEST(last_is_a_count_or_a_time)
{
	struct ep_last last = {0};

	ck_assert_int_eq(ep_last_parse("200", &last, NULL), EP_OK);
	ck_assert(last.set && !last.is_time);
	ck_assert_uint_eq(last.calls, 200);
	ck_assert_int_eq(ep_last_parse("5ms", &last, NULL), EP_OK);
	ck_assert(last.is_time);
	ck_assert_int_eq(last.ns, 5000000);
	ck_assert_int_eq(ep_last_parse("-5", &last, NULL), EP_E_USAGE);
	ck_assert_int_eq(ep_last_parse("all", &last, NULL), EP_E_USAGE);
}
END_TEST

START_TEST(durations_print_four_digits_that_count)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.000 us"},
		{1234, "1.234 us"},
		{99999, "99.99 us"},
		{999999, "999.9 us"},
		{-1234567, "-1.234 ms"},
		{INT64_C(1500000000), "1.500 s"},
		{INT64_C(599000000000), "599.0 s"},
		{INT64_C(600000000000), "10.00 min"},
		{INT64_C(360000000000000), "100.0 h"},
		{INT64_MIN, "-2562047.7 h"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[EP_TIMETEXT_SIZE];

		ck_assert_str_eq(ep_duration_text(cases[i].ns, text),
				 cases[i].text);
	}
}
END_TEST

START_TEST(seconds_keep_every_nanosecond)
{
	char text[EP_TIMETEXT_SIZE];

	ck_assert_str_eq(ep_seconds_text(0, text), "0.000000000");
	ck_assert_str_eq(ep_seconds_text(-1, text), "-0.000000001");
	ck_assert_str_eq(ep_seconds_text(INT64_C(12345678901), text),
			 "12.345678901");
	ck_assert_str_eq(ep_seconds_text(INT64_MIN, text),
			 "-9223372036.854775808");
}
END_TEST

START_TEST(dates_counts_and_sizes_read_well)
{
	char text[EP_TIMETEXT_SIZE];

	/* 2001-09-09 01:46:40 is second 1000000000 of Unix time. */
	ck_assert_str_eq(ep_date_text(UINT64_C(1000000000123456789), text),
			 "2001-09-09 01:46:40.123 UTC");
	ck_assert_str_eq(ep_date_text(0, text), "unknown");
	ck_assert_uint_lt(strlen(ep_date_text(UINT64_MAX, text)), sizeof(text));
	ck_assert_str_eq(ep_count_text(0, text), "0");
	ck_assert_str_eq(ep_count_text(999, text), "999");
	ck_assert_str_eq(ep_count_text(1000, text), "1,000");
	ck_assert_str_eq(ep_count_text(UINT64_MAX, text),
			 "18,446,744,073,709,551,615");
	ck_assert_str_eq(ep_size_text(1, text), "1 byte");
	ck_assert_str_eq(ep_size_text(4096, text), "4,096 bytes");
	ck_assert_str_eq(ep_size_text(65536, text), "64.0 KiB");
	ck_assert_str_eq(ep_size_text(UINT64_C(3) << 19, text), "1.5 MiB");
	ck_assert_str_eq(ep_size_text(UINT64_MAX, text), "15.9 EiB");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timetext");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, durations_are_exact_to_the_nanosecond);
	tcase_add_test(tests, nonsense_is_refused_with_its_own_words);
	tcase_add_test(tests, times_that_overflow_are_refused);
	tcase_add_test(tests, moments_need_a_side);
	tcase_add_test(tests, last_is_a_count_or_a_time);
	tcase_add_test(tests, durations_print_four_digits_that_count);
	tcase_add_test(tests, seconds_keep_every_nanosecond);
	tcase_add_test(tests, dates_counts_and_sizes_read_well);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
