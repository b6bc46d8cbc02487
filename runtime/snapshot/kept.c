/* SPDX-License-Identifier: BSD-2-Clause */
/* kept.c: copies of the arena (arena_copy.h) in one region of memory, in any order, each in whole
 * pages. */
#include "runtime/snapshot/kept.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "runtime/arena/arena.h"
#include "runtime/facts/clock.h"
#include "runtime/facts/loadmap.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/syscalls.h"
#include "runtime/record/tls.h"
#include "runtime/settings/settings.h"
#include "runtime/snapshot/arena_copy.h"
#include "runtime/x86_64/tsc.h"

#define PAGE  UINT64_C(4096)
#define SPINS 100   /* for a lock that is held for some microseconds … */
#define LOOKS 20000 /* … and by who has no processor: a second */
#define NAP   50000 /* ns */

/* ---- the region ---- */

static struct {
	uint64_t holder; /* whose TLS; 0: nobody holds the lock */
	uint64_t start, size;
	uint64_t opened; /* bytes from its start; the rest is PROT_NONE */
	uint64_t last;   /* number given last; goes on in a forked child */
} region;

/* Not by a handler that interrupted its holder: that gets false. */
static bool lock(void)
{
	uint64_t me = (uint64_t)&ep_tls;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t holder = 0;

		if (__atomic_compare_exchange_n(&region.holder, &holder, me, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (holder == me)
			return false;
		if (i > SPINS)
			ep_nap(NAP);
	}
	return false;
}

static void unlock(void)
{
	__atomic_store_n(&region.holder, 0, __ATOMIC_RELEASE);
}

static struct ep_kept *table(uint32_t *count)
{
	uint64_t size;
	struct ep_kept *list = ep_arena_section(EP_SECTION_KEPT, &size);

	*count = (uint32_t)(size / sizeof(*list));
	return list;
}

static uint32_t state_of(const struct ep_kept *kept)
{
	return __atomic_load_n(&kept->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct ep_kept *kept, uint32_t state)
{
	__atomic_store_n(&kept->state, state, __ATOMIC_RELEASE);
}

/* With less address space than asked for, less is kept. */
static bool region_start(uint64_t size)
{
	uint64_t all = ep_settings.keep_size & -PAGE;

	if (region.start)
		return region.size >= size;
	for (; all >= size && all && !region.start; all = region.start ? all : all / 2 & -PAGE) {
		region.start = ep_arena_reserve(all);
		region.size = all;
	}
	return region.start != 0;
}

static bool region_open(uint64_t end)
{
	if (end <= region.opened)
		return true;
	if (ep_syscall3(SYS_mprotect, (long)region.start, (long)end, PROT_READ | PROT_WRITE))
		return false;
	region.opened = end;
	return true;
}

/* Where what lies in the way of [start, start + size) ends; 0: nothing. */
static uint64_t in_the_way(const struct ep_kept *list, uint32_t count, uint64_t start,
			   uint64_t size)
{
	for (uint32_t i = 0; i < count; i++)
		if (state_of(&list[i]) != EP_KEPT_FREE && list[i].address < start + size &&
		    start < list[i].address + list[i].size)
			return list[i].address + list[i].size;
	return 0;
}

/* The first gap that is large enough. */
static uint64_t find_gap(const struct ep_kept *list, uint32_t count, uint64_t size)
{
	uint64_t start = region.start, end = region.start + region.size, next;

	do {
		next = in_the_way(list, count, start, size);
		if (!next)
			return size <= end - start ? start : 0;
		start = next;
	} while (start < end && size <= end - start);
	return 0;
}

/* A place in the table and memory; the lock is held. */
static struct ep_kept *claim(uint64_t size)
{
	uint32_t count, slot = 0;
	struct ep_kept *list = table(&count);
	uint64_t at;

	while (slot < count && state_of(&list[slot]) != EP_KEPT_FREE)
		slot++;
	if (slot == count || !region_start(size))
		return NULL;
	at = find_gap(list, count, size);
	if (!at || !region_open(at + size - region.start))
		return NULL;
	list[slot] = (struct ep_kept){
		.number = ++region.last,
		.address = at,
		.size = size,
	};
	set_state(&list[slot], EP_KEPT_TAKEN);
	return &list[slot];
}

/* ---- taking ---- */

static void finish(struct ep_kept *kept, struct ep_arena_copy *copy)
{
	kept->tid = (uint32_t)ep_syscall0(SYS_gettid);
	kept->tsc = copy->until;
	kept->since = copy->since;
	/* What was counted and is missed frees the end. */
	kept->size = ep_arena_copy_finish(copy, EP_KEPT_MAGIC, kept->address);
	set_state(kept, EP_KEPT_VALID);
}

/* A place for what there is. */
static int make_room(struct ep_arena_copy *copy, struct ep_kept **kept)
{
	ep_arena_copy_measure(copy);
	if (!lock())
		return -EBUSY;
	*kept = claim(copy->head + copy->room_blocks * EP_BLOCK_SIZE);
	unlock();
	if (*kept)
		return 0;
	__atomic_fetch_add(&ep_arena->kept_refused, 1, __ATOMIC_RELAXED);
	return -ENOMEM;
}

int64_t ep_kept_take(uint64_t since)
{
	struct ep_arena_copy copy = {.since = since, .kept = true};
	struct ep_kept *kept = NULL;
	struct ep_hold hold;
	int error;

	ep_loadmap_refresh();
	ep_clock_refresh(ep_tsc());
	ep_hold_begin(&hold);
	copy.until = ep_tsc();
	error = make_room(&copy, &kept);
	if (!error) {
		ep_arena_copy_head(&copy, (char *)kept->address);
		ep_arena_copy_history(&copy, &hold);
	}
	ep_hold_end(&hold);
	if (error)
		return error;
	finish(kept, &copy);
	return (int64_t)kept->number;
}

/* ---- by number ---- */

const struct ep_kept *ep_kept_find(uint64_t number)
{
	uint32_t count;
	const struct ep_kept *list = table(&count);

	for (uint32_t i = 0; i < count; i++)
		if (state_of(&list[i]) == EP_KEPT_VALID && list[i].number == number)
			return &list[i];
	return NULL;
}

void ep_kept_free(uint64_t number)
{
	struct ep_kept *kept = (struct ep_kept *)ep_kept_find(number);

	if (kept)
		set_state(kept, EP_KEPT_FREE);
}

void ep_kept_reset(void)
{
	if (region.start)
		ep_syscall2(SYS_munmap, (long)region.start, (long)region.size);
	region.start = region.size = region.opened = region.holder = 0;
}
