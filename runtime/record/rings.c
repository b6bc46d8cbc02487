/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rings.c: rings change by single atomic steps, so that threads may start, end and crash at the
 * same time, and so that a signal handler of the owner may enter blocks between any two
 * instructions here: what it finds is a whole ring.
 */
#include "runtime/record/rings.h"

#include "runtime/arena/arena.h"
#include "runtime/facts/clock.h"
#include "runtime/record/pool.h"
#include "runtime/record/table.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/tsc.h"

#define KIB           1024ull
#define RING_SMALLEST (16 * KIB)
#define YOUNG         UINT64_C(1000000000) /* ns */
#define LOOKS_START   64 /* entries that are asked for a sign of life: by a thread that begins … */
#define LOOKS_BLOCK   1  /* … and once a block */

static uint64_t power_of_two_below(uint64_t value)
{
	return value ? 1ull << (63 - __builtin_clzll(value)) : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Bytes that the thread may have of what nobody had yet. Shares get smaller as memory runs out: the
 * last quarter goes in the smallest pieces, and of what is before it nobody takes more than a
 * quarter of the rest. So with 64 MiB and 1 MiB rings more than 30 have all of it, and those who
 * come later have some. What a thread asked for itself is in its ring already.
 */
static uint64_t share(const struct ep_thread *thread)
{
	uint64_t free = ep_arena_free(), all = epitaph_root.arena_size;
	uint64_t size = free > all / 4 ? (free - all / 4) / 4 : 0;

	if (thread->flags & EP_THREAD_OWN_RING)
		return 0;
	if (thread->serial == 1)
		size = all / 2;
	size = smaller(power_of_two_below(size), ep_settings.ring_size);
	if (size < RING_SMALLEST)
		size = smaller(RING_SMALLEST, ep_settings.ring_size);
	return size;
}

static uint32_t place_of(const struct ep_thread *thread)
{
	return (uint32_t)(thread - (const struct ep_thread *)ep_truth.threads) + 1;
}

struct ep_block *ep_rings_last(const struct ep_thread *thread)
{
	uint64_t offset = *(volatile const uint64_t *)&thread->ring_offset;

	return offset ? (struct ep_block *)((char *)ep_arena + offset) : NULL;
}

/* ---- blocks for one ----------------------------------------------------------- */

/* A block's last owner has one less: of its history, the oldest. */
static void take_from_owner(uint32_t number)
{
	struct ep_ring_link *link = ep_pool_link(number);
	uint32_t count, holder = link->counted ? link->holder : 0;
	struct ep_thread *threads = ep_threads(&count);

	link->holder = link->counted = 0;
	if (!holder || holder > count || threads[holder - 1].serial != ep_pool_block(number)->owner)
		return;
	__atomic_fetch_or(&threads[holder - 1].flags, EP_THREAD_RING_GIVEN, __ATOMIC_RELAXED);
	/* Last: an entry without history may get another thread. */
	__atomic_fetch_sub(&threads[holder - 1].ring_size, EP_BLOCK_SIZE, __ATOMIC_RELEASE);
}

static uint32_t claim_left(unsigned looks)
{
	uint32_t number = ep_pool_left();
	struct ep_thread *gone = number ? NULL : ep_threads_bury(looks);

	if (gone) {
		ep_rings_leave(ep_rings_last(gone));
		number = ep_pool_left();
	}
	if (number) {
		take_from_owner(number);
		__atomic_fetch_add(&ep_arena->rings_reused, 1, __ATOMIC_RELAXED);
	}
	return number;
}

static uint32_t claim(const struct ep_thread *thread)
{
	uint64_t own = thread->ring_size;
	uint32_t number = 0;

	if (own < share(thread))
		number = ep_pool_fresh(own == 0);
	if (!number && own < ep_settings.ring_size && !(thread->flags & EP_THREAD_OWN_RING))
		number = claim_left(own ? LOOKS_BLOCK : LOOKS_START);
	return number;
}

/* Beyond ring_size, while `oldest`, which would be the next to go, is young: of what the memory has
 * above two thirds, so that those who come find theirs. */
static uint32_t claim_more(const struct ep_thread *thread, const struct ep_block *oldest)
{
	if (thread->ring_size >= ep_settings.ring_most || thread->flags & EP_THREAD_OWN_RING ||
	    ep_arena_free() <= epitaph_root.arena_size / 3 * 2 ||
	    ep_tsc() - oldest->tsc >= ep_clock_cycles(YOUNG))
		return 0;
	return ep_pool_fresh(false);
}

/* For a ring that is asked for: fresh ones while there is plenty, so that the dead keep their last
 * moments; then what was left rather than that it gets more and more. */
static uint32_t claim_any(void)
{
	uint32_t number = 0;

	if (ep_arena_free() >= epitaph_root.arena_size / 2)
		number = ep_pool_fresh(true);
	if (!number)
		number = claim_left(LOOKS_BLOCK);
	return number ? number : ep_pool_fresh(true);
}

/* ---- rings -------------------------------------------------------------------- */

/* Behind `link`: a signal handler may have put another there. */
static void insert(struct ep_ring_link *link, uint32_t first, uint32_t last)
{
	struct ep_ring_link *end = ep_pool_link(last);
	uint32_t next = __atomic_load_n(&link->next, __ATOMIC_RELAXED);

	do
		end->next = next;
	while (!__atomic_compare_exchange_n(&link->next, &next, first, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED));
}

static void hold(const struct ep_thread *thread, uint32_t number)
{
	struct ep_ring_link *link = ep_pool_link(number);

	link->counted = 0;
	link->before = 0;
	link->holder = place_of(thread);
}

static void begin_with(struct ep_thread *thread, uint32_t number)
{
	hold(thread, number);
	ep_pool_link(number)->next = number;
	thread->ring_size = 0;
	thread->ring_offset = (uint64_t)ep_pool_block(number) - (uint64_t)ep_arena;
}

bool ep_rings_begin(struct ep_thread *thread)
{
	uint32_t number = claim(thread);

	if (number)
		begin_with(thread, number);
	return number != 0;
}

bool ep_rings_contain(const struct ep_thread *thread, const struct ep_block *block)
{
	const struct ep_ring_link *link = ep_pool_link(ep_pool_number(block));

	return link && link->holder == place_of(thread);
}

/* It was entered after `now`: by a signal handler, whose hook this interrupted put the cursor
 * back. */
static bool follows(const struct ep_block *block, const struct ep_block *now)
{
	return block->owner == now->owner && block->sequence == now->sequence + 1;
}

bool ep_rings_grow(const struct ep_thread *thread, const struct ep_block *now)
{
	uint32_t number = ep_pool_number(now), more;
	struct ep_ring_link *link = ep_pool_link(number);
	uint32_t next = link ? __atomic_load_n(&link->next, __ATOMIC_ACQUIRE) : 0;
	const struct ep_ring_link *there = ep_pool_link(next);

	if (!there || !there->counted || (next != number && follows(ep_pool_block(next), now)))
		return false;
	more = claim(thread);
	if (!more)
		more = claim_more(thread, ep_pool_block(next));
	if (!more)
		return false;
	hold(thread, more);
	insert(link, more, more);
	return true;
}

struct ep_block *ep_rings_next(struct ep_block *now)
{
	const struct ep_ring_link *link = ep_pool_link(ep_pool_number(now));
	uint32_t next = link ? __atomic_load_n(&link->next, __ATOMIC_ACQUIRE) : 0;

	/* Written over, it must not be followed. */
	return ep_pool_link(next) ? ep_pool_block(next) : now;
}

/* A handler may enter another block meanwhile, and this one stay wiped. */
void ep_rings_wipe(struct ep_thread *thread, const struct ep_block *block)
{
	struct ep_ring_link *link = ep_pool_link(ep_pool_number(block));

	if (link && __atomic_exchange_n(&link->counted, 0, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&thread->ring_size, EP_BLOCK_SIZE, __ATOMIC_RELAXED);
}

void ep_rings_entered(struct ep_thread *thread, const struct ep_block *block,
		      const struct ep_block *before)
{
	struct ep_ring_link *link = ep_pool_link(ep_pool_number(block));

	if (!link)
		return;
	link->before = before ? ep_pool_number(before) : 0;
	if (!link->counted && !__atomic_exchange_n(&link->counted, 1, __ATOMIC_RELAXED))
		__atomic_fetch_add(&thread->ring_size, EP_BLOCK_SIZE, __ATOMIC_RELAXED);
}

const struct ep_block *ep_rings_before(const struct ep_block *block)
{
	const struct ep_ring_link *link = ep_pool_link(ep_pool_number(block));

	return link && ep_pool_link(link->before) ? ep_pool_block(link->before) : NULL;
}

void ep_rings_leave(const struct ep_block *last)
{
	uint32_t number = ep_pool_number(last);
	const struct ep_ring_link *link = ep_pool_link(number);

	if (link && ep_pool_link(link->next))
		ep_pool_leave(link->next, number);
}

/* ---- a ring of another size --------------------------------------------------- */

/* `count` blocks, chained; 0: there are not as many. */
static uint32_t claim_chain(const struct ep_thread *thread, uint64_t count, uint32_t *last)
{
	uint32_t first = 0, number;

	for (*last = 0; count; count--) {
		number = claim_any();
		if (!number) {
			if (first)
				ep_pool_leave(first, *last);
			return 0;
		}
		hold(thread, number);
		if (first)
			ep_pool_link(*last)->next = number;
		else
			first = number;
		*last = number;
	}
	return first;
}

static bool lengthen(struct ep_thread *thread, const struct ep_block *now, uint64_t count)
{
	uint32_t last, first;

	/* Many are opened at once. */
	if (count > 1 && ep_arena_free() >= epitaph_root.arena_size / 2)
		ep_pool_open(count * EP_BLOCK_SIZE);
	first = claim_chain(thread, count, &last);
	if (!first)
		return false;
	if (now) {
		insert(ep_pool_link(ep_pool_number(now)), first, last);
		return true;
	}
	ep_pool_link(last)->next = first;
	thread->ring_size = 0;
	thread->ring_offset = (uint64_t)ep_pool_block(first) - (uint64_t)ep_arena;
	return true;
}

/* Those after the last one are not entered yet, or the oldest. */
static void shorten(struct ep_thread *thread, const struct ep_block *now, uint64_t count)
{
	struct ep_ring_link *link = ep_pool_link(ep_pool_number(now)), *end = NULL;
	uint32_t first = link->next, last = first;

	for (; count; count--) {
		last = end ? end->next : first;
		end = ep_pool_link(last);
		if (!end)
			return;
		if (end->counted)
			thread->ring_size -= EP_BLOCK_SIZE;
		end->holder = end->counted = 0;
	}
	link->next = end->next;
	ep_pool_leave(first, last);
}

/* Blocks of the ring; no more than memory has, whatever was written over it. */
static uint64_t length(const struct ep_block *now)
{
	uint64_t most = epitaph_root.arena_size / EP_BLOCK_SIZE, count = 1;
	uint32_t first = ep_pool_number(now);
	const struct ep_ring_link *link = ep_pool_link(first);

	while (link && link->next != first && count < most) {
		link = ep_pool_link(link->next);
		count++;
	}
	return count;
}

bool ep_rings_resize(struct ep_thread *thread, const struct ep_block *now, uint64_t size)
{
	uint64_t wanted = size / EP_BLOCK_SIZE, have = now ? length(now) : 0;

	if (wanted > have)
		return lengthen(thread, now, wanted - have);
	if (wanted < have)
		shorten(thread, now, have - wanted);
	return true;
}

/* ---- for all ------------------------------------------------------------------ */

void ep_rings_open_ahead(void)
{
	uint32_t count, used = ep_thread_count();
	const struct ep_thread *threads = ep_threads(&count);
	uint64_t free = ep_arena_free(), reserve = epitaph_root.arena_size / 4, wanted = 0;

	for (uint32_t i = 0; i < used; i++)
		if (threads[i].state == EP_THREAD_LIVE && threads[i].ring_offset &&
		    threads[i].ring_size < share(&threads[i]))
			wanted += share(&threads[i]) - threads[i].ring_size;
	wanted = smaller(wanted, free > reserve ? free - reserve : 0) & -(uint64_t)EP_BLOCK_SIZE;
	if (wanted)
		ep_pool_open(wanted);
}

static bool has_counters_to_give(const struct ep_thread *thread)
{
	return __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == EP_THREAD_DEAD &&
	       thread->ring_offset && !(thread->flags & EP_THREAD_RING_GIVEN);
}

bool ep_rings_inherit(uint64_t *offset, uint64_t *size)
{
	uint32_t count, used = ep_thread_count();
	struct ep_thread *threads = ep_threads(&count), *oldest = NULL;

	ep_threads_bury(LOOKS_START);
	for (uint32_t i = 0; i < used; i++)
		if (has_counters_to_give(&threads[i]) &&
		    (!oldest || threads[i].end_tsc < oldest->end_tsc))
			oldest = &threads[i];
	if (!oldest)
		return false;
	*offset = oldest->ring_offset;
	*size = oldest->ring_size;
	/* Two threads may have found the same one: the first has it. */
	if (__atomic_fetch_or(&oldest->flags, EP_THREAD_RING_GIVEN, __ATOMIC_ACQ_REL) &
	    EP_THREAD_RING_GIVEN)
		return false;
	oldest->ring_size = 0;
	__atomic_fetch_add(&ep_arena->rings_reused, 1, __ATOMIC_RELAXED);
	return true;
}

void ep_rings_reset(void)
{
	ep_pool_reset();
}
