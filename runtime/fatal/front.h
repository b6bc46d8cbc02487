/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * front.h: what the runtime has in front of a program's handlers of fatal signals (faults.h). The
 * kernel gets the program's flags and mask with ep_front as the handler, and the kernel stays the
 * one who knows the action: where it names ep_front, the program's handler is meant.
 */
#ifndef EPITAPH_FRONT_H
#define EPITAPH_FRONT_H

#include <signal.h>
#include <stdbool.h>

#include "runtime/lib/signals.h"

/* Not to be called, but by the kernel: x86_64/fatal.S. */
void ep_front(int signal, siginfo_t *info, void *context);

/* A handler for `signal` is to have it in front. */
bool ep_front_wanted(int signal, const void *handler);

/* The program's handler behind it, and a new one: set before the kernel's action is, and set back
 * where that fails. */
void *ep_front_handler(int signal);
void ep_front_set(int signal, void *handler);

#endif
