/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_wait.h: what a thread waits for, and who holds it, as glibc keeps it in the lock. */
#ifndef EPITAPH_LOCK_WAIT_H
#define EPITAPH_LOCK_WAIT_H

#include "decoder/code/systemcall.h"
#include "decoder/report/evidence.h"

enum ep_lock_kind {
	EP_LOCK_NONE,
	EP_LOCK_MUTEX,
	EP_LOCK_RWLOCK,
	EP_LOCK_SPIN,
	/* of which nobody is the holder */
	EP_LOCK_CONDITION,
	EP_LOCK_SEMAPHORE,
	EP_LOCK_BARRIER,
	EP_LOCK_THREAD, /* a thread's end: `holder` is it */
};

struct ep_lock_wait {
	enum ep_lock_kind kind;
	uint64_t lock;    /* process virtual: the pthread_mutex_t …; 0 of a thread's end */
	uint64_t mutex;   /* of a condition: that it gave back, and takes again */
	uint32_t holder;  /* tid; 0 nobody, or unknown: it was about to be handed over */
	bool gone;        /* the holder is no thread of the core: it has ended, or is in another
			     process */
	bool writes;      /* of a read-write lock: to write */
	bool next;        /* … and comes when the readers have gone */
	uint32_t readers; /* that hold it: it does not say who they are */
	uint32_t behind;  /* tid of the writer that comes first; 0 none (groups.h finds it) */
	bool likely;      /* a guess: no function has a name, but all words fit */
};

/*
 * What does the thread, which is in system call `call` (NULL: in none) with this stack, wait for?
 * Only where a function that waits is on the stack (lock_function.h) and glibc's own words in the
 * lock agree; else *out is all zero. `thread`: NULL: its registers are not known.
 */
void ep_lock_wait_find(struct ep_lock_wait *out, const struct ep_evidence *evidence,
		       const struct ep_stack *stack, const struct ep_source_thread *thread,
		       const struct ep_systemcall *call);

/* Whom it waits for: the holder, or the writer that comes first; 0 unknown. */
uint32_t ep_lock_wait_whom(const struct ep_lock_wait *wait);
/* For a lock that somebody holds; not for what somebody is to do. */
bool ep_lock_wait_blocks(const struct ep_lock_wait *wait);
bool ep_lock_wait_equal(const struct ep_lock_wait *a, const struct ep_lock_wait *b);
/* "read-write lock" */
const char *ep_lock_kind_text(enum ep_lock_kind kind);

#endif
