/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ending.c: the process is about to end, or to become another: what it counted is written, and the
 * kernel's events end. It may be about to end several times (exec may fail).
 */
#include "runtime/counting/counts_file.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/interpose.h"

#define ENDS(name, end_events) EP_BEFORE(name, name, ep_counting_write(), end_events())

ENDS(_exit, ep_sched_end)
ENDS(_Exit, ep_sched_end)
ENDS(execve, ep_sched_before_exec)
ENDS(execv, ep_sched_before_exec)
ENDS(execvp, ep_sched_before_exec)
ENDS(execvpe, ep_sched_before_exec)
ENDS(execl, ep_sched_before_exec)
ENDS(execle, ep_sched_before_exec)
ENDS(execlp, ep_sched_before_exec)
ENDS(fexecve, ep_sched_before_exec)
ENDS(execveat, ep_sched_before_exec)

/* quick_exit runs these, the first one last. */
extern int __cxa_at_quick_exit(void (*function)(void *), void *object) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void on_quick_exit(void *unused)
{
	(void)unused;
	ep_counting_write();
	ep_sched_end();
}

__attribute__((constructor(101))) static void ask_for_the_end(void)
{
	if (__cxa_at_quick_exit)
		__cxa_at_quick_exit(on_quick_exit, &__dso_handle);
}
