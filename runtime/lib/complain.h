/* SPDX-License-Identifier: BSD-2-Clause */
/* complain.h: a line for whoever runs the program. */
#ifndef EPITAPH_COMPLAIN_H
#define EPITAPH_COMPLAIN_H

#include "runtime/lib/text.h"

/*
 * Sends the text to the program's stderr by one write(2); what comes of it is ignored. Any thread,
 * also one whose table of descriptors is its own (from Linux 5.6 on; before, it prints nothing).
 * Async-signal-safe.
 */
void ep_complain(const struct ep_text *text);

/* The calling thread has a table of descriptors of its own from now on: its 2 is not stderr. */
void ep_complain_apart(void);

#endif
