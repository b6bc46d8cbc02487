/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transitions.h: how long it usually takes from one record to the next, by what the two are: from
 * the entry of this function to the return of that one. Learned from neighbours that both have
 * times of their own; what lies between two known times is placed by it (untimed.h).
 */
#ifndef EPITAPH_TRANSITIONS_H
#define EPITAPH_TRANSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format.h"

struct ep_trace;

/* A block's word is a call or return, and no escape. */
static inline bool ep_word_is_event(uint64_t word)
{
	return (word & EP_ADDRESS_MASK) >= EP_ESCAPE_LIMIT;
}

struct ep_transition {
	uint64_t key;   /* 0: free */
	uint32_t usual; /* in EP_TRANSITION_UNIT-ths of a cycle; without reading the clock */
};

struct ep_transitions {
	struct ep_transition *slots;
	size_t size;    /* a power of 2; 0: nothing is known, or nothing is untimed */
	uint32_t usual; /* of all pairs */
};

#define EP_TRANSITION_UNIT 8u

/* From all blocks of all threads; nothing where every record has a time. */
void ep_transitions_learn(struct ep_transitions *transitions, const struct ep_trace *trace);
void ep_transitions_deinit(struct ep_transitions *transitions);

/*
 * EP_TRANSITION_UNIT-ths of a cycle, at least 1 and at most 2^22, from the event `before` to the
 * event `after`: words of a block, of which stamps do not matter; 0: something else. Of no such
 * pair: by `before` alone, else of all. 1 where nothing is known at all.
 */
uint32_t ep_transitions_between(const struct ep_transitions *transitions, uint64_t before,
				uint64_t after);

#endif
