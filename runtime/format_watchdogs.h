/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * format_watchdogs.h: the part of the layout (format.h, whose rules and version hold here too) that
 * is about watchdogs and what they leave at a miss.
 */
#ifndef EPITAPH_FORMAT_WATCHDOGS_H
#define EPITAPH_FORMAT_WATCHDOGS_H

#include <assert.h>
#include <stdint.h>

#define EP_WATCHDOG_FREE   0
#define EP_WATCHDOG_MAKING 1 /* somebody fills it in */
#define EP_WATCHDOG_SET    2
#define EP_WATCHDOG_PAUSED 3 /* until it is fed */

#define EP_WATCHDOG_ABORT    1 /* action: SIGABRT */
#define EP_WATCHDOG_SNAPSHOT 2
#define EP_WATCHDOG_CALL     3 /* a function of the program's */

#define EP_WATCHDOGS 64

/* Late when it is set and was not fed for longer than its deadline. Times are TSC, threads tids (0
 * unknown). */
struct ep_watchdog {
	uint32_t state; /* EP_WATCHDOG_FREE … PAUSED; written last */
	uint32_t action;
	uint64_t id;       /* never used twice in one generation */
	uint64_t deadline; /* ns */
	uint64_t created_tsc;
	uint64_t fed_tsc; /* last, or when it was created */
	uint32_t created_by;
	uint32_t fed_by;
	uint64_t misses;     /* deadlines that passed */
	uint64_t missed_tsc; /* when the last miss was seen; 0: none */
	uint64_t missed_fed; /* … when it had been fed before that … */
	uint32_t missed_by;  /* … and by whom */
	uint32_t unused;
	char name[40]; /* UTF-8 not guaranteed; NUL-padded */
	uint64_t unused_too;
};
static_assert(sizeof(struct ep_watchdog) == 128, "format");

/*
 * The stacks of all threads at the last miss, taken by themselves in a signal handler: this head,
 * `count` entries, then the bytes of each, from its stack pointer less 128 (what a leaf function
 * may use) up.
 */
struct ep_stacks {
	uint64_t tsc;      /* when taken; 0: never */
	uint64_t watchdog; /* whose miss: its id */
	uint32_t capacity; /* entries */
	uint32_t count;    /* threads that were asked */
	uint32_t room;     /* bytes that each has for its stack */
	uint32_t unasked;  /* threads for which there was no entry */
	uint64_t unused[4];
};
static_assert(sizeof(struct ep_stacks) == 64, "format");

#define EP_STACK_RED_ZONE 128u

struct ep_stack_taken {
	uint32_t tid;
	uint32_t state;   /* 1: all of it is there; written last. 0: the thread did not answer */
	uint64_t tsc;     /* when it did */
	uint64_t address; /* of the first byte that was saved */
	uint64_t offset;  /* from the section's start: where they are */
	uint64_t size;    /* how many */
	uint64_t registers[27]; /* as in NT_PRSTATUS */
};
static_assert(sizeof(struct ep_stack_taken) == 256, "format");

#endif
