/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jumps.c: what marks do to the stacks of open calls.
 *
 * An exception: the runtime recorded each frame that the unwinder left, traced or not. The frame of
 * an open call ends that call, and with it what is open above, which was inlined into it. A frame
 * whose clean-up code ran is recorded as left when that code is over; where compilers call the
 * return hook in clean-up code (gcc with -finstrument-functions) its call has ended by then, and
 * must not take another call of the same function with it. Where functions have no bounds (no file
 * names them), the frame of one that is not traced would be taken for that of the traced one before
 * it: nothing is concluded.
 *
 * longjmp and contexts: the mark of the save was met when certain calls were open, so those are
 * what is open again. A buffer whose save is older than the history, or lies where history is
 * missing, belongs to a caller of all calls that were seen since: these were left. (In a thread
 * whose history is whole there is no such place, and nothing is concluded.)
 *
 * A jump that is compiled into a function (__builtin_longjmp, a goto out of a nested function)
 * leaves no mark. Its function does not return; so when a call comes next that it cannot have made,
 * by its code, it was left before: to the function that the jump leads to, or else to the innermost
 * one outside of it that makes such a call.
 *
 * vfork: what the child called has ended with it; the parent goes on as after a longjmp.
 */
#include "decoder/calls/pairing.h"

/* ---- fibers ---- */

static void count_open(struct ep_pairing *pairing, uint32_t by)
{
	const struct ep_fiber *now = pairing->now;

	for (size_t i = 0; i < now->height; i++)
		pairing->identities.all.list[now->stack[i]].open += by;
}

/* Open calls are counted of the present stack only. Doubts do not cross. */
static void switch_to(struct ep_pairing *pairing, struct ep_fiber *fiber)
{
	count_open(pairing, (uint32_t)-1);
	pairing->now = fiber;
	count_open(pairing, 1);
	pairing->pending.count = 0;
}

static void switch_to_new(struct ep_pairing *pairing, const struct ep_saved_context *place)
{
	uint32_t function = place ? place->function : UINT32_MAX;
	uint64_t link = place ? place->link : 0;
	struct ep_fiber *fiber = ep_fibers_add(&pairing->fibers);

	fiber->whole = place || (pairing->whole && pairing->segment == 0);
	fiber->function = function;
	fiber->link = link;
	switch_to(pairing, fiber);
}

static size_t lower(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Control goes on at what `buffer` holds. */
static void go_on(struct ep_pairing *pairing, uint64_t buffer, struct ep_judgement *out)
{
	const struct ep_saved_context *place = ep_fibers_find(&pairing->fibers, buffer);
	const struct ep_fiber *before = pairing->now;

	if (!place || place->fiber == EP_FIBER_NONE) {
		switch_to_new(pairing, place);
	} else {
		if (place->fiber != before->number)
			switch_to(pairing, pairing->fibers.all.list[place->fiber]);
		out->index = lower(ep_fiber_height(pairing->now, place), pairing->now->height);
	}
	out->index = lower(out->index, pairing->now->height);
	out->switched = pairing->now != before;
}

static void save(struct ep_pairing *pairing, uint64_t buffer)
{
	struct ep_saved_context place = {
		.buffer = buffer,
		.fiber = pairing->now->number,
		.height = pairing->now->height,
		.serial = pairing->fibers.serial,
	};

	ep_fibers_save(&pairing->fibers, &place);
}

static void fresh(struct ep_pairing *pairing, const struct ep_record *record)
{
	struct ep_saved_context place = {
		.buffer = record->buffer,
		.fiber = EP_FIBER_NONE,
		.function = ep_identities_find(&pairing->identities, record->address, true,
					       record->time)
				    ->identity,
		.link = record->other,
	};

	ep_fibers_save(&pairing->fibers, &place);
}

static void resume(struct ep_pairing *pairing, const struct ep_record *record,
		   struct ep_judgement *out)
{
	if (ep_fibers_find(&pairing->fibers, record->buffer))
		go_on(pairing, record->buffer, out);
	else if (!pairing->now->whole || pairing->segment > 0)
		out->index = pairing->now->floor;
}

void ep_pairing_go_on(struct ep_pairing *pairing)
{
	struct ep_judgement unused = {.index = SIZE_MAX};
	uint64_t link = pairing->now->link;

	pairing->now->over = false;
	go_on(pairing, link, &unused);
}

/*
 * A return of a call that is not open here, where nothing is: what runs here may have ended unseen
 * (it is not traced), and the caller of that go on.
 */
void ep_pairing_try_link(struct ep_pairing *pairing, uint32_t identity)
{
	const struct ep_saved_context *place = ep_fibers_find(&pairing->fibers, pairing->now->link);
	const struct ep_fiber *there;

	if (!place || place->fiber == EP_FIBER_NONE)
		return;
	there = pairing->fibers.all.list[place->fiber];
	for (size_t i = there->height; i-- > 0;)
		if (there->stack[i] == identity) {
			ep_pairing_go_on(pairing);
			return;
		}
}

/* ---- exceptions ---- */

/* Clean-up code begins in a frame whose call is at `index`, if any. */
static void land(struct ep_pairing *pairing, uint32_t identity, uint64_t high)
{
	size_t index = ep_pairing_innermost(pairing, identity, high);

	pairing->leaving = false;
	if (pairing->landing_count == EP_LANDINGS_MAX)
		return;
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

/* Where functions have no bounds, one that is named by where it was called (a funtrace.raw of ours
 * does) is certain all the same. */
static void leave(struct ep_pairing *pairing, uint32_t identity, uint64_t address, uint64_t high,
		  struct ep_judgement *out)
{
	const struct ep_identity *one = &pairing->identities.all.list[identity];
	size_t index;

	if (take_off(pairing, identity) ||
	    (one->flags & EP_IDENTITY_UNBOUND && one->function->start != address))
		return;
	index = ep_pairing_innermost(pairing, identity, high);
	if (index != SIZE_MAX)
		out->index = index;
}

/* Where neither the throw nor a frame that was left is recorded (the trace is funtrace's), what is
 * open above the call that catches is over. */
static void caught(struct ep_pairing *pairing, uint32_t identity, uint64_t high,
		   struct ep_judgement *out)
{
	const struct ep_identity *one = &pairing->identities.all.list[identity];
	bool recorded = pairing->leaving;
	size_t index;

	pairing->leaving = false;
	if (recorded || one->flags & EP_IDENTITY_UNBOUND)
		return;
	index = ep_pairing_innermost(pairing, identity, high);
	if (index != SIZE_MAX)
		out->index = index + 1;
}

/* ---- jumps without a mark ---- */

bool ep_pairing_has_left_slow(struct ep_pairing *pairing, const struct ep_record *record)
{
	struct ep_names *names = pairing->identities.names;
	const struct ep_fiber *now = pairing->now;
	const struct ep_function *callee =
		ep_identities_find(&pairing->identities, record->address, false, record->time)
			->function;
	struct ep_identity *all = pairing->identities.all.list;
	struct ep_identity *top = &all[now->stack[now->height - 1]];
	const struct ep_function *to;

	if (!(top->flags & EP_IDENTITY_ASKED)) {
		top->flags |= EP_IDENTITY_ASKED;
		if (ep_leaving_may(&pairing->code, names, top->function))
			top->flags |= EP_IDENTITY_LEAVES;
	}
	if (!(top->flags & EP_IDENTITY_LEAVES) || !callee->known ||
	    ep_leaving_calls(&pairing->code, names, top->function, callee))
		return false;
	to = ep_leaving_to(&pairing->code, names, top->function);
	for (size_t i = now->height - 1; i-- > now->floor;) {
		const struct ep_function *outer = all[now->stack[i]].function;

		if (to ? outer != to : !ep_leaving_calls(&pairing->code, names, outer, callee))
			continue;
		pairing->left_at = pairing->ordinal + 1;
		pairing->left_height = i + 1;
		return true;
	}
	return false;
}

/* ---- all of them ---- */

/* What happened at a place in the code that matters. */
static void judge_place(struct ep_pairing *pairing, const struct ep_record *record,
			struct ep_judgement *out)
{
	const struct ep_identity_site *site =
		ep_identities_find(&pairing->identities, record->address, true, record->time);

	out->function = site->function;
	if (record->kind == EP_RECORD_LEFT) {
		leave(pairing, site->identity, record->address, record->high, out);
	} else if (record->kind == EP_RECORD_LANDED) {
		land(pairing, site->identity, record->high);
	} else if (record->kind == EP_RECORD_CAUGHT) {
		caught(pairing, site->identity, record->high, out);
	} else if (record->kind == EP_RECORD_THROW || record->kind == EP_RECORD_RETHROW) {
		pairing->leaving = true; /* by a frame that is none of these */
	} else if (record->kind == EP_RECORD_RESUME) {
		resume(pairing, record, out);
	} else if (record->kind == EP_RECORD_SWAP) {
		save(pairing, record->buffer);
		go_on(pairing, record->other, out);
	}
}

struct ep_judgement ep_pairing_jump(struct ep_pairing *pairing, const struct ep_record *record)
{
	struct ep_judgement out = {
		.verdict = EP_PAIR_LEFT,
		.index = pairing->now->height,
	};

	/* What the program says changes nothing that is open. */
	if (record->kind >= EP_RECORD_NOTE)
		out.function =
			ep_names_find(pairing->identities.names, record->address, record->time);
	else if (record->kind == EP_RECORD_SAVE)
		save(pairing, record->buffer);
	else if (record->kind == EP_RECORD_PARENT)
		resume(pairing, record, &out);
	else if (record->kind == EP_RECORD_FRESH)
		fresh(pairing, record);
	else
		judge_place(pairing, record, &out);
	if (pairing->pass == EP_PASS_LOOK && out.index < pairing->now->height)
		ep_pairing_settle(pairing, out.index);
	pairing->ordinal++;
	return out;
}
