/* SPDX-License-Identifier: BSD-2-Clause */
/* inherit.c: memory tells a fork, which empties a page of it; the pid a process that shares it.
 * Either alone is not enough: in a pid namespace of its own a child may have its maker's pid. */
#include "runtime/arena/inherit.h"

#include <stdint.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"

enum ep_inherit ep_inherit(void)
{
	if (ep_arena_forked())
		return EP_INHERIT_COPY;
	/* A filter of its own kills for the question: nothing is touched. */
	if (!ep_jail_permits(EP_JAIL_NO_SIGNALS))
		return EP_INHERIT_SHARED;
	return (uint32_t)ep_syscall0(SYS_getpid) == epitaph_root.pid ? EP_INHERIT_NOTHING
								     : EP_INHERIT_SHARED;
}
