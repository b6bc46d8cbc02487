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
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/inherit.h"
#include "runtime/counting/counts_file.h"
#include "runtime/fatal/fatal.h"
#include "runtime/fatal/trigger.h"
#include "runtime/intercept/memory.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/interpose.h"
#include "runtime/lib/jail.h"
#include "runtime/record/ring.h"
#include "runtime/record/rings.h"
#include "runtime/record/thread.h"
#include "runtime/settings/settings.h"
#include "runtime/switching/switches.h"
#include "runtime/watchdogs/watchdog.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80 /* Linux 5.6 */
#endif
#define SECCOMP_BY_PRCTL 22 /* PR_SET_SECCOMP */

typedef int (*call_fn)(unsigned long a, unsigned long b, unsigned long c);

static int alone(enum ep_interposed which, uint64_t place, unsigned long a, unsigned long b,
		 unsigned long c)
{
	call_fn real = (call_fn)(void (*)(void))ep_interpose_real(which, place);
	bool left = ep_sched_leave(), watched = ep_watchdog_leave();
	int result = real(a, b, c);
	int error = errno;

	/* What the kernel says to a process whose memory another one shares. Seldom asked, so that
	 * nobody else waits for that one. */
	if (result == -1 && (which == EP_REAL_unshare || which == EP_REAL_setns) &&
	    (error == EINVAL || error == EUSERS) && ep_sched_leave_memory()) {
		result = real(a, b, c);
		error = errno;
	}
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

ep_any_fn ep_before_prctl(uint64_t a, uint64_t b, uint64_t place, uint64_t c);
ep_any_fn ep_before_syscall(uint64_t a, uint64_t b, uint64_t place, uint64_t c, uint64_t d);

/* Handlers of fatal signals go while they may: in one that calls what the filter kills for, the
 * process would die of SIGSYS, and not of what it dies of. Nor are they of use where no snapshot
 * can be written, or what was counted is. */
static void leave_signals(void)
{
	if (!ep_settings.counting && ep_jail_permits(EP_JAIL_NO_SNAPSHOT))
		return;
	if (ep_settings.crash_snapshot && ep_arena)
		__atomic_fetch_or(&ep_arena->blind, EP_BLIND_SNAPSHOT, __ATOMIC_RELAXED);
	ep_trigger_end();
	ep_fatal_end();
}

/* The program sets a filter of system calls (a struct sock_fprog); `strict`: the one that leaves
 * read, write and exit, and no time (kernel: seccomp_assign_mode, disable_TSC). */
static void enter_jail(bool strict, const void *filter)
{
	/* A vfork child's actions are its own, what is known of them is not. */
	bool shared = ep_inherit() == EP_INHERIT_SHARED, watched = ep_watchdog_leave();

	ep_sched_leave();
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
	ep_jail_enter(strict ? NULL : filter);
	if (!shared)
		leave_signals();
	if (watched && ep_jail_permits(EP_JAIL_NO_HELPER | EP_JAIL_NO_SIGNALS))
		ep_watchdog_return_later();
	ep_switches_wait(); /* the filter may be for all threads */
}

static void leave_watchdogs(void)
{
	if (ep_watchdog_leave())
		ep_watchdog_return_later();
}

/* What a filter of system calls allows is for its thread, or for all: the drain does not come
 * again. A watchdog's thread does, when one is next fed, if the filter lets it. */
static void before_prctl(uint64_t operation, uint64_t mode, uint64_t filter)
{
	if ((int)operation == SECCOMP_BY_PRCTL)
		enter_jail(mode == SECCOMP_MODE_STRICT, (const void *)filter);
	if ((int)operation == PR_SET_TSC && mode == PR_TSC_SIGSEGV) {
		enter_jail(false, NULL);
		ep_integrity_end(EP_OFF_NO_TSC);
	}
}

ep_any_fn ep_before_prctl(uint64_t a, uint64_t b, uint64_t place, uint64_t c)
{
	before_prctl(a, b, c);
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

/* … nor may another process share the memory: unshare(CLONE_VM), setns() to a time namespace, which
 * 0 may mean (kernel: check_unshare_flags, timens_install). */
static bool wants_memory_alone(long number, uint64_t first, uint64_t second)
{
	return (number == SYS_unshare && first & CLONE_VM) ||
	       (number == SYS_setns && (!second || second & CLONE_NEWTIME));
}

/* libseccomp asks with flags, which mode 1 has none of, whether there is such a call; and by other
 * operations what it can do. */
static void before_seccomp(uint64_t operation, uint64_t flags, uint64_t filter)
{
	bool strict = operation == SECCOMP_SET_MODE_STRICT;

	if (operation != SECCOMP_SET_MODE_FILTER && !(strict && flags == 0))
		return;
	enter_jail(strict, (const void *)filter);
}

ep_any_fn ep_before_syscall(uint64_t a, uint64_t b, uint64_t place, uint64_t c, uint64_t d)
{
	ep_any_fn instead = ep_memory_before_syscall(a, b, c, d);

	if (instead)
		return instead;
	if ((long)a == SYS_clone || (long)a == SYS_fork || (long)a == SYS_clone3)
		ep_ring_look_soon();
	if ((long)a == SYS_seccomp) {
		before_seccomp(b, c, d);
	} else if ((long)a == SYS_prctl) {
		before_prctl(b, c, d);
	} else if (wants_to_be_alone((long)a)) {
		if (ep_sched_leave())
			ep_sched_return_later();
		if (wants_memory_alone((long)a, b, c))
			ep_sched_leave_memory();
		leave_watchdogs();
	}
	return ep_interpose_real(EP_REAL_syscall, place);
}
