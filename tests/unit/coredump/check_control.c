/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_control.c: control words of a running process: of a child of this test, which holds the
 * runtime as any traced program does.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/live/control.h"
#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/start.h"

static pid_t child;
static struct ep_source *source;
static struct ep_root_found found;
static struct ep_control control;
static struct ep_err err;

/* Shared with the child. */
static volatile struct shared {
	int ready, stop;
} * shared;

static void child_start(void (*work)(void))
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)shared, MAP_FAILED);
	child = fork();
	if (!child) {
		ep_start();
		shared->ready = 1;
		work();
		_exit(0);
	}
	while (!shared->ready)
		;
}

static void target_open(void)
{
	ck_assert_int_eq(ep_source_open_live(&source, child, &err), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, &err), EP_OK);
	ck_assert_int_eq(ep_control_open(&control, source, &found, &err), EP_OK);
}

static void child_end(void)
{
	int status;

	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

static void target_close(void)
{
	ep_control_close(&control);
	ep_source_close(source);
}

static void sleep_on(void)
{
	for (;;)
		pause();
}

static uint32_t gate(void)
{
	struct ep_arena arena;

	ck_assert_int_eq(ep_control_read(&control, &arena, &err), EP_OK);
	return arena.gate;
}

START_TEST(a_pause_and_a_resume_are_seen_by_the_process)
{
	child_start(sleep_on);
	target_open();
	ck_assert_uint_eq(gate(), 0);
	ck_assert_int_eq(ep_control_pause(&control, &err), EP_OK);
	ck_assert_int_eq(ep_control_pause(&control, &err), EP_OK);
	ck_assert_uint_eq(gate(), EP_GATE_CONTROL);
	ck_assert_int_eq(ep_control_resume(&control, &err), EP_OK);
	ck_assert_uint_eq(gate(), 0);
	child_end();
	target_close();
}
END_TEST

static void pause_and_resume(void)
{
	while (!shared->stop) {
		epitaph_pause();
		if (!(ep_arena->gate & EP_GATE_API))
			_exit(1); /* somebody has taken it away */
		epitaph_resume();
		if (ep_arena->gate & EP_GATE_API)
			_exit(2);
	}
	sleep_on();
}

START_TEST(pauses_from_both_sides_do_not_undo_each_other)
{
	int status;

	child_start(pause_and_resume);
	target_open();
	for (int i = 0; i < 20000; i++) {
		ck_assert_int_eq(ep_control_pause(&control, NULL), EP_OK);
		if (!(gate() & EP_GATE_CONTROL))
			ck_abort_msg("the process took it away");
		ck_assert_int_eq(ep_control_resume(&control, NULL), EP_OK);
	}
	shared->stop = 1;
	ck_assert_int_eq(waitpid(child, &status, WNOHANG), 0);
	child_end();
	target_close();
}
END_TEST

START_TEST(timing_is_checked_and_written)
{
	struct ep_arena arena;

	child_start(sleep_on);
	target_open();
	for (unsigned every = 0; every <= 300; every++) {
		bool good = every <= 64 && !(every & (every - 1));

		ck_assert_int_eq(ep_control_timing(&control, every, &err),
				 good ? EP_OK : EP_E_USAGE);
		ep_control_read(&control, &arena, &err);
		if (good)
			ck_assert_uint_eq(arena.timestamp_every, every);
		else
			ck_assert_str_ne(err.text, "");
	}
	child_end();
	target_close();
}
END_TEST

START_TEST(a_process_that_has_ended_is_told_and_nobody_else_written)
{
	child_start(sleep_on);
	target_open();
	child_end();
	ck_assert_int_eq(ep_control_pause(&control, &err), EP_E_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "has ended"));
	ck_assert_int_eq(ep_control_resume(&control, &err), EP_E_IO);
	ck_assert_int_eq(ep_control_timing(&control, 1, &err), EP_E_IO);
	target_close();
}
END_TEST

static void exec_on_word(void)
{
	while (!shared->stop)
		;
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

START_TEST(a_process_that_has_started_another_program_is_told)
{
	child_start(exec_on_word);
	target_open();
	shared->stop = 1;
	/* Until the old memory is gone. */
	while (ep_control_pause(&control, &err) == EP_OK)
		ep_control_resume(&control, NULL);
	ck_assert_int_eq(err.code, EP_E_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "another program"));
	child_end();
	target_close();
}
END_TEST

static void fork_on_word(void)
{
	pid_t grandchild;
	int status;

	while (!shared->stop)
		;
	grandchild = fork();
	if (!grandchild)
		_exit(ep_arena->gate == EP_GATE_CONTROL && ep_arena->pauses == 1 ? 0 : 1);
	waitpid(grandchild, &status, 0);
	shared->ready = status ? 3 : 2;
	sleep_on();
}

START_TEST(a_forked_child_begins_paused_as_its_parent)
{
	child_start(fork_on_word);
	target_open();
	ck_assert_int_eq(ep_control_pause(&control, &err), EP_OK);
	shared->stop = 1;
	while (shared->ready == 1)
		;
	ck_assert_int_eq(shared->ready, 2);
	child_end();
	target_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control");
	TCase *words = tcase_create("words");
	TCase *others = tcase_create("processes that change");

	tcase_add_test(words, a_pause_and_a_resume_are_seen_by_the_process);
	tcase_add_test(words, pauses_from_both_sides_do_not_undo_each_other);
	tcase_add_test(words, timing_is_checked_and_written);
	tcase_add_test(others, a_process_that_has_ended_is_told_and_nobody_else_written);
	tcase_add_test(others, a_process_that_has_started_another_program_is_told);
	tcase_add_test(others, a_forked_child_begins_paused_as_its_parent);
	suite_add_tcase(suite, words);
	suite_add_tcase(suite, others);
	return ep_test_main(suite);
}
