/* SPDX-License-Identifier: BSD-2-Clause */
/* interrupt.h: Ctrl-C, and being asked to end: no half file stays, and the process has died of the
 * signal, as its shell is to see. */
#ifndef EPITAPH_INTERRUPT_H
#define EPITAPH_INTERRUPT_H

/* SIGINT, SIGTERM and SIGHUP, but for those that are ignored or handled already. */
void ep_interrupt_begin(void);

#endif
