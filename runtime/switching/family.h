/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * family.h: what forked children found out, for those that will be forked after them. A server's
 * child that ends takes along which functions it has switched off, and the next one would begin
 * anew; so children write it on a board in memory that all of the family share, and whoever forks
 * reads it first and has it done once, in its own code, which its children inherit.
 * Async-signal-safe, lock free.
 */
#ifndef EPITAPH_FAMILY_H
#define EPITAPH_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

enum ep_family_news {
	EP_FAMILY_VISITED, /* it ran often while everything is off */
	EP_FAMILY_BUDGET,  /* it cost too much */
	EP_FAMILY_KINDS
};

struct ep_family_function {
	uint64_t address; /* in the function */
	uint64_t rate;    /* calls a second; 0 unknown */
};

/* Before the first fork. Without the memory nobody learns. */
void ep_family_start(void);

/* The caller's process has switched it off. Nothing in a process that was not forked. */
void ep_family_tell(enum ep_family_news kind, uint64_t address, uint64_t rate);

/* What the caller's process has not heard of yet, and as many of the others as it takes to believe
 * it have said; at most `most`: how many. Cheap when there is none. */
unsigned ep_family_hear(enum ep_family_news kind, struct ep_family_function *out, unsigned most);

/* What was said of it counts no longer: the caller has switched it on again, to see. */
void ep_family_forget(enum ep_family_news kind, uint64_t address);

/* How many functions are in use, as far as any of them has seen: the most that was told. */
void ep_family_tell_use(uint32_t functions);
uint32_t ep_family_use(void);

/*
 * What a process may spend before it has earned anything is lent to a family's children once, not
 * to each: one that ends before it has paid back would else cost that much, however many there are.
 * A child spends `cycles` of its credit, or pays them back (negative) …
 */
void ep_family_spend(int64_t cycles, int64_t most);
/* … and this is what is left, of `most`, for one that begins. */
int64_t ep_family_credit(int64_t most);

#endif
