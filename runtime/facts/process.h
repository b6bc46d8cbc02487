/* SPDX-License-Identifier: BSD-2-Clause */
/* process.h: the PROCESS section: who this process is, noted while it can still be asked. */
#ifndef EPITAPH_PROCESS_H
#define EPITAPH_PROCESS_H

#include <stdint.h>

#include "runtime/format.h"

/*
 * Fills the section; anew in a forked child. After the arena, at most one thread at a time. A fact
 * that cannot be had stays empty; a long command line is cut where the section ends.
 */
void ep_process_start(void);

/* Only what tells this process from all others: boot, namespace, start. */
void ep_process_incarnation(struct ep_process *process);

/* When a process was started, in clock ticks since boot; 0: there is none, or nobody may know.
 * `pid` is one of /proc's namespace; 0: this process, whose own may be another. */
uint64_t ep_process_start_ticks(uint32_t pid);

#endif
