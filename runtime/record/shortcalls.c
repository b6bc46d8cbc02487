/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shortcalls.c: drops calls shorter than EPITAPH_MIN_DURATION. A bounded stack per thread
 * remembers, for each open call, its frame, its slot and the stamp before it. Only the call in the
 * very last slot can be taken back, and only by a return with exactly its frame: without that a
 * thunk's return or a longjmp would drop the wrong one.
 */
#include "runtime/record/shortcalls.h"

#include <sys/mman.h>

#include "runtime/facts/clock.h"
#include "runtime/lib/syscalls.h"
#include "runtime/record/ring.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/local.h"
#include "runtime/x86_64/tsc.h"

#define DEPTH 255 /* deeper calls are kept */

struct entry {
	uint64_t sp;       /* address of the return address */
	uint64_t slot;     /* where the call's record is */
	uint64_t previous; /* last_tsc before it */
	uint64_t begin;    /* TSC */
};

struct ep_shortcalls {
	uint64_t count;
	struct entry entries[DEPTH];
};

static struct ep_shortcalls *stack_of(struct ep_tls *tls)
{
	long page;

	if (tls->shortcalls)
		return tls->shortcalls;
	page = ep_syscall6(SYS_mmap, 0, sizeof(struct ep_shortcalls), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!ep_syscall_failed(page))
		tls->shortcalls = (struct ep_shortcalls *)page;
	return tls->shortcalls;
}

static void record_call(struct ep_tls *tls, struct ep_shortcalls *stack, uint64_t word, uint64_t sp,
			uint8_t flags)
{
	uint64_t previous = tls->last_tsc;
	struct entry *entry;

	ep_ring_record(tls, word, flags);
	if (stack->count == DEPTH)
		return;
	entry = &stack->entries[stack->count];
	*entry = (struct entry){sp, tls->cursor - 8, previous, tls->last_tsc};
	stack->count++;
}

/* Where the call's words begin: a long time after the last record, an escape stands before it, and
 * is its own. */
static uint64_t first_word(uint64_t slot)
{
	uint64_t before;

	if (slot % EP_BLOCK_SIZE == EP_BLOCK_HEADER)
		return slot;
	before = *(const uint64_t *)(slot - 8);
	return (before & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT &&
			       before % EP_ESCAPE_TYPES == EP_ESCAPE_TIME
		       ? slot - 8
		       : slot;
}

/* True when the call was the last record, was short, and is gone again. */
static bool take_back(struct ep_tls *tls, const struct entry *entry)
{
	uint64_t now = ep_tsc(), first = first_word(entry->slot);

	if (now - entry->begin >= ep_clock_cycles(ep_settings.min_duration) ||
	    first % EP_BLOCK_SIZE == EP_BLOCK_HEADER)
		return false;
	/* A handler that recorded after the call keeps it. */
	if (!ep_cmpxchg_local(&tls->cursor, entry->slot + 8, first))
		return false;
	*(uint64_t *)entry->slot = 0;
	*(uint64_t *)first = 0;
	tls->last_tsc = entry->previous;
	return true;
}

void ep_shortcalls_record(struct ep_tls *tls, uint64_t word, uint64_t sp, uint8_t flags)
{
	struct ep_shortcalls *stack = stack_of(tls);

	if (!stack) {
		ep_ring_record(tls, word, flags);
		return;
	}
	/* Frames below this one are gone, however they were left; at a call, one that lies here too
	 * was left by a tail call. */
	bool is_return = word & EP_RETURN_BIT;
	while (stack->count && (stack->entries[stack->count - 1].sp < sp ||
				(!is_return && stack->entries[stack->count - 1].sp == sp)))
		stack->count--;
	if (!is_return) {
		record_call(tls, stack, word, sp, flags);
		return;
	}
	if (stack->count && stack->entries[stack->count - 1].sp == sp) {
		stack->count--;
		if (take_back(tls, &stack->entries[stack->count]))
			return;
	}
	ep_ring_record(tls, word, flags);
}

void ep_shortcalls_reset(struct ep_tls *tls)
{
	if (tls->shortcalls)
		tls->shortcalls->count = 0;
}
