/* SPDX-License-Identifier: BSD-2-Clause */
/* counter.h: EPITAPH_MODE=count: what the hooks and the load map ask of the counter. Only when
 * ep_settings.counting. All of it is signal safe and keeps errno. */
#ifndef EPITAPH_COUNTER_H
#define EPITAPH_COUNTER_H

#include <stdint.h>

#include "runtime/format.h"
#include "runtime/record/tls.h"

/* Lays out the section; in a forked child again. After the load map. */
void ep_counting_start(void);

/* The hook found no number, or no counter for it. `word` as in ep_hook_slow; the caller's gate is
 * set. */
void ep_counting_hook(struct ep_tls *tls, uint64_t word);

/* The module is gone: what is there next counts for itself. Its numbers serve again when it returns
 * to where it was. */
void ep_counting_forget(const struct ep_module *module);
void ep_counting_recall(const struct ep_module *module);

/* The section's head; NULL before the start. */
struct ep_counts_head *ep_counter_head(void);

/* All calls counted so far, by all threads; others go on meanwhile. */
uint64_t ep_counter_total(void);

/* Notes how long the process has run, for whoever reads what is written now. */
void ep_counter_note_times(void);

#endif
