/* SPDX-License-Identifier: BSD-2-Clause */
/* incarnation.h: what tells a process from all others, also from those that had its pid before. */
#ifndef EPITAPH_INCARNATION_H
#define EPITAPH_INCARNATION_H

#include <stdint.h>

#include "runtime/format.h"

/* This one: boot, namespace, start, and nothing else of `process`. */
void ep_process_incarnation(struct ep_process *process);

/* The same of a forked child, which has its parent's boot there. */
void ep_process_incarnation_child(struct ep_process *process);

/* When a process was started, in clock ticks since boot; 0: there is none, or nobody may know.
 * `pid` is one of /proc's namespace; 0: this process, whose own may be another. */
uint64_t ep_process_start_ticks(uint32_t pid);

#endif
