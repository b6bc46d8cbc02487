/* SPDX-License-Identifier: BSD-2-Clause */
/* jail.c: what the process has given up, as the kernel says. */
#include "runtime/lib/jail.h"

#include <sys/prctl.h>

#include "runtime/lib/syscalls.h"

uint32_t ep_jail_state;

void ep_jail_start(void)
{
	if (ep_syscall5(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) > 0)
		ep_jail_state = EP_JAIL_INHERITED;
}

void ep_jail_enter(void)
{
	__atomic_fetch_or(&ep_jail_state, EP_JAIL_OWN, __ATOMIC_SEQ_CST);
}
