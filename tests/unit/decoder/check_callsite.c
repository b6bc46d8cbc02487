/* SPDX-License-Identifier: BSD-2-Clause */
/* check_callsite.c: bytes in front of a return address, as gas makes them. */
#include "decoder/code/callsite.h"

#include "main.h"

#define AFTER UINT64_C(0x401000)

#define LOOK(target, ...)                                                                         \
	ep_callsite_look((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), AFTER, \
			 target)

START_TEST(every_form_of_an_indirect_call_is_known)
{
	/* call *%rax; *%r11; *(%rax); *8(%rbx); *0x100(%rbp); *(%rsp) */
	ck_assert_int_eq(LOOK(0, 0x90, 0xff, 0xd0), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(0, 0x41, 0xff, 0xd3), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(0, 0x90, 0xff, 0x10), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(0, 0xff, 0x53, 8), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(0, 0xff, 0x95, 0, 1, 0, 0), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(0, 0xff, 0x14, 0x24), EP_CALLSITE_INDIRECT);
	/* call *x(%rip); *x(,%rax,8); *8(%rax,%rbx,4) */
	ck_assert_int_eq(LOOK(0, 0xff, 0x15, 1, 2, 3, 0), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(0, 0xff, 0x14, 0xc5, 1, 2, 3, 0), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(0, 0xff, 0x54, 0x98, 8), EP_CALLSITE_INDIRECT);
}
END_TEST

START_TEST(a_direct_call_is_told_by_its_target)
{
	ck_assert_int_eq(LOOK(AFTER + 0x10, 0x90, 0xe8, 0x10, 0, 0, 0), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(AFTER - 1, 0xe8, 0xff, 0xff, 0xff, 0xff), EP_CALLSITE_INDIRECT);
	ck_assert_int_eq(LOOK(0x4242, 0xe8, 0x10, 0, 0, 0), EP_CALLSITE_DIRECT);
}
END_TEST

#define ANONYMOUS(...) \
	ep_callsite_is_anonymous((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

START_TEST(a_call_by_a_pointer_names_nothing)
{
	/* call *%rax; *0x18(%rsp); *8(%rbx,%rcx,8); nop */
	ck_assert(ANONYMOUS(0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0));
	ck_assert(ANONYMOUS(0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 0x18));
	ck_assert(ANONYMOUS(0x90, 0x90, 0x90, 0xff, 0x54, 0xcb, 8));
	ck_assert(ANONYMOUS(0xff, 0xd0));
	ck_assert(!ANONYMOUS(0x90, 0x90));
	ck_assert(!ep_callsite_is_anonymous(NULL, 0));
}
END_TEST

START_TEST(a_call_that_may_name_a_function_is_not_anonymous)
{
	/* call x; the same whose end looks like call *%rax; call *x(%rip), and with such an end */
	ck_assert(!ANONYMOUS(0x90, 0xe8, 1, 2, 3, 0));
	ck_assert(!ANONYMOUS(0xe8, 1, 2, 0xff, 0xd0));
	ck_assert(!ANONYMOUS(0x90, 0xff, 0x15, 1, 2, 3, 0));
	ck_assert(!ANONYMOUS(0x90, 0xff, 0x15, 1, 2, 0xff, 0xd0));
}
END_TEST

START_TEST(other_bytes_are_no_call)
{
	/* jmp *%rax; push (%rax); nothing; a call that is cut */
	ck_assert_int_eq(LOOK(0, 0x90, 0xff, 0xe0), EP_CALLSITE_NONE);
	ck_assert_int_eq(LOOK(0, 0x90, 0xff, 0x30), EP_CALLSITE_NONE);
	ck_assert_int_eq(LOOK(0, 0x90), EP_CALLSITE_NONE);
	ck_assert_int_eq(ep_callsite_look(NULL, 0, AFTER, 0), EP_CALLSITE_NONE);
	ck_assert_int_eq(LOOK(0, 0xff, 0x95, 0, 1, 0), EP_CALLSITE_NONE);
	ck_assert_int_eq(LOOK(0, 0xe8, 0, 0, 0), EP_CALLSITE_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callsite");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, every_form_of_an_indirect_call_is_known);
	tcase_add_test(tests, a_direct_call_is_told_by_its_target);
	tcase_add_test(tests, a_call_by_a_pointer_names_nothing);
	tcase_add_test(tests, a_call_that_may_name_a_function_is_not_anonymous);
	tcase_add_test(tests, other_bytes_are_no_call);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
