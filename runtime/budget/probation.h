/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probation.h: functions that went off for the budget, and when they are tried again: a second
 * later, and each time that they cost too much again after twice as long. A trial ends as soon as
 * the rate is known, so that it costs little. Free of state but for its own; times are TSC.
 *
 *   off → (due) → on trial → off, with twice the distance
 *                          → on, as before
 */
#ifndef EPITAPH_PROBATION_H
#define EPITAPH_PROBATION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

#define EP_PROBATION_SLOTS    8192 /* 3/4 of them are used: as many as have entries (switched.h) */
#define EP_PROBATION_TRIALS   4    /* at once */
#define EP_PROBATION_BLOCKS   16   /* after so many a trial ends */
#define EP_PROBATION_DISTANCE 6    /* at most 2^6 seconds */

#define EP_PROBATION_ON      0
#define EP_PROBATION_OFF     1
#define EP_PROBATION_TRIAL   2
#define EP_PROBATION_REFUSED 3 /* it cannot go off, or must not */

struct ep_probation_function {
	uint64_t address; /* 0: a free slot */
	uint64_t rate;    /* calls a second when it went off */
	uint64_t since;   /* it is what it is */
	uint64_t due;     /* off: tried from then on */
	uint8_t state;    /* EP_PROBATION_ */
	uint8_t distance; /* 2^distance seconds */
};

struct ep_probation {
	uint64_t second; /* TSC cycles */
	unsigned used;   /* slots */
	unsigned off;    /* functions */
	unsigned refused;
	uint64_t next_due;  /* none that is off is due before */
	uint64_t inherited; /* what went off before is off in the parent as well; 0: nothing is */
	/* the trial that is on */
	uint64_t begin;
	uint32_t trials; /* functions; 0: none is on */
	uint32_t blocks; /* that were counted */
	uint64_t address[EP_PROBATION_TRIALS];
	uint32_t calls[EP_PROBATION_TRIALS];
	struct ep_probation_function functions[EP_PROBATION_SLOTS];
};

/* It goes off, with so many calls a second. False: it cannot be remembered, and must stay on. */
bool ep_probation_off(struct ep_probation *p, uint64_t address, uint64_t rate, uint64_t now);

/* It did not go off, and is not asked for the next ten seconds. */
void ep_probation_refuse(struct ep_probation *p, uint64_t address, uint64_t now);

/* One that is not to be asked, by number from 0 to EP_PROBATION_SLOTS - 1; 0: not this one. */
uint64_t ep_probation_refused(const struct ep_probation *p, unsigned index, uint64_t now);

/* Those that are due, the least first, at most EP_PROBATION_TRIALS: a trial begins. How many. */
unsigned ep_probation_begin(struct ep_probation *p, uint64_t now,
			    uint64_t address[EP_PROBATION_TRIALS]);

/* A block that anybody filled while a trial is on. Thread and signal safe. */
void ep_probation_count(struct ep_probation *p, const struct ep_block *block);

/* It could not come back: it is off as before. */
void ep_probation_cancel(struct ep_probation *p, uint64_t address, uint64_t now);

/* Enough is known of the trial that is on. */
bool ep_probation_ripe(const struct ep_probation *p, uint64_t now);

/* It ends: each function may have up to `allowed` calls a second, all together. Those that are to
 * go off again, with what they had. How many. */
unsigned ep_probation_end(struct ep_probation *p, uint64_t now, uint64_t allowed,
			  uint64_t address[EP_PROBATION_TRIALS],
			  uint64_t rate[EP_PROBATION_TRIALS]);

/* In a forked child: what is off in its parent as well is tried last. Each trial would make a copy
 * of the code's page that no other child shares. The functions are postponed when one is looked
 * for: most children end before, and writing to the table would copy all of its pages. */
void ep_probation_inherit(struct ep_probation *p, uint64_t now);

/* The program does something else now: all are due within a second. */
void ep_probation_again(struct ep_probation *p, uint64_t now);

#endif
