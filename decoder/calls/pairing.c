/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairing.c: which call does a return of function F end?
 *
 * F is open: the innermost open call of F. What is open above it was left without a return of its
 * own (longjmp, an exception, a lost record). In a recursion that an outer level ends by catching
 * an exception the trace alone cannot tell which level it was; the innermost is taken and said to
 * be ambiguous when calls lie above it. When the innermost is on top there is no sign at all; the
 * outer levels then end as left with their caller.
 *
 * After a gap (lost blocks, a pause, a hole) the call that is found may be another one of the same
 * function, made where history is missing. Every end across a gap is marked. (Letting later returns
 * decide was tried: on random programs it was right no more often.)
 *
 * F is not open. Then its call was never seen, and there are these reasons:
 *  - F is a thunk: gcc emits the return hook in one, but never the call hook.
 *    Its symbol says so. STRAY.
 *  - F began before the history, or where history is missing (a gap: lost
 *    blocks, a pause, a hole). When no call has been seen since that is still
 *    open, nothing contradicts: BEFORE. Calls that were open when the gap came
 *    stay open, for F may well be inside of them; whether they are still alive
 *    is not known until one of their returns comes, so all of them are marked.
 *  - calls are open that were seen since. F may be outside of them all, and
 *    they were left by an exception or longjmp that ended in F; or F's own call
 *    was lost without a trace, or it is a thunk without a symbol, and they are
 *    alive. What comes later decides: as soon as one of them returns, they were
 *    alive, and F is STRAY. If none ever does, F was OUTSIDE; only that reading
 *    explains that they never return. A call that is open at a crash does not
 *    return either, but then F's own caller must be open, too, and
 *    F's record have been lost silently just then.
 *    Where F is nothing but an address (no file to name it), it may be a thunk:
 *    STRAY. The same when the thread's history is whole: there is no place
 *    where F could have begun.
 *
 * A call that was thought to be left may return all the same. Then the thread has gone on upon
 * other stacks in between, by means that leave no mark (assembly of its own); from there on what is
 * inside of what is a guess.
 *
 * Where hooks of a function come and go, switching.c judges first.
 *
 * The first pass therefore takes each such return for a stray one, and keeps those in mind that
 * nothing contradicts. If there are none it was the only one. Else, with these for OUTSIDE, a
 * second one counts the callers that are known only by their returns; it is the same code that then
 * runs for good, so the counts are exact.
 */
#include "decoder/calls/pairing.h"

#include "coredump/util/alloc.h"

/* ---- doubts ---- */

/*
 * The call at `index` returned: it was alive all the time. Doubts that had it among the calls seen
 * since the gap are settled: stray. Where it was older than the gap, the calls above it are gone
 * for good without a return: outside.
 *
 * The stack gets lower only by a return, which settles all doubts above it; so those that are left
 * ascend by height.
 */
void ep_pairing_settle(struct ep_pairing *pairing, size_t index)
{
	const struct ep_doubt *list = pairing->pending.list;
	size_t *count = &pairing->pending.count;

	while (*count && list[*count - 1].height > index)
		if (list[--*count].floor > index)
			ep_array_push(&pairing->outside, list[*count]);
}

static int compare_doubts(const void *a, const void *b)
{
	const struct ep_doubt *x = a, *y = b;

	return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* The first pass is over: what is still in doubt was outside. */
static void settle_all(struct ep_pairing *pairing)
{
	while (pairing->pending.count)
		ep_array_push(&pairing->outside, pairing->pending.list[--pairing->pending.count]);
	ep_array_sort(&pairing->outside, compare_doubts);
}

static bool is_outside(struct ep_pairing *pairing)
{
	const struct ep_doubt *list = pairing->outside.list;
	size_t count = pairing->outside.count, *next = &pairing->next_outside;

	while (*next < count && list[*next].ordinal < pairing->ordinal)
		++*next;
	return *next < count && list[*next].ordinal == pairing->ordinal;
}

/* ---- callers that are known by their returns only ---- */

/* Room for the present segment's number. */
static void grow_inner(struct ep_pairing *pairing)
{
	while (pairing->inner.count <= pairing->segment)
		ep_array_add(&pairing->inner);
}

/*
 * One of them has returned. When nothing is open it is a caller of all that came before, unless the
 * history is whole: then it began in the last gap, as those do that return inside of older calls.
 */
static void count_before(struct ep_pairing *pairing, size_t height)
{
	bool outer = height == 0 && !pairing->now->whole;
	uint64_t *left = outer ? &pairing->now->outer_left : &pairing->inner_left;

	if (pairing->pass == EP_PASS_FINAL || pairing->once)
		*left -= *left > 0;
	if (pairing->pass == EP_PASS_FINAL)
		return;
	if (outer)
		pairing->now->outer_all++;
	else
		pairing->inner.list[pairing->segment]++;
}

/* ---- judging ---- */

static struct ep_identity *identity(struct ep_pairing *pairing, uint32_t number)
{
	return &pairing->identities.all.list[number];
}

/* A return that names nothing (its function's entry was not seen, as that of a cold part) is its
 * module's innermost open call's, if that is on top. */
static bool may_be_top(struct ep_pairing *pairing, const struct ep_identity_site *site)
{
	const struct ep_identity *top;

	if (!site->lonely || pairing->now->height == 0)
		return false;
	top = identity(pairing, pairing->now->stack[pairing->now->height - 1]);
	return top->flags & EP_IDENTITY_UNBOUND && top->function->in == site->function->in;
}

static void judge_unseen(struct ep_pairing *pairing, const struct ep_identity_site *site,
			 struct ep_judgement *out)
{
	struct ep_doubt doubt = {pairing->ordinal, pairing->now->floor, pairing->now->height};
	struct ep_identity *one = identity(pairing, site->identity);

	out->index = pairing->now->height;
	out->verdict = EP_PAIR_STRAY;
	if (one->flags & EP_IDENTITY_THUNK)
		return;
	if (one->left && !(one->flags & EP_IDENTITY_UNBOUND)) {
		one->left--;
		pairing->returned++;
	}
	if (pairing->now->height == pairing->now->floor) {
		out->verdict = EP_PAIR_BEFORE;
		return;
	}
	if (one->flags & EP_IDENTITY_UNBOUND || (pairing->now->whole && pairing->segment == 0))
		return;
	if (is_outside(pairing)) {
		out->verdict = EP_PAIR_OUTSIDE;
		out->index = pairing->now->floor;
	} else if (pairing->pass == EP_PASS_LOOK) {
		ep_array_push(&pairing->pending, doubt);
	}
}

static struct ep_judgement judge(struct ep_pairing *pairing, const struct ep_identity_site *site)
{
	uint32_t open = identity(pairing, site->identity)->open;
	struct ep_judgement out = {.function = site->function};
	size_t index = pairing->now->height;

	if (open == 0 && !may_be_top(pairing, site)) {
		judge_unseen(pairing, site, &out);
		return out;
	}
	/* Each step down is paid for by the call that it ends. */
	do
		index--;
	while (open != 0 && pairing->now->stack[index] != site->identity);
	out.verdict = EP_PAIR_MATCH;
	out.index = index;
	out.ambiguous = open > 1 && index + 1 != pairing->now->height;
	return out;
}

/* Clean-up code that called the return hook; a fiber's function. */
static void note_match(struct ep_pairing *pairing, uint32_t identity, size_t index)
{
	if (pairing->landing_count && pairing->landings[pairing->landing_count - 1].index == index)
		pairing->landings[pairing->landing_count - 1].returned = true;
	if (index == 0 && identity == pairing->now->function)
		pairing->now->over = true;
}

struct ep_judgement ep_pairing_return(struct ep_pairing *pairing, const struct ep_record *record)
{
	const struct ep_identity_site *site =
		ep_identities_find(&pairing->identities, record->address, true, record->time);
	struct ep_judgement out;

	if (identity(pairing, site->identity)->offs && ep_pairing_drops(pairing, site, record)) {
		pairing->ordinal++;
		pairing->dropped++;
		return (struct ep_judgement){.verdict = EP_PAIR_DROPPED,
					     .index = pairing->now->height,
					     .function = site->function};
	}
	if (pairing->now->height == 0 && pairing->now->link)
		ep_pairing_try_link(pairing, site->identity);
	out = judge(pairing, site);
	out.switched_off = pairing->now->switched.count && out.verdict == EP_PAIR_MATCH &&
			   ep_pairing_may_be_over(pairing, out.index, record->high);
	if (out.verdict == EP_PAIR_MATCH && pairing->pass == EP_PASS_LOOK)
		ep_pairing_settle(pairing, out.index);
	pairing->ordinal++;
	if (out.verdict == EP_PAIR_MATCH) {
		note_match(pairing, site->identity, out.index);
		return out;
	}
	pairing->calls++;
	if (out.verdict == EP_PAIR_STRAY)
		return out;
	count_before(pairing, out.index);
	return out;
}

/* ---- the stack ---- */

const struct ep_function *ep_pairing_call(struct ep_pairing *pairing,
					  const struct ep_record *record)
{
	const struct ep_identity_site *site =
		ep_identities_find(&pairing->identities, record->address, false, record->time);
	struct ep_identity *one = identity(pairing, site->identity);

	ep_fiber_push(pairing->now, site->identity);
	one->open++;
	one->flags |= EP_IDENTITY_CALLED;
	pairing->ordinal++;
	pairing->calls++;
	/* Last, so that others keep nothing for it. */
	return one->offs ? ep_pairing_note_switched(pairing, one, record) : site->function;
}

void ep_pairing_cut(struct ep_pairing *pairing, size_t height, bool left)
{
	struct ep_fiber *now = pairing->now;

	while (now->height > height) {
		struct ep_identity *one = identity(pairing, now->stack[--now->height]);

		one->open--;
		/* Of an older one, others may have been called since. */
		one->left += left && now->height >= now->floor && !one->offs;
	}
	while (now->switched.count &&
	       now->switched.list[now->switched.count - 1].index >= now->height)
		now->switched.count--;
	if (now->floor > now->height)
		now->floor = now->height;
}

static void forget_left(struct ep_pairing *pairing)
{
	for (size_t i = 0; i < pairing->identities.all.count; i++)
		pairing->identities.all.list[i].left = 0;
}

void ep_pairing_gap(struct ep_pairing *pairing, const struct ep_record *record)
{
	pairing->ordinal++;
	if (!ep_gap_is_loss(record))
		return;
	pairing->known_at = ep_gap_is_hole(record) ? record->time : record->high;
	for (uint32_t i = 0; i < pairing->fibers.met; i++)
		pairing->fibers.all.list[i]->floor = pairing->fibers.all.list[i]->height;
	pairing->segment++;
	forget_left(pairing);
	grow_inner(pairing);
	pairing->inner_left = pairing->inner.list[pairing->segment];
}

/* ---- passes ---- */

static void forget_counts(struct ep_pairing *pairing)
{
	for (size_t i = 0; i < pairing->fibers.all.count; i++)
		pairing->fibers.all.list[i]->outer_all = 0;
	memset(pairing->inner.list, 0, pairing->inner.count * sizeof(*pairing->inner.list));
}

/* True: as ep_identities_rewind. */
static bool rewind_pairing(struct ep_pairing *pairing, enum ep_pass pass)
{
	pairing->pass = pass;
	pairing->ordinal = pairing->segment = pairing->calls = 0;
	pairing->known_at = pairing->start;
	pairing->next_outside = 0;
	pairing->landing_count = 0;
	pairing->leaving = false;
	pairing->left_at = 0;
	pairing->returned = 0;
	/* The runtime has seen it, and nothing in the history says which stacks, or when. */
	if (pass == EP_PASS_FINAL && pairing->left_stack && pairing->fibers.met == 1)
		pairing->returned = EP_UNSEEN_STACKS;
	pairing->dropped = 0;
	forget_left(pairing);
	if (pass == EP_PASS_LOOK)
		forget_counts(pairing);
	ep_fibers_rewind(&pairing->fibers);
	pairing->now = ep_fibers_add(&pairing->fibers);
	pairing->now->whole = pairing->whole;
	pairing->inner_left = pairing->inner.list[0];
	return ep_identities_rewind(&pairing->identities);
}

/* The matched call has returned, those above it were left. */
static void cut_after_return(struct ep_pairing *pairing, const struct ep_judgement *judgement)
{
	bool match = judgement->verdict == EP_PAIR_MATCH;

	if (pairing->now->height > judgement->index + match)
		ep_pairing_cut(pairing, judgement->index + match, true);
	if (match)
		ep_pairing_cut(pairing, judgement->index, false);
}

static void read_record(struct ep_pairing *pairing, const struct ep_record *record)
{
	struct ep_judgement judgement;

	if (ep_pairing_over(pairing))
		ep_pairing_go_on(pairing);
	while (ep_pairing_is_off(pairing, record))
		ep_pairing_end_switched(pairing);
	if (ep_pairing_has_left(pairing, record))
		ep_pairing_cut(pairing, pairing->left_height, true);
	if (record->kind == EP_RECORD_CALL) {
		ep_pairing_call(pairing, record);
	} else if (record->kind == EP_RECORD_RETURN) {
		judgement = ep_pairing_return(pairing, record);
		cut_after_return(pairing, &judgement);
	} else if (record->kind == EP_RECORD_GAP) {
		ep_pairing_gap(pairing, record);
	} else {
		ep_pairing_cut(pairing, ep_pairing_jump(pairing, record).index, false);
	}
}

static void run_through(struct ep_pairing *pairing, struct ep_records *records)
{
	const struct ep_record *record;

	ep_records_init(records, records->trace, records->thread);
	while (ep_records_next(records, &record) == EP_OK)
		read_record(pairing, record);
}

/* One pass more when the first met functions without bounds: now all their entries are known. */
static void look(struct ep_pairing *pairing, struct ep_records *records)
{
	do {
		pairing->pending.count = pairing->outside.count = 0;
		run_through(pairing, records);
		if (rewind_pairing(pairing, EP_PASS_COUNT))
			rewind_pairing(pairing, EP_PASS_LOOK);
	} while (pairing->pass == EP_PASS_LOOK);
	settle_all(pairing);
}

void ep_pairing_plan(struct ep_pairing *pairing, struct ep_records *records)
{
	look(pairing, records);
	/* Without any doubt the first pass has counted right. */
	if (pairing->outside.count) {
		forget_counts(pairing);
		run_through(pairing, records);
	}
	rewind_pairing(pairing, EP_PASS_FINAL);
}

void ep_pairing_once(struct ep_pairing *pairing)
{
	pairing->once = true;
	pairing->now->outer_left = EP_ONCE_BASE;
}

/* True when no call of a gap is known by its return alone. */
static bool none_inner(const struct ep_pairing *pairing)
{
	for (size_t i = 0; i < pairing->inner.count; i++)
		if (pairing->inner.list[i])
			return false;
	return true;
}

bool ep_pairing_once_held(struct ep_pairing *pairing, uint64_t *outer)
{
	struct ep_fiber *only = pairing->fibers.all.list[0];

	if (pairing->fibers.all.count != 1 || pairing->left_stack ||
	    pairing->identities.entries.count || pairing->pending.count || pairing->outside.count ||
	    only->outer_all >= EP_ONCE_BASE || !none_inner(pairing))
		return false;
	*outer = only->outer_all;
	only->outer_left = 0;
	return true;
}

void ep_pairing_init(struct ep_pairing *pairing, const struct ep_trace *trace,
		     const struct ep_trace_thread *thread, struct ep_names *names)
{
	memset(pairing, 0, sizeof(*pairing));
	pairing->whole = thread->from_start && thread->block_count &&
			 !(thread->blocks[0].block->flags & EP_BLOCK_RESUMED);
	pairing->start = pairing->known_at = thread->first_tsc;
	/* Where a function is off, those that it calls seem to be called by others. */
	pairing->whole_code =
		!trace->switches || (!trace->switches->count && !trace->switches->all_count &&
				     !trace->switches->move_count);
	pairing->left_stack = thread->flags & EP_THREAD_OTHER_STACKS;
	pairing->pass = EP_PASS_LOOK;
	ep_identities_init(&pairing->identities, trace, names);
	grow_inner(pairing);
	pairing->now = ep_fibers_add(&pairing->fibers);
	pairing->now->whole = pairing->whole;
}

void ep_pairing_deinit(struct ep_pairing *pairing)
{
	ep_identities_deinit(&pairing->identities);
	ep_leaving_deinit(&pairing->code);
	ep_fibers_deinit(&pairing->fibers);
	ep_array_deinit(&pairing->pending);
	ep_array_deinit(&pairing->outside);
	ep_array_deinit(&pairing->inner);
}
