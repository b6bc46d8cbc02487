/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h: how far a long piece of work is, from whoever does it to whoever shows it. One
 * watcher a process, none at first: then it costs a comparison. Not for several threads.
 */
#ifndef EPITAPH_PROGRESS_H
#define EPITAPH_PROGRESS_H

#include <stdint.h>

/* `what` is done, in words ("reading calls"): the same pointer as long as it is the same piece of
 * work. `done` of `total` units, 0 unknown. NULL: it is over. */
typedef void ep_progress_fn(const char *what, uint64_t done, uint64_t total);

/* NULL: nobody. */
void ep_progress_watch(ep_progress_fn *fn);

/* To be called every few milliseconds, or less often. */
void ep_progress(const char *what, uint64_t done, uint64_t total);
void ep_progress_end(void);

#endif
