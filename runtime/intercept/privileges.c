/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privileges.c: calls that a second thread would break (a process with threads cannot enter a user
 * namespace), or that it would survive with privileges that the program gives up: libc hands them
 * to the threads that it knows only. Around them there is no drain (sched.h). Async-signal-safe as
 * they are.
 *
 * No header that declares them: as their callers see them they have arguments of a word at most,
 * and return int.
 */
#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "runtime/arena/arena.h"
#include "runtime/counting/counts_file.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/interpose.h"
#include "runtime/lib/jail.h"
#include "runtime/record/ring.h"
#include "runtime/record/rings.h"
#include "runtime/record/thread.h"
#include "runtime/settings/settings.h"
#include "runtime/switching/switches.h"
#include "runtime/watchdogs/watchdog.h"

#define SECCOMP_BY_PRCTL 22 /* PR_SET_SECCOMP */

typedef int (*call_fn)(unsigned long a, unsigned long b, unsigned long c);

static int alone(enum ep_interposed which, uint64_t place, unsigned long a, unsigned long b,
		 unsigned long c)
{
	call_fn real = (call_fn)(void (*)(void))ep_interpose_real(which, place);
	bool left = ep_sched_leave(), watched = ep_watchdog_leave();
	int result = real(a, b, c);
	int error = errno;

	if (left)
		ep_sched_return();
	if (watched)
		ep_watchdog_return();
	errno = error;
	return result;
}

#define ALONE(name)                                                                     \
	EP_INTERPOSER int EP_INTERPOSER_NAME(name)(unsigned long a, unsigned long b,    \
						   unsigned long c);                    \
	int EP_INTERPOSER_NAME(name)(unsigned long a, unsigned long b, unsigned long c) \
	{                                                                               \
		return alone(EP_REAL_##name, EP_PLACE, a, b, c);                        \
	}

EP_INTERPOSED_ALONE(ALONE)
ALONE(initgroups)

/* ---- with any number of arguments: from interpose.S ---- */

ep_any_fn ep_before_prctl(uint64_t a, uint64_t b, uint64_t place);
ep_any_fn ep_before_syscall(uint64_t a, uint64_t b, uint64_t place, uint64_t c);

/* The program sets a filter of system calls; `strict`: the one that leaves read, write and exit,
 * and no time (kernel: seccomp_assign_mode, disable_TSC). */
static void enter_jail(bool strict)
{
	/* Code that is called for the first time takes memory, and a file at the end is written by
	 * more than the program may call. */
	if (ep_settings.counting && ep_arena) {
		ep_counting_write();
		__atomic_fetch_or(&ep_arena->gate, EP_GATE_STOPPED, __ATOMIC_SEQ_CST);
	}
	if (strict)
		ep_thread_ignore();
	else if (ep_arena && !ep_settings.counting && !ep_jailed() && ep_arena_intact())
		ep_rings_open_ahead();
	ep_jail_enter();
	ep_switches_wait(); /* the filter may be for all threads */
}

static void leave_watchdogs(void)
{
	if (ep_watchdog_leave())
		ep_watchdog_return_later();
}

/* What a filter of system calls allows is for its thread, or for all: the drain does not come
 * again. A watchdog's thread does, when one is next fed. */
ep_any_fn ep_before_prctl(uint64_t a, uint64_t b, uint64_t place)
{
	if ((int)a == SECCOMP_BY_PRCTL) {
		ep_sched_leave();
		leave_watchdogs();
		enter_jail(b == SECCOMP_MODE_STRICT);
	}
	if ((int)a == PR_SET_TSC && b == PR_TSC_SIGSEGV) {
		enter_jail(false);
		ep_integrity_end(EP_OFF_NO_TSC);
	}
	return ep_interpose_real(EP_REAL_prctl, place);
}

static bool wants_to_be_alone(long number)
{
	switch (number) {
	case SYS_unshare:
	case SYS_setns:
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setgroups:
	case SYS_capset:
		return true;
	}
	return false;
}

/* libseccomp asks with flags, which mode 1 has none of, whether there is such a call; and by other
 * operations what it can do. */
static void before_seccomp(uint64_t operation, uint64_t flags)
{
	bool strict = operation == SECCOMP_SET_MODE_STRICT;

	if (operation != SECCOMP_SET_MODE_FILTER && !(strict && flags == 0))
		return;
	ep_sched_leave();
	leave_watchdogs();
	enter_jail(strict);
}

ep_any_fn ep_before_syscall(uint64_t a, uint64_t b, uint64_t place, uint64_t c)
{
	if ((long)a == SYS_clone || (long)a == SYS_fork || (long)a == SYS_clone3)
		ep_ring_look_soon();
	if ((long)a == SYS_seccomp) {
		before_seccomp(b, c);
	} else if (wants_to_be_alone((long)a)) {
		if (ep_sched_leave())
			ep_sched_return_later();
		leave_watchdogs();
	}
	return ep_interpose_real(EP_REAL_syscall, place);
}
