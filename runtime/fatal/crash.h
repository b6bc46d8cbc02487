/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crash.h: EPITAPH_ON_CRASH=snapshot: the thread that a fatal signal came to writes a snapshot, on
 * a stack of its own, and then dies as it would have died. Whatever goes wrong meanwhile, it dies.
 */
#ifndef EPITAPH_CRASH_H
#define EPITAPH_CRASH_H

#include <signal.h>
#include <stdbool.h>

#define EP_CRASH_SECONDS 4 /* for the snapshot; then the process dies */

/*
 * Writes the snapshot for a signal of the calling thread; `dies`: the process ends by it right
 * after, so that nobody need write another. Does nothing in the thread that is writing already, for
 * what belongs to a death that has its snapshot (handled.h), and, unless it dies, after EP_CRASHES
 * of them: a program may live on signals that it handles. Of several threads that crash at once one
 * writes, the others wait for it. Does not return when it takes too long: then the process dies of
 * that signal. True: there is one now.
 */
#define EP_CRASHES 8
bool ep_crash(int signal, siginfo_t *info, const void *context, bool dies);

/* In a forked child: what a thread of the parent was writing is not ours. */
void ep_crash_reset(void);

/* The calling thread is in ep_crash. Makes no system call. */
bool ep_crash_writing(void);

/* Calls work(), and lets the whole process die of `signal` when it has not returned after
 * `seconds`. For ep_crash and its test. */
void ep_crash_bounded(void (*work)(void), int seconds, int signal, siginfo_t *info);

#endif
