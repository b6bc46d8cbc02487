/* SPDX-License-Identifier: BSD-2-Clause */
/* check_cost.c: predictions against arithmetic on paper. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "funcount/exclude/cost.h"
#include "main.h"

static struct ep_costs costs;
static struct ep_err err;

#define NEAR(a, b) ck_assert_double_eq_tol((a), (b), 1e-9)

static void setup(void)
{
	ep_costs_default(&costs);
	costs.of[EP_COST_FULL].ns = 20;
	costs.of[EP_COST_8].ns = 3.5;
	costs.of[EP_COST_64].ns = 3;
}

START_TEST(overhead_is_calls_times_cost)
{
	/* A million calls of 20 ns: 20 ms of a second. */
	NEAR(ep_cost_predict(&costs, 1, 1e6, 1).overhead, 0.02);
	NEAR(ep_cost_predict(&costs, 1, 1e6, 0.5).overhead, 0.04);
	NEAR(ep_cost_predict(&costs, 8, 1e8, 1).overhead, 0.35);
	NEAR(ep_cost_predict(&costs, 64, 1e8, 1).overhead, 0.3);
	/* Half way by the clock: one in 2. */
	ck_assert_double_eq_tol(ep_cost_predict(&costs, 2, 1e8, 1).overhead, 1.15, 0.02);
}
END_TEST

START_TEST(history_is_what_a_mib_holds)
{
	/* 256 blocks of 508 records, two of a call: 65,024 calls. */
	NEAR(ep_cost_predict(&costs, 1, 1e6, 1).history, 0.065024 * 1.02);
	ck_assert(isinf(ep_cost_predict(&costs, 1, 0, 1).history));
}
END_TEST

START_TEST(auto_times_all_where_that_is_cheap)
{
	/* 17 ms of clock in a second: less than 5 %. */
	NEAR(ep_cost_predict(&costs, 0, 1e6, 1).overhead, 0.02);
}
END_TEST

START_TEST(auto_spends_its_budget_where_calls_are_many)
{
	/* 30 % of hooks, and 5 % of 1.3 s for the clock. */
	NEAR(ep_cost_predict(&costs, 0, 1e8, 1).overhead, 0.3 + 0.065);
	costs.clock_budget = 0;
	NEAR(ep_cost_predict(&costs, 0, 1e8, 1).overhead, 0.3);
}
END_TEST

START_TEST(code_that_is_wide_costs_more)
{
	costs.code[0].ns = 1;
	costs.code[1].ns = 5;
	costs.code[2].ns = 8;
	NEAR(ep_cost_of_code(&costs, 0), 0);
	NEAR(ep_cost_of_code(&costs, 40 << 10), 0);
	/* Half way from 40 to 160, and from 160 to 640, by the logarithm. */
	NEAR(ep_cost_of_code(&costs, 80 << 10), 0.5);
	NEAR(ep_cost_of_code(&costs, 160 << 10), 1);
	NEAR(ep_cost_of_code(&costs, 320 << 10), 3);
	NEAR(ep_cost_of_code(&costs, 1280 << 10), 8);
	NEAR(ep_cost_of_code(&costs, 1 << 30), 8);
	/* Noise makes nothing cheaper. */
	costs.code[0].ns = -1;
	NEAR(ep_cost_of_code(&costs, 160 << 10), 0);
	NEAR(ep_cost_of_code(&costs, 640 << 10), 5);
}
END_TEST

START_TEST(wide_code_widens_the_modes_with_hooks)
{
	struct ep_costs before;

	costs.code[1].ns = 5;
	before = costs;
	ep_costs_widen(&costs, 640 << 10);
	for (int i = 0; i < EP_COST_MODES; i++)
		NEAR(costs.of[i].ns - before.of[i].ns,
		     i == EP_COST_PAUSED || i == EP_COST_EXCLUDED ? 0 : 5);
	NEAR(ep_cost_predict(&costs, 64, 1e8, 1).overhead, 0.8);
}
END_TEST

START_TEST(the_most_calls_for_a_goal_are_the_most)
{
	static const unsigned every[] = {0, 1, 4, 8, 64};
	static const double limits[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 3};

	for (size_t i = 0; i < sizeof(every) / sizeof(*every); i++)
		for (size_t j = 0; j < sizeof(limits) / sizeof(*limits); j++) {
			double most = ep_cost_calls_for_overhead(&costs, every[i], limits[j], 2);
			double longest = ep_cost_calls_for_history(&costs, every[i], limits[j], 2);

			ck_assert(ep_cost_predict(&costs, every[i], most, 2).overhead <= limits[j]);
			ck_assert(ep_cost_predict(&costs, every[i], most + 1, 2).overhead >
				  limits[j]);
			ck_assert(ep_cost_predict(&costs, every[i], longest, 2).history >=
				  limits[j]);
			ck_assert(ep_cost_predict(&costs, every[i], longest + 1, 2).history <
				  limits[j]);
		}
	ck_assert_double_eq(ep_cost_calls_for_overhead(&costs, 1, 0, 2), 0);
}
END_TEST

START_TEST(costs_are_read_as_they_were_written)
{
	struct ep_costs back;
	struct ep_keyfile file;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	snprintf(costs.machine, sizeof(costs.machine), "Some CPU 3.0 GHz");
	costs.of[EP_COST_EXCLUDED] = (struct ep_cost){-0.01, -0.02, 0.5, 1.5};
	costs.code[2] = (struct ep_cost){8.25, 8, 8.5, 22.5};
	costs.clock_budget = 0.025;
	ck_assert_int_eq(ep_keyfile_parse(&file, "b", "", 0, &err), EP_OK);
	ck_assert_int_eq(ep_costs_parse(&back, &file, &err), EP_END);
	ep_keyfile_deinit(&file);
	ep_costs_print(&costs, out);
	fclose(out);
	ck_assert_int_eq(ep_keyfile_parse(&file, "b", text, size, &err), EP_OK);
	free(text);
	ep_costs_default(&back);
	ck_assert_int_eq(ep_costs_parse(&back, &file, &err), EP_OK);
	for (int i = 0; i < EP_COST_MODES; i++) {
		NEAR(back.of[i].ns, costs.of[i].ns);
		NEAR(back.of[i].low, costs.of[i].low);
		NEAR(back.of[i].high, costs.of[i].high);
		NEAR(back.of[i].cycles, costs.of[i].cycles);
	}
	NEAR(back.code[0].ns, costs.code[0].ns);
	NEAR(back.code[2].ns, 8.25);
	NEAR(back.code[2].cycles, 22.5);
	NEAR(back.clock_budget, 0.025);
	ck_assert_str_eq(back.machine, "Some CPU 3.0 GHz");
	ep_keyfile_deinit(&file);
}
END_TEST

START_TEST(what_is_no_cost_is_refused_with_its_place)
{
	static const struct {
		const char *text, *where;
	} bad[] = {
		{"[costs]\nfull = 20\n", "b:2:8: "},
		{"[costs]\nfull = fast\n", "b:2:8: "},
		{"[costs]\nfull = nan ns\n", "b:2:8: "},
		{"[costs]\nfull = 1e300 ns\n", "b:2:8: "},
		{"[costs]\nfull = 20 ns, 19\n", "b:2:8: "},
		{"[costs]\nfull = 20 ns, 19 to 21 ns, 3 cycles more\n", "b:2:8: "},
		{"[costs]\nfast = 20 ns\n", "b:2:8: "},
		{"[costs]\nclock-budget = 5\n", "b:2:16: "},
		{"[costs]\nclock-budget = -5%\n", "b:2:16: "},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ep_costs before = costs;
		struct ep_keyfile file;

		ck_assert_int_eq(
			ep_keyfile_parse(&file, "b", bad[i].text, strlen(bad[i].text), &err),
			EP_OK);
		ck_assert_int_eq(ep_costs_parse(&costs, &file, &err), EP_E_FORMAT);
		ck_assert_msg(!strncmp(err.text, bad[i].where, strlen(bad[i].where)), "%s",
			      err.text);
		ck_assert_mem_eq(&costs, &before, sizeof(costs));
		ep_keyfile_deinit(&file);
	}
}
END_TEST

START_TEST(time_stamps_are_auto_or_a_power_of_two)
{
	unsigned every = 99;

	ck_assert(ep_cost_every_parse("auto", &every) && every == 0);
	ck_assert(ep_cost_every_parse("1", &every) && every == 1);
	ck_assert(ep_cost_every_parse("64", &every) && every == 64);
	ck_assert(!ep_cost_every_parse("0", &every));
	ck_assert(!ep_cost_every_parse("3", &every));
	ck_assert(!ep_cost_every_parse("128", &every));
	ck_assert(!ep_cost_every_parse("8x", &every));
	ck_assert(!ep_cost_every_parse("", &every));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost");
	TCase *cases = tcase_create("cost");

	tcase_add_checked_fixture(cases, setup, NULL);
	tcase_add_test(cases, overhead_is_calls_times_cost);
	tcase_add_test(cases, history_is_what_a_mib_holds);
	tcase_add_test(cases, auto_times_all_where_that_is_cheap);
	tcase_add_test(cases, auto_spends_its_budget_where_calls_are_many);
	tcase_add_test(cases, code_that_is_wide_costs_more);
	tcase_add_test(cases, wide_code_widens_the_modes_with_hooks);
	tcase_add_test(cases, the_most_calls_for_a_goal_are_the_most);
	tcase_add_test(cases, costs_are_read_as_they_were_written);
	tcase_add_test(cases, what_is_no_cost_is_refused_with_its_place);
	tcase_add_test(cases, time_stamps_are_auto_or_a_power_of_two);
	suite_add_tcase(suite, cases);
	return ep_test_main(suite);
}
