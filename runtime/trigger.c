/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trigger.c: a signal sent by somebody writes a snapshot; the same signal
 * raised by the processor (a breakpoint trap) kills as it would without us.
 */
#include "runtime/trigger.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/settings.h"
#include "runtime/snapshot.h"
#include "runtime/syscalls.h"
#include "runtime/text.h"

/* The kernel's, not libc's: that one may be the program's own. */
struct kernel_action {
	void *handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define FLAG_RESTORER 0x04000000ul

void ep_restorer(void); /* x86_64/restorer.S */

static long action(int signal, const struct kernel_action *new,
		   struct kernel_action *old)
{
	return ep_syscall4(SYS_rt_sigaction, signal, (long)new, (long)old,
			   sizeof new->mask);
}

static bool is_fault(int signal, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       (signal == SIGTRAP || signal == SIGSEGV || signal == SIGBUS ||
		signal == SIGFPE || signal == SIGILL || signal == SIGSYS);
}

/* The same signal again, with its siginfo and the default action; it is
 * delivered when the handler returns to the interrupted registers. */
static void die_of(int signal, siginfo_t *info)
{
	struct kernel_action none = {SIG_DFL, FLAG_RESTORER, ep_restorer, 0};

	action(signal, &none, NULL);
	ep_syscall4(SYS_rt_tgsigqueueinfo, ep_syscall0(SYS_getpid),
		    ep_syscall0(SYS_gettid), signal, (long)info);
}

static void complain(long error)
{
	char line[128];
	struct ep_text text;

	ep_text_init(&text, line, sizeof line);
	ep_text_add(&text, "epitaph: no snapshot: error ");
	ep_text_add_number(&text, (uint64_t)-error);
	ep_text_add(&text, "\n");
	ep_text_complain(&text);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	int result;

	if (is_fault(signal, info)) {
		die_of(signal, info);
		return;
	}
	result = ep_snapshot_write(NULL, context);
	if (result < 0)
		complain(result);
}

void ep_trigger_start(void)
{
	struct kernel_action ours = {
		on_signal, SA_SIGINFO | SA_ONSTACK | SA_RESTART | FLAG_RESTORER,
		ep_restorer, 0};
	struct kernel_action old;
	int signal = ep_settings.snapshot_signal;

	if (signal && !action(signal, NULL, &old) && old.handler == SIG_DFL)
		action(signal, &ours, NULL);
}
