/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * absences.h: when a thread was not on a CPU, as whoever knows it hangs it on to the thread
 * (kernel/schedule.h). A thread records only while it is on one, so its records lie outside.
 */
#ifndef EPITAPH_ABSENCES_H
#define EPITAPH_ABSENCES_H

#include <stddef.h>
#include <stdint.h>

struct ep_absence {
	uint64_t begin, end; /* TSC: [begin, end) */
	uint64_t before;     /* cycles of all absences before it */
};

struct ep_absences {
	struct ep_absence *list; /* ascending, disjoint */
	size_t count, capacity;
};

/* Behind all that are there; what touches the last one makes it longer. */
void ep_absences_add(struct ep_absences *absences, uint64_t begin, uint64_t end);
void ep_absences_deinit(struct ep_absences *absences);

/* In all, NULL is a thread of which nothing is known. Cycles of [from, to] that it was away. */
uint64_t ep_absences_within(const struct ep_absences *absences, uint64_t from, uint64_t to);
/* When the first one begins that begins in (from, to); else `to`. */
uint64_t ep_absences_begin(const struct ep_absences *absences, uint64_t from, uint64_t to);
/* The one in which `tsc` is; NULL: none. */
const struct ep_absence *ep_absences_at(const struct ep_absences *absences, uint64_t tsc);
/* The time at which `cycles` have passed since `from` that it was on a CPU, or may have been. */
uint64_t ep_absences_skip(const struct ep_absences *absences, uint64_t from, uint64_t cycles);

#endif
