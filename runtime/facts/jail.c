/* SPDX-License-Identifier: BSD-2-Clause */
/* jail.c: what the process has given up, and whether threads may go on. */
#include "runtime/facts/jail.h"

#include <sys/prctl.h>

#include "runtime/arena/arena.h"
#include "runtime/record/counting.h"
#include "runtime/epitaph.h"
#include "runtime/format.h"
#include "runtime/record/integrity.h"
#include "runtime/settings/settings.h"
#include "runtime/lib/syscalls.h"

uint32_t ep_jail_state;

void ep_jail_start(void)
{
	if (ep_syscall5(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) > 0)
		ep_jail_state = EP_JAIL_INHERITED;
}

void ep_jail_enter(bool strict)
{
	/* Code that is called for the first time takes memory, and a file at the end is written by
	 * more than the program may call. */
	if (ep_settings.counting && ep_arena) {
		ep_counting_write();
		__atomic_fetch_or(&ep_arena->gate, EP_GATE_STOPPED, __ATOMIC_SEQ_CST);
	}
	if (strict)
		epitaph_ignore_thread();
	__atomic_fetch_or(&ep_jail_state, EP_JAIL_OWN, __ATOMIC_SEQ_CST);
}

void ep_jail_timeless(void)
{
	ep_jail_enter(false);
	ep_integrity_end(EP_OFF_NO_TSC);
}
