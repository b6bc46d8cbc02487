/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rescue.c: copies the arena to private memory and moves that into its place by one mremap, while
 * other threads go on writing. What a thread changed in between is seen by a second look at the
 * file's pages: blocks that were entered since lose their check word, so that no record is ever
 * taken for part of another block.
 */
#include "runtime/arena/rescue.h"

#include <sys/mman.h>

#include "runtime/arena/backing.h"
#include "runtime/arena/integrity.h"
#include "runtime/arena/root.h"
#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

#define PAGE   UINT64_C(4096)
#define PIECE  (UINT64_C(64) << 10)
#define YIELDS 1000

static struct ep_arena spare;       /* the first page, for when it is lost */
static struct ep_sched spare_sched; /* and the head of the scheduling events */
static uint32_t busy, facts_lost, done;
static uint32_t growing; /* threads between hold and release */

void ep_rescue_prepare(void)
{
	ep_bytes_copy(&spare, ep_arena, sizeof spare);
	ep_truth.opened = ep_arena->committed;
	done = 0;
}

void ep_rescue_keep_sched(const struct ep_sched *head)
{
	ep_bytes_copy(&spare_sched, head, sizeof spare_sched);
}

void ep_rescue_reset(void)
{
	busy = facts_lost = growing = 0;
}

void ep_rescue_grown(uint64_t committed)
{
	uint64_t before = __atomic_load_n(&ep_truth.opened, __ATOMIC_RELAXED);

	while (before < committed &&
	       !__atomic_compare_exchange_n(&ep_truth.opened, &before, committed, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

bool ep_rescue_runs(void)
{
	return __atomic_load_n(&busy, __ATOMIC_RELAXED);
}

void ep_rescue_hold(void)
{
	for (;;) {
		__atomic_fetch_add(&growing, 1, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&busy, __ATOMIC_SEQ_CST))
			return;
		__atomic_fetch_sub(&growing, 1, __ATOMIC_SEQ_CST);
		ep_syscall0(SYS_sched_yield);
	}
}

void ep_rescue_release(void)
{
	__atomic_fetch_sub(&growing, 1, __ATOMIC_SEQ_CST);
}

/* It may be the caller's own that has touched the arena's first page: then no waiting helps, and it
 * goes on with what it finds. */
static void wait_for_growing(void)
{
	for (int i = 0; i < YIELDS && __atomic_load_n(&growing, __ATOMIC_SEQ_CST); i++)
		ep_syscall0(SYS_sched_yield);
}

bool ep_rescue_keep_out(void)
{
	for (int i = 0; __atomic_exchange_n(&busy, 1, __ATOMIC_SEQ_CST); i++) {
		if (i == YIELDS)
			return false;
		ep_syscall0(SYS_sched_yield);
	}
	wait_for_growing();
	if (!__atomic_load_n(&growing, __ATOMIC_SEQ_CST))
		return true;
	ep_rescue_let_in();
	return false;
}

void ep_rescue_let_in(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

bool ep_rescue_happened(void)
{
	return done || ep_backing_on();
}

bool ep_rescue_lost_facts(void)
{
	return __atomic_load_n(&facts_lost, __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&facts_lost, 0, __ATOMIC_ACQ_REL);
}

/* By the kernel, which tells of a page that is gone instead of a signal. */
static void copy(uint64_t to, uint64_t from, uint64_t size)
{
	for (uint64_t at = 0; at < size; at += PIECE) {
		uint64_t piece = size - at < PIECE ? size - at : PIECE;

		if (ep_memory_read(from + at, (void *)(to + at), piece))
			continue;
		for (uint64_t page = at; page < at + piece; page += PAGE)
			if (!ep_memory_read(from + page, (void *)(to + page), PAGE))
				ep_bytes_zero((void *)(to + page), PAGE);
	}
}

/* NULL: there is none. */
static void *section_of(struct ep_arena *arena, uint32_t type)
{
	for (uint32_t i = 0; i < EP_SECTION_MAX; i++)
		if (arena->sections[i].type == type)
			return (char *)arena + arena->sections[i].offset;
	return NULL;
}

static bool lacks_facts(struct ep_arena *arena)
{
	const struct ep_process *process = section_of(arena, EP_SECTION_PROCESS);
	const struct ep_clock *clock = section_of(arena, EP_SECTION_CLOCK);
	const struct ep_modules *modules = section_of(arena, EP_SECTION_MODULES);

	return !process->pid || !clock->taken || !modules->capacity;
}

/* What must be right before anybody looks at the copy. */
static void complete(struct ep_arena *arena)
{
	struct ep_sched *sched;

	if (!ep_bytes_equal(arena->root.magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE) ||
	    !ep_root_crc_holds(&arena->root)) {
		ep_bytes_copy(arena, &spare, sizeof spare);
		arena->committed = ep_truth.opened;
	}
	sched = section_of(arena, EP_SECTION_SCHED);
	if (sched && !sched->segment_size)
		ep_bytes_copy(sched, &spare_sched, sizeof spare_sched);
	facts_lost = lacks_facts(arena);
}

/* Blocks that were entered after they had been copied. `twin` shows the file's pages still. */
static void drop_stale_blocks(uint64_t twin)
{
	uint64_t rings = (uint64_t)ep_arena_section(EP_SECTION_RINGS, NULL) - (uint64_t)ep_arena;

	for (uint64_t at = rings; at < ep_truth.opened; at += EP_BLOCK_SIZE) {
		struct ep_block *block = (struct ep_block *)((uint64_t)ep_arena + at);
		uint64_t check = block->check, now;

		if (check &&
		    ep_memory_read(twin + at + offsetof(struct ep_block, check), &now,
				   sizeof now) &&
		    now != check)
			__atomic_compare_exchange_n(&block->check, &check, 0, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

static bool failed(long result)
{
	return ep_syscall_failed(result);
}

/* Private memory in place of the rest, which nobody has touched. */
static void replace_rest(void)
{
	uint64_t rest = epitaph_root.arena_size - ep_truth.opened;

	if (rest)
		ep_syscall6(SYS_mmap, (long)ep_arena + (long)ep_truth.opened, (long)rest, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static bool replace(void)
{
	uint64_t arena = (uint64_t)ep_arena;
	long fresh = ep_syscall6(SYS_mmap, 0, (long)ep_truth.opened, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Of a shared mapping, an old size of 0 makes another one of the same pages (man 2
	 * mremap). */
	long twin =
		ep_syscall5(SYS_mremap, (long)arena, 0, (long)ep_truth.opened, MREMAP_MAYMOVE, 0);

	if (failed(fresh))
		return false;
	copy((uint64_t)fresh, failed(twin) ? arena : (uint64_t)twin, ep_truth.opened);
	complete((struct ep_arena *)fresh);
	if (failed(ep_syscall5(SYS_mremap, fresh, (long)ep_truth.opened, (long)ep_truth.opened,
			       MREMAP_MAYMOVE | MREMAP_FIXED, (long)arena)))
		return false;
	replace_rest();
	if (!failed(twin)) {
		drop_stale_blocks((uint64_t)twin);
		ep_syscall2(SYS_munmap, twin, (long)ep_truth.opened);
	}
	return true;
}

static bool rescue(void)
{
	struct ep_process *facts;

	if (!ep_backing_on())
		return done;
	if (!replace())
		return false;
	facts = ep_arena_section(EP_SECTION_PROCESS, NULL);
	__atomic_fetch_add(&facts->file_lost, 1, __ATOMIC_RELAXED);
	ep_backing_leave();
	ep_root_publish();
	done = 1;
	ep_backing_complain(
		"somebody cut it off, or its disk failed; the rest is in private memory", 0);
	return true;
}

bool ep_rescue(uint64_t address)
{
	bool rescued;

	if (!ep_arena || address < (uint64_t)ep_arena ||
	    address - (uint64_t)ep_arena >= epitaph_root.arena_size)
		return false;
	while (__atomic_exchange_n(&busy, 1, __ATOMIC_SEQ_CST))
		ep_syscall0(SYS_sched_yield);
	wait_for_growing();
	rescued = rescue();
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	return rescued;
}
