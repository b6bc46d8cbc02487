/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_report_death.c: causes of death by built cores, whose memory map is written here:
 *
 *   0x100000-0x101000  file /bin/prog, code        0x200000-0x201000 no access
 *   0x101000-0x102000  file /bin/prog, read-only   0x201000-0x205000 stack of 7
 *   0x300000-0x301000  memory without a file, writable
 */
#include "coredump/kinds/open.h"
#include "decoder/report/death/death.h"

#include <signal.h>
#include <string.h>

#include "main.h"
#include "tests/unit/build_core.h"

#define SP UINT64_C(0x201010)

static struct build_core *core;
static struct ep_source *source;
static char text[1024];

static void open_core(const siginfo_t *info, int signal, uint64_t pc, uint64_t sp)
{
	static const struct build_core_file files[] = {{0x100000, 0x102000, 0, "/bin/prog"}};
	struct ep_err err = {0};

	core = build_core_create();
	build_core_thread(core, 7, pc, sp, sp, signal);
	build_core_process(core, 7);
	if (info)
		build_core_signal(core, info);
	build_core_files(core, files, 1);
	build_core_memory(core, 0x100000, NULL, 0, 4096, PF_R | PF_X);
	build_core_memory(core, 0x101000, NULL, 0, 4096, PF_R);
	build_core_memory(core, 0x200000, NULL, 0, 4096, 0);
	build_core_memory(core, 0x201000, NULL, 16384, 16384, PF_R | PF_W);
	build_core_memory(core, 0x300000, NULL, 4096, 4096, PF_R | PF_W);
	build_core_finish(core);
	ck_assert_msg(ep_source_open_core(&source, build_core_path(core), &err) == EP_OK, "%s",
		      err.text);
}

static const char *cause(void)
{
	const struct ep_evidence evidence = {.source = source};
	struct ep_death death;
	struct ep_fault fault;
	size_t count;

	ep_source_death(source, &death);
	ep_death_cause_text(text, sizeof(text), &evidence, &death,
			    ep_source_threads(source, &count), &fault);
	ep_source_close(source);
	build_core_destroy(core);
	return text;
}

static const char *fault_at(uint64_t address, int code, uint64_t pc, uint64_t sp)
{
	siginfo_t info = {.si_signo = SIGSEGV, .si_code = code};

	info.si_addr = (void *)(uintptr_t)address;
	open_core(&info, SIGSEGV, pc, sp);
	return cause();
}

static const char *sent(int signal, int code, pid_t pid, uid_t uid)
{
	siginfo_t info = {.si_signo = signal, .si_code = code};

	info.si_pid = pid;
	info.si_uid = uid;
	open_core(&info, signal, 0x100010, SP);
	return cause();
}

#define SAYS(said, word) ck_assert_msg(strstr(said, word) != NULL, "\"%s\"", text)
#define NOT(said, word)  ck_assert_msg(strstr(said, word) == NULL, "\"%s\"", text)

START_TEST(low_addresses_are_null_pointers)
{
	SAYS(fault_at(0, SEGV_MAPERR, 0x100010, SP), "null pointer");
	SAYS(fault_at(0x18, SEGV_MAPERR, 0x100010, SP), "0x18");
	SAYS(fault_at(0xffff, SEGV_MAPERR, 0x100010, SP), "null pointer");
	NOT(fault_at(0x10000, SEGV_MAPERR, 0x100010, SP), "null pointer");
	SAYS(fault_at(0, SEGV_MAPERR, 0, SP), "null function pointer");
}
END_TEST

START_TEST(a_jump_to_nowhere_is_a_jump)
{
	SAYS(fault_at(0x5550000, SEGV_MAPERR, 0x5550000, SP),
	     "jump to 0x5550000, where no code is: not mapped");
	SAYS(fault_at(0x300010, SEGV_ACCERR, 0x300010, SP), "not executable");
}
END_TEST

START_TEST(an_address_is_placed_by_the_map)
{
	SAYS(fault_at(0x101020, SEGV_ACCERR, 0x100010, SP),
	     "in /bin/prog, offset 0x1020, read-only");
	SAYS(fault_at(0x100020, SEGV_ACCERR, 0x100010, SP), "in /bin/prog, offset 0x20, code");
	SAYS(fault_at(0x301008, SEGV_MAPERR, 0x100010, SP),
	     "8 bytes above the end of memory without a file");
	SAYS(fault_at(0x102000, SEGV_MAPERR, 0x100010, SP), "0 bytes above the end of /bin/prog");
	SAYS(fault_at(0x7f0000000000, SEGV_MAPERR, 0x100010, SP), "not mapped");
	NOT(fault_at(0x7f0000000000, SEGV_MAPERR, 0x100010, SP), "above");
	SAYS(fault_at(0x300008, SEGV_ACCERR, 0x100010, SP), "memory without a file");
}
END_TEST

START_TEST(a_guard_under_the_stack_is_an_overflow)
{
	SAYS(fault_at(0x200ff8, SEGV_ACCERR, 0x100010, 0x201000), "stack overflow");
	/* The push that went over: sp is in the guard already. */
	SAYS(fault_at(0x200f00, SEGV_ACCERR, 0x100010, 0x200f00), "stack overflow");
	/* And what it writes lies above it, in the frame that did not fit. */
	SAYS(fault_at(0x200ff8, SEGV_ACCERR, 0x100010, 0x200800), "stack overflow");
	/* The same guard, far from any stack pointer. */
	NOT(fault_at(0x200ff8, SEGV_ACCERR, 0x100010, 0x7000000), "stack overflow");
	SAYS(fault_at(0x200ff8, SEGV_ACCERR, 0x100010, 0x7000000), "guard");
	/* Within the stack it is none. */
	NOT(fault_at(0x202000, SEGV_ACCERR, 0x100010, SP), "overflow");
	SAYS(fault_at(0x202000, SEGV_ACCERR, 0x100010, SP), "in the stack of thread 7");
}
END_TEST

START_TEST(senders_are_named)
{
	SAYS(sent(SIGABRT, SI_TKILL, 7, 0), "aborted itself");
	SAYS(sent(SIGTERM, SI_USER, 4242, 1000), "sent by pid 4242 of uid 1000");
	SAYS(sent(SIGUSR1, SI_TKILL, 7, 0), "sent it to itself");
	SAYS(sent(SIGABRT, SI_USER, 4242, 0), "sent by pid 4242");
	SAYS(sent(SIGSEGV, SI_USER, 4242, 0), "sent by pid 4242");
	SAYS(sent(SIGQUIT, SI_USER, 0, 0), "kernel, or from another pid");
}
END_TEST

START_TEST(what_the_kernel_sends_is_told)
{
	SAYS(sent(SIGPIPE, SI_USER, 7, 0), "nobody reads");
	SAYS(sent(SIGPIPE, SI_USER, 4242, 0), "sent by pid 4242");
	SAYS(sent(SIGXFSZ, SI_USER, 7, 0), "RLIMIT_FSIZE");
	SAYS(sent(SIGXCPU, SI_KERNEL, 0, 0), "RLIMIT_CPU");
	SAYS(sent(SIGALRM, SI_KERNEL, 0, 0), "timer that it had set");
	SAYS(sent(SIGALRM, SI_TIMER, 0, 0), "timer_create");
	SAYS(sent(SIGINT, SI_KERNEL, 0, 0), "Ctrl-C");
	SAYS(sent(SIGUSR1, SI_KERNEL, 0, 0), "sent by the kernel");
}
END_TEST

START_TEST(a_bus_error_beyond_a_file_names_it)
{
	siginfo_t info = {.si_signo = SIGBUS, .si_code = BUS_ADRERR};

	info.si_addr = (void *)(uintptr_t)0x101020;
	open_core(&info, SIGBUS, 0x100010, SP);
	SAYS(cause(), "in /bin/prog, offset 0x1020, beyond the end of that");
	/* No file is there. */
	info.si_addr = (void *)(uintptr_t)0x300008;
	open_core(&info, SIGBUS, 0x100010, SP);
	SAYS(cause(), "no memory is behind the mapping");
}
END_TEST

START_TEST(a_denied_system_call_is_named)
{
	siginfo_t info = {.si_signo = SIGSYS, .si_code = 1};

	info.si_syscall = 101;
	open_core(&info, SIGSYS, 0x100010, SP);
	SAYS(cause(), "system call 101 (ptrace)");
}
END_TEST

START_TEST(what_is_not_known_is_not_made_up)
{
	open_core(NULL, SIGSEGV, 0x100010, SP);
	SAYS(cause(), "no siginfo");
	SAYS(fault_at(0, SI_KERNEL, 0x100010, SP), "non-canonical");
	NOT(fault_at(0, SI_KERNEL, 0x100010, SP), "null");
	SAYS(fault_at(0x300008, 99, 0x100010, SP), "code 99");
}
END_TEST

START_TEST(every_signal_has_a_text)
{
	char name[64];

	for (int signal = -1; signal < 130; signal++) {
		ep_death_signal_text(name, sizeof(name), signal);
		ck_assert(name[0] != '\0');
	}
	ep_death_signal_text(name, sizeof(name), SIGSEGV);
	ck_assert_str_eq(name, "SIGSEGV (segmentation fault)");
	ep_death_signal_text(name, sizeof(name), 77);
	ck_assert_str_eq(name, "signal 77");
	ep_death_signal_text(name, 8, SIGSEGV);
	ck_assert_str_eq(name, "SIGSEGV");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_death");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, low_addresses_are_null_pointers);
	tcase_add_test(tests, a_jump_to_nowhere_is_a_jump);
	tcase_add_test(tests, an_address_is_placed_by_the_map);
	tcase_add_test(tests, a_guard_under_the_stack_is_an_overflow);
	tcase_add_test(tests, senders_are_named);
	tcase_add_test(tests, what_the_kernel_sends_is_told);
	tcase_add_test(tests, a_bus_error_beyond_a_file_names_it);
	tcase_add_test(tests, a_denied_system_call_is_named);
	tcase_add_test(tests, what_is_not_known_is_not_made_up);
	tcase_add_test(tests, every_signal_has_a_text);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
