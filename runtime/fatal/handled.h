/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handled.h: signals of which a snapshot was written and which a handler of the program's then got.
 * What dies while that handler runs, or at the very instruction that it returned to, is the same
 * death: it has its snapshot.
 */
#ifndef EPITAPH_HANDLED_H
#define EPITAPH_HANDLED_H

#include <signal.h>
#include <stdbool.h>

#define EP_HANDLED_MAX 8

/* The program's handler is about to be called, with these in its signal frame, and returns to
 * ep_fatal_restorer. Signal safe, as all of these. */
void ep_handled_begin(const siginfo_t *info, const void *context);

/* A handler has returned, which had this context; it may be no such one. */
void ep_handled_end(const void *context);

/* This signal of the calling thread belongs to one of those. A handler that was left by a jump is
 * over: its frame is not below it, or was written over. */
bool ep_handled_repeats(const siginfo_t *info, const void *context);

/* In a forked child. */
void ep_handled_reset(void);

#endif
