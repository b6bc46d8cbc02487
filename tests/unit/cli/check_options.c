/* SPDX-License-Identifier: BSD-2-Clause */
/* check_options.c: command lines against a table of our own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "main.h"

static const struct ep_option options[] = {
	{"output", 'o', "FILE", "a file"},
	{"quiet", 'q', NULL, "no words"},
	{"depth", 0, "N", "a number"},
	{NULL, 0, NULL, NULL},
};

static const struct ep_command command = {
	.name = "test",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 2,
	.options = options,
};

static struct ep_arguments arguments;
static char said[1024];

/* Words after the command's name; what it says goes to `said`. */
static int parse(const char *const *words)
{
	char *argv[80] = {(char *)(uintptr_t) "test"};
	int argc = 1, result, saved = dup(STDERR_FILENO);
	FILE *file = tmpfile();

	for (; *words; words++)
		argv[argc++] = (char *)(uintptr_t)*words;
	dup2(fileno(file), STDERR_FILENO);
	result = ep_arguments_parse(&arguments, &command, argc, argv);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	fclose(file);
	return result;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

START_TEST(options_and_operands_come_in_any_order)
{
	ck_assert_int_eq(PARSE("core", "-q", "--output=x", "more"), 0);
	ck_assert_int_eq(arguments.operand_count, 2);
	ck_assert_str_eq(arguments.operands[0], "core");
	ck_assert_str_eq(arguments.operands[1], "more");
	ck_assert_str_eq(ep_argument(&arguments, "output"), "x");
	ck_assert(ep_argument_given(&arguments, "quiet"));
	ck_assert(!ep_argument_given(&arguments, "depth"));
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(values_may_begin_with_a_dash)
{
	ck_assert_int_eq(PARSE("--depth", "-10ms", "core"), 0);
	ck_assert_str_eq(ep_argument(&arguments, "depth"), "-10ms");
	ck_assert_int_eq(PARSE("-o", "-", "core"), 0);
	ck_assert_str_eq(ep_argument(&arguments, "output"), "-");
	ck_assert_int_eq(PARSE("--depth=", "core"), 0);
	ck_assert_str_eq(ep_argument(&arguments, "depth"), "");
}
END_TEST

START_TEST(the_last_value_wins_and_all_are_kept)
{
	ck_assert_int_eq(PARSE("-ofirst", "core", "-o", "second"), 0);
	ck_assert_str_eq(ep_argument(&arguments, "output"), "second");
	ck_assert_uint_eq(arguments.given_count, 2);
	ck_assert_str_eq(arguments.given[0].value, "first");
}
END_TEST

START_TEST(after_two_dashes_all_are_operands)
{
	ck_assert_int_eq(PARSE("--", "-q", "--output"), 0);
	ck_assert_int_eq(arguments.operand_count, 2);
	ck_assert_uint_eq(arguments.given_count, 0);
}
END_TEST

START_TEST(what_is_unknown_is_named_with_the_nearest)
{
	ck_assert_int_eq(PARSE("--ouptut=x", "core"), EP_EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(said, "did you mean --output?"));
	ck_assert_int_eq(PARSE("--flowers", "core"), EP_EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(said, "--flowers"));
	ck_assert_ptr_null(strstr(said, "did you mean"));
	ck_assert_int_eq(PARSE("-z", "core"), EP_EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(said, "-z"));
	ck_assert_int_eq(PARSE("core", "--output"), EP_EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(said, "needs a value"));
	ck_assert_int_eq(PARSE("--quiet=yes", "core"), EP_EXIT_USAGE);
}
END_TEST

START_TEST(a_wrong_number_of_operands_is_usage)
{
	ck_assert_int_eq(PARSE("-q"), EP_EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(said, "usage: epitaph test"));
	ck_assert_int_eq(PARSE("a", "b", "c"), EP_EXIT_USAGE);
	/* But for help. */
	ck_assert_int_eq(PARSE("--help"), 0);
	ck_assert(ep_argument_given(&arguments, "help"));
}
END_TEST

START_TEST(too_many_options_are_refused)
{
	const char *words[EP_VALUES_MAX + 3];

	for (size_t i = 0; i <= EP_VALUES_MAX; i++)
		words[i] = "-q";
	words[EP_VALUES_MAX + 1] = "core";
	words[EP_VALUES_MAX + 2] = NULL;
	ck_assert_int_eq(parse(words), EP_EXIT_USAGE);
	ck_assert_int_eq(parse(words + 1), 0);
	ck_assert_uint_eq(arguments.given_count, EP_VALUES_MAX);
}
END_TEST

/* No two options of a command share a name or a letter, and the tables have room for all. */
START_TEST(the_table_itself_is_sound)
{
	for (size_t c = 0; ep_commands[c]; c++) {
		const struct ep_command *one = ep_commands[c];
		const struct ep_option *a, *b;
		size_t i;

		ck_assert_ptr_eq(ep_command_find(ep_commands, one->name), one);
		ck_assert(one->run && one->summary && one->example && one->description);
		for (i = 0; (a = ep_command_option(one, i)); i++)
			for (size_t j = 0; j < i; j++) {
				b = ep_command_option(one, j);
				ck_assert_msg(strcmp(a->name, b->name) != 0, "%s --%s twice",
					      one->name, a->name);
				ck_assert_msg(!a->letter || a->letter != b->letter, "%s -%c twice",
					      one->name, a->letter);
			}
		ck_assert_uint_le(i, EP_OPTIONS_MAX);
	}
	ck_assert_ptr_null(ep_command_find(ep_commands, "flowers"));
}
END_TEST

START_TEST(each_example_is_understood)
{
	for (size_t c = 0; ep_commands[c]; c++) {
		const struct ep_command *one = ep_commands[c];
		char *words[40], *text = strdup(one->example), *rest = text;
		int count = 0, used;

		while ((words[count] = strsep(&rest, " ")))
			count++;
		ck_assert_ptr_eq(ep_command_named(ep_commands, count, words, &used), one);
		ck_assert_msg(ep_arguments_parse(&arguments, one, count - used + 1,
						 words + used - 1) == 0,
			      "%s", one->example);
		ck_assert(!ep_argument_given(&arguments, "help"));
		free(text);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, options_and_operands_come_in_any_order);
	tcase_add_test(tests, values_may_begin_with_a_dash);
	tcase_add_test(tests, the_last_value_wins_and_all_are_kept);
	tcase_add_test(tests, after_two_dashes_all_are_operands);
	tcase_add_test(tests, what_is_unknown_is_named_with_the_nearest);
	tcase_add_test(tests, a_wrong_number_of_operands_is_usage);
	tcase_add_test(tests, too_many_options_are_refused);
	tcase_add_test(tests, the_table_itself_is_sound);
	tcase_add_test(tests, each_example_is_understood);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
