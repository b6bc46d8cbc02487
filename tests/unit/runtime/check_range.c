/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_range.c: functions that no unwind table describes, in code as compilers write it: whose an
 * address is, and how far it reaches. [low, high) is all of the buffer, int3 where nothing is.
 */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <string.h>
#include <sys/mman.h>

#include "main.h"
#include "runtime/lib/hookcode.h"
#include "runtime/start.h"
#include "runtime/switching/function.h"
#include "runtime/switching/range.h"

#define SIZE 0x3000u

enum { FENTRY, RETURN, ENTER, EXIT, SLED_ENTRY };

static uint8_t *code;
static size_t end;

/* A call's reach is 2 GB. */
static void setup(void)
{
	uintptr_t near = (uintptr_t)ep_hook_address(0) & -(uintptr_t)4096;

	for (unsigned step = 1; step < 64; step++) {
		code = mmap((void *)(near + step * (UINT64_C(1) << 24)), SIZE,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (code != MAP_FAILED)
			break;
	}
	ck_assert_ptr_ne(code, MAP_FAILED);
	memset(code, 0xcc, SIZE);
	end = 0x100;
}

static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)code + end;
}

static void bytes(const char *text, size_t size)
{
	memcpy(code + end, text, size);
	end += size;
}

static void distance_to(uint64_t target)
{
	int32_t distance = (int32_t)((int64_t)target - (int64_t)here() - 4);

	memcpy(code + end, &distance, sizeof(distance));
	end += sizeof(distance);
}

static void call(unsigned hook)
{
	bytes("\xe8", 1);
	distance_to(ep_hook_address(hook));
}

static void align(void)
{
	while (end % 16)
		bytes("\x90", 1);
}

/* `addr32 call __fentry__`, what the wrapper makes of gcc's. */
static uint64_t begin(void)
{
	uint64_t first = here();

	bytes("\x67", 1);
	call(FENTRY);
	bytes("\x8d\x47\x01", 3); /* lea 1(%rdi), %eax */
	return first;
}

static void leave(void)
{
	call(RETURN);
	bytes("\xc3", 1);
}

static void ck_assert_range(uint64_t address, uint64_t first, uint64_t last)
{
	uint64_t low = (uint64_t)(uintptr_t)code, found_first = 0, found_last = 0;

	ck_assert(ep_function_range_by_hooks(address, low, low + SIZE, &found_first, &found_last));
	ck_assert_uint_eq(found_first - low, first - low);
	ck_assert_uint_eq(found_last - low, last - low);
}

static void ck_assert_nobody(uint64_t address)
{
	uint64_t low = (uint64_t)(uintptr_t)code, first, last;

	ck_assert(!ep_function_range_by_hooks(address, low, low + SIZE, &first, &last));
}

START_TEST(each_of_a_row_has_its_own_bytes)
{
	uint64_t first[3], last[3];

	for (unsigned i = 0; i < 3; i++) {
		first[i] = begin();
		leave();
		last[i] = here();
		align();
	}
	for (unsigned i = 0; i < 3; i++)
		for (uint64_t at = first[i]; at < last[i]; at++)
			ck_assert_range(at, first[i], last[i]);
}
END_TEST

/* .text.unlikely: a cold function, and behind it what other functions seldom do. */
START_TEST(a_part_of_another_function_behind_it_is_not_its_own)
{
	uint64_t first = begin(), last, other;

	leave();
	last = here();
	bytes("\xb8\x07\x00\x00\x00", 5); /* mov $7, %eax */
	other = here();
	leave();
	bytes("\xe9", 1); /* a tail call of the first one */
	distance_to(first);
	ck_assert_range(first, first, last);
	ck_assert_nobody(other);
}
END_TEST

START_TEST(what_is_jumped_to_is_its_own)
{
	uint64_t first = begin(), last;

	bytes("\x85\xff\x75\x06", 4); /* test %edi, %edi; jne behind the ret */
	leave();
	leave();
	last = here();
	align();
	begin();
	ck_assert_range(first, first, last);
}
END_TEST

/* `jmp *table(,%rdi,8)`: who jumps back into it is one of the cases. */
START_TEST(cases_of_a_switch_are_its_own_if_one_jumps_back)
{
	uint64_t first = begin(), back = here(), last;

	bytes("\xff\x24\xfd\x00\x10\x00\x00", 7);
	last = here();
	leave();
	if (_i) {
		bytes("\xff\xc7\xe9", 3); /* inc %edi; jmp */
		distance_to(back);
		last = here();
	}
	align();
	begin();
	ck_assert_range(first, first, last);
}
END_TEST

START_TEST(it_never_reaches_into_the_next_one)
{
	uint64_t first = begin(), next;

	bytes("\xe8\x00\x00\x00\x00", 5); /* call of what never returns */
	next = begin();
	leave();
	ck_assert_range(first, first, next);
	ck_assert_range(next, next, here());
}
END_TEST

/* push %rbp; lea first(%rip), %rbp; push %rbx; mov %rbp, %rdi; call */
START_TEST(a_hook_that_is_told_of_its_function_says_where_that_begins)
{
	uint64_t first[2], last[2];

	for (unsigned i = 0; i < 2; i++) {
		first[i] = here();
		bytes("\x55\x48\x8d\x2d", 4);
		distance_to(first[i]);
		bytes("\x53\x48\x89\xef", 4);
		call(ENTER);
		bytes("\x48\x89\xef", 3);
		call(EXIT);
		bytes("\x5b\x5d\xc3", 3);
		last[i] = here();
		align();
	}
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_range(first[i], first[i], last[i]);
		ck_assert_range(last[i] - 1, first[i], last[i]);
	}
}
END_TEST

/* A callback of the function before: code, but another function's. */
START_TEST(an_operand_that_names_another_function_is_not_where_it_begins)
{
	uint64_t other = begin(), first;

	leave();
	align();
	bytes("\x48\x8d\x3d", 3);
	distance_to(other);
	first = here();
	call(ENTER);
	bytes("\xc3", 1);
	ck_assert_range(first + 5, first, here());
}
END_TEST

START_TEST(a_landing_pad_and_nops_are_its_first_bytes)
{
	uint64_t first = here();

	bytes("\xf3\x0f\x1e\xfa\x90", 5);
	begin();
	leave();
	ck_assert_range(first, first, here());
	ck_assert_range(first + 11, first, here());
}
END_TEST

/* -fpatchable-function-entry=5: where the symbol is, but not to be told from padding. */
START_TEST(nops_before_it_lead_to_it)
{
	uint64_t nops = here(), first;

	bytes("\x90\x0f\x1f\x40\x00", 5);
	first = begin();
	leave();
	ck_assert_range(nops, first, here());
	ck_assert_nobody(nops - 1);
}
END_TEST

START_TEST(a_sled_is_an_entry)
{
	uint64_t first = here(), last;

	bytes("\xeb\x00", 2);
	call(SLED_ENTRY);
	bytes("\x0f\x1f\x40\x00\x8d\x47\x01\xc3", 8);
	last = here();
	align();
	begin();
	ck_assert_range(first, first, last);
	ck_assert_range(first + 7, first, last);
}
END_TEST

START_TEST(a_long_function_is_found_from_its_end)
{
	uint64_t first = begin();

	while (end < 0x2000)
		bytes("\xff\xc7", 2);
	leave();
	ck_assert_range(here() - 1, first, here());
	ck_assert_nobody(here());
}
END_TEST

/* ---- with tables ---- */

__asm__(".text\n"
	".globl described, between, behind\n"
	"described: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
	"between: nop\n ret\n"
	"behind: .cfi_startproc\n ret\n .cfi_endproc\n");
extern char described[], between[], behind[];

START_TEST(a_description_ends_where_its_function_does)
{
	uint64_t low = 0, high = 0;

	ck_assert(ep_start());
	ck_assert_int_eq(ep_function_look((uint64_t)described + 1, &low, &high),
			 EP_FUNCTION_DESCRIBED);
	ck_assert_uint_eq(low, (uint64_t)described);
	ck_assert_uint_eq(high, (uint64_t)between);
	ck_assert_int_eq(ep_function_look((uint64_t)between, &low, &high), EP_FUNCTION_BETWEEN);
	ck_assert_uint_eq(low, (uint64_t)between);
	ck_assert_uint_eq(high, (uint64_t)behind);
	ck_assert_int_eq(ep_function_look((uint64_t)&low, &low, &high), EP_FUNCTION_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("range");
	TCase *tcase = tcase_create("range");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, each_of_a_row_has_its_own_bytes);
	tcase_add_test(tcase, a_part_of_another_function_behind_it_is_not_its_own);
	tcase_add_test(tcase, what_is_jumped_to_is_its_own);
	tcase_add_loop_test(tcase, cases_of_a_switch_are_its_own_if_one_jumps_back, 0, 2);
	tcase_add_test(tcase, it_never_reaches_into_the_next_one);
	tcase_add_test(tcase, a_hook_that_is_told_of_its_function_says_where_that_begins);
	tcase_add_test(tcase, an_operand_that_names_another_function_is_not_where_it_begins);
	tcase_add_test(tcase, a_landing_pad_and_nops_are_its_first_bytes);
	tcase_add_test(tcase, nops_before_it_lead_to_it);
	tcase_add_test(tcase, a_sled_is_an_entry);
	tcase_add_test(tcase, a_long_function_is_found_from_its_end);
	tcase_add_test(tcase, a_description_ends_where_its_function_does);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
