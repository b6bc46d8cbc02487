/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread.c: a thread's place in the table, and its ring. Entries are claimed and rings handed on by
 * single atomic steps, so that threads may start, end and crash at the same time; nothing waits for
 * anybody.
 */
#include "runtime/record/thread.h"

#include <pthread.h>
#include <sys/prctl.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/backing.h"
#include "runtime/fatal/altstack.h"
#include "runtime/fatal/faults.h"
#include "runtime/record/integrity.h"
#include "runtime/facts/jail.h"
#include "runtime/arena/pause.h"
#include "runtime/record/ring.h"
#include "runtime/settings/settings.h"
#include "runtime/record/shortcalls.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/x86_64/local.h"
#include "runtime/x86_64/offsets.h"
#include "runtime/x86_64/tsc.h"

#define KIB           1024ull
#define RING_SMALLEST (16 * KIB)
#define LOOKS         64 /* live entries asked for a sign of life per new thread */
#define ESRCH         3
#define ROUNDS        4
#define LOOSE_RINGS   64

__thread struct ep_tls ep_tls;

static_assert(offsetof(struct ep_tls, cursor) == TLS_CURSOR, "offsets.h");
static_assert(offsetof(struct ep_tls, timing_mask) == TLS_TIMING, "offsets.h");
static_assert(offsetof(struct ep_tls, boundary_mask) == TLS_BOUNDARY, "offsets.h");
static_assert(offsetof(struct ep_tls, last_tsc) == TLS_LAST, "offsets.h");
static_assert(offsetof(struct ep_tls, gate) == TLS_GATE, "offsets.h");
static_assert(offsetof(struct ep_tls, counters) == TLS_COUNTERS, "offsets.h");
static_assert(offsetof(struct ep_tls, counter_limit) == TLS_LIMIT, "offsets.h");

/* The gate of a thread that is never to record. */
const uint32_t ep_shut_for_good = EP_GATE_STOPPED;

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

uint32_t ep_thread_count(void)
{
	uint32_t count, used;

	table(&count);
	used = __atomic_load_n(&last_serial, __ATOMIC_RELAXED);
	return used < count ? used : count;
}

/* ---- rings --------------------------------------------------------------- */

static uint64_t power_of_two_below(uint64_t value)
{
	return value ? 1ull << (63 - __builtin_clzll(value)) : 0;
}

/*
 * Rings get smaller as memory runs out: the last quarter goes in the smallest pieces, what is
 * before it in sixteenths of the rest. With 64 MiB and 1 MiB rings that makes 32 of 1 MiB, about
 * 100 in between, and 1,024 of 16 KiB.
 */
static uint64_t ring_size_wanted(uint32_t serial)
{
	uint64_t free = ep_arena_free(), all = epitaph_root.arena_size;
	uint64_t size = free > all / 4 ? (free - all / 4) / 16 : 0;
	uint64_t smallest =
		ep_settings.ring_size < RING_SMALLEST ? ep_settings.ring_size : RING_SMALLEST;

	if (serial == 1)
		size = all / 2;
	size = power_of_two_below(size);
	if (size > ep_settings.ring_size)
		size = ep_settings.ring_size;
	return size > smallest ? size : smallest;
}

/* By tkill, not tgkill: a clone that shares the memory may be a process of its own. A tid that
 * somebody else has by now counts as alive. */
static bool is_gone(const struct ep_thread *thread)
{
	return ep_syscall2(SYS_tkill, thread->tid, 0) == -ESRCH;
}

/* A live entry whose thread ended unseen (a raw clone, _exit of a thread). */
static void bury(struct ep_thread *thread)
{
	uint32_t live = EP_THREAD_LIVE;

	/* Of a borrowed entry the clone is gone, perhaps not its maker. */
	if (thread->flags & EP_THREAD_BORROWED || !is_gone(thread))
		return;
	thread->end_tsc = thread->start_tsc; /* unknown: the longest dead */
	__atomic_compare_exchange_n(&thread->state, &live, EP_THREAD_DEAD, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
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
	return __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == EP_THREAD_DEAD &&
	       thread->ring_offset &&
	       !(thread->flags & (EP_THREAD_RING_GIVEN | EP_THREAD_WITHOUT_RING));
}

/* The ring of the longest dead thread, at least `size` bytes. */
static struct ep_thread *inherit(uint64_t size)
{
	uint32_t count;
	struct ep_thread *threads = table(&count), *oldest = NULL;
	uint32_t used = ep_thread_count();

	look_for_the_dead(threads, used);
	for (uint32_t i = 0; i < used; i++)
		if (has_ring_to_give(&threads[i]) && threads[i].ring_size >= size &&
		    (!oldest || threads[i].end_tsc < oldest->end_tsc))
			oldest = &threads[i];
	if (!oldest)
		return NULL;
	/* Two threads may have found the same one: the first has it. */
	uint32_t before = __atomic_fetch_or(&oldest->flags, EP_THREAD_RING_GIVEN, __ATOMIC_ACQ_REL);
	return before & EP_THREAD_RING_GIVEN ? NULL : oldest;
}

struct ring {
	uint64_t offset, size; /* offset 0: none */
};

/* Rings whose owners asked for other ones. An offset is LOOSE_BUSY while its entry changes
 * hands. */
#define LOOSE_BUSY 1
static struct ring loose[LOOSE_RINGS];

static struct ring *loose_entry(void)
{
	for (unsigned i = 0; i < LOOSE_RINGS; i++) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&loose[i].offset, &none, LOOSE_BUSY, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &loose[i];
	}
	return NULL;
}

static bool take_loose(uint64_t size, struct ring *ring)
{
	for (unsigned i = 0; i < LOOSE_RINGS; i++) {
		uint64_t offset = __atomic_load_n(&loose[i].offset, __ATOMIC_ACQUIRE);

		*ring = (struct ring){offset, loose[i].size};
		if (offset <= LOOSE_BUSY || ring->size < size)
			continue;
		if (__atomic_compare_exchange_n(&loose[i].offset, &offset, 0, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool ep_thread_unowned_ring(unsigned index, uint64_t *offset, uint64_t *size)
{
	if (index >= LOOSE_RINGS)
		return false;
	*offset = __atomic_load_n(&loose[index].offset, __ATOMIC_ACQUIRE);
	*size = *offset > LOOSE_BUSY ? loose[index].size : 0;
	return true;
}

/* One that a thread has left, at least `size` bytes. */
static bool take_used(uint64_t size, struct ring *ring)
{
	struct ep_thread *dead;

	if (!take_loose(size, ring)) {
		dead = inherit(size);
		if (!dead)
			return false;
		*ring = (struct ring){dead->ring_offset, dead->ring_size};
	}
	__atomic_fetch_add(&ep_arena->rings_reused, 1, __ATOMIC_RELAXED);
	return true;
}

bool ep_thread_inherit(uint64_t *offset, uint64_t *size)
{
	struct ring ring;

	if (!take_used(0, &ring))
		return false;
	*offset = ring.offset;
	*size = ring.size;
	return true;
}

static bool take_new(uint64_t size, struct ring *ring)
{
	*ring = (struct ring){ep_arena_grow(size), size};
	return ring->offset != 0;
}

/* Memory first while there is plenty: the dead then keep their last moments. After that their
 * rings, and what is left of memory last. */
static bool find_ring(uint64_t size, struct ring *ring)
{
	if (ep_arena_free() >= epitaph_root.arena_size / 2 && take_new(size, ring))
		return true;
	return take_used(size, ring) || take_new(size, ring);
}

/* ---- entries ------------------------------------------------------------- */

static bool has_history(const struct ep_thread *thread)
{
	return thread->ring_offset && !(thread->flags & EP_THREAD_RING_GIVEN);
}

/* A full table takes entries back whose ring, and so whose history, is gone. */
static struct ep_thread *recycle(struct ep_thread *threads, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t dead = EP_THREAD_DEAD;

		if (!has_history(&threads[i]) &&
		    __atomic_compare_exchange_n(&threads[i].state, &dead, EP_THREAD_FREE, false,
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

	if (!thread || ep_overwritten() || (!name && ep_jailed()))
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

/* glibc registers a list with the kernel in each thread that it makes. */
static bool made_by_libc(void)
{
	uint64_t head = 0, size;

	return !ep_syscall3(SYS_get_robust_list, 0, (long)&head, (long)&size) && head;
}

static bool libc_registers; /* it is such a libc */

/* A clone that shares its maker's thread-local memory (as a vfork child does) has its first event
 * there before its maker. */
void ep_thread_settle_slow(struct ep_thread *thread)
{
	if (!made_by_libc())
		return;
	thread->tid = (uint32_t)ep_syscall0(SYS_gettid);
	thread->flags |= thread->tid == epitaph_root.pid ? EP_THREAD_MAIN : 0;
	thread->flags &= ~EP_THREAD_BORROWED;
}

static void fill_entry(struct ep_thread *thread, uint32_t serial)
{
	__builtin_memset(thread, 0, sizeof(*thread));
	thread->serial = serial;
	thread->tid = (uint32_t)ep_syscall0(SYS_gettid);
	thread->flags = thread->tid == epitaph_root.pid ? EP_THREAD_MAIN : 0;
	thread->start_tsc = ep_tsc();
	if (!thread->flags && libc_registers && !made_by_libc())
		thread->flags = EP_THREAD_BORROWED;
}

/* ---- the end ------------------------------------------------------------- */

/* glibc calls destructors again, ROUNDS times at the most (PTHREAD_DESTRUCTOR_ITERATIONS), while
 * they set their key anew: the last round comes after all others' that may be traced. */
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
	libc_registers = made_by_libc();
}

/*
 * libc may use vector registers, which at a hook hold the traced function's arguments: they are
 * kept here.
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

	if (!thread || !ep_intact(&ep_tls))
		return;
	ep_faults_leave(&ep_tls);
	ep_tls.gate = &ep_shut_for_good;
	ep_ring_pause_here();
	ep_tls.thread = NULL;
	if (ep_settings.crash_snapshot)
		ep_altstack_end();
	if (!thread->serial) /* lost by a rescue: it says nothing any more */
		return;
	thread->end_tsc = ep_tsc();
	__atomic_store_n(&thread->state, EP_THREAD_DEAD, __ATOMIC_RELEASE);
}

/* The block that it was in has no header any more. */
void ep_thread_lose(void)
{
	struct ep_shortcalls *shortcalls = ep_tls.shortcalls;
	uint64_t block = (ep_tls.cursor - 1) & -(uint64_t)EP_BLOCK_SIZE;

	ep_faults_leave(&ep_tls);
	if (ep_tls.cursor)
		ep_bytes_zero((void *)block, EP_BLOCK_SIZE);
	ep_bytes_zero(ep_tls.thread, sizeof(*ep_tls.thread));
	__builtin_memset(&ep_tls, 0, sizeof(ep_tls));
	ep_tls.shortcalls = shortcalls;
}

/* What a thread that forks had asked for itself. */
static struct {
	uint32_t gate, flags, timing;
	uint64_t ring_size;
} kept;

void ep_thread_reset(void)
{
	struct ep_shortcalls *shortcalls = ep_tls.shortcalls;
	const struct ep_thread *thread = ep_tls.thread;

	__builtin_memset(&kept, 0, sizeof(kept));
	if (thread) {
		kept.gate = thread->gate;
		kept.flags = thread->flags & (EP_THREAD_IGNORED | EP_THREAD_OWN_RING);
		kept.timing = thread->timing;
		kept.ring_size = thread->ring_size;
	}
	__builtin_memset(&ep_tls, 0, sizeof(ep_tls));
	ep_tls.shortcalls = shortcalls;
	ep_shortcalls_reset(&ep_tls);
	ep_faults_reset();
	last_serial = 0;
	__builtin_memset(loose, 0, sizeof(loose));
}

void ep_thread_shared(void)
{
	struct ep_process *facts = ep_arena_section(EP_SECTION_PROCESS, NULL);
	struct ep_thread *thread = ep_tls.thread;

	if (!thread || !ep_tls.cursor)
		return;
	__atomic_fetch_or(&thread->flags, EP_THREAD_TWO_WRITERS, __ATOMIC_RELAXED);
	__atomic_fetch_add(&facts->two_writers, 1, __ATOMIC_RELAXED);
}

void ep_thread_restore(void)
{
	struct ep_thread *thread;

	if (!kept.gate && !kept.flags && !kept.timing)
		return;
	thread = ep_thread_enter();
	if (!thread)
		return;
	thread->gate = kept.gate;
	thread->timing = kept.timing;
	thread->flags |= kept.flags;
	if (kept.flags & EP_THREAD_OWN_RING)
		ep_thread_set_ring(kept.ring_size);
	if (kept.gate)
		ep_tls.pauses = EP_PAUSES_UNKNOWN;
	ep_thread_gate();
}

/* ---- the start ----------------------------------------------------------- */

static void set_gate(const uint32_t *gate)
{
	*(const uint32_t *volatile *)&ep_tls.gate = gate;
}

void ep_thread_gate(void)
{
	const struct ep_thread *thread = ep_tls.thread;
	bool left = ep_faults_leave(&ep_tls);

	/* Whoever has no entry counts in what several threads share. */
	if (!thread && ep_settings.counting)
		set_gate(&ep_arena->gate);
	else if (!thread || thread->flags & (EP_THREAD_IGNORED | EP_THREAD_WITHOUT_RING))
		set_gate(&ep_shut_for_good);
	else if (thread->gate)
		set_gate(&thread->gate);
	else
		set_gate(&ep_arena->gate);
	if (left)
		ep_ring_resume_here();
}

static void start_entry(struct ep_thread *thread, uint32_t serial)
{
	fill_entry(thread, serial);
	ep_tls.thread = thread;
	ep_tls.pauses = ep_pause_count();
	ep_thread_rename(NULL);
	__atomic_store_n(&thread->state, EP_THREAD_LIVE, __ATOMIC_RELEASE);
}

struct ep_thread *ep_thread_enter(void)
{
	uint32_t serial;
	struct ep_thread *thread;

	/* One that is ending, or that a signal handler finds starting, has a gate, shut: it must
	 * not start twice. The handler's calls are counted all the same. */
	if (!ep_cmpxchg_local(
		    (uint64_t *)&ep_tls.gate, 0,
		    (uint64_t)(ep_settings.counting ? &ep_arena->gate : &ep_shut_for_good)))
		return ep_tls.thread;
	thread = ep_jailed() ? NULL : claim_entry(&serial);
	if (thread)
		start_entry(thread, serial);
	else
		__atomic_fetch_add(&ep_arena->threads_untold, 1, __ATOMIC_RELAXED);
	ask_for_end();
	if (ep_settings.crash_snapshot && thread)
		ep_altstack_start();
	ep_thread_gate();
	return thread;
}

/*
 * Where the next block looks for its number is the block before it: here the ring's last one, which
 * has it as long as that takes. The first block is entered now, so that no reader sees the other.
 */
static void continue_in(struct ep_thread *thread, const struct ring *ring)
{
	char *end = (char *)ep_arena + ring->offset + ring->size;
	struct ep_block *last = (struct ep_block *)end - 1;
	const struct ep_block *now =
		(const struct ep_block *)((ep_tls.cursor - 1) & -(uint64_t)EP_BLOCK_SIZE);

	__atomic_store_n(&last->check, 0, __ATOMIC_RELAXED);
	ep_bytes_zero(last, sizeof(*last));
	last->sequence = now->sequence;
	thread->ring_offset = ring->offset;
	thread->ring_size = ring->size;
	thread->ring_first = now->sequence + 1;
	*(volatile uint64_t *)&ep_tls.cursor = (uint64_t)end;
	ep_ring_enter();
	if (ring->size > sizeof(*last))
		last->sequence = 0;
}

static void begin_in(struct ep_thread *thread, const struct ring *ring)
{
	thread->ring_offset = ring->offset;
	thread->ring_size = ring->size;
	/* Nothing came before, so nothing is a long gap after. */
	ep_tls.last_tsc = ep_tsc();
	ep_tls.cursor = (uint64_t)ep_arena + ring->offset;
}

/* From the old ring to the new one; nothing is recorded meanwhile. */
static void change_ring(struct ep_thread *thread, const struct ring *ring, struct ring *left)
{
	struct ring old = {thread->ring_offset, thread->ring_size};

	if (thread->blocks)
		continue_in(thread, ring);
	else
		begin_in(thread, ring);
	left->size = old.size;
	__atomic_store_n(&left->offset, old.offset, __ATOMIC_RELEASE);
}

/* A ring and a place for the one that is left: many that were left serve again rather than that
 * their number grows. */
static bool find_other_ring(uint64_t size, struct ring *ring, struct ring **left)
{
	*left = loose_entry();
	if (*left && find_ring(size, ring))
		return true;
	if (*left) {
		__atomic_store_n(&(*left)->offset, 0, __ATOMIC_RELEASE);
		return false;
	}
	if (!take_loose(size, ring))
		return false;
	*left = loose_entry();
	return *left != NULL;
}

bool ep_thread_set_ring(uint64_t size)
{
	struct ep_thread *thread = ep_tls.thread;
	const uint32_t *gate = ep_tls.gate;
	uint32_t timing = ep_tls.timing_mask, boundary = ep_tls.boundary_mask;
	struct ring ring, *left;
	bool found;

	if (ep_settings.counting || (thread->ring_offset && thread->ring_size == size))
		return true;
	/* A signal handler that is traced meanwhile goes unrecorded. */
	set_gate(&ep_shut_for_good);
	ep_ring_pause_here();
	found = find_other_ring(size, &ring, &left);
	/* Entering a block chooses its timing where this is not 0. */
	*(volatile uint32_t *)&ep_tls.boundary_mask = boundary;
	if (found)
		change_ring(thread, &ring, left);
	else
		*(volatile uint32_t *)&ep_tls.timing_mask = timing;
	set_gate(gate);
	return found;
}

/* The file system may have room for less. */
static bool find_any_ring(uint64_t size, struct ring *ring)
{
	bool found = find_ring(size, ring);

	while (!found && ep_backing_on() && size > RING_SMALLEST) {
		size /= 2;
		found = find_ring(size, ring);
	}
	return found || take_used(0, ring);
}

static void give_ring(struct ep_thread *thread)
{
	struct ring ring;

	if (thread->ring_offset)
		return;
	if (find_any_ring(ring_size_wanted(thread->serial), &ring)) {
		begin_in(thread, &ring);
		return;
	}
	thread->flags |= EP_THREAD_WITHOUT_RING;
	__atomic_fetch_add(&ep_arena->threads_without_ring, 1, __ATOMIC_RELAXED);
}

void ep_thread_start(void)
{
	struct ep_thread *thread = ep_thread_enter();

	if (!thread)
		return;
	if (*(volatile const uint32_t *)ep_tls.gate) {
		ep_tls.pauses = EP_PAUSES_UNKNOWN;
		return;
	}
	set_gate(&ep_shut_for_good);
	give_ring(thread);
	ep_thread_gate();
}
