/* SPDX-License-Identifier: BSD-2-Clause */
/* counter.h: what the two halves of the counter share: counter.c counts, ending.c tells when and
 * where the result is written. */
#ifndef EPITAPH_COUNTER_H
#define EPITAPH_COUNTER_H

#include <stdint.h>

#include "runtime/record/counting.h"
#include "runtime/format.h"

/* The section's head; NULL before the start. */
struct ep_counts_head *ep_counter_head(void);

/* All calls counted so far, by all threads; others go on meanwhile. */
uint64_t ep_counter_total(void);

/* Notes how long the process has run, for whoever reads what is written now. */
void ep_counter_note_times(void);

#endif
