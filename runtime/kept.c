/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.c: takes a snapshot into memory: first counts what there is, gets room
 * for it, then copies. Other threads go on recording; a block counts when its
 * check word held before and after it was copied.
 *
 *   region: kept arenas in any order, each in whole pages
 *   ┌────────┬─────────┬───────┬─────────┬─────────┬────────┬─────┐
 *   │ first  │ PROCESS │ CLOCK │ THREADS │ MODULES │ RINGS  │ …   │
 *   │ page   │         │       │         │ strings │ blocks │     │
 *   └────────┴─────────┴───────┴─────────┴─────────┴────────┴─────┘
 */
#include "runtime/kept.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/arena.h"
#include "runtime/blockcopy.h"
#include "runtime/clock.h"
#include "runtime/loadmap.h"
#include "runtime/settings.h"
#include "runtime/syscalls.h"
#include "runtime/text.h"
#include "runtime/thread.h"
#include "runtime/x86_64/tsc.h"

#define PAGE  UINT64_C(4096)
#define SPINS 10000 /* for a lock that is held for less than a microsecond */

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

	for (int i = 0; i < SPINS; i++) {
		uint64_t holder = 0;

		if (__atomic_compare_exchange_n(&region.holder, &holder, me,
						false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
		if (holder == me)
			return false;
		if (i > 100)
			ep_syscall0(SYS_sched_yield);
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
	for (; all >= size && all && !region.start;
	     all = region.start ? all : all / 2 & -PAGE) {
		region.start = ep_arena_reserve(all);
		region.size = all;
	}
	return region.start != 0;
}

static bool region_open(uint64_t end)
{
	if (end <= region.opened)
		return true;
	if (ep_syscall3(SYS_mprotect, (long)region.start, (long)end,
			PROT_READ | PROT_WRITE))
		return false;
	region.opened = end;
	return true;
}

/* Where what lies in the way of [start, start + size) ends; 0: nothing. */
static uint64_t in_the_way(const struct ep_kept *list, uint32_t count,
			   uint64_t start, uint64_t size)
{
	for (uint32_t i = 0; i < count; i++)
		if (state_of(&list[i]) != EP_KEPT_FREE &&
		    list[i].address < start + size &&
		    start < list[i].address + list[i].size)
			return list[i].address + list[i].size;
	return 0;
}

/* The first gap that is large enough. */
static uint64_t find_gap(const struct ep_kept *list, uint32_t count,
			 uint64_t size)
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

/* ---- which blocks ---- */

struct taking {
	uint64_t since, until; /* TSC */
	uint64_t identity;
	/* counted first, then copied, at most as many */
	uint64_t threads, blocks;
	uint64_t room_threads, room_blocks;
	/* of the copy; NULL while counting */
	char *base;
	struct ep_thread *entries; /* THREADS there */
	uint64_t rings;            /* offset of RINGS there */
	struct ep_thread *entry;   /* whose blocks are being copied */
};

static struct ep_block *next_place(const struct taking *t)
{
	return (struct ep_block *)(t->base + t->rings +
				   t->blocks * EP_BLOCK_SIZE);
}

static void copy_block(struct taking *t, const struct ep_block *from)
{
	struct ep_block *to = next_place(t);

	if (!ep_block_copy(to, from, t->until))
		return;
	to->check = ep_block_check(to, (uint64_t)to - (uint64_t)t->base,
				   t->identity);
	t->blocks++;
	if (t->entry && t->entry->blocks < to->sequence)
		t->entry->blocks = to->sequence;
}

static void take_block(struct taking *t, const struct ep_block *block)
{
	if (!t->base)
		t->blocks++;
	else if (t->blocks < t->room_blocks)
		copy_block(t, block);
}

/* Where the thread's newest block should be; -1: it has none there. */
static int64_t newest(const struct taking *t, const struct ep_thread *thread,
		      const struct ep_block *ring, uint64_t count)
{
	uint64_t entered = __atomic_load_n(&thread->blocks, __ATOMIC_RELAXED);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t ahead = entered - ring[i].sequence;

		if (ring[i].owner != thread->serial ||
		    !ep_block_holds(&ring[i], t->until))
			continue;
		if (ahead > entered)
			ahead = 0;
		return (int64_t)((i + ahead) % count);
	}
	return -1;
}

/* Back in time until a block was entered before `since`: that one is the last
 * that may hold something of after it. */
static void take_ring(struct taking *t, const struct ep_thread *thread)
{
	const struct ep_block *ring =
		(const struct ep_block *)((char *)ep_arena +
					  thread->ring_offset);
	uint64_t count = thread->ring_size / EP_BLOCK_SIZE;
	int64_t at = thread->ring_offset ? newest(t, thread, ring, count) : -1;

	for (uint64_t back = 0; at >= 0 && back < count; back++) {
		const struct ep_block *block =
			&ring[((uint64_t)at + count - back) % count];

		if (block->owner != thread->serial ||
		    !ep_block_holds(block, t->until))
			continue;
		take_block(t, block);
		if (block->tsc < t->since || block->sequence == 1)
			break;
	}
}

/* A thread that ended before: nothing of it is wanted. One whose end nobody saw
 * has the time of its start there. */
static bool is_wanted(const struct taking *t, const struct ep_thread *thread)
{
	uint32_t state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);

	if (state == EP_THREAD_FREE || !thread->serial)
		return false;
	return state != EP_THREAD_DEAD || thread->end_tsc >= t->since ||
	       thread->end_tsc == thread->start_tsc;
}

static void take_thread(struct taking *t, const struct ep_thread *thread)
{
	if (!is_wanted(t, thread))
		return;
	if (t->base) {
		if (t->threads == t->room_threads)
			return;
		t->entry = &t->entries[t->threads];
		*t->entry = *thread;
		t->entry->blocks = 0;
		t->entry->ring_offset = t->rings + t->blocks * EP_BLOCK_SIZE;
	}
	t->threads++;
	take_ring(t, thread);
	if (t->base && !t->entry->blocks)
		t->entry->ring_offset = 0;
}

/* What threads recorded before they asked for another ring. */
static void take_loose(struct taking *t)
{
	uint64_t offset, size;

	t->entry = NULL;
	for (unsigned i = 0; ep_thread_loose_ring(i, &offset, &size); i++) {
		const struct ep_block *ring =
			(const struct ep_block *)((char *)ep_arena + offset);

		for (uint64_t k = 0; k < size / EP_BLOCK_SIZE; k++)
			if (ep_block_holds(&ring[k], t->until) &&
			    ring[k].tsc >= t->since)
				take_block(t, &ring[k]);
	}
}

static void take_history(struct taking *t)
{
	uint32_t count = ep_thread_count();
	const struct ep_thread *threads =
		ep_arena_section(EP_SECTION_THREADS, NULL);

	t->threads = t->blocks = 0;
	for (uint32_t i = 0; i < count; i++)
		take_thread(t, &threads[i]);
	take_loose(t);
}

/* ---- the rest of an arena ---- */

#define STRINGS 7 /* of struct ep_process, one after the other */

static_assert(offsetof(struct ep_process, runtime) -
			      offsetof(struct ep_process, executable) ==
		      (STRINGS - 1) * sizeof(struct ep_string),
	      "all strings");

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

static uint64_t process_size(const struct ep_process *process)
{
	const struct ep_string *string = &process->executable;
	uint64_t size = sizeof(*process);

	for (int i = 0; i < STRINGS; i++, string++)
		if (size < (uint64_t)string->offset + string->length)
			size = (uint64_t)string->offset + string->length;
	return round_up(size, 64);
}

/* Sizes of everything; the load map may grow later, but not here. */
struct plan {
	uint64_t process, threads, modules, size;
	uint32_t module_count, strings;
};

static void plan_make(struct plan *plan, const struct taking *t)
{
	const struct ep_modules *modules =
		ep_arena_section(EP_SECTION_MODULES, NULL);

	plan->process =
		process_size(ep_arena_section(EP_SECTION_PROCESS, NULL));
	plan->threads = t->room_threads * sizeof(struct ep_thread);
	plan->module_count = __atomic_load_n(&modules->count, __ATOMIC_ACQUIRE);
	plan->strings = modules->strings_end - modules->strings;
	plan->modules =
		round_up(sizeof(*modules) + plan->strings +
				 plan->module_count * sizeof(struct ep_module),
			 64);
	plan->size = round_up(PAGE + plan->process + sizeof(struct ep_clock) +
				      plan->threads + plan->modules,
			      PAGE) +
		     t->room_blocks * EP_BLOCK_SIZE;
}

static uint64_t add_section(struct ep_arena *to, uint32_t type,
			    uint32_t entry_size, uint64_t offset, uint64_t size)
{
	to->sections[to->section_count++] =
		(struct ep_section){type, entry_size, offset, size};
	return offset + size;
}

/* Entries without the room for more, strings right behind them. */
static void copy_modules(struct ep_modules *to, const struct plan *plan)
{
	const struct ep_modules *from =
		ep_arena_section(EP_SECTION_MODULES, NULL);
	const struct ep_module *entry = (const struct ep_module *)(from + 1);
	struct ep_module *place = (struct ep_module *)(to + 1);
	uint32_t count = plan->module_count;

	*to = *from;
	to->count = to->capacity = count;
	to->strings = (uint32_t)(sizeof(*to) + count * sizeof(*entry));
	to->strings_end = to->strings + plan->strings;
	for (; count; count--, entry++, place++) {
		*place = *entry;
		place->path.offset -= from->strings - to->strings;
	}
	ep_bytes_copy((char *)to + to->strings,
		      (const char *)from + from->strings, plan->strings);
}

static void copy_head(struct taking *t, const struct plan *plan)
{
	struct ep_arena *to = (struct ep_arena *)t->base;
	uint64_t at = PAGE;

	ep_bytes_zero(to, PAGE);
	*to = *ep_arena;
	to->section_count = 0;
	ep_bytes_zero(to->sections, sizeof(to->sections));
	ep_bytes_copy(t->base + at, ep_arena_section(EP_SECTION_PROCESS, NULL),
		      plan->process);
	at = add_section(to, EP_SECTION_PROCESS, sizeof(struct ep_process), at,
			 plan->process);
	ep_bytes_copy(t->base + at, ep_arena_section(EP_SECTION_CLOCK, NULL),
		      sizeof(struct ep_clock));
	at = add_section(to, EP_SECTION_CLOCK, sizeof(struct ep_clock), at,
			 sizeof(struct ep_clock));
	t->entries = (struct ep_thread *)(t->base + at);
	ep_bytes_zero(t->entries, plan->threads);
	at = add_section(to, EP_SECTION_THREADS, sizeof(struct ep_thread), at,
			 plan->threads);
	copy_modules((struct ep_modules *)(t->base + at), plan);
	at = add_section(to, EP_SECTION_MODULES, sizeof(struct ep_module), at,
			 plan->modules);
	t->rings = round_up(at, PAGE);
	ep_bytes_zero(t->base + at, t->rings - at);
}

/* All but the first page is there: that one makes it an arena. */
static uint64_t finish_head(const struct taking *t)
{
	struct ep_arena *to = (struct ep_arena *)t->base;
	uint64_t blocks = t->blocks * EP_BLOCK_SIZE;

	add_section(to, EP_SECTION_RINGS, sizeof(struct ep_block), t->rings,
		    blocks);
	to->committed = t->rings + blocks;
	to->kept_tsc = t->until;
	to->kept_since = t->since;
	to->root.arena_address = (uint64_t)to;
	to->root.arena_size = to->committed;
	ep_root_fill(&to->root, &to->root, EP_KEPT_MAGIC, (uint64_t)to);
	return to->committed;
}

static void fill(struct taking *t, struct ep_kept *kept,
		 const struct plan *plan)
{
	t->base = (char *)kept->address;
	copy_head(t, plan);
	take_history(t);
	kept->tid = (uint32_t)ep_syscall0(SYS_gettid);
	kept->tsc = t->until;
	kept->since = t->since;
	/* What was lost since it was counted frees the end. */
	kept->size = finish_head(t);
	set_state(kept, EP_KEPT_VALID);
}

int64_t ep_kept_take(uint64_t since)
{
	struct taking t = {.since = since};
	struct ep_kept *kept;
	struct plan plan;

	ep_loadmap_refresh();
	t.until = ep_tsc();
	ep_clock_refresh(t.until);
	t.identity = epitaph_root.identity;
	take_history(&t);
	t.room_threads = t.threads;
	t.room_blocks = t.blocks;
	plan_make(&plan, &t);
	if (!lock())
		return -EBUSY;
	kept = claim(plan.size);
	unlock();
	if (!kept) {
		__atomic_fetch_add(&ep_arena->kept_refused, 1,
				   __ATOMIC_RELAXED);
		return -ENOMEM;
	}
	fill(&t, kept, &plan);
	return (int64_t)kept->number;
}

/* ---- by number ---- */

const struct ep_kept *ep_kept_find(uint64_t number)
{
	uint32_t count;
	const struct ep_kept *list = table(&count);

	for (uint32_t i = 0; i < count; i++)
		if (state_of(&list[i]) == EP_KEPT_VALID &&
		    list[i].number == number)
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
