/* SPDX-License-Identifier: BSD-2-Clause */
/* process.h: the PROCESS section: who this process is, noted while it can still be asked. */
#ifndef EPITAPH_PROCESS_H
#define EPITAPH_PROCESS_H

/*
 * Fills the section; anew in a forked child. After the arena, at most one thread at a time. A fact
 * that cannot be had stays empty; a long command line is cut where the section ends.
 */
void ep_process_start(void);

#endif
