/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * looks.h: how far threads were, and when (format.h, struct ep_look_taken): so records without a
 * time of their own lie between two looks. A thread that computes for long in one call is seen in
 * it; one that waits has a time for that (asks.h). Rings are read where they lie, so no thread
 * takes part. By the runtime's own thread (kernel/sched.h) alone.
 */
#ifndef EPITAPH_LOOKS_H
#define EPITAPH_LOOKS_H

/*
 * For an arena that is new: hands them to the drain (ep_sched_looks), if there is room for any: not
 * with EPITAPH_LOOKS=off, nor where all records have times. One looks at all threads that live, at
 * most 64, in turn; the next comes 4 ms later, or later where a look takes more than 10 us; up to
 * 100 ms while no thread records anything without a time.
 */
void ep_looks_begin(void);

#endif
