/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jumps.c: what marks do to the stacks of open calls.
 *
 * An exception: the unwinder told each frame that it left, traced or not. The frame of an open call
 * ends that call, and with it what is open above, which was inlined into it. A frame whose clean-up
 * code ran is told as left when that code is over; where compilers call the return hook in clean-up
 * code (gcc with -finstrument-functions) its call has ended by then, and must not take another call
 * of the same function with it. Where functions have no bounds (no file names them), the frame of
 * one that is not traced would be taken for that of the traced one before it: nothing is concluded.
 *
 * longjmp and contexts: the mark of the save was met when certain calls were open, so those are
 * what is open again. A buffer whose save is older than the history, or lies where history is
 * missing, belongs to a caller of all calls that were seen since: these were left. (In a thread
 * whose history is whole there is no such place, and nothing is concluded.)
 *
 * vfork: what the child called has ended with it; the parent goes on as after a longjmp.
 */
#include "decoder/calls/pairing.h"

/* ---- fibers ---- */

static void count_open(struct ep_pairing *pairing, uint32_t by)
{
	const struct ep_fiber *now = pairing->now;

	for (size_t i = 0; i < now->height; i++)
		pairing->identities.list[now->stack[i]].open += by;
}

/* Open calls are counted of the present stack only. Doubts do not cross. */
static void switch_to(struct ep_pairing *pairing, struct ep_fiber *fiber)
{
	count_open(pairing, (uint32_t)-1);
	pairing->now = fiber;
	count_open(pairing, 1);
	pairing->pending.count = 0;
}

static int switch_to_new(struct ep_pairing *pairing, const struct ep_saved_context *place)
{
	uint32_t function = place ? place->function : UINT32_MAX;
	uint64_t link = place ? place->link : 0;
	struct ep_fiber *fiber = ep_fibers_add(&pairing->fibers);

	if (!fiber)
		return EP_E_MEMORY;
	fiber->whole = place || (pairing->whole && pairing->segment == 0);
	fiber->function = function;
	fiber->link = link;
	switch_to(pairing, fiber);
	return EP_OK;
}

static size_t lower(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Control goes on at what `buffer` holds. */
static int go_on(struct ep_pairing *pairing, uint64_t buffer, struct ep_judgement *out)
{
	const struct ep_saved_context *place = ep_fibers_find(&pairing->fibers, buffer);
	const struct ep_fiber *before = pairing->now;

	if (!place || place->fiber == EP_FIBER_NONE) {
		if (switch_to_new(pairing, place) != EP_OK)
			return EP_E_MEMORY;
	} else {
		if (place->fiber != before->number)
			switch_to(pairing, pairing->fibers.list[place->fiber]);
		out->index = lower(place->height, pairing->now->height);
	}
	out->index = lower(out->index, pairing->now->height);
	out->switched = pairing->now != before;
	return EP_OK;
}

static int save(struct ep_pairing *pairing, uint64_t buffer)
{
	struct ep_saved_context place = {
		.buffer = buffer,
		.fiber = pairing->now->number,
		.height = pairing->now->height,
	};

	return ep_fibers_save(&pairing->fibers, &place);
}

static int fresh(struct ep_pairing *pairing, const struct ep_record *record)
{
	struct ep_saved_context place = {
		.buffer = record->buffer,
		.fiber = EP_FIBER_NONE,
		.link = record->other,
	};
	const struct ep_identity_site *site;

	if (ep_identities_find(&pairing->identities, record->address, true, record->time, &site) !=
	    EP_OK)
		return EP_E_MEMORY;
	place.function = site->identity;
	return ep_fibers_save(&pairing->fibers, &place);
}

static int swap(struct ep_pairing *pairing, const struct ep_record *record,
		struct ep_judgement *out)
{
	if (save(pairing, record->buffer) != EP_OK)
		return EP_E_MEMORY;
	return go_on(pairing, record->other, out);
}

static int resume(struct ep_pairing *pairing, const struct ep_record *record,
		  struct ep_judgement *out)
{
	if (ep_fibers_find(&pairing->fibers, record->buffer))
		return go_on(pairing, record->buffer, out);
	if (!pairing->now->whole || pairing->segment > 0)
		out->index = pairing->now->floor;
	return EP_OK;
}

int ep_pairing_go_on(struct ep_pairing *pairing)
{
	struct ep_judgement unused = {.index = SIZE_MAX};
	uint64_t link = pairing->now->link;

	pairing->now->over = false;
	return go_on(pairing, link, &unused);
}

/*
 * A return of a call that is not open here, where nothing is: what runs here may have ended unseen
 * (it is not traced), and the caller of that go on.
 */
int ep_pairing_try_link(struct ep_pairing *pairing, uint32_t identity)
{
	const struct ep_saved_context *place = ep_fibers_find(&pairing->fibers, pairing->now->link);
	const struct ep_fiber *there;

	if (!place || place->fiber == EP_FIBER_NONE)
		return EP_OK;
	there = pairing->fibers.list[place->fiber];
	for (size_t i = there->height; i-- > 0;)
		if (there->stack[i] == identity)
			return ep_pairing_go_on(pairing);
	return EP_OK;
}

/* ---- exceptions ---- */

/* Clean-up code begins in a frame whose call is at `index`, if any. */
static void land(struct ep_pairing *pairing, uint32_t identity)
{
	size_t index = pairing->now->height;

	pairing->leaving = false;
	if (pairing->landing_count == EP_LANDINGS_MAX)
		return;
	if (pairing->identities.list[identity].open == 0)
		index = SIZE_MAX;
	else
		while (pairing->now->stack[--index] != identity)
			;
	pairing->landings[pairing->landing_count++] = (struct ep_landing){identity, index, false};
}

/* The first frame that is left after clean-up code is the one that it ran in; what landed above
 * that, within it, is over. True: its call has ended already.
 */
static bool take_off(struct ep_pairing *pairing, uint32_t identity)
{
	bool first = !pairing->leaving;
	unsigned at = pairing->landing_count;

	pairing->leaving = true;
	while (first && at-- > 0)
		if (pairing->landings[at].identity == identity) {
			pairing->landing_count = at;
			return pairing->landings[at].returned;
		}
	return false;
}

static int leave(struct ep_pairing *pairing, uint32_t identity, struct ep_judgement *out)
{
	const struct ep_identity *one = &pairing->identities.list[identity];
	size_t index = pairing->now->height;

	if (take_off(pairing, identity) || one->open == 0 || one->flags & EP_IDENTITY_UNBOUND)
		return EP_OK;
	while (pairing->now->stack[--index] != identity)
		;
	out->index = index;
	return EP_OK;
}

/* Where neither the throw nor a frame that was left was told (the trace is funtrace's), what is
 * open above the call that catches is over. */
static int caught(struct ep_pairing *pairing, uint32_t identity, struct ep_judgement *out)
{
	const struct ep_identity *one = &pairing->identities.list[identity];
	size_t index = pairing->now->height;
	bool told = pairing->leaving;

	pairing->leaving = false;
	if (told || one->open == 0 || one->flags & EP_IDENTITY_UNBOUND)
		return EP_OK;
	while (pairing->now->stack[--index] != identity)
		;
	out->index = index + 1;
	return EP_OK;
}

/* ---- what the program says ---- */

/* It changes nothing that is open. */
static int say(struct ep_pairing *pairing, const struct ep_record *record, struct ep_judgement *out)
{
	out->function = ep_names_find(pairing->identities.names, record->address, record->time);
	return EP_OK;
}

/* ---- all of them ---- */

static int take_place(struct ep_pairing *pairing, const struct ep_record *record,
		      struct ep_judgement *out)
{
	const struct ep_identity_site *site;

	if (ep_identities_find(&pairing->identities, record->address, true, record->time, &site) !=
	    EP_OK)
		return EP_E_MEMORY;
	out->function = site->function;
	if (record->kind == EP_RECORD_LEFT)
		return leave(pairing, site->identity, out);
	if (record->kind == EP_RECORD_LANDED)
		land(pairing, site->identity);
	else if (record->kind == EP_RECORD_CAUGHT)
		return caught(pairing, site->identity, out);
	else if (record->kind == EP_RECORD_THROW || record->kind == EP_RECORD_RETHROW)
		pairing->leaving = true; /* by a frame that is none of these */
	else if (record->kind == EP_RECORD_RESUME)
		return resume(pairing, record, out);
	else if (record->kind == EP_RECORD_SWAP)
		return swap(pairing, record, out);
	return EP_OK;
}

int ep_pairing_jump(struct ep_pairing *pairing, const struct ep_record *record,
		    struct ep_judgement *out)
{
	int result;

	*out = (struct ep_judgement){
		.verdict = EP_PAIR_LEFT,
		.index = pairing->now->height,
	};
	if (record->kind >= EP_RECORD_NOTE)
		result = say(pairing, record, out);
	else if (record->kind == EP_RECORD_SAVE)
		result = save(pairing, record->buffer);
	else if (record->kind == EP_RECORD_PARENT)
		result = resume(pairing, record, out);
	else if (record->kind == EP_RECORD_FRESH)
		result = fresh(pairing, record);
	else
		result = take_place(pairing, record, out);
	if (result == EP_OK && pairing->pass == EP_PASS_LOOK && out->index < pairing->now->height)
		result = ep_pairing_settle(pairing, out->index);
	pairing->ordinal++;
	return result;
}
