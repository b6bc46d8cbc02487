/* SPDX-License-Identifier: BSD-2-Clause */
/* check_budget.c: limits are read with their places, and judged by arithmetic. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "funcount/budget/budget.h"
#include "main.h"

static struct ep_budget budget;
static struct ep_result result;
static struct ep_budget_verdict verdict;
static struct ep_err err;

static void setup(void)
{
	size_t module;

	result = (struct ep_result){.name = strdup("t"), .counts = ep_counts_create(), .runs = 2};
	ck_assert_int_eq(ep_counts_module(result.counts, "p", "id", 2, &module, &err), EP_OK);
	ep_counts_add(result.counts, module, 16, 2000);
	ep_counts_settle(result.counts);
}

static void teardown(void)
{
	ep_budget_deinit(&budget);
	ep_result_deinit(&result);
}

static int parse(const char *text)
{
	return ep_budget_parse(&budget, "b", text, strlen(text), &err);
}

/* 2,000 calls in 2 runs, of 40 units in all. */
static bool exceeds(const char *text)
{
	ck_assert_msg(parse(text) == EP_OK, "%s", err.text);
	ep_budget_judge(&verdict, &budget, &budget.tests.list[0], &result, 40);
	ep_budget_deinit(&budget);
	return verdict.exceeded;
}

START_TEST(calls_are_limited_per_run_and_per_unit)
{
	ck_assert(!exceeds("[test t]\nmax-calls = 1000\n"));
	ck_assert(!exceeds("[test t]\nmax-calls = 953\n"));
	ck_assert(exceeds("[test t]\nmax-calls = 952\n"));
	ck_assert(exceeds("[test t]\nmax-calls = 999\ntolerance = 0%\n"));
	ck_assert(exceeds("tolerance = 0%\n[test t]\nmax-calls = 999\n"));
	ck_assert(!exceeds("[test t]\nmax-calls-per-unit = 50\n"));
	ck_assert(exceeds("[test t]\nmax-calls-per-unit = 47\n"));
}
END_TEST

START_TEST(the_reference_is_the_limit_where_there_is_no_other)
{
	ck_assert(!exceeds("[test t]\nreference-calls = 953\n"));
	ck_assert(exceeds("[test t]\nreference-calls = 952\n"));
	ck_assert(!exceeds("[test t]\nreference-calls = 10\nmax-calls = 1000\n"));
	ck_assert(!exceeds("[test t]\nreference-calls = 10\n"
			   "max-calls-per-unit = 50\n"));
	ck_assert(!exceeds("[test t]\n"));
}
END_TEST

/* 1,000 calls of 20 ns in 0.1 ms are 20 %. */
#define TIMED                                                    \
	"timestamp-every = 1\n[costs]\nfull = 20 ns\n[test t]\n" \
	"reference-cpu = 100 us\ntolerance = 0%\n"

START_TEST(overhead_and_history_are_predicted_from_the_file)
{
	ck_assert(!exceeds(TIMED "max-overhead = 20.001%\n"));
	ck_assert(exceeds(TIMED "max-overhead = 19.999%\n"));
	ck_assert_double_eq_tol(verdict.predicted.overhead, 0.2, 1e-9);
	/* 65,024 calls of a MiB at 1,000 in 0.12 ms: 7.8 ms. */
	ck_assert(!exceeds(TIMED "min-history = 7.8ms\n"));
	ck_assert(exceeds(TIMED "min-history = 7.81ms\n"));
}
END_TEST

START_TEST(what_is_not_known_is_not_good)
{
	ck_assert(!exceeds("[test t]\nmax-overhead = 10%\n"));
	ck_assert(verdict.incomplete);
	result.lost = 1;
	ck_assert(!exceeds("[test t]\nmax-calls = 2000\n"));
	ck_assert(verdict.incomplete);
}
END_TEST

START_TEST(the_most_calls_meet_every_limit)
{
	ck_assert_int_eq(parse(TIMED "max-overhead = 10%\nmax-calls = 700\n"), EP_OK);
	/* 10 % of 0.1 ms are 500 calls of 20 ns. */
	ck_assert_double_eq_tol(ep_budget_most_calls(&budget, &budget.tests.list[0], -1), 500, 1);
}
END_TEST

START_TEST(damage_is_told_by_line_and_column)
{
	static const struct {
		const char *text, *where;
	} bad[] = {
		{"version = 2\n", "b:1:11: "},
		{"colour = red\n", "b:1:10: "},
		{"[tests]\n", "b:1:1: "},
		{"[test]\n", "b:1:1: "},
		{"[test t]\nmax-calls = many\n", "b:2:13: "},
		{"[test t]\nmax-calls = -1\n", "b:2:13: "},
		{"[test t]\nmax-overhead = 10\n", "b:2:16: "},
		{"[test t]\nmin-history = 10\n", "b:2:15: "},
		{"[test t]\nmaximum = 10\n", "b:2:11: "},
		{"timestamp-every = 3\n", "b:1:19: "},
		{"[costs]\nfull = 3\n", "b:2:8: "},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ck_assert_int_eq(parse(bad[i].text), EP_E_FORMAT);
		ck_assert_msg(!strncmp(err.text, bad[i].where, strlen(bad[i].where)), "%s",
			      err.text);
	}
}
END_TEST

START_TEST(any_name_is_read_back_from_its_section)
{
	static const char name[] = "odd ] # % name";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ep_budget_section_print(name, out);
	fclose(out);
	ck_assert_int_eq(parse(text), EP_OK);
	ck_assert_ptr_nonnull(ep_budget_find(&budget, name));
	ck_assert_ptr_null(ep_budget_find(&budget, "odd"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("budget");
	TCase *cases = tcase_create("budget");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, calls_are_limited_per_run_and_per_unit);
	tcase_add_test(cases, the_reference_is_the_limit_where_there_is_no_other);
	tcase_add_test(cases, overhead_and_history_are_predicted_from_the_file);
	tcase_add_test(cases, what_is_not_known_is_not_good);
	tcase_add_test(cases, the_most_calls_meet_every_limit);
	tcase_add_test(cases, damage_is_told_by_line_and_column);
	tcase_add_test(cases, any_name_is_read_back_from_its_section);
	suite_add_tcase(suite, cases);
	return ep_test_main(suite);
}
