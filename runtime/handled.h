/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handled.h: signals of which a snapshot was written and which a handler of the
 * program's then got. What dies while that handler runs, or at the very
 * instruction that it returned to, is the same death: it has its snapshot.
 */
#ifndef EPITAPH_HANDLED_H
#define EPITAPH_HANDLED_H

#include <signal.h>
#include <stdbool.h>

#define EP_HANDLED_MAX  8
#define EP_HANDLED_NONE (-1)

/* The program's handler is about to be called, with these. The answer is for
 * ep_handled_end, when it has returned. Signal safe, as all of these. */
int ep_handled_begin(const siginfo_t *info, const void *context);
void ep_handled_end(int number);

/* This signal of the calling thread belongs to one of those. A handler that was
 * left by a jump is over: its frame is not below it, or was written over. */
bool ep_handled_repeats(const siginfo_t *info, const void *context);

/* In a forked child. */
void ep_handled_reset(void);

#endif
