/* SPDX-License-Identifier: BSD-2-Clause */
/* check_start.c: the runtime's start, process facts, forks, and epitaph.h. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/settings/settings.h"
#include "runtime/start.h"
#include "runtime/x86_64/tsc.h"

void __cyg_profile_func_enter(void *function, void *from);

static const struct ep_process *facts(void)
{
	return ep_arena_section(EP_SECTION_PROCESS, NULL);
}

static const char *text_of(struct ep_string string)
{
	static char text[65536];

	memcpy(text, (const char *)facts() + string.offset, string.length);
	text[string.length] = '\0';
	return text;
}

static uint32_t threads_recorded(void)
{
	uint64_t size;
	const struct ep_thread *table = ep_arena_section(EP_SECTION_THREADS, &size);
	uint32_t count = 0;

	for (uint64_t i = 0; i < size / sizeof *table; i++)
		count += table[i].state == EP_THREAD_LIVE;
	return count;
}

START_TEST(the_constructor_has_started_it)
{
	ck_assert_ptr_nonnull(ep_arena);
	ck_assert(ep_start());
	ck_assert_uint_eq(epitaph_root.arena_address, (uint64_t)ep_arena);
}
END_TEST

START_TEST(process_facts_are_the_kernels)
{
	struct utsname name;
	char path[4096] = "";

	ck_assert(ep_start());
	uname(&name);
	ck_assert_str_eq(text_of(facts()->host), name.nodename);
	ck_assert_str_eq(text_of(facts()->kernel), name.release);
	ck_assert_str_eq(text_of(facts()->runtime), EP_VERSION);
	ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof path - 1), 0);
	ck_assert_str_eq(text_of(facts()->executable), path);
	ck_assert_str_eq(text_of(facts()->directory), getcwd(path, sizeof path));
	ck_assert_ptr_nonnull(strstr(text_of(facts()->command_line), "check_start"));
	ck_assert_uint_eq(facts()->cpus, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	ck_assert_uint_eq(facts()->uid, getuid());
	ck_assert_uint_eq(facts()->page_size, 4096);
	ck_assert_uint_le(facts()->start_tsc, ep_tsc());
	ck_assert_uint_le(facts()->start_realtime / 1000000000, (uint64_t)time(NULL));
}
END_TEST

/* Check forks for each test: the tests are children themselves. */
static uint32_t generation;

static void note_generation(void)
{
	generation = epitaph_root.generation;
}

/* In a child: 0 when it is a generation of its own. */
static int own_generation(pid_t parent, uint64_t identity)
{
	if (epitaph_root.generation != generation + 1 ||
	    ep_arena->root.generation != generation + 1)
		return 1;
	if (epitaph_root.pid != (uint32_t)syscall(SYS_getpid) || facts()->pid != epitaph_root.pid)
		return 2;
	if (facts()->parent_pid != (uint32_t)parent)
		return 3;
	if (epitaph_root.identity == identity)
		return 4;
	if (threads_recorded() != 0)
		return 5;
	__cyg_profile_func_enter((void *)own_generation, NULL);
	return threads_recorded() == 1 ? 0 : 6;
}

static int status_of(pid_t child)
{
	int status = 0;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(a_forked_child_is_a_generation_of_its_own)
{
	uint64_t identity;
	pid_t parent = getpid(), child;

	ck_assert(ep_start());
	__cyg_profile_func_enter((void *)own_generation, NULL);
	ck_assert_uint_eq(threads_recorded(), 1);
	identity = epitaph_root.identity;
	child = fork();
	if (!child)
		_exit(own_generation(parent, identity));
	ck_assert_int_eq(status_of(child), 0);
	/* The parent's own is untouched. */
	ck_assert_uint_eq(epitaph_root.identity, identity);
	ck_assert_uint_eq(threads_recorded(), 1);
}
END_TEST

START_TEST(a_raw_clone_is_noticed_at_its_next_hook)
{
	pid_t parent = getpid(), child;
	uint64_t identity;

	ck_assert(ep_start());
	identity = epitaph_root.identity;
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!child) {
		ep_start(); /* as the hook's slow path does */
		_exit(own_generation(parent, identity));
	}
	ck_assert_int_eq(status_of(child), 0);
}
END_TEST

START_TEST(grandchildren_count_generations)
{
	pid_t child;

	ck_assert(ep_start());
	child = fork();
	if (!child) {
		pid_t grandchild = fork();

		if (!grandchild)
			_exit((int)(epitaph_root.generation - generation));
		_exit(status_of(grandchild));
	}
	ck_assert_int_eq(status_of(child), 2);
}
END_TEST

static int shares_memory(void *unused)
{
	(void)unused;
	__cyg_profile_func_enter((void *)shares_memory, NULL);
	ep_start();
	_exit(0);
}

/* Its records are its parent's: they share all memory. */
START_TEST(a_vfork_child_changes_nothing)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct ep_root before;
	pid_t child;

	ck_assert(ep_start());
	__cyg_profile_func_enter((void *)shares_memory, NULL);
	before = epitaph_root;
	child = clone(shares_memory, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	ck_assert_int_eq(status_of(child), 0);
	ck_assert_mem_eq(&before, &epitaph_root, sizeof before);
	ck_assert_uint_eq(threads_recorded(), 1);
}
END_TEST

static void *refresh_for_ever(void *stop)
{
	while (!*(volatile int *)stop)
		epitaph_snapshot_write("/dev/null/no");
	return NULL;
}

/* A lock that another thread held at the fork must not be held for ever. */
START_TEST(a_snapshot_works_in_a_child_forked_during_one)
{
	pthread_t thread;
	int stop = 0;

	ck_assert(ep_start());
	pthread_create(&thread, NULL, refresh_for_ever, &stop);
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child) {
			int result = epitaph_snapshot_write("/dev/null/no");

			_exit(result == -1 && errno == ENOTDIR ? 0 : errno);
		}
		ck_assert_int_eq(status_of(child), 0);
	}
	stop = 1;
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(pauses_nest_and_resumes_too_many_are_ignored)
{
	ck_assert(ep_start());
	epitaph_resume();
	ck_assert_uint_eq(ep_arena->gate, 0);
	epitaph_pause();
	epitaph_pause();
	ck_assert_uint_eq(ep_arena->gate, EP_GATE_API);
	epitaph_resume();
	ck_assert_uint_eq(ep_arena->gate, EP_GATE_API);
	epitaph_resume();
	ck_assert_uint_eq(ep_arena->gate, 0);
	epitaph_resume();
	epitaph_pause();
	ck_assert_uint_eq(ep_arena->gate, EP_GATE_API);
	ck_assert_uint_eq(ep_arena->pauses, 3);
}
END_TEST

START_TEST(a_pause_goes_on_in_a_forked_child)
{
	pid_t child;

	ck_assert(ep_start());
	epitaph_pause();
	child = fork();
	if (!child) {
		int paused = ep_arena->gate == EP_GATE_API;

		epitaph_resume();
		_exit(paused && !ep_arena->gate ? 0 : 1);
	}
	ck_assert_int_eq(status_of(child), 0);
}
END_TEST

static void *pause_and_resume(void *unused)
{
	for (int i = 0; i < 200000; i++) {
		epitaph_pause();
		epitaph_resume();
	}
	return unused;
}

START_TEST(pauses_of_many_threads_leave_the_gate_as_counted)
{
	pthread_t threads[3];

	ck_assert(ep_start());
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, pause_and_resume, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(ep_arena->gate, 0);
	ck_assert_uint_eq(ep_arena->pauses, 600000);
}
END_TEST

START_TEST(time_is_the_counter_that_records_are_stamped_with)
{
	uint64_t before = ep_tsc_ordered(), now = epitaph_time();

	ck_assert_uint_le(before, now);
	ck_assert_uint_le(now, ep_tsc_ordered());
	ck_assert_uint_gt(epitaph_ticks_per_second(), 500000000);
}
END_TEST

START_TEST(the_api_leaves_errno_alone)
{
	errno = 4711;
	epitaph_pause();
	epitaph_resume();
	epitaph_time();
	epitaph_ticks_per_second();
	ck_assert_int_eq(errno, 4711);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("start");
	TCase *one = tcase_create("start");

	tcase_set_timeout(one, 60);
	tcase_add_checked_fixture(one, note_generation, NULL);
	tcase_add_test(one, the_constructor_has_started_it);
	tcase_add_test(one, process_facts_are_the_kernels);
	tcase_add_test(one, a_forked_child_is_a_generation_of_its_own);
	tcase_add_test(one, a_raw_clone_is_noticed_at_its_next_hook);
	tcase_add_test(one, grandchildren_count_generations);
	tcase_add_test(one, a_vfork_child_changes_nothing);
	tcase_add_test(one, a_snapshot_works_in_a_child_forked_during_one);
	tcase_add_test(one, pauses_nest_and_resumes_too_many_are_ignored);
	tcase_add_test(one, a_pause_goes_on_in_a_forked_child);
	tcase_add_test(one, pauses_of_many_threads_leave_the_gate_as_counted);
	tcase_add_test(one, time_is_the_counter_that_records_are_stamped_with);
	tcase_add_test(one, the_api_leaves_errno_alone);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
