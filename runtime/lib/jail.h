/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jail.h: a process that gives up system calls (seccomp(2)) or the processor's time (prctl(2),
 * PR_SET_TSC) dies where the runtime goes on with them. What the program asks of the kernel is seen
 * before it happens (privileges.c); what it inherited, at the start.
 */
#ifndef EPITAPH_JAIL_H
#define EPITAPH_JAIL_H

#include <stdbool.h>
#include <stdint.h>

#define EP_JAIL_INHERITED 1u /* a filter was there when the process began */
#define EP_JAIL_OWN       2u /* the program set one, for a thread or for all */
/* What filters of its own may kill for. */
#define EP_JAIL_NO_SIGNALS  4u  /* handling a fatal signal, and dying of it */
#define EP_JAIL_NO_SNAPSHOT 8u  /* writing a snapshot */
#define EP_JAIL_NO_HELPER   16u /* a thread of the runtime's own */

extern uint32_t ep_jail_state;

/* Asks the kernel. */
void ep_jail_start(void);

/*
 * The program is about to set a filter of system calls, or gives up the processor's time. `filter`:
 * its struct sock_fprog, wherever that is; NULL: all but read, write and exit is given up. The
 * filter is read, and what it may kill for is not done any more.
 */
void ep_jail_enter(const void *filter);

/* No system call is made that the program does not make itself, or would. Those that a filter of
 * one's own could refuse: threads that begin now are not recorded, and names, libraries and kernel
 * events no more looked at. */
static inline bool ep_jailed(void)
{
	return __atomic_load_n(&ep_jail_state, __ATOMIC_RELAXED) & EP_JAIL_OWN;
}

/* The filters that the program set let all system calls through that this takes, or refuse them by
 * an error. `what`: one of EP_JAIL_NO_. */
static inline bool ep_jail_permits(uint32_t what)
{
	return !(__atomic_load_n(&ep_jail_state, __ATOMIC_RELAXED) & what);
}

/* A list of what programs of a kind call (systemd's @system-service, for one) has not what is there
 * for debuggers; and it may kill. */
static inline bool ep_jail_inherited(void)
{
	return __atomic_load_n(&ep_jail_state, __ATOMIC_RELAXED) != 0;
}

#endif
