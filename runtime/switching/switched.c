/* SPDX-License-Identifier: BSD-2-Clause */
/* switched.c: entries in order of their first switch, and an index of them by address, which is no
 * part of the section. */
#include "runtime/switching/switched.h"

#include <stddef.h>
#include <sys/mman.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/x86_64/tsc.h"

#define INDEX        (1u << 15) /* slots: number of the entry + 1; 0 is free */
#define OUTSIDE_PART 4          /* one entry in as many is for `epitaph control` */

static struct ep_switches *head;
static struct ep_switched *entries;
static uint16_t index_of[INDEX];
static bool indexed; /* something is in it */

struct ep_switches *ep_switches(void)
{
	return head;
}

/* ---- find ---- */

static uint16_t *slot_of(uint64_t start)
{
	uint64_t at = start * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	while (index_of[at % INDEX] && entries[index_of[at % INDEX] - 1].start != start)
		at++;
	return &index_of[at % INDEX];
}

static struct ep_switched *make_entry(uint64_t start, uint64_t end, uint16_t *slot)
{
	struct ep_switched *entry = &entries[head->count];

	if (head->count == head->capacity)
		return NULL; /* what cannot be told of does not go off */
	*entry = (struct ep_switched){.end = end};
	__atomic_store_n(&entry->start, start, __ATOMIC_RELEASE);
	__atomic_store_n(&head->count, head->count + 1, __ATOMIC_RELEASE);
	*slot = (uint16_t)head->count;
	indexed = true;
	return entry;
}

struct ep_switched *ep_switched_find(uint64_t start, uint64_t end, bool make)
{
	uint16_t *slot = slot_of(start);

	if (*slot) {
		entries[*slot - 1].end = end;
		return &entries[*slot - 1];
	}
	return make ? make_entry(start, end, slot) : NULL;
}

/* ---- reasons ---- */

static bool holds(const struct ep_switched *entry, uint64_t address)
{
	return address >= entry->start && address < entry->end;
}

unsigned ep_switched_from_outside(uint64_t address)
{
	uint32_t count = __atomic_load_n(&head->control_count, __ATOMIC_ACQUIRE);
	unsigned reasons = 0;

	for (uint32_t i = 0; i < count && i < head->control_capacity; i++) {
		const struct ep_switched *entry = &entries[head->capacity + i];

		if (holds(entry, address))
			reasons |= *(volatile const uint8_t *)&entry->reasons;
	}
	return reasons;
}

unsigned ep_switched_reasons(uint64_t address)
{
	unsigned reasons = ep_switched_from_outside(address);

	for (uint32_t i = 0; i < head->count; i++)
		if (holds(&entries[i], address))
			reasons |= entries[i].reasons;
	return reasons;
}

/* ---- switches ---- */

#define REASONS (EP_SWITCH_NAME | EP_SWITCH_BUDGET)

/* The first reason that comes and the last one that goes are the function's switches. */
void ep_switched_begin(struct ep_switched *function, unsigned reason, bool off, uint64_t rate)
{
	struct ep_off_interval *interval;

	if (off && rate)
		function->rate = rate;
	if (off && !(function->reasons & REASONS)) {
		interval = &function->off[function->count % EP_SWITCHED_OFF];
		*interval = (struct ep_off_interval){.off_begin = ep_tsc()};
		function->count++;
		/* at once: what a forked child finds half done must be known to be off */
		function->reasons |= (uint8_t)reason;
	} else if (!off && (function->reasons & REASONS) == reason) {
		interval = &function->off[(function->count - 1) % EP_SWITCHED_OFF];
		interval->on_begin = ep_tsc();
	}
}

void ep_switched_end(struct ep_switched *function, unsigned reason, bool off)
{
	struct ep_off_interval *interval = &function->off[(function->count - 1) % EP_SWITCHED_OFF];

	if (off) {
		function->reasons |= (uint8_t)reason;
		if (!interval->off_end)
			interval->off_end = ep_tsc();
		return;
	}
	function->reasons &= (uint8_t)~reason;
	if (!(function->reasons & REASONS))
		interval->on_end = ep_tsc();
}

void ep_switched_keep(struct ep_switched *function, bool kept)
{
	if (kept)
		function->reasons |= EP_SWITCH_KEPT;
	else
		function->reasons &= (uint8_t)~EP_SWITCH_KEPT;
}

void ep_switched_forget(uint64_t start, uint64_t end)
{
	uint64_t now = ep_tsc();

	for (uint32_t i = 0; i < head->count; i++) {
		struct ep_switched *entry = &entries[i];
		struct ep_off_interval *last = &entry->off[(entry->count - 1) % EP_SWITCHED_OFF];

		if (entry->start < start || entry->start >= end || !(entry->reasons & REASONS))
			continue;
		entry->reasons &= (uint8_t)~REASONS;
		last->on_begin = last->on_end = now;
	}
}

/* ---- the section, and what a forked child has of its parent's ---- */

static struct {
	uint64_t size;
	char *bytes;
} kept;

/* All that is used of it. */
static uint64_t used_size(void)
{
	uint32_t entries_used = head->count;

	if (head->control_count)
		entries_used = head->capacity + head->control_count;
	return sizeof(*head) + (uint64_t)entries_used * sizeof(*entries);
}

void ep_switched_copy(void)
{
	uint64_t size = used_size();
	long got;

	if (!head->count && !head->control_count && !head->all_count)
		return;
	got = ep_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (got < 0 && got > -4096)
		return;
	kept.bytes = (char *)got;
	kept.size = size;
	ep_bytes_copy(kept.bytes, head, size);
}

/* What it has cost so far was the parent's. */
static void restore(uint64_t room)
{
	if (kept.bytes && kept.size <= room) {
		ep_bytes_copy(head, kept.bytes, kept.size);
		ep_bytes_zero(&head->cost_tsc, offsetof(struct ep_switches, hooks) -
						       offsetof(struct ep_switches, cost_tsc));
	}
	if (kept.bytes)
		ep_syscall2(SYS_munmap, (long)kept.bytes, (long)kept.size);
	kept.bytes = NULL;
}

void ep_switched_start(void)
{
	uint64_t size = 0;
	uint32_t room;

	head = ep_arena_section(EP_SECTION_SWITCHES, &size);
	if (!head || size < sizeof(*head) + 2 * OUTSIDE_PART * sizeof(*entries)) {
		head = NULL;
		return;
	}
	entries = (struct ep_switched *)(head + 1);
	room = (uint32_t)((size - sizeof(*head)) / sizeof(*entries));
	if (room > INDEX / 2)
		room = INDEX / 2;
	restore(size);
	head->control_capacity = room / OUTSIDE_PART;
	head->capacity = room - head->control_capacity;
	/* Its pages are touched only where there is something to forget. */
	if (!head->count && indexed)
		ep_bytes_zero(index_of, sizeof(index_of));
	indexed = head->count != 0;
}
