/* SPDX-License-Identifier: BSD-2-Clause */
/* front.c: which handler stands behind ep_front, for each signal. */
#include "runtime/fatal/front.h"

#include "runtime/arena/arena.h"
#include "runtime/arena/integrity.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/record/faults.h"
#include "runtime/settings/settings.h"

static void *handlers[EP_SIGNALS] EP_IN_DATA;

void *ep_front_handler(int signal)
{
	return __atomic_load_n(&handlers[signal], __ATOMIC_ACQUIRE);
}

void ep_front_set(int signal, void *handler)
{
	__atomic_store_n(&handlers[signal], handler, __ATOMIC_RELEASE);
}

/* In a vfork child, whose actions are its own while its memory is not, the handler goes to the
 * kernel as it is. */
bool ep_front_wanted(int signal, const void *handler)
{
	return ep_jail_permits(EP_JAIL_NO_SIGNALS) &&
	       (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
		signal == SIGABRT || signal == SIGSYS) &&
	       handler != SIG_DFL && handler != SIG_IGN && handler != (const void *)SIG_ERR &&
	       handler != (const void *)ep_front && ep_truth.arena && !ep_settings.counting &&
	       (uint32_t)ep_syscall0(SYS_getpid) == epitaph_root.pid;
}

/* Called by fatal.S, which calls what it returns. Keeps errno. */
void *ep_front_begin(int signal, siginfo_t *info, const ucontext_t *context);
void *ep_front_begin(int signal, siginfo_t *info, const ucontext_t *context)
{
	(void)info;
	ep_faults_begin(context);
	return ep_front_handler(signal);
}
