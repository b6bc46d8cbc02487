/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper.h: a thread of the runtime's own that libc does not know: a raw clone with all signals
 * blocked, descriptors and a working directory of its own (so that it holds nothing that the
 * program closes), and no thread-local memory: what it calls must not use any. It ends with the
 * process, and is not there in a forked child.
 */
#ifndef EPITAPH_HELPER_H
#define EPITAPH_HELPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ep_helper {
	atomic_flag busy; /* somebody starts or stops it */
	uint32_t wanted;  /* a futex: 0 it is to end; changes to wake it */
	uint32_t alive;   /* not 0 until the kernel has let go of it */
	uint32_t tid;     /* 0: none */
	char *stack;      /* kept once it was made */
};
#define EP_HELPER_INIT                   \
	{                                \
		.busy = ATOMIC_FLAG_INIT \
	}

/*
 * Makes the thread, which calls run(), unless there is one: run() returns never but calls
 * ep_helper_exit at last. 0, or a negative errno. Not in a process that is another by now (a clone
 * that shares the memory).
 */
int ep_helper_start(struct ep_helper *helper, void (*run)(void));

/* It is gone when this returns; true: there was one. */
bool ep_helper_stop(struct ep_helper *helper);

/* Wakes it from ep_helper_sleep. Async-signal-safe. */
void ep_helper_wake(struct ep_helper *helper);

/* In a forked child: it is not here. */
void ep_helper_forget(struct ep_helper *helper);

/* ---- by the thread itself ---- */

/* First of all. */
void ep_helper_begin(struct ep_helper *helper, const char *name);
/* The value to sleep with, to be taken before what there is to do is looked at. 0: it is to end. */
uint32_t ep_helper_wanted(const struct ep_helper *helper);
/* For `ns`, or until it is woken after `wanted` was taken. */
void ep_helper_sleep(struct ep_helper *helper, uint32_t wanted, uint64_t ns);
_Noreturn void ep_helper_exit(void);

#endif
