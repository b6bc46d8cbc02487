/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build_trace.h: from a built arena to an image, without any reader of files; and what must hold of
 * every trace, however damaged.
 */
#ifndef EPITAPH_TESTS_BUILD_TRACE_H
#define EPITAPH_TESTS_BUILD_TRACE_H

#include "decoder/calls/calls.h"
#include "tests/unit/build_arena.h"

/* An image of exactly `size` bytes, all present. Free with build_image_free. */
void build_image(struct ep_image *image, const void *bytes, size_t size);
/* The same of what a core would hold of the arena. */
void build_image_of(struct ep_image *image, struct build_arena *b);
/* Page `page` could not be read. */
void build_image_lose(struct ep_image *image, size_t page);
void build_image_free(struct ep_image *image);

/*
 * Aborts with a message when a rule is broken:
 *  - records: low <= time <= high, exact means equal, times never go back,
 *    not more of them than words;
 *  - calls: every END is the innermost open call's, with its number, function
 *    and depth, or BEFORE, or STRAY; depths grow inwards; no call ends before
 *    it begins; what is left is what ep_calls_open tells;
 *  - merge: in order of time, each thread's events as they are alone.
 * Returns the number of events.
 */
uint64_t build_trace_check(struct ep_trace *trace, struct ep_names *names);

#endif
