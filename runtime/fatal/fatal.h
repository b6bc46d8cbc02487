/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fatal.h: signals that a program dies of, and that the runtime wants to see first: SIGBUS for an
 * arena in a file that somebody cut off (rescue.h), all of them for EPITAPH_ON_CRASH (crash.h), and
 * whatever would end a process that counts (counts_file.h), as long as the program has no action of
 * its own for it. The kernel has a handler of ours then, from the start on; what the program sets,
 * asks for and gets is its own, by the interposers of sigaction and its kin. Not seen by these: raw
 * rt_sigaction system calls, and sigset, sigignore: those take the signal away from us, as if we
 * had never had it.
 */
#ifndef EPITAPH_FATAL_H
#define EPITAPH_FATAL_H

/* Installs the handler for what the settings ask for. After ep_start, once. */
void ep_fatal_start(void);

/* Gives all signals back: the kernel has the program's own actions, now and later. */
void ep_fatal_end(void);

/* In a forked child: no thread is in the middle of a change. */
void ep_fatal_reset(void);

#endif
