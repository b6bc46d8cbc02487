/* SPDX-License-Identifier: BSD-2-Clause */
/* rings.c: rings are handed on by single atomic steps, so that threads may start, end and crash at
 * the same time. */
#include "runtime/record/rings.h"

#include "runtime/arena/arena.h"
#include "runtime/arena/backing.h"
#include "runtime/record/table.h"
#include "runtime/settings/settings.h"

#define KIB           1024ull
#define RING_SMALLEST (16 * KIB)
#define UNOWNED       64

static uint64_t power_of_two_below(uint64_t value)
{
	return value ? 1ull << (63 - __builtin_clzll(value)) : 0;
}

/*
 * Rings get smaller as memory runs out: the last quarter goes in the smallest pieces, what is
 * before it in sixteenths of the rest. With 64 MiB and 1 MiB rings that makes 32 of 1 MiB, about
 * 100 in between, and 1,024 of 16 KiB.
 */
uint64_t ep_rings_size_wanted(uint32_t serial)
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

static bool has_ring_to_give(const struct ep_thread *thread)
{
	return __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == EP_THREAD_DEAD &&
	       thread->ring_offset &&
	       !(thread->flags & (EP_THREAD_RING_GIVEN | EP_THREAD_WITHOUT_RING));
}

/* The ring of the longest dead thread, at least `size` bytes. */
static struct ep_thread *inherit(uint64_t size)
{
	uint32_t count, used = ep_thread_count();
	struct ep_thread *threads = ep_threads(&count), *oldest = NULL;

	ep_threads_bury();
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

/* Rings whose owners asked for other ones. An offset is BUSY while its entry changes hands. */
#define BUSY 1
static struct ep_ring unowned[UNOWNED];

static struct ep_ring *free_place(void)
{
	for (unsigned i = 0; i < UNOWNED; i++) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&unowned[i].offset, &none, BUSY, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &unowned[i];
	}
	return NULL;
}

static bool claim_unowned(uint64_t size, struct ep_ring *ring)
{
	for (unsigned i = 0; i < UNOWNED; i++) {
		uint64_t offset = __atomic_load_n(&unowned[i].offset, __ATOMIC_ACQUIRE);

		*ring = (struct ep_ring){offset, unowned[i].size};
		if (offset <= BUSY || ring->size < size)
			continue;
		if (__atomic_compare_exchange_n(&unowned[i].offset, &offset, 0, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool ep_rings_unowned(unsigned index, uint64_t *offset, uint64_t *size)
{
	if (index >= UNOWNED)
		return false;
	*offset = __atomic_load_n(&unowned[index].offset, __ATOMIC_ACQUIRE);
	*size = *offset > BUSY ? unowned[index].size : 0;
	return true;
}

/* One that a thread has left, at least `size` bytes. */
static bool claim_used(uint64_t size, struct ep_ring *ring)
{
	struct ep_thread *dead;

	if (!claim_unowned(size, ring)) {
		dead = inherit(size);
		if (!dead)
			return false;
		*ring = (struct ep_ring){dead->ring_offset, dead->ring_size};
	}
	__atomic_fetch_add(&ep_arena->rings_reused, 1, __ATOMIC_RELAXED);
	return true;
}

bool ep_rings_inherit(uint64_t *offset, uint64_t *size)
{
	struct ep_ring ring;

	if (!claim_used(0, &ring))
		return false;
	*offset = ring.offset;
	*size = ring.size;
	return true;
}

static bool claim_new(uint64_t size, struct ep_ring *ring)
{
	*ring = (struct ep_ring){ep_arena_grow(size), size};
	return ring->offset != 0;
}

/* Memory first while there is plenty: the dead then keep their last moments. After that their
 * rings, and what is left of memory last. */
static bool find_ring(uint64_t size, struct ep_ring *ring)
{
	if (ep_arena_free() >= epitaph_root.arena_size / 2 && claim_new(size, ring))
		return true;
	return claim_used(size, ring) || claim_new(size, ring);
}

/* A ring and a place for the one that is left: many that were left serve again rather than that
 * their number grows. */
bool ep_rings_find_other(uint64_t size, struct ep_ring *ring, struct ep_ring **left)
{
	*left = free_place();
	if (*left && find_ring(size, ring))
		return true;
	if (*left) {
		__atomic_store_n(&(*left)->offset, 0, __ATOMIC_RELEASE);
		return false;
	}
	if (!claim_unowned(size, ring))
		return false;
	*left = free_place();
	return *left != NULL;
}

/* The file system may have room for less. */
bool ep_rings_find_any(uint64_t size, struct ep_ring *ring)
{
	bool found = find_ring(size, ring);

	while (!found && ep_backing_on() && size > RING_SMALLEST) {
		size /= 2;
		found = find_ring(size, ring);
	}
	return found || claim_used(0, ring);
}

void ep_rings_reset(void)
{
	__builtin_memset(unowned, 0, sizeof(unowned));
}
