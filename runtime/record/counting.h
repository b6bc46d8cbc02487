/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counting.h: EPITAPH_MODE=count: what the hooks, the load map and the end of the process ask of
 * the counter, which is funcount/runtime/. Only when ep_settings.counting. All of it is signal safe
 * and keeps errno.
 */
#ifndef EPITAPH_COUNTING_H
#define EPITAPH_COUNTING_H

#include <stdint.h>

#include "runtime/record/thread.h"

/*
 * Three steps from an address to its number: by bits 32-46, 16-31 and 0-15. The first two tables
 * hold addresses of the next, 0 none; the last holds numbers plus one, 0 none. The hooks walk them
 * too. NULL before the start.
 */
extern void **ep_counting_root __attribute__((visibility("hidden")));

/* Lays out the section; in a forked child again. After the load map. */
void ep_counting_start(void);

/* The hook found no number, or no counter for it. `word` as in ep_hook_slow; the caller's gate is
 * set. */
void ep_counting_hook(struct ep_tls *tls, uint64_t word);

/* The module is gone: what is there next counts for itself. Its numbers serve again when it returns
 * to where it was. */
void ep_counting_forget(const struct ep_module *module);
void ep_counting_recall(const struct ep_module *module);

/*
 * Writes the counts to ep_settings.counts_output, as the process is about to end, unless nothing
 * was counted since they were written last. Not in a child that shares the process's memory
 * (vfork), nor in one that has counted nothing. What goes wrong is told on stderr.
 */
void ep_counting_write(void);

/* A traced library's destructors ran: more was counted, perhaps, after the program's own
 * destructors. */
void ep_counting_library_ends(void);

#endif
