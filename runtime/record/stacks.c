/* SPDX-License-Identifier: BSD-2-Clause */
/* stacks.c: the bounds of stacks, and tasks that share a thread's memory. */
#include "runtime/record/stacks.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/files.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/record/asks.h"

#define PAGE    UINT64_C(4096)
#define AHEAD   (16 * PAGE)           /* below the lowest that is known to be its own */
#define FARTHER (UINT64_C(64) << 20)  /* no single frame is as large */
#define LARGEST (UINT64_C(1) << 30)   /* no thread's stack is */
#define MAIN    (UINT64_C(128) << 20) /* kept free below the main thread's: mmap_base of Linux */
#define SELDOM  16                    /* blocks between looks that cost a system call */

uint32_t ep_stack_vforks;

/* Tasks that were found to share a thread's memory. */
#define SHARERS  8
#define TAKEN    UINT32_MAX       /* tid: being filled */
#define EXPECTED (UINT32_MAX - 1) /* tid: not known yet */
#define PATIENCE 64               /* blocks of the thread until it is expected no more */

static struct {
	uint32_t tid;    /* 0: free */
	uint32_t timing; /* what the thread had asked for */
	struct ep_thread *thread;
	uint64_t high;  /* as it was */
	uint64_t until; /* EXPECTED: the thread's blocks then */
} sharers[SHARERS];
static uint32_t sharing; /* of them, not free */

static void look_nowhere(struct ep_thread *thread)
{
	thread->stack_low = 0;
	thread->stack_high = UINT64_MAX;
}

void ep_stack_is_marked(struct ep_tls *tls)
{
	if (tls->thread && tls->cursor && !ep_stack_is_shared_by_caller(tls) &&
	    tls->thread->stack_high)
		look_nowhere(tls->thread);
}

void ep_stack_begin(struct ep_thread *thread)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0), top;

	/* glibc puts a thread's control block at the upper end of its stack, and the psABI its
	 * address at the beginning of it. */
	if (thread->flags & EP_THREAD_MAIN)
		top = ep_auxv(AT_RANDOM);
	else
		__asm__("movq %%fs:0, %0" : "=r"(top));
	look_nowhere(thread);
	if (top < here || top - here > LARGEST)
		return;
	thread->stack_high = top;
	thread->stack_low = thread->flags & EP_THREAD_MAIN ? top - MAIN : (here - AHEAD) & -PAGE;
}

/* The stack has grown down to `sp`: there is no hole between, as below each stack. */
static bool has_grown(struct ep_thread *thread, uint64_t sp)
{
	uint64_t low = thread->stack_low;
	char byte;

	if (sp >= low || low - sp > FARTHER)
		return false;
	while (low > sp - AHEAD && ep_memory_read(low - PAGE, &byte, 1))
		low -= PAGE;
	if (low > sp)
		return false;
	thread->stack_low = low;
	return true;
}

void ep_stacks_reset(void)
{
	__builtin_memset(sharers, 0, sizeof(sharers));
	sharing = 0;
}

/* A handler of a signal runs there, on a stack of the program's. */
static bool is_alternate(void)
{
	stack_t now;

	return ep_syscall2(SYS_sigaltstack, 0, (long)&now) == 0 && now.ss_flags & SS_ONSTACK;
}

/* Before its owner's next record: that goes on as it is where it is not on the same stack, else by
 * way of C. */
static void add_sharer(struct ep_tls *tls, uint32_t tid, bool outside)
{
	struct ep_thread *thread = tls->thread;

	for (unsigned i = 0; i < SHARERS; i++) {
		uint32_t nobody = 0;

		if (!__atomic_compare_exchange_n(&sharers[i].tid, &nobody, TAKEN, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		sharers[i].thread = thread;
		sharers[i].timing = thread->timing;
		sharers[i].high = thread->stack_high;
		sharers[i].until = thread->blocks + PATIENCE;
		__atomic_fetch_add(&sharing, 1, __ATOMIC_RELAXED);
		thread->timing = 1;
		if (!outside)
			thread->stack_high = 0;
		__atomic_store_n(&sharers[i].tid, tid, __ATOMIC_RELEASE);
		if (tls->boundary_mask)
			ep_asks_set_timing(tls, 0);
		return;
	}
}

static void note_sharer(struct ep_tls *tls, uint32_t tid, bool outside)
{
	for (unsigned i = 0; i < SHARERS; i++) {
		uint32_t expected = EXPECTED;

		if (__atomic_load_n(&sharers[i].tid, __ATOMIC_ACQUIRE) == tid)
			return;
		if (sharers[i].thread == tls->thread &&
		    __atomic_compare_exchange_n(&sharers[i].tid, &expected, tid, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_fetch_or(&tls->thread->flags, EP_THREAD_SHARED, __ATOMIC_RELAXED);
			return;
		}
	}
	__atomic_fetch_or(&tls->thread->flags, EP_THREAD_SHARED, __ATOMIC_RELAXED);
	add_sharer(tls, tid, outside);
}

void ep_stack_expect(struct ep_tls *tls, uint64_t sp)
{
	if (tls->thread && tls->cursor && !ep_jailed() && tls->thread->stack_high &&
	    tls->thread->stack_high != UINT64_MAX && !ep_stack_is_outside(tls, sp))
		add_sharer(tls, EXPECTED, false);
}

/* By the owner, once in a block: the thread is its own again when they are gone. */
static void look_at_sharers(struct ep_thread *thread)
{
	for (unsigned i = 0; i < SHARERS; i++) {
		uint32_t tid = __atomic_load_n(&sharers[i].tid, __ATOMIC_ACQUIRE);

		if (!tid || tid == TAKEN || sharers[i].thread != thread ||
		    (tid == EXPECTED ? thread->blocks < sharers[i].until
				     : ep_syscall2(SYS_tkill, tid, 0) != -ESRCH) ||
		    !__atomic_compare_exchange_n(&sharers[i].tid, &tid, TAKEN, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		thread->timing = sharers[i].timing;
		if (!thread->stack_high)
			thread->stack_high = sharers[i].high;
		__atomic_fetch_sub(&sharing, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&sharers[i].tid, 0, __ATOMIC_RELEASE);
	}
}

bool ep_stack_is_owned_slow(struct ep_tls *tls, uint64_t sp, bool look)
{
	struct ep_thread *thread = tls->thread;
	bool outside = ep_stack_is_outside(tls, sp);
	uint32_t tid;

	if (ep_jailed() || (!outside && (thread->blocks % SELDOM || ep_stack_vforks) &&
			    !__atomic_load_n(&sharing, __ATOMIC_RELAXED)))
		return true;
	tid = (uint32_t)ep_syscall0(SYS_gettid);
	if (tid != thread->tid) {
		note_sharer(tls, tid, outside);
		return false;
	}
	if (look && __atomic_load_n(&sharing, __ATOMIC_RELAXED))
		look_at_sharers(thread);
	if (!ep_stack_is_outside(tls, sp) || !thread->stack_high || has_grown(thread, sp) ||
	    is_alternate())
		return true;
	__atomic_fetch_or(&thread->flags, EP_THREAD_OTHER_STACKS, __ATOMIC_RELAXED);
	look_nowhere(thread);
	return true;
}

bool ep_stack_is_shared_by_caller(const struct ep_tls *tls)
{
	return __atomic_load_n(&sharing, __ATOMIC_RELAXED) && tls->thread && !ep_jailed() &&
	       (uint32_t)ep_syscall0(SYS_gettid) != tls->thread->tid && !ep_stack_vforks;
}
