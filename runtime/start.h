/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * start.h: the order in which the runtime comes to life: settings, arena,
 * clock, process facts, load map, signal, fork handler. The first hook of the
 * process may come before any constructor, so everybody who needs the runtime
 * calls ep_start, and it happens once.
 */
#ifndef EPITAPH_START_H
#define EPITAPH_START_H

#include <stdbool.h>

/* Idempotent and cheap when done. False: tracing is off for good. A thread
 * that meets another one starting (or itself, in a signal handler) gets false
 * for this once and tries again at its next event. */
bool ep_start(void);

#endif
