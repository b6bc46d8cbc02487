/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_live_switching.c: hooks of a running process, switched from outside: of a child of this
 * test, which holds the runtime as any traced program does, and code that calls its hooks.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/live/switching.h"
#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/start.h"

/* An entry, a return by a call, one by a jump, with addr32, and what is like a hook's stub. */
__asm__("	.text\n"
	"	.globl code_begin, code_end, stub_begin, stub_end\n"
	"code_begin:\n"
	"	call __fentry__\n"
	"	call __return__\n"
	"	.byte 0x67\n"
	"	call __return__\n"
	"	jmp __return__\n"
	"	call write\n"
	"code_end:\n"
	"	.byte 0xcc\n"
	"stub_begin:\n"
	"	jmp __fentry__\n"
	"stub_end:\n");
extern char code_begin[], code_end[], stub_begin[], stub_end[];

static const uint8_t places[] = {0, 5, 11, 16};
static const uint8_t on[] = {0xe8, 0xe8, 0xe8, 0xe9};
static const uint8_t off[] = {0xa9, 0xa9, 0xa9, 0xc3};

static pid_t child;
static struct ep_source *source;
static struct ep_root_found found;
static struct ep_control control;
static struct ep_switching switching;
static struct ep_err err;
static volatile int *ready; /* shared with the child */

static void child_start(void (*change)(void))
{
	ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)ready, MAP_FAILED);
	child = fork();
	if (!child) {
		ep_start();
		if (change)
			change();
		*ready = 1;
		for (;;)
			pause();
	}
	while (!*ready)
		;
	ck_assert_int_eq(ep_source_open_live(&source, child, &err), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, &err), EP_OK);
	ck_assert_int_eq(ep_control_open(&control, source, &found, &err), EP_OK);
}

static void child_end(void)
{
	int status;

	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	ep_control_close(&control);
	ep_source_close(source);
}

static void target_open(void)
{
	ck_assert_int_eq(ep_switching_open(&switching, &control, source, &found, &err), EP_OK);
}

static void target_close(void)
{
	ep_switching_close(&switching);
}

static struct ep_switching_sum switch_code(bool to_off)
{
	struct ep_code_range range = {.start = (uint64_t)code_begin, .end = (uint64_t)code_end};
	struct ep_switching_sum sum;

	target_open();
	ck_assert_int_eq(ep_switching_functions(&switching, &range, 1, to_off, &sum, &err), EP_OK);
	target_close();
	return sum;
}

static struct ep_switched entry(void)
{
	struct ep_switched_list list;
	struct ep_switched result;

	ck_assert_int_eq(ep_switched_read(&list, source, &found, &err), EP_OK);
	ck_assert_uint_eq(list.control_count, 1);
	result = list.control[0];
	ep_switched_deinit(&list);
	return result;
}

static void bytes_are(const uint8_t *wanted)
{
	uint8_t code[32];

	ck_assert_int_eq(ep_control_peek(&control, (uint64_t)code_begin, code,
					 (size_t)(code_end - code_begin), &err),
			 EP_OK);
	for (unsigned i = 0; i < sizeof(places); i++)
		ck_assert_uint_eq(code[places[i]], wanted[i]);
	ck_assert_uint_eq(code[21], 0xe8); /* of write */
}

START_TEST(each_kind_of_call_goes_off_and_comes_back)
{
	struct ep_switching_sum sum;
	struct ep_switched now;

	child_start(NULL);
	sum = switch_code(true);
	ck_assert_uint_eq(sum.sites, 4);
	ck_assert_uint_eq(sum.flipped, 4);
	bytes_are(off);
	now = entry();
	ck_assert_uint_eq(now.start, (uint64_t)code_begin);
	ck_assert_uint_eq(now.reasons, EP_SWITCH_CONTROL);
	ck_assert_uint_eq(now.count, 1);
	ck_assert_uint_gt(now.off[0].off_begin, 0);
	ck_assert_uint_ge(now.off[0].off_end, now.off[0].off_begin);
	ck_assert_uint_eq(now.off[0].on_begin, 0);
	ck_assert_uint_eq(switch_code(false).flipped, 4);
	bytes_are(on);
	now = entry();
	ck_assert_uint_eq(now.reasons, EP_SWITCH_KEPT);
	ck_assert_uint_ge(now.off[0].on_begin, now.off[0].off_end);
	ck_assert_uint_ge(now.off[0].on_end, now.off[0].on_begin);
	child_end();
}
END_TEST

START_TEST(what_is_so_already_is_left_as_it_is)
{
	struct ep_switched before;

	child_start(NULL);
	switch_code(true);
	before = entry();
	ck_assert_uint_eq(switch_code(true).flipped, 0);
	ck_assert_uint_eq(entry().count, before.count);
	ck_assert_uint_eq(entry().off[0].off_end, before.off[0].off_end);
	child_end();
}
END_TEST

START_TEST(the_fourth_interval_takes_the_firsts_place)
{
	child_start(NULL);
	for (int i = 0; i < 4; i++) {
		switch_code(true);
		switch_code(false);
	}
	ck_assert_uint_eq(entry().count, 4);
	ck_assert_uint_gt(entry().off[0].off_begin, entry().off[2].on_end);
	child_end();
}
END_TEST

START_TEST(a_stub_is_no_function)
{
	struct ep_code_range range = {.start = (uint64_t)stub_begin, .end = (uint64_t)stub_end};
	struct ep_switching_sum sum;

	child_start(NULL);
	target_open();
	ck_assert_int_eq(ep_switching_functions(&switching, &range, 1, true, &sum, &err), EP_OK);
	ck_assert_uint_eq(sum.sites, 0);
	target_close();
	child_end();
}
END_TEST

START_TEST(a_breakpoint_stays)
{
	const uint8_t int3 = 0xcc;
	struct ep_switching_sum sum;
	uint8_t byte;

	child_start(NULL);
	ep_control_poke(&control, (uint64_t)code_begin, &int3, 1, &err);
	sum = switch_code(true);
	ck_assert_uint_eq(sum.held, 1);
	ck_assert_uint_eq(sum.flipped, 3);
	ep_control_peek(&control, (uint64_t)code_begin, &byte, 1, &err);
	ck_assert_uint_eq(byte, int3);
	child_end();
}
END_TEST

START_TEST(everything_off_and_on_is_noted)
{
	struct ep_switched_list list;
	struct ep_switching_sum sum;
	struct ep_arena arena;
	bool before;

	child_start(NULL);
	target_open();
	ck_assert_int_eq(ep_switching_all_off(&switching, &before, &err), EP_OK);
	ck_assert(!before);
	ck_assert_int_eq(ep_switching_all_off(&switching, &before, &err), EP_OK);
	ck_assert(before);
	ep_control_read(&control, &arena, &err);
	ck_assert_uint_eq(arena.gate, EP_GATE_OFF | EP_GATE_FLIP);
	target_close();
	target_open();
	ck_assert_int_eq(ep_switching_all_on(&switching, &sum, &err), EP_OK);
	target_close();
	ep_control_read(&control, &arena, &err);
	ck_assert_uint_eq(arena.gate, 0);
	ck_assert_int_eq(ep_switched_read(&list, source, &found, &err), EP_OK);
	ck_assert_uint_eq(list.head.all_count, 1);
	ck_assert_uint_gt(list.head.all[0].off_begin, 0);
	ck_assert_uint_ge(list.head.all[0].on_begin, list.head.all[0].off_end);
	ck_assert_uint_ge(list.head.all[0].on_end, list.head.all[0].on_begin);
	ep_switched_deinit(&list);
	child_end();
}
END_TEST

static struct ep_section *section(void)
{
	unsigned i = 0;

	while (ep_arena->sections[i].type != EP_SECTION_SWITCHES)
		i++;
	return &ep_arena->sections[i];
}

static void without_section(void)
{
	section()->type = 99;
}

START_TEST(an_older_runtime_is_named_as_one)
{
	child_start(without_section);
	ck_assert_int_eq(ep_switching_open(&switching, &control, source, &found, &err), EP_END);
	ck_assert_ptr_nonnull(strstr(err.text, "pause and resume work"));
	child_end();
}
END_TEST

static void with_too_many(void)
{
	struct ep_switches *head = (void *)((char *)ep_arena + section()->offset);

	head->capacity = UINT32_MAX;
	head->count = UINT32_MAX;
}

static void with_large_entries(void)
{
	section()->entry_size = UINT32_MAX;
}

static void elsewhere(void)
{
	section()->offset = UINT64_C(1) << 40;
}

START_TEST(a_section_that_lies_is_refused)
{
	static void (*const lies[])(void) = {with_too_many, with_large_entries, elsewhere};
	struct ep_switched_list list;

	child_start(lies[_i]);
	ck_assert_int_eq(ep_switched_read(&list, source, &found, &err),
			 _i == 2 ? EP_E_UNMAPPED : EP_E_CORRUPT);
	child_end();
}
END_TEST

START_TEST(the_lock_is_the_memorys_and_not_the_folders)
{
	struct ep_switching_sum sum;
	char path[64];
	int folder, memory;

	child_start(NULL);
	snprintf(path, sizeof(path), "/proc/%d", (int)child);
	folder = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(flock(folder, LOCK_EX), 0);
	sum = switch_code(true);
	ck_assert_uint_eq(sum.flipped, 4);
	close(folder);

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	memory = openat(AT_FDCWD, path, O_RDONLY);
	ck_assert_int_eq(flock(memory, LOCK_EX), 0);
	ck_assert_int_eq(ep_switching_open(&switching, &control, source, &found, &err), EP_E_LIMIT);
	snprintf(path, sizeof(path), ": pid %d has kept its hooks locked", (int)getpid());
	ck_assert_ptr_nonnull(strstr(err.text, path));
	close(memory);
	ck_assert_uint_eq(switch_code(false).flipped, 4);
	child_end();
}
END_TEST

START_TEST(after_so_much_work_no_more_is_read)
{
	struct ep_code_range range = {.start = (uint64_t)code_begin, .end = (uint64_t)code_end};
	struct ep_switching_sum sum;
	size_t stale;

	child_start(NULL);
	target_open();
	ep_control_work(&control, EP_CONTROL_WORK);
	ck_assert_int_eq(ep_switching_functions(&switching, &range, 1, true, &sum, &err),
			 EP_E_LIMIT);
	ck_assert_int_eq(ep_switching_all_on(&switching, &sum, &err), EP_E_LIMIT);
	ck_assert_int_eq(ep_switching_stale(&switching, &stale, &err), EP_E_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, "too long"));
	target_close();
	control.work = 0;
	bytes_are(on);
	child_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("live_switching");
	TCase *one = tcase_create("one");

	tcase_add_test(one, each_kind_of_call_goes_off_and_comes_back);
	tcase_add_test(one, what_is_so_already_is_left_as_it_is);
	tcase_add_test(one, the_fourth_interval_takes_the_firsts_place);
	tcase_add_test(one, a_stub_is_no_function);
	tcase_add_test(one, a_breakpoint_stays);
	tcase_add_test(one, everything_off_and_on_is_noted);
	tcase_add_test(one, an_older_runtime_is_named_as_one);
	tcase_add_loop_test(one, a_section_that_lies_is_refused, 0, 3);
	tcase_add_test(one, the_lock_is_the_memorys_and_not_the_folders);
	tcase_add_test(one, after_so_much_work_no_more_is_read);
	suite_add_tcase(suite, one);
	return ep_test_main(suite);
}
