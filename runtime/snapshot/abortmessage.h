/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abortmessage.h: where the C library keeps the last words of an abort ("double free or
 * corruption"), for the snapshot of that death. glibc has them in a page of their own, and
 * __abort_msg leads there.
 */
#ifndef EPITAPH_ABORTMESSAGE_H
#define EPITAPH_ABORTMESSAGE_H

#include <stdint.h>

/* Looks the variable up. At start: not signal safe. A static program's is not found. */
void ep_abort_message_start(void);

/* Calls add() for each range of memory that holds them, if there are any. */
void ep_abort_message_ranges(void (*add)(uint64_t start, uint64_t end));

#endif
