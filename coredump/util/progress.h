/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h: how far a long piece of work is, from whoever does it to whoever shows it, who may
 * want no more of it. One watcher a process, none at first: then it costs a comparison. Not for
 * several threads.
 */
#ifndef EPITAPH_PROGRESS_H
#define EPITAPH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* `what` is done, in words ("reading calls"): the same pointer as long as it is the same piece of
 * work. `done` of `total` units, 0 unknown. NULL: it is over. False: no more of it is wanted. */
typedef bool ep_progress_fn(const char *what, uint64_t done, uint64_t total);

/* NULL: nobody. */
void ep_progress_watch(ep_progress_fn *fn);

/* To be called every few milliseconds, or less often. False: leave off, if what is there so far can
 * be thrown away. */
bool ep_progress(const char *what, uint64_t done, uint64_t total);
void ep_progress_end(void);

/* Work that other work may wait for, which goes on when this is over, and which is not left off.
 * `what` is borrowed until its end. */
void ep_progress_inner(const char *what);
void ep_progress_inner_end(void);
/* It takes its time: to be called as often as ep_progress, also where there is none of it. */
void ep_progress_inner_goes_on(void);

#endif
