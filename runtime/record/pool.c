/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.c: fresh blocks come from a piece that is opened and populated whole, so that few system
 * calls are made and no hook takes a page fault. What is left is a queue (Michael and Scott, 1996):
 * its first block is only handed on when another follows, so it is never empty. Numbers that change
 * hands come with a count, so that no step succeeds on what was there earlier.
 */
#include "runtime/record/pool.h"

#include <sys/mman.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/rescue.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"

#define PIECE (UINT64_C(64) << 10)
#define PAGE  UINT64_C(4096)

/* Both are followed, so they lie where nothing else is written over (integrity.h). Number 0's link
 * is the queue's when nothing was ever left. */
struct ep_ring_link *ep_pool_links EP_IN_DATA;
static uint64_t links_size EP_IN_DATA;

static uint64_t piece;   /* number of its next block << 32 | blocks that are left of it */
static uint32_t opening; /* a thread opens the next piece */
static uint32_t full;    /* there was no room */

/* ---- links ---- */

static uint64_t rings_offset(void)
{
	return ep_truth.rings - ep_truth.arena;
}

static bool make_links(void)
{
	uint64_t blocks = (epitaph_root.arena_size - rings_offset()) / EP_BLOCK_SIZE + 1;
	uint64_t size = (blocks * sizeof(*ep_pool_links) + PAGE - 1) & -PAGE;
	struct ep_ring_link *none = NULL;
	long made = ep_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (ep_syscall_failed(made))
		return false;
	ep_syscall3(SYS_madvise, made, (long)size, MADV_DONTDUMP);
	links_size = size;
	if (!__atomic_compare_exchange_n(&ep_pool_links, &none, (struct ep_ring_link *)made, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		ep_syscall2(SYS_munmap, made, (long)size);
	return true;
}

/* ---- fresh ones ---- */

static uint64_t piece_of(uint32_t number, uint64_t count)
{
	return (uint64_t)number << 32 | count;
}

static uint32_t claim_from_piece(void)
{
	uint64_t was = __atomic_load_n(&piece, __ATOMIC_ACQUIRE);

	while ((uint32_t)was)
		if (__atomic_compare_exchange_n(
			    &piece, &was, piece_of((uint32_t)(was >> 32) + 1, (uint32_t)was - 1),
			    false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return (uint32_t)(was >> 32);
	return 0;
}

static uint32_t grow(uint64_t size)
{
	uint64_t at = ep_pool_links || make_links() ? ep_arena_grow(size) : 0;

	__atomic_store_n(&full, !at, __ATOMIC_RELAXED);
	return at ? (uint32_t)((at - rings_offset()) / EP_BLOCK_SIZE + 1) : 0;
}

/* One block alone, where a piece would be much of what is left. */
static uint64_t piece_size(void)
{
	return ep_arena_free() >= 16 * PIECE ? PIECE : EP_BLOCK_SIZE;
}

static bool begin_opening(void)
{
	uint32_t nobody = 0;

	return __atomic_compare_exchange_n(&opening, &nobody, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void end_opening(void)
{
	__atomic_store_n(&opening, 0, __ATOMIC_RELEASE);
}

/* Whoever comes while another opens one (or was interrupted there) opens what it needs itself. */
static uint32_t open_piece(void)
{
	uint64_t size = piece_size();
	uint32_t number;

	if (!begin_opening())
		return grow(EP_BLOCK_SIZE);
	number = claim_from_piece(); /* another was faster */
	if (!number) {
		number = grow(size);
		if (number)
			__atomic_store_n(&piece, piece_of(number + 1, size / EP_BLOCK_SIZE - 1),
					 __ATOMIC_RELEASE);
		else if (size > EP_BLOCK_SIZE)
			number = grow(EP_BLOCK_SIZE);
	}
	end_opening();
	return number;
}

uint32_t ep_pool_fresh(bool insist)
{
	uint32_t number = claim_from_piece();

	if (number || ep_jailed())
		return number;
	/* A rescue may be what this hook interrupted: to wait for it would be for ever. */
	return insist || !(full || ep_rescue_runs()) ? open_piece() : 0;
}

/* What is left of one piece, when the next takes its place. */
static void leave_rest(uint64_t rest)
{
	uint32_t first = (uint32_t)(rest >> 32), count = (uint32_t)rest;

	for (uint32_t i = 0; i + 1 < count; i++)
		ep_pool_links[first + i].next = first + i + 1;
	if (count)
		ep_pool_leave(first, first + count - 1);
}

bool ep_pool_open(uint64_t bytes)
{
	uint32_t number;

	if (!begin_opening())
		return false;
	number = grow(bytes);
	if (number)
		leave_rest(__atomic_exchange_n(&piece, piece_of(number, bytes / EP_BLOCK_SIZE),
					       __ATOMIC_ACQ_REL));
	end_opening();
	return number != 0;
}

/* ---- what was left ---- */

static uint64_t head, tail; /* a count << 32 | number */

static bool move(uint64_t *end, uint64_t was, uint32_t number)
{
	return __atomic_compare_exchange_n(end, &was, ((was >> 32) + 1) << 32 | number, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* NULL: written over. */
static uint32_t *next_of(uint64_t end)
{
	uint32_t number = (uint32_t)end;

	return number && !ep_pool_link(number) ? NULL : &ep_pool_links[number].next;
}

/* Steps that end even where links were written over: the queue cannot be longer. */
static uint64_t steps(void)
{
	return links_size / sizeof(*ep_pool_links) + 1000;
}

void ep_pool_leave(uint32_t first, uint32_t last)
{
	__atomic_store_n(&ep_pool_links[last].next, 0, __ATOMIC_RELEASE);
	for (uint64_t i = steps(); i; i--) {
		uint64_t end = __atomic_load_n(&tail, __ATOMIC_ACQUIRE);
		uint32_t *next = next_of(end), after = 0;

		if (!next)
			return;
		if (__atomic_compare_exchange_n(next, &after, first, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			move(&tail, end, last);
			return;
		}
		move(&tail, end, after);
	}
}

uint32_t ep_pool_left(void)
{
	if (!ep_pool_links)
		return 0;
	for (uint64_t i = steps(); i; i--) {
		uint64_t first = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
		uint64_t end = __atomic_load_n(&tail, __ATOMIC_ACQUIRE);
		uint32_t *next = next_of(first);
		uint32_t after = next ? __atomic_load_n(next, __ATOMIC_ACQUIRE) : 0;

		if (first != __atomic_load_n(&head, __ATOMIC_ACQUIRE))
			continue;
		if (!after)
			return 0;
		if ((uint32_t)first == (uint32_t)end)
			move(&tail, end, after);
		else if (move(&head, first, after) && (uint32_t)first)
			return (uint32_t)first;
	}
	return 0;
}

bool ep_pool_owns(uint64_t address)
{
	return address - (uint64_t)ep_pool_links < links_size;
}

void ep_pool_reset(void)
{
	piece = head = tail = 0;
	opening = full = 0;
	if (ep_pool_links)
		ep_syscall3(SYS_madvise, (long)ep_pool_links, (long)links_size, MADV_DONTNEED);
}
