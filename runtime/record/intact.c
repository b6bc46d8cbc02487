/* SPDX-License-Identifier: BSD-2-Clause */
/* intact.c: what is compared. Nothing here follows anything that does not lie in initialized data,
 * but for an address that was compared before. */
#include "runtime/record/intact.h"

#include "runtime/arena/arena.h"
#include "runtime/arena/integrity.h"
#include "runtime/arena/rescue.h"
#include "runtime/arena/root.h"
#include "runtime/settings/settings.h"

#define PAGE 4096

/*
 * A page of .bss, which nobody ever writes to: in a static program that lies below thread-local
 * memory, and the arena above. Whoever writes over all memory in order of addresses is seen before
 * the hooks can't run any more.
 */
static volatile uint64_t untouched[PAGE / sizeof(uint64_t)] __attribute__((aligned(PAGE)));

static bool ended(void)
{
	ep_integrity_end(EP_OFF_OVERWRITTEN);
	return false;
}

static bool is_entry(uint64_t thread)
{
	uint64_t at = thread - ep_truth.threads;

	return at < ep_truth.threads_size && at % sizeof(struct ep_thread) == 0;
}

/* `size` bytes at `address` are of rings, and were opened. */
static bool in_rings(uint64_t address, uint64_t size)
{
	uint64_t offset = address - ep_truth.arena;

	return address >= ep_truth.rings && offset <= ep_truth.opened &&
	       size <= ep_truth.opened - offset;
}

/* A ring that is lost to a rescue has an offset of 0. */
static bool ring_holds(const struct ep_thread *thread)
{
	uint64_t offset = thread->ring_offset, size = thread->ring_size;

	return !offset ||
	       (offset % EP_BLOCK_SIZE == 0 && size % EP_BLOCK_SIZE == 0 &&
		size <= ep_truth.opened && in_rings(ep_truth.arena + offset, EP_BLOCK_SIZE));
}

static bool gate_holds(const struct ep_tls *tls)
{
	const struct ep_arena *arena = (const struct ep_arena *)ep_truth.arena;

	return tls->gate == &arena->gate || tls->gate == &ep_faults_gate ||
	       tls->gate == &ep_shut_for_good || (tls->thread && tls->gate == &tls->thread->gate);
}

/* An entry that is empty, though a thread has it, is one that a rescue lost. */
static bool thread_holds(const struct ep_tls *tls)
{
	const struct ep_thread *thread = tls->thread;

	if (!thread)
		return !tls->cursor || tls->gate == &ep_shut_for_good;
	if (!is_entry((uint64_t)thread))
		return false;
	if (!thread->serial)
		return ep_rescue_happened();
	/* In a child that does not know it yet the entry may be its parent's, which goes on. */
	return (ring_holds(thread) && !(tls->cursor && !thread->ring_offset)) || ep_arena_forked();
}

bool ep_intact(const struct ep_tls *tls)
{
	uint64_t cursor = tls->cursor;

	if (!tls->gate && !cursor && !tls->thread) /* nothing yet */
		return !ep_overwritten();
	if (!ep_arena_intact())
		return false;
	if (!tls->gate || (tls->gate == &ep_faults_gate && untouched[0]))
		return ended();
	if (ep_settings.counting)
		return true;
	if (!thread_holds(tls) || !gate_holds(tls))
		return ended();
	if (cursor && (cursor % 8 || !in_rings(cursor, 0)))
		return ended();
	return true;
}
