/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread.c: a thread's place in the table, and its ring. Entries are claimed
 * and rings handed on by single atomic steps, so that threads may start, end
 * and crash at the same time; nothing waits for anybody.
 */
#include "runtime/thread.h"

#include <pthread.h>
#include <sys/prctl.h>

#include "runtime/arena.h"
#include "runtime/ring.h"
#include "runtime/settings.h"
#include "runtime/syscalls.h"
#include "runtime/x86_64/offsets.h"
#include "runtime/x86_64/tsc.h"

#define KIB           1024ull
#define RING_SMALLEST (16 * KIB)
#define LOOKS         64 /* live entries asked for a sign of life per new thread */
#define ESRCH         3
#define ROUNDS        4

__thread struct ep_tls ep_tls;

static_assert(offsetof(struct ep_tls, cursor) == TLS_CURSOR, "offsets.h");
static_assert(offsetof(struct ep_tls, timing_mask) == TLS_TIMING, "offsets.h");
static_assert(offsetof(struct ep_tls, boundary_mask) == TLS_BOUNDARY,
	      "offsets.h");
static_assert(offsetof(struct ep_tls, last_tsc) == TLS_LAST, "offsets.h");
static_assert(offsetof(struct ep_tls, gate) == TLS_GATE, "offsets.h");

/* The gate of a thread that is never to record. */
static const uint32_t shut_for_good = EP_GATE_STOPPED;

static uint32_t last_serial;
static pthread_key_t end_key;
static bool end_key_made;

static struct ep_thread *table(uint32_t *count)
{
	uint64_t size;
	struct ep_thread *threads = ep_arena_section(EP_SECTION_THREADS, &size);

	*count = (uint32_t)(size / sizeof(*threads));
	return threads;
}

/* ---- rings --------------------------------------------------------------- */

static uint64_t power_of_two_below(uint64_t value)
{
	return value ? 1ull << (63 - __builtin_clzll(value)) : 0;
}

/*
 * Rings get smaller as memory runs out: the last quarter goes in the smallest
 * pieces, what is before it in sixteenths of the rest. With 64 MiB and 1 MiB
 * rings that makes 32 of 1 MiB, about 100 in between, and 1,024 of 16 KiB.
 */
static uint64_t ring_size_wanted(uint32_t serial)
{
	uint64_t free = ep_arena_free(), all = epitaph_root.arena_size;
	uint64_t size = free > all / 4 ? (free - all / 4) / 16 : 0;
	uint64_t smallest = ep_settings.ring_size < RING_SMALLEST
				    ? ep_settings.ring_size
				    : RING_SMALLEST;

	if (serial == 1)
		size = all / 2;
	size = power_of_two_below(size);
	if (size > ep_settings.ring_size)
		size = ep_settings.ring_size;
	return size > smallest ? size : smallest;
}

/* By tkill, not tgkill: a clone that shares the memory may be a process of its
 * own. A tid that somebody else has by now counts as alive. */
static bool is_gone(const struct ep_thread *thread)
{
	return ep_syscall2(SYS_tkill, thread->tid, 0) == -ESRCH;
}

/* A live entry whose thread ended unseen (a raw clone, _exit of a thread). */
static void bury(struct ep_thread *thread)
{
	uint32_t live = EP_THREAD_LIVE;

	if (!is_gone(thread))
		return;
	thread->end_tsc = thread->start_tsc; /* unknown: the longest dead */
	__atomic_compare_exchange_n(&thread->state, &live, EP_THREAD_DEAD,
				    false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void look_for_the_dead(struct ep_thread *threads, uint32_t used)
{
	static uint32_t next;

	for (uint32_t i = 0; i < LOOKS && i < used; i++) {
		uint32_t at = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
		struct ep_thread *thread = &threads[at % used];

		if (thread->state == EP_THREAD_LIVE)
			bury(thread);
	}
}

static bool has_ring_to_give(const struct ep_thread *thread)
{
	return __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) ==
		       EP_THREAD_DEAD &&
	       !(thread->flags &
		 (EP_THREAD_RING_GIVEN | EP_THREAD_WITHOUT_RING));
}

/* The ring of the longest dead thread, at least `size` bytes. */
static struct ep_thread *inherit(uint64_t size)
{
	uint32_t count;
	struct ep_thread *threads = table(&count), *oldest = NULL;
	uint32_t used = last_serial < count ? last_serial : count;

	look_for_the_dead(threads, used);
	for (uint32_t i = 0; i < used; i++)
		if (has_ring_to_give(&threads[i]) &&
		    threads[i].ring_size >= size &&
		    (!oldest || threads[i].end_tsc < oldest->end_tsc))
			oldest = &threads[i];
	if (!oldest)
		return NULL;
	/* Two threads may have found the same one: the first has it. */
	uint32_t before = __atomic_fetch_or(
		&oldest->flags, EP_THREAD_RING_GIVEN, __ATOMIC_ACQ_REL);
	return before & EP_THREAD_RING_GIVEN ? NULL : oldest;
}

/* Memory first while there is plenty: the dead then keep their last moments.
 * After that their rings, and what is left of memory last. */
static void find_ring(struct ep_thread *thread)
{
	uint64_t size = ring_size_wanted(thread->serial), at = 0;
	struct ep_thread *dead = NULL;

	if (ep_arena_free() >= epitaph_root.arena_size / 2)
		at = ep_arena_grow(size);
	if (!at)
		dead = inherit(size);
	if (!at && !dead)
		at = ep_arena_grow(size);
	if (!at && !dead)
		dead = inherit(0);
	if (dead) {
		at = dead->ring_offset;
		size = dead->ring_size;
		__atomic_fetch_add(&ep_arena->rings_reused, 1,
				   __ATOMIC_RELAXED);
	}
	thread->ring_offset = at;
	thread->ring_size = at ? size : 0;
}

/* ---- entries ------------------------------------------------------------- */

/* A full table takes entries back whose ring, and so whose history, is gone. */
static struct ep_thread *recycle(struct ep_thread *threads, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t dead = EP_THREAD_DEAD;

		if ((threads[i].flags &
		     (EP_THREAD_RING_GIVEN | EP_THREAD_WITHOUT_RING)) &&
		    __atomic_compare_exchange_n(
			    &threads[i].state, &dead, EP_THREAD_FREE, false,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &threads[i];
	}
	return NULL;
}

static struct ep_thread *claim_entry(uint32_t *serial)
{
	uint32_t count;
	struct ep_thread *threads = table(&count);

	*serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
	if (*serial <= count)
		return &threads[*serial - 1];
	return recycle(threads, count);
}

void ep_thread_rename(const char *name)
{
	struct ep_thread *thread = ep_tls.thread;
	char taken[16] = "";

	if (!thread)
		return;
	if (!name) {
		if (ep_syscall2(SYS_prctl, PR_GET_NAME, (long)taken) != 0)
			return;
		name = taken;
	}
	for (unsigned i = 0; i < sizeof(thread->name) - 1; i++) {
		thread->name[i] = *name;
		name += *name != 0;
	}
}

static void fill_entry(struct ep_thread *thread, uint32_t serial)
{
	__builtin_memset(thread, 0, sizeof(*thread));
	thread->serial = serial;
	thread->tid = (uint32_t)ep_syscall0(SYS_gettid);
	thread->flags = thread->tid == epitaph_root.pid ? EP_THREAD_MAIN : 0;
	thread->start_tsc = ep_tsc();
}

/* ---- the end ------------------------------------------------------------- */

/* glibc calls destructors again, ROUNDS times at the most
 * (PTHREAD_DESTRUCTOR_ITERATIONS), while they set their key anew: the last
 * round comes after all others' that may be traced. */
static void end_of_thread(void *rounds)
{
	uintptr_t round = (uintptr_t)rounds;

	if (round < ROUNDS)
		pthread_setspecific(end_key, (void *)(round + 1));
	else
		ep_thread_end();
}

__attribute__((constructor(102))) static void make_end_key(void)
{
	end_key_made = pthread_key_create(&end_key, end_of_thread) == 0;
}

/*
 * libc may use vector registers, which at a hook hold the traced function's
 * arguments: they are kept here.
 */
static void ask_for_end(void)
{
	struct {
		uint8_t bytes[512];
	} state __attribute__((aligned(16)));

	if (!end_key_made)
		return;
	__asm__ volatile("fxsave64 %0" : "=m"(state));
	pthread_setspecific(end_key, (void *)1);
	__asm__ volatile("fxrstor64 %0" : : "m"(state));
}

void ep_thread_end(void)
{
	struct ep_thread *thread = ep_tls.thread;

	if (!thread)
		return;
	ep_tls.gate = &shut_for_good;
	ep_ring_pause_here();
	ep_tls.thread = NULL;
	thread->end_tsc = ep_tsc();
	__atomic_store_n(&thread->state, EP_THREAD_DEAD, __ATOMIC_RELEASE);
}

void ep_thread_reset(void)
{
	struct ep_shortcalls *kept = ep_tls.shortcalls;

	__builtin_memset(&ep_tls, 0, sizeof(ep_tls));
	ep_tls.shortcalls = kept;
	last_serial = 0;
}

/* ---- the start ----------------------------------------------------------- */

static void start_entry(struct ep_thread *thread, uint32_t serial)
{
	fill_entry(thread, serial);
	find_ring(thread);
	ep_tls.thread = thread;
	ep_thread_rename(NULL);
	if (thread->ring_offset) {
		ep_tls.cursor = (uint64_t)ep_arena + thread->ring_offset;
		ep_tls.pauses = ep_arena->pauses;
	} else {
		thread->flags |= EP_THREAD_WITHOUT_RING;
		__atomic_fetch_add(&ep_arena->threads_without_ring, 1,
				   __ATOMIC_RELAXED);
	}
	__atomic_store_n(&thread->state, EP_THREAD_LIVE, __ATOMIC_RELEASE);
}

void ep_thread_start(void)
{
	uint32_t serial;
	struct ep_thread *thread;

	/* A signal handler that is traced meanwhile goes unrecorded: the
	 * thread must not start twice. */
	*(const uint32_t *volatile *)&ep_tls.gate = &shut_for_good;
	thread = claim_entry(&serial);
	if (thread)
		start_entry(thread, serial);
	else
		__atomic_fetch_add(&ep_arena->threads_untold, 1,
				   __ATOMIC_RELAXED);
	ask_for_end();
	if (thread && thread->ring_offset)
		*(const uint32_t *volatile *)&ep_tls.gate = &ep_arena->gate;
}
