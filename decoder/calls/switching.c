/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switching.c: pairing where hooks of functions come and go. From its off on, a function is not to
 * be seen; so calls of it that are made then are missing, and calls of it that were open may end at
 * any time. What is shown must be true; what is missing is said to be.
 *
 * Its hooks go off entries first and come back returns first. So a call whose entry was recorded
 * has its return recorded, unless it was open when its function went off: such a call ends at the
 * first record that is not certain to be from before, once it is the innermost one. (While another
 * is open in it, it is open.) A hook that was entered before its site went off may write its record
 * long after; that call is over at once, too.
 *
 * A return of a function that was off, without an open call of it that is certainly still the same:
 * its call was made while it was off. It is dropped: it says nothing of calls that are open, and
 * where the function's name stands for one, that one waits for its end. Only a return whose
 * function was on since history is known belongs to a call from before.
 */
#include "coredump/util/search.h"
#include "decoder/calls/pairing.h"

/* ---- times ---- */

static uint64_t later(uint64_t tsc)
{
	return tsc < UINT64_MAX - EP_SWITCH_SLACK ? tsc + EP_SWITCH_SLACK : UINT64_MAX;
}

static uint64_t earlier(uint64_t tsc)
{
	return tsc > EP_SWITCH_SLACK ? tsc - EP_SWITCH_SLACK : 0;
}

/* ---- open calls ---- */

/* The first interval that a call that begins here does not survive for certain. */
const struct ep_function *ep_pairing_note_switched(struct ep_pairing *pairing,
						   const struct ep_identity *one,
						   const struct ep_record *record)
{
	for (size_t i = 0; i < one->offs->count; i++) {
		const struct ep_trace_off *off = &one->offs->list[i];
		bool before = record->low <= later(off->end);
		bool late = !before && record->high < later(off->on_end);

		if (!before && !late)
			continue;
		ep_array_push(&pairing->now->switched,
			      ((struct ep_fiber_switched){
				      .index = pairing->now->height - 1,
				      .cut_at = earlier(off->begin),
				      .own_until = before ? later(off->end) : 0,
				      .begin = off->begin,
			      }));
		break;
	}
	return one->function;
}

static const struct ep_fiber_switched *switched_at(const struct ep_pairing *pairing, size_t index)
{
	const struct ep_fiber *now = pairing->now;
	size_t at = ep_partition_point(now->switched.count, i, now->switched.list[i].index < index);

	return at < now->switched.count && now->switched.list[at].index == index
		       ? &now->switched.list[at]
		       : NULL;
}

bool ep_pairing_may_be_over(const struct ep_pairing *pairing, size_t index, uint64_t high)
{
	const struct ep_fiber_switched *one = switched_at(pairing, index);

	return one && high >= one->cut_at;
}

static size_t innermost(const struct ep_pairing *pairing, uint32_t identity)
{
	size_t index = pairing->now->height;

	if (pairing->identities.all.list[identity].open == 0)
		return SIZE_MAX;
	while (pairing->now->stack[--index] != identity)
		;
	return index;
}

size_t ep_pairing_innermost(const struct ep_pairing *pairing, uint32_t identity, uint64_t high)
{
	size_t index = innermost(pairing, identity);

	return index != SIZE_MAX && ep_pairing_may_be_over(pairing, index, high) ? SIZE_MAX : index;
}

/* ---- records ---- */

/* Is it the return of the innermost call, as far as can be known? */
static bool is_own(const struct ep_pairing *pairing, uint32_t identity,
		   const struct ep_record *record)
{
	const struct ep_fiber_switched *top = ep_pairing_switched(pairing);

	return pairing->now->stack[pairing->now->height - 1] == identity &&
	       record->low <= top->own_until;
}

bool ep_pairing_is_off_slow(struct ep_pairing *pairing, const struct ep_record *record)
{
	const struct ep_identity_site *site;

	if (record->kind != EP_RECORD_RETURN)
		return true;
	site = ep_identities_find(&pairing->identities, record->address, true, record->time);
	return !is_own(pairing, site->identity, record);
}

void ep_pairing_end_switched(struct ep_pairing *pairing)
{
	struct ep_fiber *now = pairing->now;
	size_t index = now->height - 1;

	/* It was alive as long as anybody knows: no doubt about it is settled by its never
	 * returning. */
	while (pairing->pending.count &&
	       pairing->pending.list[pairing->pending.count - 1].height > index)
		pairing->pending.count--;
	for (unsigned i = 0; i < pairing->landing_count; i++)
		if (pairing->landings[i].index == index)
			pairing->landings[i].index = SIZE_MAX;
	ep_fiber_lower(&pairing->fibers, now);
	ep_pairing_cut(pairing, index, false);
}

/* Was it off at any time since history is known, and not after this? */
static bool was_off(const struct ep_pairing *pairing, const struct ep_offs *offs, uint64_t high)
{
	for (size_t i = 0; i < offs->count; i++)
		if (earlier(offs->list[i].begin) <= high &&
		    later(offs->list[i].on_end) >= pairing->known_at)
			return true;
	return false;
}

bool ep_pairing_drops(const struct ep_pairing *pairing, const struct ep_identity_site *site,
		      const struct ep_record *record)
{
	size_t index = innermost(pairing, site->identity);

	if (index == SIZE_MAX)
		return was_off(pairing, pairing->identities.all.list[site->identity].offs,
			       record->high);
	if (!ep_pairing_may_be_over(pairing, index, record->high))
		return false;
	return index + 1 != pairing->now->height || !is_own(pairing, site->identity, record);
}

bool ep_pairing_switches_within(const struct ep_pairing *pairing, uint64_t low, uint64_t high)
{
	const struct ep_trace_switches *switches = pairing->identities.switches;
	const struct ep_fiber *now = pairing->now;

	for (size_t i = 0; i < now->switched.count; i++)
		if (high >= now->switched.list[i].cut_at)
			return true;
	return switches && ep_switches_moved(switches, low, high);
}
