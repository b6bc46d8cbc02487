/* SPDX-License-Identifier: BSD-2-Clause */
/* check_filter_list.c: lists of functions, and which of their rules wins. */
#include <check.h>

#include "funcount/filter/rules.h"
#include "main.h"

static struct ep_rules rules;

static void teardown(void)
{
	ep_rules_deinit(&rules);
}

static void add(struct ep_list *list, const char *text)
{
	ck_assert_int_eq(ep_list_add(list, "text", text, strlen(text), NULL), 0);
}

static unsigned line_of(const char *name)
{
	const struct ep_pattern *found = ep_list_find(&rules.no_trace, name);

	return found ? found->line : 0;
}

static enum ep_rule_reason judged(const char *name, unsigned instructions, bool loop)
{
	const struct ep_subject subject = {&name, 1, instructions, loop, true};

	return ep_rules_judge(&rules, &subject).reason;
}

START_TEST(blanks_lines_and_comments_separate_names)
{
	add(&rules.no_trace, "a b#c d\n#e\n\n\tf \v g\r\nh");
	ck_assert_uint_eq(rules.no_trace.patterns.count, 5);
	ck_assert_uint_eq(line_of("a"), 1);
	ck_assert_uint_eq(line_of("b"), 1);
	ck_assert_uint_eq(line_of("c"), 0);
	ck_assert_uint_eq(line_of("d"), 0);
	ck_assert_uint_eq(line_of("e"), 0);
	ck_assert_uint_eq(line_of("f"), 4);
	ck_assert_uint_eq(line_of("g"), 4);
	ck_assert_uint_eq(line_of("h"), 5);
}
END_TEST

START_TEST(globs_match_whole_names)
{
	add(&rules.no_trace, "a*z\n?b\n[x-y]c\n");
	ck_assert_uint_eq(line_of("az"), 1);
	ck_assert_uint_eq(line_of("a.bz"), 1);
	ck_assert_uint_eq(line_of("azq"), 0);
	ck_assert_uint_eq(line_of("1b"), 2);
	ck_assert_uint_eq(line_of("b"), 0);
	ck_assert_uint_eq(line_of("xc"), 3);
	ck_assert_uint_eq(line_of("zc"), 0);
}
END_TEST

START_TEST(a_name_is_found_before_a_glob)
{
	add(&rules.no_trace, "*\nf");
	ck_assert_uint_eq(line_of("f"), 2);
	ck_assert_uint_eq(line_of("g"), 1);
}
END_TEST

START_TEST(a_bad_text_leaves_the_list_alone)
{
	static const char bad[] = {'b', '\n', 0, 'c'};
	struct ep_err err;

	add(&rules.no_trace, "a");
	ck_assert_int_eq(ep_list_add(&rules.no_trace, "bad", bad, sizeof bad, &err), EP_E_FORMAT);
	ck_assert_uint_eq(err.offset, 2);
	ck_assert_uint_eq(rules.no_trace.patterns.count, 1);
	ck_assert_uint_eq(line_of("a"), 1);
	ck_assert_uint_eq(line_of("b"), 0);
}
END_TEST

START_TEST(clones_are_known_by_the_function_they_were_made_of)
{
	add(&rules.no_trace, "f g.part.0 _Z1hv");
	ck_assert_int_eq(judged("f.constprop.0", 9, false), EP_RULE_NO_TRACE);
	ck_assert_int_eq(judged("f.isra.0.cold", 9, false), EP_RULE_NO_TRACE);
	ck_assert_int_eq(judged("f.0", 9, false), EP_RULE_NO_TRACE);
	ck_assert_int_eq(judged("_Z1hv.part.3", 9, false), EP_RULE_NO_TRACE);
	ck_assert_int_eq(judged("g.part.0", 9, false), EP_RULE_NO_TRACE);
	ck_assert_int_eq(judged("g", 9, false), EP_RULE_UNLISTED);
	ck_assert_int_eq(judged("g.part.1", 9, false), EP_RULE_UNLISTED);
	ck_assert_int_eq(judged("ff", 9, false), EP_RULE_UNLISTED);
	ck_assert_int_eq(judged(".f", 9, false), EP_RULE_UNLISTED);
}
END_TEST

START_TEST(do_trace_before_no_trace_before_the_threshold)
{
	add(&rules.do_trace, "keep both");
	add(&rules.no_trace, "drop both");
	rules.threshold = 10;
	ck_assert_int_eq(judged("keep", 1, false), EP_RULE_DO_TRACE);
	ck_assert_int_eq(judged("both", 99, false), EP_RULE_DO_TRACE);
	ck_assert_int_eq(judged("drop", 99, true), EP_RULE_NO_TRACE);
	ck_assert_int_eq(judged("f", 9, false), EP_RULE_SHORT);
	ck_assert_int_eq(judged("f", 10, false), EP_RULE_UNLISTED);
	ck_assert_int_eq(judged("f", 9, true), EP_RULE_LOOP);
	rules.ignore_loops = true;
	ck_assert_int_eq(judged("f", 9, true), EP_RULE_SHORT);
	ck_assert_int_eq(judged("f", 10, true), EP_RULE_UNLISTED);
}
END_TEST

START_TEST(what_is_not_measured_is_kept)
{
	const char *name = "f";
	const struct ep_subject subject = {&name, 1, 0, false, false};

	rules.threshold = 10;
	ck_assert_int_eq(ep_rules_judge(&rules, &subject).reason, EP_RULE_UNMEASURED);
	ck_assert(!ep_rules_judge(&rules, &subject).strip);
}
END_TEST

START_TEST(any_name_of_a_function_decides)
{
	const char *names[] = {"_ZN1AC2Ev", "_ZN1AC1Ev"};
	const struct ep_subject subject = {names, 2, 99, true, true};

	add(&rules.no_trace, "_ZN1AC1Ev");
	ck_assert(ep_rules_judge(&rules, &subject).strip);
	add(&rules.do_trace, "_ZN1AC2Ev");
	ck_assert(!ep_rules_judge(&rules, &subject).strip);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter_list");
	TCase *tcase = tcase_create("list");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, blanks_lines_and_comments_separate_names);
	tcase_add_test(tcase, globs_match_whole_names);
	tcase_add_test(tcase, a_name_is_found_before_a_glob);
	tcase_add_test(tcase, a_bad_text_leaves_the_list_alone);
	tcase_add_test(tcase, clones_are_known_by_the_function_they_were_made_of);
	tcase_add_test(tcase, do_trace_before_no_trace_before_the_threshold);
	tcase_add_test(tcase, what_is_not_measured_is_kept);
	tcase_add_test(tcase, any_name_of_a_function_decides);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
