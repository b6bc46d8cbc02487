/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * choice.h: which functions cost most for the least time, by what the last blocks of one thread
 * show: calls are counted by the address that their entry's record has, and paired with their
 * returns roughly, for times between two timed records are not known; exceptions and jumps end
 * them, too. Functions with a long call among few are the story, and stay; those that are short and
 * many go first. Free of state but for its own.
 *
 *   ep_choice_begin, ep_choice_block of each block (the oldest first), ep_choice_take
 */
#ifndef EPITAPH_CHOICE_H
#define EPITAPH_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

#define EP_CHOICE_SLOTS 4096 /* 3/4 of them are used: who comes then is seen at another look */
#define EP_CHOICE_DEPTH 128
#define EP_CHOICE_LEFT  16
#define EP_CHOICE_ENDED \
	32                /* between two timed records: there are at most 64 from one to the next */
#define EP_CHOICE_SAVED 8 /* buffers of setjmp, the latest */
#define EP_CHOICE_MOST  1024 /* that go for one look */

struct ep_choice_function {
	uint64_t address; /* as its entries' records have it; 0: a free slot */
	uint32_t calls;   /* counted */
	uint32_t longs;   /* calls that took at least long_call */
	uint32_t doubts;  /* times between two timed records, as long, in which calls of it ended;
			   * and, at last, its calls that are open */
	uint32_t ended;   /* in which of those times one did last */
	uint64_t time;    /* TSC cycles of its calls that returned, or are open */
};

struct ep_choice {
	uint64_t long_call; /* TSC cycles */
	uint64_t begin;     /* TSC of the first block */
	uint64_t end;       /* … of the last timed record */
	uint64_t calls;     /* counted */
	unsigned used;      /* slots */
	unsigned depth;     /* open calls, of which the innermost EP_CHOICE_DEPTH are known */
	unsigned left;      /* returns without an entry */
	uint32_t timed;     /* timed records */
	unsigned ended;     /* functions with a call that ended since the last of them */
	struct ep_choice_function *ended_by[EP_CHOICE_ENDED];
	struct {
		struct ep_choice_function *function;
		uint64_t begin;
	} open[EP_CHOICE_DEPTH];
	struct {
		uint64_t buffer;
		unsigned depth;
	} saves[EP_CHOICE_SAVED];
	unsigned saved;                    /* the next of them to be given */
	uint64_t returned[EP_CHOICE_LEFT]; /* addresses of those that ran long */
	uint16_t heap[EP_CHOICE_SLOTS];    /* who may go, the first of them on top */
	struct ep_choice_function functions[EP_CHOICE_SLOTS];
};

/* Calls of at least `long_call` TSC cycles are long. */
void ep_choice_begin(struct ep_choice *choice, uint64_t long_call);

/* The next block, up to its first record that was not written. `counted`: its calls count; else
 * it tells of long ones only. */
void ep_choice_block(struct ep_choice *choice, const struct ep_block *block, bool counted);

/* Its calls are counted, and it stays whatever they cost. After the last block. */
void ep_choice_keep(struct ep_choice *choice, uint64_t address);

/* One function that is to go. */
struct ep_choice_victim {
	uint64_t address;
	uint32_t calls; /* of those that were counted */
};

/* Those that are to go first, of those that have at least `least` calls, up to `most`, until they
 * make at least `wanted` of the calls; how many. Once, after the last block. */
unsigned ep_choice_take(struct ep_choice *choice, uint64_t wanted, uint64_t least,
			struct ep_choice_victim *victims, unsigned most);

/* By address: neighbours in the code share what has to be read to find their hooks. */
void ep_choice_sort(struct ep_choice_victim *victims, unsigned count);

#endif
