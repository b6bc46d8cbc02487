/* SPDX-License-Identifier: BSD-2-Clause */
/* remover.c: a process without a table of descriptors, on the low end of the drain's stack, which
 * is far from what that needs at its end. */
#include "runtime/kernel/remover.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "runtime/kernel/sched_section.h"
#include "runtime/kernel/sched_sources.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/syscalls.h"
#include "runtime/x86_64/clone.h"

#define STACK (8 * 1024) /* and another above */

static const struct ep_helper *drain;
static uint32_t remover; /* not 0 until the last one is gone */
static long zombie;      /* pid of one that nobody has waited for; 0: none */

static void remove_instance(void)
{
	/* As long as the drain is not quite gone its pages are in use. */
	for (int i = 0; i < 1000 && !ep_ftrace_remove(); i++)
		ep_nap(1000000);
	ep_syscall1(SYS_exit_group, 0);
}

/* The drain is killed in the middle of making it. */
static void remove_unfinished(void)
{
	ep_helper_close_all();
	for (int i = 0; i < 1000 && __atomic_load_n(&drain->alive, __ATOMIC_ACQUIRE); i++)
		ep_nap(1000000);
	if (ep_sched->instance[0] && ep_ftrace_find())
		remove_instance();
	ep_syscall1(SYS_exit_group, 0);
}

static void (*removal)(void); /* what the remover does */

/* Its child goes on without it, and is waited for by whoever adopts orphans: else it would stay a
 * zombie of the program's. */
static void make_remover(void)
{
	if (!ep_syscall_failed(ep_clone(CLONE_VM | CLONE_CHILD_CLEARTID, drain->stack + STACK,
					&remover, removal, NULL)))
		ep_syscall1(SYS_exit_group, 0);
	remover = 0;
	removal();
}

/* The program adopts orphans itself: it must not meet one of ours. */
static bool adopts_orphans(void)
{
	int adopts = 0;

	ep_syscall2(SYS_prctl, PR_GET_CHILD_SUBREAPER, (long)&adopts);
	return adopts || ep_syscall0(SYS_getpid) == 1;
}

/* A process of its own that shares the memory and nothing else: it outlives this one by the time
 * that it takes. Nobody but us waits for it: without a signal at its end wait(2) wants __WCLONE.
 * False: there is one, or can be none. */
static bool remove_later(struct ep_helper *of, void (*run)(void))
{
	bool adopts = adopts_orphans();
	uint32_t none = 0;
	long child;

	if (!__atomic_compare_exchange_n(&remover, &none, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	drain = of;
	removal = run;
	if (adopts)
		child = ep_clone(CLONE_VM | CLONE_CHILD_CLEARTID, drain->stack + STACK, &remover,
				 run, NULL);
	else
		child = ep_clone(CLONE_VM, drain->stack + 2 * STACK, &remover, make_remover, NULL);
	if (ep_syscall_failed(child)) {
		remover = 0;
		return false;
	}
	if (adopts)
		zombie = child;
	else
		ep_syscall4(SYS_wait4, child, 0, __WCLONE, 0);
	return true;
}

bool ep_remover_wait(void)
{
	if (!__atomic_load_n(&remover, __ATOMIC_ACQUIRE))
		return false;
	for (int i = 0; i < 2000 && __atomic_load_n(&remover, __ATOMIC_ACQUIRE); i++)
		ep_nap(1000000);
	ep_nap(1000000); /* the kernel writes that a little before it lets go of the memory */
	return true;
}

void ep_remover_bury(void)
{
	if (zombie && ep_syscall4(SYS_wait4, zombie, 0, __WCLONE | WNOHANG, 0))
		zombie = 0;
}

bool ep_remover_start(struct ep_helper *of)
{
	return remove_later(of, remove_instance);
}

bool ep_remover_abandon(struct ep_helper *of)
{
	return remove_later(of, remove_unfinished);
}

void ep_remover_forget(void)
{
	remover = 0;
	zombie = 0;
}
