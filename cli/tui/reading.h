/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reading.h: what the user waits for: in the last line how far it is, and q, ESC or Ctrl-C leaves
 * it, at the next place at which the work tells how far it is (coredump/util/progress.h).
 */
#ifndef EPITAPH_READING_H
#define EPITAPH_READING_H

#include <stdbool.h>

/* From the screen's beginning to its end. */
void ep_reading_watch(bool on);

/* Around each piece of work; not nested. */
void ep_reading_begin(void);
/* True: it was left, so that what was read is likely a part. */
bool ep_reading_end(void);

/* Words in the last line, at once. */
void ep_reading_print(const char *text);

#endif
