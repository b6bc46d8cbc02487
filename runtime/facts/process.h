/* SPDX-License-Identifier: BSD-2-Clause */
/* process.h: the PROCESS section: who this process is, noted while it can still be asked. */
#ifndef EPITAPH_PROCESS_H
#define EPITAPH_PROCESS_H

/*
 * Fills the section; anew in a forked child. After the arena, at most one thread at a time. A fact
 * that cannot be had stays empty; a long command line is cut where the section ends.
 */
void ep_process_start(void);

/* In a forked child that has its parent's section: what a child has of its own, and the rest as its
 * parent noted it. All anew where the parent is in another directory by now. */
void ep_process_inherit(void);

#endif
