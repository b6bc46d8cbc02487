/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.c: a thread gets an entry of the table and a ring, and leaves them. */
#include "runtime/record/thread.h"

#include <pthread.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/pause.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/record/altstack.h"
#include "runtime/record/asks.h"
#include "runtime/record/faults.h"
#include "runtime/record/intact.h"
#include "runtime/record/ring.h"
#include "runtime/record/rings.h"
#include "runtime/record/shortcalls.h"
#include "runtime/record/stacks.h"
#include "runtime/record/table.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/local.h"
#include "runtime/x86_64/tsc.h"

#define ROUNDS 4

static pthread_key_t end_key;
static bool end_key_made;

/* ---- entries ------------------------------------------------------------- */

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
	ep_stack_begin(thread);
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
	else if (ep_asks_caller() && made_by_libc())
		thread->flags |= EP_THREAD_ASKED;
	ep_stack_begin(thread);
}

/* ---- the end ------------------------------------------------------------- */

/* Its blocks may be reused from then on. */
static void end(void)
{
	struct ep_thread *thread = ep_tls.thread;

	if (!thread || !ep_intact(&ep_tls))
		return;
	ep_faults_leave(&ep_tls);
	ep_tls.gate = &ep_shut_for_good;
	ep_ring_pause_here();
	/* A block's boundary, so that each hook looks at the gate, whatever is in rseq_cs. */
	ep_tls.cursor &= -(uint64_t)EP_BLOCK_SIZE;
	ep_tls.thread = NULL;
	if (ep_settings.crash_snapshot && ep_jail_permits(EP_JAIL_NO_SNAPSHOT))
		ep_altstack_end();
	if (!thread->serial) /* lost by a rescue: it says nothing any more */
		return;
	thread->end_tsc = ep_tsc();
	/* Before the state: an entry that is dead and has no history is anybody's. */
	if (!ep_settings.counting)
		ep_rings_leave(ep_rings_last(thread));
	__atomic_store_n(&thread->state, EP_THREAD_DEAD, __ATOMIC_RELEASE);
}

/* glibc calls destructors again, ROUNDS times at the most (PTHREAD_DESTRUCTOR_ITERATIONS), while
 * they set their key anew: the last round comes after all others' that may be traced. */
static void end_of_thread(void *rounds)
{
	uintptr_t round = (uintptr_t)rounds;

	if (round < ROUNDS)
		pthread_setspecific(end_key, (void *)(round + 1));
	else
		end();
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

/* The block that it was in has no header any more. */
void ep_thread_lose(void)
{
	struct ep_shortcalls *shortcalls = ep_settings.min_duration ? ep_tls.shortcalls : NULL;
	uint64_t block = (ep_tls.cursor - 1) & -(uint64_t)EP_BLOCK_SIZE;

	ep_faults_leave(&ep_tls);
	if (ep_tls.cursor)
		ep_bytes_zero((void *)block, EP_BLOCK_SIZE);
	/* At a block's end it may be one that it was to begin with. */
	if (ep_tls.cursor % EP_BLOCK_SIZE)
		ep_rings_leave((const struct ep_block *)block);
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
	struct ep_shortcalls *shortcalls = ep_settings.min_duration ? ep_tls.shortcalls : NULL;
	const struct ep_thread *thread = ep_tls.thread;

	__builtin_memset(&kept, 0, sizeof(kept));
	if (thread) {
		kept.gate = thread->gate;
		kept.flags = thread->flags & (EP_THREAD_IGNORED | EP_THREAD_OWN_RING);
		kept.timing = thread->timing;
		kept.ring_size = UINT64_C(1)
				 << ((thread->flags & EP_THREAD_RING_MASK) >> EP_THREAD_RING_SHIFT);
	}
	__builtin_memset(&ep_tls, 0, sizeof(ep_tls));
	ep_tls.shortcalls = shortcalls;
	ep_shortcalls_reset(&ep_tls);
	ep_faults_reset();
	ep_stacks_reset();
	ep_threads_reset();
	ep_rings_reset();
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
	thread->flags |= kept.flags & EP_THREAD_IGNORED;
	if (kept.flags & EP_THREAD_OWN_RING)
		ep_thread_set_ring(kept.ring_size);
	if (kept.gate)
		ep_tls.pauses = EP_PAUSES_UNKNOWN;
	ep_thread_gate();
}

/* ---- the start ----------------------------------------------------------- */

void ep_thread_gate(void)
{
	const struct ep_thread *thread = ep_tls.thread;
	bool left = ep_faults_leave(&ep_tls);

	/* Whoever has no entry counts in what several threads share. */
	if (!thread && ep_settings.counting)
		ep_tls_set_gate(&ep_arena->gate);
	else if (!thread || thread->flags & (EP_THREAD_IGNORED | EP_THREAD_WITHOUT_RING))
		ep_tls_set_gate(&ep_shut_for_good);
	else if (thread->gate)
		ep_tls_set_gate(&thread->gate);
	else
		ep_tls_set_gate(&ep_arena->gate);
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
	thread = ep_jailed() ? NULL : ep_threads_claim(&serial);
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

/* Nothing came before, so nothing is a long gap after. */
static void begin(const struct ep_thread *thread)
{
	ep_tls.last_tsc = ep_tsc();
	ep_tls.cursor = (uint64_t)ep_arena + thread->ring_offset;
}

static void note_size(struct ep_thread *thread, uint64_t size)
{
	uint32_t shift = (uint32_t)__builtin_ctzll(size);

	thread->flags = (thread->flags & ~EP_THREAD_RING_MASK) | EP_THREAD_OWN_RING |
			shift << EP_THREAD_RING_SHIFT;
	thread->ring_first = 1;
}

bool ep_thread_set_ring(uint64_t size)
{
	struct ep_thread *thread = ep_tls.thread;
	const uint32_t *gate = ep_tls.gate;
	uint32_t timing = ep_tls.timing_mask, boundary = ep_tls.boundary_mask;
	const struct ep_block *now;
	bool begun = thread->ring_offset != 0, found;

	if (ep_settings.counting)
		return true;
	/* A signal handler that is traced meanwhile goes unrecorded; before, it may have entered
	 * blocks. */
	ep_tls_set_gate(&ep_shut_for_good);
	ep_ring_pause_here();
	now = ep_ring_block(&ep_tls);
	found = ep_rings_resize(thread, now ? now : ep_rings_last(thread), size);
	if (found)
		note_size(thread, size);
	if (found && !begun)
		begin(thread);
	*(volatile uint32_t *)&ep_tls.boundary_mask = boundary;
	ep_asks_set_timing(&ep_tls, timing);
	ep_tls_set_gate(gate);
	return found;
}

static void give_ring(struct ep_thread *thread)
{
	if (thread->ring_offset)
		return;
	if (ep_rings_begin(thread)) {
		begin(thread);
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
	ep_tls_set_gate(&ep_shut_for_good);
	give_ring(thread);
	ep_thread_gate();
}

void ep_thread_ignore(void)
{
	struct ep_thread *thread = ep_arena && !ep_arena_forked() ? ep_thread_enter() : NULL;

	if (!thread) {
		ep_tls_set_gate(&ep_shut_for_good);
		return;
	}
	__atomic_fetch_or(&thread->flags, EP_THREAD_IGNORED, __ATOMIC_RELAXED);
	ep_thread_gate();
	ep_ring_pause_here();
}

bool ep_thread_records(void)
{
	if (!ep_intact(&ep_tls) || ep_arena_forked())
		return false;
	if (!ep_tls.gate || (!ep_tls.cursor && !*ep_tls.gate))
		ep_thread_start();
	return ep_ring_recording();
}
