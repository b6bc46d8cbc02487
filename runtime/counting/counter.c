/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter.c: numbers for addresses, counters for threads. A number means one address of one module
 * for ever; a counter is added to by one thread at a time, by one instruction, so that no signal
 * handler comes in between; what was counted is never moved, cleared or added up, but by the
 * reader. Numbers that have no counter in a thread, for lack of memory or while its counters
 * change, count in one list that all threads share, by atomic steps.
 */
#include "runtime/counting/counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/counting/tables.h"
#include "runtime/facts/loadmap.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/lib/vdso.h"
#include "runtime/record/rings.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/tsc.h"

#define PAGE       4096ull
#define SITES_SIZE (4 * PAGE)
#define NONE       UINT32_MAX

static struct ep_counts_head *head;

/* The list that sites are added to, and the one that all threads share. */
static struct ep_counts_extent *sites, *shared;

/* The identity of the first of those that forked each other. */
static uint64_t family;

struct ep_counts_head *ep_counter_head(void)
{
	return head;
}

/* ---- extents -------------------------------------------------------------- */

static uint64_t *counters_of(struct ep_counts_extent *extent)
{
	return (uint64_t *)(extent + 1);
}

static struct ep_counts_extent *extent_at(uint64_t offset)
{
	return (struct ep_counts_extent *)((char *)ep_arena + offset);
}

static struct ep_counts_extent *new_extent(uint32_t kind, uint64_t size, uint64_t first,
					   uint32_t entry)
{
	uint64_t offset = ep_arena_grow(size);
	struct ep_counts_extent *extent = extent_at(offset);

	if (!offset)
		return NULL;
	extent->kind = kind;
	extent->size = size;
	extent->first = first;
	extent->capacity = (size - sizeof(*extent)) / entry;
	__atomic_store_n(&extent->check, ep_extent_check(extent, offset, epitaph_root.identity),
			 __ATOMIC_RELEASE);
	return extent;
}

/* ---- numbers -------------------------------------------------------------- */

/* A list of sites with room, after `full`; NULL: no memory. */
static struct ep_counts_extent *more_sites(struct ep_counts_extent *full)
{
	uint64_t first = full ? full->first + full->capacity : 0;
	struct ep_counts_extent *more =
		new_extent(EP_EXTENT_SITES, SITES_SIZE, first, sizeof(struct ep_count_site));

	if (!more)
		return NULL;
	if (__atomic_compare_exchange_n(&sites, &full, more, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return more;
	/* Somebody was faster: sites that nobody gets would have the same numbers as others. Their
	 * pages are as if nobody had taken them. */
	more->check = 0;
	ep_bytes_zero(more, sizeof(*more));
	return full;
}

static uint32_t new_number(uint64_t address)
{
	struct ep_counts_extent *list = __atomic_load_n(&sites, __ATOMIC_ACQUIRE);
	struct ep_count_site *site;
	uint64_t index;

	for (;;) {
		if (list) {
			index = __atomic_fetch_add(&list->used, 1, __ATOMIC_RELAXED);
			if (index < list->capacity)
				break;
		}
		list = more_sites(list);
		if (!list)
			return NONE;
	}
	site = (struct ep_count_site *)(list + 1) + index;
	site->tsc = ep_tsc();
	__atomic_store_n(&site->address, address, __ATOMIC_RELEASE);
	__atomic_fetch_add(&head->sites, 1, __ATOMIC_RELAXED);
	return (uint32_t)(list->first + index);
}

static bool fits(uint64_t size)
{
	uint64_t map = __atomic_load_n(&head->map_size, __ATOMIC_RELAXED);

	return map + size + ep_arena->committed <= epitaph_root.arena_size;
}

/* What two threads give it at once has two numbers, of which one stays. */
static uint32_t give_number(uint32_t *cell, uint64_t address)
{
	bool fresh = ep_tables_fresh(cell);
	uint32_t number, before = 0;

	if (fresh && !fits(EP_TABLES_STEP))
		return NONE;
	number = new_number(address);
	if (number == NONE)
		return NONE;
	if (fresh)
		__atomic_fetch_add(&head->map_size, EP_TABLES_STEP, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(cell, &before, number + 1, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		return number;
	return before - 1;
}

static uint32_t number_of(uint64_t address)
{
	uint32_t *cell = ep_tables_cell(address, true), known;

	if (!cell)
		return NONE;
	known = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
	if (known)
		return known - 1;
	/* Before the number's time: so it is the module's that lies there. */
	ep_loadmap_refresh();
	return give_number(cell, address);
}

/* ---- counters ------------------------------------------------------------- */

/* Room for all numbers, and as many again: rounded so that lists of a thousand threads do not each
 * end in an empty page. */
static uint64_t size_for(uint64_t number)
{
	uint64_t size = PAGE;

	while ((size - sizeof(struct ep_counts_extent)) / sizeof(uint64_t) <= number + number / 4)
		size *= 2;
	return size;
}

static struct ep_counts_extent *inherited(uint64_t *size)
{
	uint64_t offset;

	return ep_rings_inherit(&offset, size) ? extent_at(offset) : NULL;
}

/* One that an ended thread left, if the caller has none yet; or a larger one. */
static struct ep_counts_extent *find_counters(struct ep_thread *thread, uint64_t number)
{
	struct ep_counts_extent *extent = NULL;
	uint64_t size = size_for(number);

	if (!thread->ring_offset) {
		__atomic_fetch_add(&head->threads, 1, __ATOMIC_RELAXED);
		extent = inherited(&size);
	}
	if (extent && number < extent->capacity)
		return extent;
	return new_extent(EP_EXTENT_COUNTERS, size_for(number), 0, sizeof(uint64_t));
}

/*
 * Counters that reach to `number`. Those that the caller had stay as they are: a hook that this
 * interrupts may still add to them. False: no memory, or this is a signal handler that interrupted
 * the very same.
 */
static bool change_counters(struct ep_tls *tls, uint64_t number)
{
	volatile uint32_t *busy = &tls->counters_busy;
	volatile uint32_t *limit = &tls->counter_limit;
	struct ep_counts_extent *extent;

	if (!tls->thread || *busy)
		return false;
	*busy = 1;
	extent = find_counters(tls->thread, number);
	if (extent) {
		extent->owner = tls->thread->serial;
		tls->thread->ring_offset = (uint64_t)extent - (uint64_t)ep_arena;
		tls->thread->ring_size = extent->size;
		*limit = 0;
		*(uint64_t *volatile *)&tls->counters = counters_of(extent);
		*limit = (uint32_t)extent->capacity;
	}
	*busy = 0;
	return extent != NULL;
}

static struct ep_counts_extent *larger_shared(struct ep_counts_extent *too_small, uint64_t number)
{
	struct ep_counts_extent *larger =
		new_extent(EP_EXTENT_COUNTERS, size_for(number), 0, sizeof(uint64_t));

	if (!larger || __atomic_compare_exchange_n(&shared, &too_small, larger, false,
						   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return larger;
	return too_small;
}

static bool count_shared(uint64_t number)
{
	struct ep_counts_extent *list = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);

	while (!list || number >= list->capacity) {
		list = larger_shared(list, number);
		if (!list)
			return false;
	}
	__atomic_fetch_add(counters_of(list) + number, 1, __ATOMIC_RELAXED);
	return true;
}

static void count_own(struct ep_tls *tls, uint32_t number)
{
	__asm__ volatile("incq %0" : "+m"(tls->counters[number]));
}

void ep_counting_hook(struct ep_tls *tls, uint64_t word)
{
	uint32_t number;

	if (word & EP_RETURN_BIT || *(volatile const uint32_t *)tls->gate != EP_GATE_COUNTING)
		return;
	if (word >> EP_STAMP_SHIFT) {
		ep_arena_stop(EP_OFF_ADDRESS);
		return;
	}
	number = number_of(word);
	if (number == NONE)
		__atomic_fetch_add(&head->lost, 1, __ATOMIC_RELAXED);
	else if (number < tls->counter_limit || change_counters(tls, number))
		count_own(tls, number);
	else if (!count_shared(number))
		__atomic_fetch_add(&head->lost, 1, __ATOMIC_RELAXED);
}

/* ---- modules -------------------------------------------------------------- */

void ep_counting_forget(const struct ep_module *module)
{
	uint64_t freed = ep_tables_clear(module->start, module->end);

	__atomic_fetch_sub(&head->map_size, freed, __ATOMIC_RELAXED);
}

static void recall_site(const struct ep_count_site *site, uint32_t number,
			const struct ep_module *module)
{
	uint32_t *cell, none = 0;
	bool fresh;

	if (site->address < module->start || site->address >= module->end ||
	    site->tsc < module->load_tsc || site->tsc > module->unload_tsc)
		return;
	cell = ep_tables_cell(site->address, false);
	if (!cell)
		return;
	fresh = ep_tables_fresh(cell);
	if (__atomic_compare_exchange_n(cell, &none, number + 1, false, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED) &&
	    fresh)
		__atomic_fetch_add(&head->map_size, EP_TABLES_STEP, __ATOMIC_RELAXED);
}

/* Extents tile what is open behind the head. A crash or a fault may leave one without a header:
 * then it is searched page by page. */
static struct ep_counts_extent *next_extent(uint64_t *offset)
{
	uint64_t end = __atomic_load_n(&ep_arena->committed, __ATOMIC_ACQUIRE);
	struct ep_counts_extent *extent;

	while (*offset < end) {
		extent = extent_at(*offset);
		if (extent->check &&
		    extent->check == ep_extent_check(extent, *offset, epitaph_root.identity)) {
			*offset += extent->size;
			return extent;
		}
		*offset += PAGE;
	}
	return NULL;
}

static uint64_t first_offset(void)
{
	return (uint64_t)head - (uint64_t)ep_arena + PAGE;
}

/* A plug-in that comes and goes at one address would else get new numbers each time, and all memory
 * in the end. */
void ep_counting_recall(const struct ep_module *module)
{
	uint64_t offset = first_offset();
	struct ep_counts_extent *extent;

	while ((extent = next_extent(&offset))) {
		const struct ep_count_site *list = (void *)(extent + 1);

		if (extent->kind != EP_EXTENT_SITES)
			continue;
		for (uint64_t i = 0; i < extent->capacity; i++)
			if (list[i].address)
				recall_site(&list[i], (uint32_t)(extent->first + i), module);
	}
}

/* ---- all of it ------------------------------------------------------------ */

uint64_t ep_counter_total(void)
{
	uint64_t offset = first_offset(), total = 0;
	struct ep_counts_extent *extent;

	while ((extent = next_extent(&offset))) {
		const uint64_t *counters = counters_of(extent);

		if (extent->kind != EP_EXTENT_COUNTERS)
			continue;
		for (uint64_t i = 0; i < extent->capacity; i++)
			total += counters[i];
	}
	return total;
}

void ep_counting_start(void)
{
	head = ep_arena_section(EP_SECTION_COUNTS, NULL);
	sites = NULL;
	shared = NULL;
	if (!family)
		family = epitaph_root.identity;
	head->family = family;
	head->start_monotonic = ep_clock_read(CLOCK_MONOTONIC);
	head->start_cpu = ep_clock_read(CLOCK_PROCESS_CPUTIME_ID);
	ep_tables_start();
}

void ep_counter_note_times(void)
{
	head->duration = ep_clock_read(CLOCK_MONOTONIC) - head->start_monotonic;
	head->cpu = ep_clock_read(CLOCK_PROCESS_CPUTIME_ID) - head->start_cpu;
}
