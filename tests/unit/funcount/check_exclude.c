/* SPDX-License-Identifier: BSD-2-Clause */
/* check_exclude.c: the fewest functions, in the promised order, never a kept one; and names as gcc
 * prints them. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "funcount/exclude/exclude.h"
#include "funcount/counts/gccname.h"
#include "main.h"

#define GROUPS 6

static struct ep_called_group groups[GROUPS];
static struct ep_called_function functions[GROUPS];
static struct ep_function names[GROUPS];
static struct ep_called called;
static struct ep_costs costs;
static struct ep_list keep;
static struct ep_exclusion chosen;
static struct ep_exclude_limits limits;
static struct ep_err err;

/* Most calls first, as ep_called_create leaves them. */
static void add(const char *name, uint64_t calls, uint64_t size, bool known)
{
	size_t i = called.group_count++;

	called.function_count++;
	called.calls += calls;
	names[i] = (struct ep_function){.name = name, .symbol = name, .known = known, .end = size};
	functions[i] = (struct ep_called_function){
		.function = &names[i], .calls = calls, .group = (uint32_t)i};
	groups[i] = (struct ep_called_group){.name = (char *)name,
					     .known = known,
					     .calls = calls,
					     .size = size,
					     .first = i,
					     .count = 1};
}

/* 10 ns a call, one second: a million calls are 1 %. */
static void setup(void)
{
	ep_costs_default(&costs);
	costs.of[EP_COST_FULL].ns = 10;
	called = (struct ep_called){.groups = groups, .functions = functions};
	add("hot", 50000000, 400, true);
	add("module+0x1234", 3000000, 0, false);
	add("long_one", 2000000, 900, true);
	add("short_one", 2000000, 30, true);
	add("kept", 2000000, 10, true);
	add("rare", 1000000, 10, true);
	limits = (struct ep_exclude_limits){.costs = &costs,
					    .every = 1,
					    .seconds = 1,
					    .overhead = INFINITY,
					    .calls = INFINITY,
					    .keep = &keep};
}

static void teardown(void)
{
	ep_exclusion_deinit(&chosen);
	ep_list_deinit(&keep);
}

START_TEST(code_in_use_is_what_makes_most_calls)
{
	/* 59.4 of 60 million calls: all but the last one's million reach 59. */
	ck_assert_uint_eq(ep_called_code(&called), 400 + 0 + 900 + 30 + 10 + 10);
	called.calls = 50400000;
	ck_assert_uint_eq(ep_called_code(&called), 400);
	called.calls = 0;
	called.group_count = 0;
	ck_assert_uint_eq(ep_called_code(&called), 0);
}
END_TEST

static void chooses(const char *wanted)
{
	char got[256] = "";

	ep_exclude(&chosen, &called, &limits);
	for (size_t i = 0; i < chosen.count; i++) {
		strcat(got, i ? " " : "");
		strcat(got, groups[chosen.groups[i]].name);
	}
	ck_assert_str_eq(got, wanted);
}

START_TEST(no_more_are_excluded_than_must_be)
{
	limits.overhead = 0.601;
	chooses("");
	ck_assert(chosen.met);
	teardown();
	limits.overhead = 0.599;
	chooses("hot");
	ck_assert(chosen.met);
	ck_assert_double_eq_tol(chosen.before.overhead, 0.60, 1e-9);
	ck_assert_double_eq_tol(chosen.after.overhead, 0.10, 1e-9);
	teardown();
	limits.overhead = 0.101;
	chooses("hot");
}
END_TEST

START_TEST(among_equals_the_short_one_goes_first)
{
	limits.overhead = 0.09;
	ep_list_add(&keep, "k", "kept", 4, &err);
	chooses("hot short_one");
	teardown();
	limits.overhead = 0.07;
	ep_list_add(&keep, "k", "kept", 4, &err);
	chooses("hot short_one long_one");
}
END_TEST

START_TEST(among_equals_a_leaf_goes_before_a_short_one)
{
	struct ep_exclude_times times[GROUPS] = {{-1, false}, {-1, false}, {90, true},
						 {10, false}, {5, false},  {5, false}};

	limits.times = times;
	limits.overhead = 0.08;
	chooses("hot long_one");
}
END_TEST

START_TEST(kept_functions_stay_by_any_of_their_names)
{
	static const char *const patterns[] = {"hot", "h*", "h?t kept"};

	limits.overhead = 0.02;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		ep_list_add(&keep, "k", patterns[i], strlen(patterns[i]), &err);
		ep_exclude(&chosen, &called, &limits);
		for (size_t j = 0; j < chosen.count; j++)
			ck_assert_uint_ne(chosen.groups[j], 0);
		ck_assert(!chosen.met);
		teardown();
	}
	names[0].name = "ns::readable(int)";
	ep_list_add(&keep, "k", "ns::*", 5, &err);
	ep_exclude(&chosen, &called, &limits);
	ck_assert_uint_eq(chosen.kept_calls, 50000000);
}
END_TEST

START_TEST(a_goal_that_cannot_be_met_says_so)
{
	limits.overhead = 0.02;
	chooses("hot kept short_one long_one rare");
	ck_assert(!chosen.met);
	ck_assert_uint_eq(chosen.unknown_calls, 3000000);
	ck_assert_double_eq_tol(chosen.after.overhead, 0.03, 1e-9);
}
END_TEST

START_TEST(history_is_a_goal_as_well)
{
	/* 65,024 calls in a MiB, 10 million a second of 1.1 s: 7.2 ms. */
	limits.history = 0.007;
	chooses("hot");
	ck_assert_double_eq_tol(chosen.after.history, 0.0065024 * 1.1, 1e-9);
	teardown();
	limits.history = 0.0075;
	chooses("hot kept");
}
END_TEST

static void is_named(const char *symbol, const char *demangled, const char *wanted)
{
	char *name = ep_gcc_name(symbol, demangled);

	ck_assert_str_eq(name, wanted);
	free(name);
}

START_TEST(names_are_gccs)
{
	is_named("plain", "plain", "plain");
	is_named("plain.constprop.0", "plain.constprop.0", "plain");
	is_named("_Z1fi", "f(int)", "f");
	is_named("_Z1", "ns::S::m(int, unsigned long) const", "ns::S::m");
	is_named("_Z1", "int ns::S::t<int>(int)", "ns::S::t<int>");
	is_named("_Z1", "ns::S::operator()(int)", "ns::S::operator()");
	is_named("_Z1", "ns::S::operator int()", "ns::S::operator int");
	is_named("_Z1", "operator new(unsigned long)", "operator new");
	is_named("_Z1", "bool operator< <int>(A<int>)", "operator< <int>");
	is_named("_Z1", "ns::(anonymous namespace)::hid(int)", "ns::{anonymous}::hid");
	is_named("_Z1", "ns::use(int)::{lambda(int)#1}::operator()(int) const",
		 "ns::use(int)::<lambda(int)>::operator()");
	is_named("_Z1", "f(void (*)(int))", "f");
	is_named("_Z1", "f(int) [clone .isra.0]", "f");
	is_named("_Z1", "std::map<int, A>::at(int) &", "std::map<int, A>::at");
	is_named("_Z1", "int ns::pick<int, long>(int, long)", "ns::pick<int, long int>");
	is_named("_Z1", "A<unsigned long, longest, a::unsigned_t>::f(long)",
		 "A<long unsigned int, longest, a::unsigned_t>::f");
	is_named("_Z1", "A<unsigned long long, long long, short>::f()",
		 "A<long long unsigned int, long long int, short int>::f");
	is_named("_Z1", "A<unsigned int, unsigned char, long double>::f()",
		 "A<unsigned int, unsigned char, long double>::f");
	is_named("_Z1", ")", ")");
	is_named("_Z1", "", "");
}
END_TEST

START_TEST(commas_of_words_are_escaped)
{
	char *word = ep_gcc_word("a<b,c>");

	ck_assert_str_eq(word, "a<b\\,c>");
	free(word);
}
END_TEST

START_TEST(stems_end_at_the_first_dot)
{
	ck_assert_uint_eq(ep_symbol_stem("f.constprop.0.isra.0"), 1);
	ck_assert_uint_eq(ep_symbol_stem("f"), 1);
	ck_assert_uint_eq(ep_symbol_stem(".f.0"), 2);
	ck_assert_uint_eq(ep_symbol_stem(""), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exclude");
	TCase *cases = tcase_create("exclude");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, code_in_use_is_what_makes_most_calls);
	tcase_add_test(cases, no_more_are_excluded_than_must_be);
	tcase_add_test(cases, among_equals_the_short_one_goes_first);
	tcase_add_test(cases, among_equals_a_leaf_goes_before_a_short_one);
	tcase_add_test(cases, kept_functions_stay_by_any_of_their_names);
	tcase_add_test(cases, a_goal_that_cannot_be_met_says_so);
	tcase_add_test(cases, history_is_a_goal_as_well);
	tcase_add_test(cases, names_are_gccs);
	tcase_add_test(cases, commas_of_words_are_escaped);
	tcase_add_test(cases, stems_end_at_the_first_dot);
	suite_add_tcase(suite, cases);
	return ep_test_main(suite);
}
