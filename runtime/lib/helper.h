/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper.h: a thread of the runtime's own that libc does not know: a raw clone with all signals
 * blocked, descriptors and a working directory of its own (so that it holds nothing that the
 * program closes), and no thread-local memory: what it calls must not use any. It ends with the
 * process, and is not there in a forked child. Who starts or ends it asks first whose it is
 * (arena/inherit.h).
 */
#ifndef EPITAPH_HELPER_H
#define EPITAPH_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ep_helper {
	/* what may be asked for; all 0 is as above */
	unsigned long shares; /* CLONE_FS | CLONE_FILES: the program's, instead of its own */
	uint64_t signals;     /* that it does not block */
	uint32_t *shown; /* in the arena: has its tid before it runs; a reader knows it by that */
	char *stack;     /* given, or kept once it was made */
	size_t stack_size;
	/* the rest */
	uint32_t busy;   /* somebody starts or ends it */
	uint32_t wanted; /* a futex: 0 it is to end; changes to wake it */
	uint32_t alive;  /* not 0 until the kernel has let go of it */
	uint32_t tid;    /* 0: none */
};

/*
 * Makes the thread, which calls run(), unless there is one: run() returns never but calls
 * ep_helper_exit at last. `before`, if not NULL, is called first, when there is none yet. 0, or a
 * negative errno.
 */
int ep_helper_start(struct ep_helper *helper, void (*before)(void), void (*run)(void));

/* Another thread is in the midst of starting or ending it. */
bool ep_helper_busy(const struct ep_helper *helper);

/* It is gone when this returns; true: there was one. */
bool ep_helper_stop(struct ep_helper *helper);

/* Asks it to end, and does not wait for that. */
void ep_helper_dismiss(struct ep_helper *helper);

/* Wakes it from ep_helper_sleep; false: there is none, or it ends. Async-signal-safe. */
bool ep_helper_wake(struct ep_helper *helper);

/* In a forked child: it is not here. */
void ep_helper_forget(struct ep_helper *helper);

/* ---- by the thread itself ---- */

/* First of all. */
void ep_helper_begin(const char *name);
/* The value to sleep with, to be taken before what there is to do is looked at. 0: it is to end. */
uint32_t ep_helper_wanted(const struct ep_helper *helper);
/* For `ns`, or until it is woken after `wanted` was taken. As ep_futex_wait. */
long ep_helper_sleep(struct ep_helper *helper, uint32_t wanted, uint64_t ns);
_Noreturn void ep_helper_exit(void);

/* Closes all descriptors of the caller's table, which must be its own. */
void ep_helper_close_all(void);

#endif
