/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c: entries are claimed by single atomic steps; nothing waits for anybody. */
#include "runtime/record/table.h"

#include <errno.h>

#include "runtime/arena/integrity.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"

static uint32_t last_serial;

struct ep_thread *ep_threads(uint32_t *count)
{
	uint64_t size;
	struct ep_thread *threads = ep_arena_section(EP_SECTION_THREADS, &size);

	*count = (uint32_t)(size / sizeof(*threads));
	return threads;
}

uint32_t ep_thread_count(void)
{
	uint32_t count, used;

	ep_threads(&count);
	used = __atomic_load_n(&last_serial, __ATOMIC_RELAXED);
	return used < count ? used : count;
}

/* By tkill, not tgkill: a clone that shares the memory may be a process of its own. A tid that
 * somebody else has by now counts as alive. */
static bool is_gone(const struct ep_thread *thread)
{
	return ep_syscall2(SYS_tkill, thread->tid, 0) == -ESRCH;
}

static bool has_history(const struct ep_thread *thread)
{
	return thread->ring_offset && __atomic_load_n(&thread->ring_size, __ATOMIC_ACQUIRE);
}

/* A live entry whose thread ended unseen (a raw clone, _exit of a thread). True: it has a history,
 * and so nobody else gets the entry. */
static bool bury(struct ep_thread *thread)
{
	uint32_t live = EP_THREAD_LIVE;
	bool history = has_history(thread);

	/* Of a borrowed entry the clone is gone, perhaps not its maker. */
	if (thread->flags & EP_THREAD_BORROWED || !is_gone(thread))
		return false;
	thread->end_tsc = thread->start_tsc; /* unknown: the longest dead */
	return __atomic_compare_exchange_n(&thread->state, &live, EP_THREAD_DEAD, false,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED) &&
	       history;
}

struct ep_thread *ep_threads_bury(unsigned looks)
{
	static uint32_t next;
	uint32_t count, used = ep_thread_count();
	struct ep_thread *threads = ep_threads(&count);

	/* It asks the kernel. */
	if (ep_jailed())
		return NULL;
	for (uint32_t i = 0; i < looks && i < used; i++) {
		uint32_t at = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
		struct ep_thread *thread = &threads[at % used];

		if (thread->state == EP_THREAD_LIVE && bury(thread))
			return thread;
	}
	return NULL;
}

/* A full table takes entries back whose history is gone: from where it found the last one, for the
 * oldest go first. */
static struct ep_thread *recycle(struct ep_thread *threads, uint32_t count)
{
	static uint32_t next;
	uint32_t from = __atomic_load_n(&next, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t dead = EP_THREAD_DEAD, at = (from + i) % count;

		if (has_history(&threads[at]) ||
		    !__atomic_compare_exchange_n(&threads[at].state, &dead, EP_THREAD_FREE, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&next, at + 1, __ATOMIC_RELAXED);
		return &threads[at];
	}
	return NULL;
}

struct ep_thread *ep_threads_claim(uint32_t *serial)
{
	uint32_t count;
	struct ep_thread *threads = ep_threads(&count);

	*serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
	if (*serial <= count)
		return &threads[*serial - 1];
	return recycle(threads, count);
}

void ep_threads_reset(void)
{
	last_serial = 0;
}
