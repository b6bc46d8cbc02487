/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * site_table.c: a list, and an index of it by address: the latest site of each 16 bytes of code,
 * and for each site the one before it there. All is reserved whole and touched as it is used:
 * neighbours in the code are neighbours in the index, so that a few functions take a few pages.
 */
#include "runtime/switching/site_table.h"

#include <sys/mman.h>

#include "runtime/lib/syscalls.h"

#define PAGE       UINT64_C(4096)
#define SITES      (UINT64_C(1) << 20)
#define INDEX      (UINT64_C(1) << 21) /* of 16 bytes each, again and again */
#define LINE       UINT64_C(16)
#define LIST_SIZE  (SITES * sizeof(struct ep_hook_site))
#define INDEX_SIZE (INDEX * sizeof(uint32_t))
#define NEXT_SIZE  (SITES * sizeof(uint32_t))
#define KNOWN      UINT64_C(8192) /* pages of code, again and again: all that the index tells apart */
#define KNOWN_SIZE (KNOWN * sizeof(uint64_t))
#define SIZE       (LIST_SIZE + INDEX_SIZE + NEXT_SIZE + KNOWN_SIZE)

static struct ep_hook_site *list;
static uint32_t *index_of, *next_of; /* number of a site + 1; 0: none */
static uint64_t *known; /* numbers of pages all of whose sites are in the list; 0: none */
static uint64_t used;
static_assert(KNOWN * PAGE == INDEX * LINE, "a page that is known shares its lines with none");
static uint32_t pages;

static bool make(void)
{
	long got;

	if (list)
		return true;
	got = ep_syscall6(SYS_mmap, 0, SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (got < 0 && got > -4096)
		return false;
	ep_syscall3(SYS_madvise, got, SIZE, MADV_DONTDUMP);
	index_of = (uint32_t *)(got + (long)LIST_SIZE);
	next_of = index_of + INDEX;
	known = (uint64_t *)(next_of + SITES);
	list = (struct ep_hook_site *)got;
	return true;
}

struct ep_hook_site *ep_site_table(uint64_t *count)
{
	*count = used;
	return list;
}

static uint32_t *line_of(uint64_t place)
{
	return &index_of[place / LINE % INDEX];
}

struct ep_hook_site *ep_site_find(uint64_t place)
{
	uint32_t number = list ? *line_of(place) : 0;

	while (number && list[number - 1].place != place)
		number = next_of[number - 1];
	return number ? &list[number - 1] : NULL;
}

/* Whether no site of its page of code is in the table yet. */
static bool opens_page(uint64_t place)
{
	uint64_t page = place / PAGE;

	for (uint64_t at = page * PAGE; at < (page + 1) * PAGE; at += LINE)
		for (uint32_t number = *line_of(at); number; number = next_of[number - 1])
			if (list[number - 1].place / PAGE == page)
				return false;
	return true;
}

struct ep_hook_site *ep_site_note(const struct ep_place *place)
{
	struct ep_hook_site *site;

	if (!make())
		return NULL;
	site = ep_site_find(place->place);
	if (site) {
		site->kind = place->kind;
		site->is_return = place->is_return;
		return site;
	}
	if (used == SITES)
		return NULL;
	pages += opens_page(place->place);
	site = &list[used];
	*site = (struct ep_hook_site){.kind = place->kind, .is_return = place->is_return};
	__atomic_store_n(&site->place, place->place, __ATOMIC_RELEASE);
	__atomic_store_n(&used, used + 1, __ATOMIC_RELEASE);
	next_of[used - 1] = *line_of(place->place);
	*line_of(place->place) = (uint32_t)used;
	return site;
}

/* Those of a line in the order in which they came: few. */
static void sort(uint64_t *places, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t at = i; at && places[at - 1] > places[at]; at--) {
			uint64_t moved = places[at];

			places[at] = places[at - 1];
			places[at - 1] = moved;
		}
}

size_t ep_site_places(uint64_t start, uint64_t end, uint64_t *places, size_t most)
{
	size_t count = 0, first;

	for (uint64_t at = start & -LINE; list && at < end && count <= most; at += LINE) {
		first = count;
		for (uint32_t number = *line_of(at); number; number = next_of[number - 1]) {
			uint64_t place = list[number - 1].place;

			if (place < start || place >= end)
				continue;
			if (count < most)
				places[count] = place;
			count++;
		}
		if (count <= most)
			sort(places + first, count - first);
	}
	return count;
}

static uint64_t *slot_of(uint64_t address)
{
	return &known[address / PAGE % KNOWN];
}

void ep_site_page_note(uint64_t address)
{
	if (make())
		__atomic_store_n(slot_of(address), address / PAGE, __ATOMIC_RELAXED);
}

bool ep_site_page_is_known(uint64_t address)
{
	return list && __atomic_load_n(slot_of(address), __ATOMIC_RELAXED) == address / PAGE;
}

void ep_site_page_forget(uint64_t address)
{
	if (ep_site_page_is_known(address))
		__atomic_store_n(slot_of(address), 0, __ATOMIC_RELAXED);
}

void ep_site_pages_forget(void)
{
	for (uint64_t i = 0; list && i < KNOWN; i++)
		if (__atomic_load_n(&known[i], __ATOMIC_RELAXED))
			__atomic_store_n(&known[i], 0, __ATOMIC_RELAXED);
}

void ep_site_set(struct ep_hook_site *site, enum ep_site_reason reason, bool off)
{
	uint8_t *byte = reason == EP_OFF_ALL    ? &site->all
			: reason == EP_OFF_NAME ? &site->name
						: &site->budget;

	__atomic_store_n(byte, off, __ATOMIC_SEQ_CST);
}

bool ep_site_is_off(const struct ep_hook_site *site, bool (*is_off_outside)(uint64_t place))
{
	const volatile struct ep_hook_site *now = site;

	return now->all || now->name || now->budget || is_off_outside(site->place);
}

/* Whoever sets a reason and changes code at the same time looks at all of them afterwards, as we
 * do: the last one is right. Another library may lie there by now. */
bool ep_site_apply(struct ep_flip *flip, struct ep_hook_site *site,
		   bool (*is_off_outside)(uint64_t place))
{
	struct ep_place found;
	bool off, changed = false;

	do {
		off = ep_site_is_off(site, is_off_outside);
		if (!ep_site_at(site->place, &found) || found.kind != site->kind)
			break;
		if (found.is_off != off)
			changed |= ep_flip_write(flip, site->place, ep_site_byte(site->kind, off));
	} while (ep_site_is_off(site, is_off_outside) != off);
	return changed;
}

bool ep_site_apply_seen(struct ep_flip *flip, struct ep_hook_site *site, bool seen_off,
			bool (*is_off_outside)(uint64_t place))
{
	bool off = ep_site_is_off(site, is_off_outside), changed = false;

	if (seen_off != off)
		changed = ep_flip_write(flip, site->place, ep_site_byte(site->kind, off));
	if (ep_site_is_off(site, is_off_outside) != off)
		changed |= ep_site_apply(flip, site, is_off_outside);
	return changed;
}

void ep_site_forget(uint64_t start, uint64_t end)
{
	for (uint64_t i = 0; i < used; i++) {
		struct ep_hook_site *site = &list[i];

		if (site->place >= start && site->place < end)
			site->all = site->name = site->budget = 0;
	}
}

uint32_t ep_site_pages(void)
{
	return pages;
}
