/* SPDX-License-Identifier: BSD-2-Clause */
/* site_switch.c: some of them at a time. */
#include "runtime/switching/site_switch.h"

#include "runtime/switching/switched.h"
#include "runtime/switching/undumped.h"

#define SITES_MOST 1024 /* at once */
/* Of so many the last one is changed some 10 us after all were read; of more each is read again
 * just before: a debugger may come in between, or the code go. */
#define FRESH_MOST 32

static struct ep_place places[SITES_MOST];

static bool is_off_outside(uint64_t place)
{
	return ep_switched_from_outside(place) & EP_SWITCH_CONTROL;
}

struct ep_hook_site *ep_site_switch_enter(const struct ep_place *place)
{
	uint32_t pages = ep_site_pages();
	struct ep_hook_site *site = ep_site_note(place);

	if (site && ep_site_pages() != pages)
		ep_code_leave_out(place->place);
	return site;
}

bool ep_site_switch_is_off(const struct ep_hook_site *site)
{
	return ep_site_is_off(site, is_off_outside);
}

struct ep_hook_site *ep_site_switch_note(const struct ep_place *place, enum ep_site_reason reason,
					 bool off)
{
	struct ep_hook_site *site = ep_site_switch_enter(place);

	if (site)
		ep_site_set(site, reason, off);
	return site;
}

bool ep_site_switch_apply(struct ep_flip *flip, struct ep_hook_site *site)
{
	bool changed = ep_site_apply(flip, site, is_off_outside);

	ep_switches()->flips += changed;
	return changed;
}

/* `fresh`: what lies there was seen a moment ago. */
static bool set_site(struct ep_flip *flip, const struct ep_place *place, enum ep_site_reason reason,
		     bool off, bool fresh)
{
	struct ep_hook_site *site = ep_site_switch_note(place, reason, off);
	bool changed;

	if (!site)
		return false;
	if (!fresh)
		return ep_site_switch_apply(flip, site);
	changed = ep_site_apply_seen(flip, site, place->is_off, is_off_outside);
	ep_switches()->flips += changed;
	return changed;
}

static void set_places(struct ep_flip *flip, size_t count, enum ep_site_reason reason, bool off,
		       struct ep_site_switch_sum *sum)
{
	sum->found += count;
	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++)
			if (places[i].is_return == (turn == (unsigned)off))
				sum->changed += set_site(flip, &places[i], reason, off,
							 count <= FRESH_MOST);
}

void ep_site_switch(struct ep_flip *flip, uint64_t start, uint64_t end, enum ep_site_reason reason,
		    bool off, struct ep_site_switch_sum *sum)
{
	size_t count;

	do {
		count = ep_sites_in(start, end, places, SITES_MOST);
		set_places(flip, count, reason, off, sum);
		start = count ? places[count - 1].place + ep_place_size(&places[count - 1]) : end;
	} while (count == SITES_MOST);
}

void ep_site_switch_publish(void)
{
	struct ep_switches *head = ep_switches();
	uint64_t count;

	head->sites = (uint64_t)ep_site_table(&count);
	head->site_count = count;
	head->pages = ep_site_pages();
	head->how = ep_flip_how(&head->why_not);
}
