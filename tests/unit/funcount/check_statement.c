/* SPDX-License-Identifier: BSD-2-Clause */
/* check_statement.c: lines of assembly, taken apart. */
#include "main.h"

#include <string.h>

#include "funcount/filter/statement.h"

static struct ep_statement statement;

static void line(const char *text)
{
	statement = ep_statement_read((struct ep_piece){text, strlen(text)});
}

#define IS(piece, text) \
	ck_assert_msg(ep_piece_is(piece, text), "not %s: %.*s", text, (int)(piece).size, (piece).at)

START_TEST(a_line_is_label_operation_and_arguments)
{
	line("main:\tmovl\t$1, %eax # a comment");
	IS(statement.label, "main");
	IS(statement.op, "movl");
	IS(statement.args, "$1, %eax");
	ck_assert(!statement.more);
	line("  ret\r");
	ck_assert_uint_eq(statement.label.size, 0);
	IS(statement.op, "ret");
	ck_assert_uint_eq(statement.args.size, 0);
}
END_TEST

START_TEST(directives_are_no_code)
{
	line("\t.size\tf, .-f");
	ck_assert(!ep_statement_is_code(&statement));
	line(".L3:");
	IS(statement.label, ".L3");
	ck_assert(!ep_statement_is_code(&statement));
	line("# call __fentry__");
	ck_assert(!ep_statement_is_code(&statement));
	line("");
	ck_assert(!ep_statement_is_code(&statement));
	line("\trep stosq");
	ck_assert(ep_statement_is_code(&statement));
}
END_TEST

START_TEST(what_is_quoted_ends_nothing)
{
	line("\"a b: # c\":\t.ascii \"x;\\\"#y\"; nop");
	IS(statement.label, "a b: # c");
	IS(statement.op, ".ascii");
	IS(statement.args, "\"x;\\\"#y\"");
	ck_assert(statement.more);
	line("\tmovb\t$'#, %al");
	IS(statement.args, "$'#, %al");
}
END_TEST

START_TEST(an_end_in_the_middle_is_an_end)
{
	line("\"never closed: call f");
	ck_assert_uint_eq(statement.label.size, 0);
	line("\tmovb $'");
	IS(statement.op, "movb");
	line("f:");
	IS(statement.label, "f");
	line("\"\\");
	ck_assert_uint_eq(statement.label.size, 0);
}
END_TEST

START_TEST(commas_in_parentheses_separate_nothing)
{
	const char *text = " 8(%rax,%rbx,2) , \"a,b\",%rcx";
	struct ep_piece rest = {text, strlen(text)}, one;

	ck_assert(ep_piece_next(&rest, ',', &one));
	IS(one, "8(%rax,%rbx,2)");
	ck_assert(ep_piece_next(&rest, ',', &one));
	IS(one, "a,b");
	ck_assert(ep_piece_next(&rest, ',', &one));
	IS(one, "%rcx");
	ck_assert(!ep_piece_next(&rest, ',', &one));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("statement");
	TCase *tcase = tcase_create("statement");

	tcase_add_test(tcase, a_line_is_label_operation_and_arguments);
	tcase_add_test(tcase, directives_are_no_code);
	tcase_add_test(tcase, what_is_quoted_ends_nothing);
	tcase_add_test(tcase, an_end_in_the_middle_is_an_end);
	tcase_add_test(tcase, commas_in_parentheses_separate_nothing);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
