/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_wait.c: glibc, x86-64: sysdeps/nptl/bits/thread-shared-types.h and
 * sysdeps/x86/nptl/bits/struct_mutex.h, struct_rwlock.h. A mutex that somebody waits for is 2 (or
 * has the holder's tid, FUTEX_WAITERS set, if it is robust or inherits priorities), and so is no
 * other C library's. Neither is changed in releases: programs have them compiled in.
 */
#include "decoder/report/lock_wait.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#define INNERMOST 6u /* frames in which the locking function is looked for */

/* Of struct __pthread_mutex_s. */
struct mutex {
	int32_t lock;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
};
static_assert(sizeof(struct mutex) == 20, "as in struct_mutex.h");

/* Of struct __pthread_rwlock_arch_t. */
struct rwlock {
	uint32_t readers, writers, phase_futex, writers_futex, pad[2];
	int32_t writer;
};
static_assert(sizeof(struct rwlock) == 28, "as in struct_rwlock.h");

#define MUTEX_KIND_MAX  0x3ff
#define RWLOCK_WRITES   1u /* of `readers`: PTHREAD_RWLOCK_WRPHASE */
#define MUTEX_CONTENDED 2

static bool is_futex_wait(const struct ep_systemcall *call)
{
	uint32_t operation = call ? (uint32_t)call->arguments[1] & FUTEX_CMD_MASK : 0;

	if (!call || call->redacted || call->number != SYS_futex)
		return false;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
	       operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
}

/* One of the innermost functions has both in its name. */
static bool is_inside(const struct ep_evidence *evidence, const struct ep_stack *stack,
		      const char *what, const char *does)
{
	for (size_t i = 0; i < stack->count && i < INNERMOST; i++) {
		const char *name = ep_evidence_function(evidence, &stack->frames[i])->symbol;
		const char *found = strstr(name, what);

		if (found && strstr(found, does) && !strstr(found, "unlock"))
			return true;
	}
	return false;
}

static uint32_t thread_of_core(const struct ep_evidence *evidence, int32_t tid)
{
	return tid > 0 && ep_source_thread(evidence->source, (uint32_t)tid) ? (uint32_t)tid : 0;
}

static void find_mutex(struct ep_lock_wait *out, const struct ep_evidence *evidence, uint64_t at)
{
	struct mutex mutex;
	uint32_t word;

	if (ep_source_read(evidence->source, at, &mutex, sizeof(mutex), NULL, NULL) != EP_OK ||
	    mutex.kind < 0 || mutex.kind > MUTEX_KIND_MAX)
		return;
	word = (uint32_t)mutex.lock;
	/* The other way a mutex is waited for: what the kernel keeps, too. */
	if (word != MUTEX_CONTENDED &&
	    (!(word & FUTEX_WAITERS) || (word & FUTEX_TID_MASK) != (uint32_t)mutex.owner))
		return;
	*out = (struct ep_lock_wait){at, thread_of_core(evidence, mutex.owner), "mutex"};
}

/* `offset`: of the word that is waited for. */
static void find_rwlock(struct ep_lock_wait *out, const struct ep_evidence *evidence, uint64_t at,
			size_t offset)
{
	struct rwlock lock;
	uint32_t writer;

	if (ep_source_read(evidence->source, at - offset, &lock, sizeof(lock), NULL, NULL) != EP_OK)
		return;
	writer = thread_of_core(evidence, lock.writer);
	if (lock.writer && (!writer || !(lock.readers & RWLOCK_WRITES)))
		return;
	*out = (struct ep_lock_wait){at - offset, writer, "read-write lock"};
}

void ep_lock_wait_find(struct ep_lock_wait *out, const struct ep_evidence *evidence,
		       const struct ep_stack *stack, const struct ep_systemcall *call)
{
	*out = (struct ep_lock_wait){0};
	if (!is_futex_wait(call))
		return;
	if (is_inside(evidence, stack, "pthread_mutex", "lock"))
		find_mutex(out, evidence, call->arguments[0]);
	else if (is_inside(evidence, stack, "pthread_rwlock", "rdlock"))
		find_rwlock(out, evidence, call->arguments[0],
			    offsetof(struct rwlock, phase_futex));
}
