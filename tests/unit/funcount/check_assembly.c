/* SPDX-License-Identifier: BSD-2-Clause */
/* check_assembly.c: which functions a text has, and what is known of them; what goes with a hook's
 * arguments. */
#include "main.h"

#include <string.h>

#include "funcount/filter/arguments.h"

static struct ep_assembly assembly;

static void read_text(const char *text)
{
	ck_assert_int_eq(ep_assembly_read(&assembly, text, strlen(text), NULL), 0);
}

static void teardown(void)
{
	ep_assembly_deinit(&assembly);
}

static const struct ep_assembly_function *function(const char *name)
{
	for (uint32_t i = 0; i < assembly.functions.count; i++)
		if (!strcmp(assembly.functions.list[i].name, name))
			return &assembly.functions.list[i];
	ck_abort_msg("no function %s", name);
	return NULL;
}

#define BEGIN(name) "\t.type " name ", @function\n" name ":\n.LFB0:\n"
#define END(name)   "\t.size " name ", .-" name "\n"

START_TEST(a_function_is_from_its_label_to_its_size)
{
	read_text("\tnop\n" BEGIN("f") "\tcall __fentry__\n\tret\n" END(
		"f") "\tcall __fentry__\n" BEGIN("g") "\tnop\n");
	ck_assert_uint_eq(assembly.functions.count, 2);
	ck_assert_uint_eq(function("f")->instructions, 2);
	ck_assert_uint_eq(function("f")->sites, 1);
	ck_assert_uint_eq(function("g")->instructions, 1);
	ck_assert_uint_eq(function("g")->sites, 0);
	ck_assert_uint_eq(assembly.lines.count, 12);
}
END_TEST

START_TEST(a_cold_part_is_its_functions)
{
	read_text(BEGIN("f") "\tjmp .L9\n" END("f") BEGIN("g") "\tret\n" END("g")
			  BEGIN("f.cold") ".L9:\n\tcall __fentry__\n" END("f.cold"));
	ck_assert_uint_eq(assembly.functions.count, 2);
	ck_assert_uint_eq(function("f")->instructions, 2);
	ck_assert_uint_eq(function("f")->sites, 1);
	/* Another function's name that only looks like it. */
	teardown();
	read_text(BEGIN("f") END("f") BEGIN("f.colder") END("f.colder"));
	ck_assert_uint_eq(assembly.functions.count, 2);
}
END_TEST

START_TEST(a_jump_backwards_is_a_loop)
{
	read_text(BEGIN("up") ".L2:\n\tnop\n\tjne .L2\n" END("up")
			  BEGIN("down") "\tje .L3\n\tnop\n.L3:\n" END("down")
				  BEGIN("out") "\tjmp .L2\n" END("out")
					  BEGIN("local") "1:\tnop\n\tloop 1b\n" END("local"));
	ck_assert(function("up")->loop);
	ck_assert(!function("down")->loop);
	ck_assert(!function("out")->loop);
	ck_assert(function("local")->loop);
}
END_TEST

START_TEST(a_table_of_jumps_may_lead_back)
{
	read_text(BEGIN("f") ".L2:\n\tnop\n\tjmp *%rax\n" END(
		"f") "\t.section .rodata\n\t.long .L2-.L1\n");
	ck_assert(function("f")->loop);
	teardown();
	/* An unwinder's table is none. */
	read_text(BEGIN("f") ".L2:\n\tnop\n\tjmp *%rax\n" END(
		"f") "\t.section .debug_info\n\t.quad .L2\n");
	ck_assert(!function("f")->loop);
}
END_TEST

START_TEST(no_hook_is_seen_in_what_the_user_wrote)
{
	read_text(BEGIN("f") "#APP\n\tcall __fentry__\n#NO_APP\n" END(
		"f") "\t.type g, @function\ng:\n\tcall __fentry__\n" END("g"));
	ck_assert_uint_eq(function("f")->instructions, 1);
	ck_assert_uint_eq(function("f")->sites, 0);
	ck_assert(function("f")->compiled);
	ck_assert_uint_eq(function("g")->sites, 1);
	ck_assert(!function("g")->compiled);
}
END_TEST

START_TEST(a_use_that_is_not_known_makes_it_strange)
{
	read_text(BEGIN("f") "\tpushq $__fentry__\n" END("f")
			  BEGIN("g") "\tmovabsq $__fentry__, %r10\n\tcall *%r10\n" END("g")
				  BEGIN("h") "\tmovabsq $__fentry__, "
					     "%r10\n.L1:\n\tcall *%r10\n" END("h"));
	ck_assert_ptr_nonnull(function("f")->strange);
	ck_assert_ptr_null(function("g")->strange);
	ck_assert_uint_eq(function("g")->sites, 1);
	ck_assert_ptr_nonnull(function("h")->strange);
}
END_TEST

START_TEST(an_alias_is_known_by_its_function)
{
	read_text(BEGIN("f") "\tret\n" END("f") "\t.set h,f\n\t.set i,other\n");
	ck_assert_uint_eq(assembly.aliases.count, 1);
	ck_assert_str_eq(assembly.aliases.list[0].name, "h");
	ck_assert_uint_eq(assembly.aliases.list[0].function, 0);
}
END_TEST

START_TEST(a_line_without_a_newline_is_a_line)
{
	read_text(BEGIN("f") "\tret");
	ck_assert_uint_eq(assembly.lines.count, 4);
	ck_assert_uint_eq(function("f")->instructions, 1);
	teardown();
	read_text("");
	ck_assert_uint_eq(assembly.lines.count, 0);
}
END_TEST

/* ---- arguments ---- */

/* Which lines of a function go with the call in its last: counted up from the call, 1 for the line
 * before it. */
static void goes(const char *body, const char *want)
{
	char text[1024], got[64] = "";
	uint32_t lines[8], count, call;

	snprintf(text, sizeof text, BEGIN("f") "%s\tcall __cyg_profile_func_exit\n", body);
	read_text(text);
	call = assembly.lines.count - 1;
	count = ep_arguments_find(&assembly, call, lines, 8);
	for (uint32_t i = 0; i < count; i++)
		sprintf(got + strlen(got), "%s%u", i ? " " : "", call - lines[i]);
	ck_assert_msg(!strcmp(got, want), "%s: '%s', not '%s'", body, got, want);
	teardown();
}

START_TEST(what_only_fills_an_argument_goes)
{
	goes("\tmovq 8(%rsp), %rsi\n\tmovl $f, %edi\n", "1 2");
	goes("\tleaq f(%rip), %rdi\n\t.loc 1 2\n\tmovq 8(%rbp), %rsi\n", "1 3");
	goes("\tmovq f@GOTPCREL(%rip), %rdi\n", "1");
	/* Wherever a jump to the label comes from, the call is behind it. */
	goes("\tmovl $f, %edi\n.L2:\n", "2");
	/* The way of a value through rax. */
	goes("\tmovq 8(%rbp), %rax\n\tmovq %rax, %rsi\n", "1 2");
}
END_TEST

START_TEST(what_the_program_needs_stays)
{
	goes("\tmovq %rax, %rbx\n\tmovq %rbx, %rdi\n", "1");
	goes("\tmovl $5, %eax\n\tpushq %rax\n\tmovl $f, %edi\n", "1");
	goes("\tmovl (%rax), %esi\n\tmovl $f, %edi\n", "1");
	goes("\tmovl $f, %edi\n\tcall g\n", "");
	goes("\tmovl $f, %edi\n#APP\n\tnop\n#NO_APP\n", "");
	goes("\tmovl $f, %esi\n\taddq %rsi, %rsp\n", "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("assembly");
	TCase *tcase = tcase_create("assembly");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, a_function_is_from_its_label_to_its_size);
	tcase_add_test(tcase, a_cold_part_is_its_functions);
	tcase_add_test(tcase, a_jump_backwards_is_a_loop);
	tcase_add_test(tcase, a_table_of_jumps_may_lead_back);
	tcase_add_test(tcase, no_hook_is_seen_in_what_the_user_wrote);
	tcase_add_test(tcase, a_use_that_is_not_known_makes_it_strange);
	tcase_add_test(tcase, an_alias_is_known_by_its_function);
	tcase_add_test(tcase, a_line_without_a_newline_is_a_line);
	tcase_add_test(tcase, what_only_fills_an_argument_goes);
	tcase_add_test(tcase, what_the_program_needs_stays);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
