/* SPDX-License-Identifier: BSD-2-Clause */
/* check_keep.c: which of the functions that compilers list as patchable are DOFUNTRACE's. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <stdbool.h>
#include <stdint.h>

#include "main.h"
#include "runtime/budget/keep.h"

static bool is_kept(const char *code)
{
	const uint64_t entries[] = {(uint64_t)code};
	bool kept;

	ep_keep_add(entries, entries + 1);
	kept = ep_keep_has((uint64_t)code);
	ep_keep_remove(entries);
	ck_assert(!ep_keep_has((uint64_t)code));
	return kept;
}

START_TEST(a_function_with_one_nop_is_kept)
{
	ck_assert(is_kept("\x90\xe8\0\0\0\0"));
	ck_assert(is_kept("\x90\x55\x48\x89\xe5"));
}
END_TEST

START_TEST(one_with_more_nops_is_the_programs_own)
{
	ck_assert(!is_kept("\x90\x90\x90\x90\x90"));
	ck_assert(!is_kept("\x90\x90\xe8\0\0\0\0"));
	/* clang's of two, of three, of five. */
	ck_assert(!is_kept("\x66\x90\x55\x48\x89"));
	ck_assert(!is_kept("\x0f\x1f\x00\x55\x48"));
	ck_assert(!is_kept("\x0f\x1f\x44\x00\x08"));
}
END_TEST

START_TEST(a_nop_before_the_landing_pad_is_the_programs_own)
{
	ck_assert(!is_kept("\x90\xf3\x0f\x1e\xfa\x90\x90"));
}
END_TEST

int main(void)
{
	Suite *all = suite_create("keep");
	TCase *tests = tcase_create("keep");

	tcase_add_test(tests, a_function_with_one_nop_is_kept);
	tcase_add_test(tests, one_with_more_nops_is_the_programs_own);
	tcase_add_test(tests, a_nop_before_the_landing_pad_is_the_programs_own);
	suite_add_tcase(all, tests);
	return ep_test_main(all);
}
