/* SPDX-License-Identifier: BSD-2-Clause */
/* check_instruction.c: how long instructions are, by what assemblers write; all of libLLVM, python
 * and libc were held against objdump once (3 million instructions). */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <string.h>

#include "main.h"
#include "runtime/x86_64/instruction.h"

static const struct {
	const char *bytes; /* one instruction */
	unsigned size;
	enum ep_code_step_kind kind;
	uint64_t target;
} all[] = {
	{"\x90", 1, EP_STEP_NEXT, 0},
	{"\xf3\x0f\x1e\xfa", 4, EP_STEP_NEXT, 0},                          /* endbr64 */
	{"\x67\xe8\x00\x01\x00\x00", 6, EP_STEP_NEXT, 0},                  /* addr32 call */
	{"\x66\x67\x66\xe8\x00\x01\x00\x00", 8, EP_STEP_NEXT, 0},          /* … of TLS */
	{"\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, EP_STEP_NEXT, 0}, /* movabs */
	{"\x66\xb8\x01\x02", 4, EP_STEP_NEXT, 0},                          /* mov $, %ax */
	{"\x48\xc7\x05\x01\x02\x03\x04\x05\x06\x07\x08", 11, EP_STEP_NEXT, 0},
	{"\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, EP_STEP_NEXT, 0}, /* a long nop */
	{"\x48\x8b\x04\x25\x28\x00\x00\x00", 8, EP_STEP_NEXT, 0},          /* mov 0x28, %rax */
	{"\xf6\xc3\x01", 3, EP_STEP_NEXT, 0},                              /* test $1, %bl */
	{"\xf6\xd3", 2, EP_STEP_NEXT, 0},                                  /* not %bl */
	{"\xf7\x04\x24\x01\x02\x03\x04", 7, EP_STEP_NEXT, 0},              /* testl $, (%rsp) */
	{"\x66\xf7\xc1\x01\x02", 5, EP_STEP_NEXT, 0},                      /* test $, %cx */
	{"\x66\x0f\x3a\x0f\xc1\x08", 6, EP_STEP_NEXT, 0},                  /* palignr */
	{"\xc5\xf8\x77", 3, EP_STEP_NEXT, 0},                              /* vzeroupper */
	{"\xc5\xfd\x70\xc0\x4e", 5, EP_STEP_NEXT, 0},                      /* vpshufd */
	{"\xc4\xe3\x7d\x39\xc1\x01", 6, EP_STEP_NEXT, 0},                  /* vextracti128 */
	{"\x62\xf1\xfe\x48\x6f\x47\x01", 7, EP_STEP_NEXT, 0},              /* vmovdqu64 */
	{"\x62\xf3\xf5\x48\x03\xc2\x01", 7, EP_STEP_NEXT, 0},              /* valignq */
	{"\xff\xd0", 2, EP_STEP_NEXT, 0},                                  /* call *%rax */
	{"\x74\x10", 2, EP_STEP_BRANCH, 0x1012},
	{"\x0f\x84\xfa\xff\xff\xff", 6, EP_STEP_BRANCH, 0x1000},
	{"\x66\x0f\x85\x00\x01\x00\x00", 7, EP_STEP_BRANCH, 0x1107},
	{"\xe3\xfe", 2, EP_STEP_BRANCH, 0x1000},
	{"\xeb\xfe", 2, EP_STEP_JUMP, 0x1000},
	{"\xe9\x00\x01\x00\x00", 5, EP_STEP_JUMP, 0x1105},
	{"\x3e\xff\xe0", 3, EP_STEP_INDIRECT, 0}, /* notrack jmp *%rax */
	{"\xff\x24\xc5\x01\x02\x03\x04", 7, EP_STEP_INDIRECT, 0},
	{"\xc3", 1, EP_STEP_END, 0},
	{"\xf3\xc3", 2, EP_STEP_END, 0},
	{"\xc2\x80\x00", 3, EP_STEP_END, 0},
	{"\x0f\x0b", 2, EP_STEP_END, 0},
	{"\xf4", 1, EP_STEP_END, 0},
};

START_TEST(an_instruction_is_as_long_as_it_is_and_leads_where_it_does)
{
	uint8_t code[32];
	struct ep_code_step step;

	memset(code, 0xff, sizeof(code));
	memcpy(code, all[_i].bytes, all[_i].size);
	ck_assert_uint_eq(ep_code_step(code, sizeof(code), 0x1000, &step), all[_i].size);
	ck_assert_uint_eq(step.size, all[_i].size);
	ck_assert_int_eq(step.kind, all[_i].kind);
	ck_assert_uint_eq(step.target, all[_i].target);
}
END_TEST

START_TEST(one_that_is_cut_off_is_none)
{
	struct ep_code_step step;

	for (unsigned size = 0; size < all[_i].size; size++) {
		/* A prefix less is another instruction; a whole one never reads beyond. */
		uint8_t *code = malloc(size + 1);

		memcpy(code, all[_i].bytes, size);
		ck_assert_uint_eq(ep_code_step(code, size, 0x1000, &step), 0);
		free(code);
	}
}
END_TEST

START_TEST(what_no_compiler_writes_is_none)
{
	static const uint8_t bytes[][4] = {{0x06}, {0x60}, {0x9a}, {0xea}, {0xd5}, {0x0f, 0x0a}};
	struct ep_code_step step;

	ck_assert_uint_eq(ep_code_step(bytes[_i], 4, 0, &step), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("instruction");
	TCase *tcase = tcase_create("instruction");

	tcase_add_loop_test(tcase, an_instruction_is_as_long_as_it_is_and_leads_where_it_does, 0,
			    sizeof(all) / sizeof(*all));
	tcase_add_loop_test(tcase, one_that_is_cut_off_is_none, 0, sizeof(all) / sizeof(*all));
	tcase_add_loop_test(tcase, what_no_compiler_writes_is_none, 0, 6);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
