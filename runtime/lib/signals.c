/* SPDX-License-Identifier: BSD-2-Clause */
/* signals.c: actions by raw system calls, and dying of the very signal that came. */
#include "runtime/lib/signals.h"

#include "runtime/lib/syscalls.h"

uint64_t ep_signals_block(uint64_t but)
{
	uint64_t mask = ~but, before = 0;

	ep_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, sizeof mask);
	return before;
}

void ep_signals_restore(uint64_t mask)
{
	ep_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask);
}

long ep_signal_action(int signal, const struct ep_kernel_action *new, struct ep_kernel_action *old)
{
	return ep_syscall4(SYS_rt_sigaction, signal, (long)new, (long)old, sizeof new->mask);
}

bool ep_signal_is_fault(int signal, const siginfo_t *info)
{
	return info->si_code > 0 && (signal == SIGTRAP || signal == SIGSEGV || signal == SIGBUS ||
				     signal == SIGFPE || signal == SIGILL || signal == SIGSYS);
}

void ep_signal_send(int signal, siginfo_t *info)
{
	ep_syscall4(SYS_rt_tgsigqueueinfo, ep_syscall0(SYS_getpid), ep_syscall0(SYS_gettid), signal,
		    (long)info);
}

void ep_signal_die(int signal, siginfo_t *info)
{
	struct ep_kernel_action none = {SIG_DFL, EP_SA_RESTORER, ep_restorer, 0};
	uint64_t mask = EP_SIGNAL_BIT(signal);

	/* Not before the handler has returned to where the signal came. */
	ep_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, 0, 8);
	ep_signal_action(signal, &none, NULL);
	ep_signal_send(signal, info);
}
