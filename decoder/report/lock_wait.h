/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_wait.h: which lock a thread waits for, and who holds it, as glibc keeps it in the lock. */
#ifndef EPITAPH_LOCK_WAIT_H
#define EPITAPH_LOCK_WAIT_H

#include "decoder/code/systemcall.h"
#include "decoder/report/evidence.h"

struct ep_lock_wait {
	uint64_t lock;    /* process virtual: the pthread_mutex_t or pthread_rwlock_t; 0: none */
	uint32_t holder;  /* a thread of the core; 0 unknown: it was about to be handed over, or
			     readers hold it */
	const char *kind; /* "mutex", "read-write lock" */
};

/*
 * Is the thread, which is in system call `call` (NULL: in none) with this stack, waiting for a
 * lock? Only where a function that locks is on the stack and glibc's own words in the lock agree;
 * else *out is all zero.
 */
void ep_lock_wait_find(struct ep_lock_wait *out, const struct ep_evidence *evidence,
		       const struct ep_stack *stack, const struct ep_systemcall *call);

#endif
