/* SPDX-License-Identifier: BSD-2-Clause */
/* check_window.c: a page of code whose hooks go off or come back at once, and others that change it
 * meanwhile. Of what Intel's manual calls them: e8 call rel32, a9 test $imm32, e9 jmp rel32, c3
 * ret, cc int3.
 */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <string.h>
#include <sys/mman.h>

#include "main.h"
#include "runtime/lib/hookcode.h"
#include "runtime/switching/window.h"

#define PAGE EP_WINDOW_SIZE

static uint8_t *code; /* two pages, which nobody may write to */
static uint8_t before[2 * PAGE];

/* A call's reach is 2 GB. */
static void setup(void)
{
	uintptr_t near = (uintptr_t)ep_hook_address(0) & -(uintptr_t)PAGE;

	for (unsigned step = 1; step < 64; step++) {
		code = mmap((void *)(near + step * (UINT64_C(1) << 24)), sizeof(before),
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (code != MAP_FAILED)
			break;
	}
	ck_assert_ptr_ne(code, MAP_FAILED);
	memset(code, 0x90, sizeof(before));
}

static void put(size_t at, uint8_t byte, unsigned hook)
{
	int32_t distance =
		(int32_t)((int64_t)ep_hook_address(hook) - (int64_t)(uintptr_t)(code + at + 5));

	code[at] = byte;
	memcpy(code + at + 1, &distance, sizeof(distance));
}

static uint64_t address(size_t at)
{
	return (uint64_t)(uintptr_t)code + at;
}

/* At both ends of the first page, one across its end, one of the second, one that is off. */
static void compile(void)
{
	put(0, 0xe8, 0);
	put(100, 0xe8, 1);
	put(105, 0xe9, 1);
	put(200, 0xa9, 0);
	put(PAGE - 1, 0xe8, 0);
	put(PAGE + 10, 0xe8, 0);
	memcpy(before, code, sizeof(before));
	ck_assert_int_eq(mprotect(code, sizeof(before), PROT_READ | PROT_EXEC), 0);
}

static void meanwhile(size_t at, uint8_t byte)
{
	ck_assert_int_eq(mprotect(code, sizeof(before), PROT_READ | PROT_WRITE), 0);
	code[at] = byte;
	memcpy(before, code, sizeof(before));
	ck_assert_int_eq(mprotect(code, sizeof(before), PROT_READ | PROT_EXEC), 0);
}

/* The first page, of code that goes on. */
static const struct ep_place *open_page(size_t expected)
{
	size_t count = 0;
	const struct ep_place *list =
		ep_window_open(address(0), address(PAGE), address(sizeof(before)), &count);

	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(count, expected);
	return list;
}

struct off {
	bool off, done;
	size_t changed;
};

static void go(struct ep_flip *flip, void *argument)
{
	struct off *off = argument;

	off->done = ep_window_switch(flip, off->off, &off->changed);
}

static struct off run(bool is_off)
{
	struct off off = {.off = is_off};

	ck_assert(ep_flip_run(go, &off));
	return off;
}

static struct off run_off(void)
{
	return run(true);
}

static void ck_assert_only(const size_t *places, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		before[places[i]] = bytes[i];
	ck_assert_mem_eq(code, before, sizeof(before));
}

START_TEST(those_that_begin_in_the_page_go_off_and_nothing_else)
{
	static const size_t places[] = {0, 100, 105, PAGE - 1};
	static const uint8_t bytes[] = {0xa9, 0xa9, 0xc3, 0xa9};
	const struct ep_place *list;
	struct off off;

	compile();
	list = open_page(5);
	ck_assert_uint_eq(list[4].place, address(PAGE - 1));
	ck_assert(list[3].is_off && !list[0].is_return && list[1].is_return && list[2].is_return);
	ck_assert_mem_eq(code, before, sizeof(before));
	off = run_off();
	ck_assert(off.done);
	ck_assert_uint_eq(off.changed, 4);
	ck_assert_only(places, bytes, 4);
}
END_TEST

/* A breakpoint on a hook's call, one between, and another thread's switch. */
START_TEST(what_somebody_changes_meanwhile_stays)
{
	static const size_t places[] = {100, 50, 105, PAGE - 1};
	static const uint8_t bytes[] = {0xcc, 0xcc, 0xc3, 0xa9};
	struct off off;

	compile();
	open_page(5);
	meanwhile(places[_i], bytes[_i]);
	off = run_off();
	ck_assert(!off.done);
	ck_assert_mem_eq(code, before, sizeof(before));
}
END_TEST

START_TEST(a_breakpoint_that_was_there_is_no_site_and_stays)
{
	static const size_t places[] = {0, 105, PAGE - 1};
	static const uint8_t bytes[] = {0xa9, 0xc3, 0xa9};
	struct off off;

	compile();
	meanwhile(100, 0xcc);
	open_page(4);
	off = run_off();
	ck_assert(off.done);
	ck_assert_uint_eq(off.changed, 3);
	ck_assert_only(places, bytes, 3);
}
END_TEST

START_TEST(nothing_is_written_where_all_is_off)
{
	struct off off;
	size_t count;

	put(200, 0xa9, 0);
	compile();
	ck_assert_ptr_nonnull(
		ep_window_open(address(200), address(300), address(sizeof(before)), &count));
	ck_assert_uint_eq(count, 1);
	off = run_off();
	ck_assert(off.done);
	ck_assert_uint_eq(off.changed, 0);
	ck_assert_mem_eq(code, before, sizeof(before));
}
END_TEST

START_TEST(those_that_are_off_come_back)
{
	struct off on;

	compile();
	before[200] = 0xe8;
	open_page(5);
	on = run(false);
	ck_assert(on.done);
	ck_assert_uint_eq(on.changed, 1);
	ck_assert_mem_eq(code, before, sizeof(before));
}
END_TEST

/* Of what was known of the page: a breakpoint lies on one of it by now, and one has gone. */
START_TEST(of_known_places_only_those_that_are_still_sites_change)
{
	const uint64_t known[] = {address(0), address(50), address(100), address(PAGE - 1)};
	static const size_t places[] = {0, PAGE - 1};
	static const uint8_t bytes[] = {0xa9, 0xa9};
	const struct ep_place *list;
	struct off off;
	size_t count;

	compile();
	meanwhile(100, 0xcc);
	list = ep_window_open_at(address(0), address(PAGE), address(sizeof(before)), known, 4,
				 &count);
	ck_assert_ptr_nonnull(list);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(list[1].place, address(PAGE - 1));
	off = run_off();
	ck_assert(off.done);
	ck_assert_uint_eq(off.changed, 2);
	ck_assert_only(places, bytes, 2);
	ck_assert_ptr_null(ep_window_open_at(address(0), address(PAGE), address(sizeof(before)),
					     known, EP_WINDOW_SITES + 1, &count));
}
END_TEST

/* A site that its segment cuts off is none, nor is what cannot be read. */
START_TEST(code_ends_where_it_ends)
{
	size_t count;

	compile();
	ck_assert_ptr_nonnull(ep_window_open(address(0), address(PAGE), address(PAGE), &count));
	ck_assert_uint_eq(count, 4);
	ck_assert_ptr_null(ep_window_open(address(0), address(3), address(3), &count));
	ck_assert_ptr_null(ep_window_open(address(0), address(sizeof(before)),
					  address(sizeof(before)), &count));
	ck_assert_int_eq(munmap(code, sizeof(before)), 0);
	ck_assert_ptr_null(
		ep_window_open(address(0), address(PAGE), address(sizeof(before)), &count));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("window");
	TCase *tcase = tcase_create("window");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, those_that_begin_in_the_page_go_off_and_nothing_else);
	tcase_add_loop_test(tcase, what_somebody_changes_meanwhile_stays, 0, 4);
	tcase_add_test(tcase, a_breakpoint_that_was_there_is_no_site_and_stays);
	tcase_add_test(tcase, nothing_is_written_where_all_is_off);
	tcase_add_test(tcase, those_that_are_off_come_back);
	tcase_add_test(tcase, of_known_places_only_those_that_are_still_sites_change);
	tcase_add_test(tcase, code_ends_where_it_ends);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
