/* SPDX-License-Identifier: BSD-2-Clause */
/* signals.h: the kernel's view of signal actions, by raw system calls: libc's sigaction may be the
 * program's own, or ours (fatal/fatal.h). */
#ifndef EPITAPH_SIGNALS_H
#define EPITAPH_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct ep_kernel_action {
	void *handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define EP_SA_RESTORER 0x04000000ul
#define EP_SIGNALS     65 /* 1 … 64 */

/* x86_64/restorer.S. The second one is of handlers that handled.h hears of. */
void ep_restorer(void);
void ep_fatal_restorer(void);

#define EP_SIGNAL_BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Blocks all signals of the calling thread but those in `but`; what was blocked before, for
 * ep_signals_restore. */
uint64_t ep_signals_block(uint64_t but);
void ep_signals_restore(uint64_t mask);

/* rt_sigaction; either may be NULL. 0 or a negative errno. */
long ep_signal_action(int signal, const struct ep_kernel_action *new, struct ep_kernel_action *old);

/* Raised by the processor or the kernel for what the thread did, not sent. */
bool ep_signal_is_fault(int signal, const siginfo_t *info);

/* Queues it for the calling thread, with that siginfo. */
void ep_signal_send(int signal, siginfo_t *info);

/* The same signal again, with its siginfo and the default action; it is delivered when the handler
 * returns to the interrupted registers. */
void ep_signal_die(int signal, siginfo_t *info);

#endif
