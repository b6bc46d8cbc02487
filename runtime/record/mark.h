/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark.h: building a mark (format.h): a head, values and text, recorded as one piece. All is
 * async-signal-safe and leaves errno alone.
 */
#ifndef EPITAPH_MARK_H
#define EPITAPH_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

struct ep_mark {
	unsigned kind;
	unsigned count; /* data words so far */
	uint64_t words[1 + EP_MARK_DATA_MAX];
};

void ep_mark_init(struct ep_mark *mark, unsigned kind);

/* 52 bits of `value`. False: no room for it, and nothing was added. */
bool ep_mark_value(struct ep_mark *mark, uint64_t value);

/* As much of the text as fits. */
void ep_mark_text(struct ep_mark *mark, const char *text);

/* Its head: words[0] to words[count] are the mark then. */
void ep_mark_finish(struct ep_mark *mark);

/* Into the caller's ring, with the present time. Nothing happens while tracing is paused, or before
 * the thread's first call. */
void ep_mark_record(struct ep_mark *mark);

#endif
