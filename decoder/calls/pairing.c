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
 *    alive. What comes later tells: as soon as one of them returns, they were
 *    alive, and F is STRAY. If none ever does, F was OUTSIDE; only that reading
 *    explains that they never return. A call in flight at a crash does not
 *    return either, but then F's own caller must be among those in flight, and
 *    F's record have been lost silently just then.
 *    Where F is nothing but an address (no file to name it), it may be a thunk:
 *    STRAY. The same when the thread's history is whole: there is no place
 *    where F could have begun.
 *
 * A call that was thought to be left may return all the same. Then the thread has gone on upon
 * other stacks in between, by means that leave no mark (assembly of its own); from there on what is
 * inside of what is a guess.
 *
 * The first pass therefore takes each such return for a stray one, and keeps those in mind that
 * nothing contradicts. With these for OUTSIDE a second one counts the callers that are known only
 * by their returns; it is the same code that then runs for good, so the counts are exact.
 */
#include "decoder/calls/pairing.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u
#define CALLERS_KEPT   4096u

/* ---- doubts ---- */

static int add_doubt(struct ep_doubts *doubts, const struct ep_doubt *doubt)
{
	size_t capacity = doubts->capacity ? 2 * doubts->capacity : FIRST_CAPACITY;
	struct ep_doubt *grown;

	if (doubts->count == doubts->capacity) {
		grown = realloc(doubts->list, capacity * sizeof(*grown));
		if (!grown)
			return EP_E_MEMORY;
		doubts->list = grown;
		doubts->capacity = capacity;
	}
	doubts->list[doubts->count++] = *doubt;
	return EP_OK;
}

/*
 * The call at `index` returned: it was alive all the time. Doubts that had it among the calls seen
 * since the gap are settled: stray. Where it was older than the gap, the calls above it are gone
 * for good without a return: outside.
 *
 * The stack gets lower only by a return, which settles all doubts above it; so those that are left
 * ascend by height.
 */
int ep_pairing_settle(struct ep_pairing *pairing, size_t index)
{
	struct ep_doubts *pending = &pairing->pending;

	while (pending->count && pending->list[pending->count - 1].height > index) {
		const struct ep_doubt *doubt = &pending->list[--pending->count];

		if (doubt->floor > index && add_doubt(&pairing->outside, doubt) != EP_OK)
			return EP_E_MEMORY;
	}
	return EP_OK;
}

static int compare_doubts(const void *a, const void *b)
{
	const struct ep_doubt *x = a, *y = b;

	return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* The first pass is over: what is still in doubt was outside. */
static int settle_all(struct ep_pairing *pairing)
{
	struct ep_doubts *pending = &pairing->pending;

	while (pending->count)
		if (add_doubt(&pairing->outside, &pending->list[--pending->count]) != EP_OK)
			return EP_E_MEMORY;
	if (pairing->outside.count)
		qsort(pairing->outside.list, pairing->outside.count, sizeof(*pairing->outside.list),
		      compare_doubts);
	return EP_OK;
}

static bool is_outside(struct ep_pairing *pairing)
{
	const struct ep_doubts *outside = &pairing->outside;

	while (pairing->next_outside < outside->count &&
	       outside->list[pairing->next_outside].ordinal < pairing->ordinal)
		pairing->next_outside++;
	return pairing->next_outside < outside->count &&
	       outside->list[pairing->next_outside].ordinal == pairing->ordinal;
}

/* ---- callers that are known by their returns only ---- */

/* Room for the present segment's number. */
static int grow_inner(struct ep_pairing *pairing)
{
	uint64_t capacity = pairing->inner_capacity ? 2 * pairing->inner_capacity : FIRST_CAPACITY;
	uint64_t *grown;

	if (pairing->segment < pairing->inner_capacity)
		return EP_OK;
	grown = realloc(pairing->inner, capacity * sizeof(*grown));
	if (!grown)
		return EP_E_MEMORY;
	memset(grown + pairing->inner_capacity, 0,
	       (capacity - pairing->inner_capacity) * sizeof(*grown));
	pairing->inner = grown;
	pairing->inner_capacity = capacity;
	return EP_OK;
}

/* Without room for it they are not whole, which is no failure. Depths are not known before all have
 * returned: what is kept is how many less it will be. */
static void keep_caller(struct ep_pairing *pairing, const struct ep_record *record,
			const struct ep_function *function, size_t height)
{
	struct ep_callers *callers = &pairing->callers;
	size_t capacity = callers->capacity ? 2 * callers->capacity : FIRST_CAPACITY;
	uint64_t less = pairing->now->outer_all + pairing->inner[pairing->segment];
	struct ep_caller *grown;

	if (callers->count == callers->capacity && callers->whole) {
		grown = capacity <= CALLERS_KEPT ? realloc(callers->list, capacity * sizeof(*grown))
						 : NULL;
		callers->list = grown ? grown : callers->list;
		callers->capacity = grown ? capacity : callers->capacity;
		callers->whole = grown != NULL;
	}
	if (!callers->whole)
		return;
	callers->list[callers->count++] = (struct ep_caller){
		.function = function,
		.address = record->address,
		.call = pairing->calls - 1,
		.since = pairing->known_at,
		.segment = pairing->segment,
		.depth = (uint32_t)height - (uint32_t)less,
	};
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
		pairing->inner[pairing->segment]++;
}

/* ---- judging ---- */

static struct ep_identity *identity(struct ep_pairing *pairing, uint32_t number)
{
	return &pairing->identities.list[number];
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

static int judge_unseen(struct ep_pairing *pairing, const struct ep_identity_site *site,
			struct ep_judgement *out)
{
	struct ep_doubt doubt = {pairing->ordinal, pairing->now->floor, pairing->now->height};
	struct ep_identity *one = identity(pairing, site->identity);

	out->index = pairing->now->height;
	out->verdict = EP_PAIR_STRAY;
	if (one->flags & EP_IDENTITY_THUNK)
		return EP_OK;
	if (one->left && !(one->flags & EP_IDENTITY_UNBOUND)) {
		one->left--;
		pairing->returned++;
	}
	if (pairing->now->height == pairing->now->floor) {
		out->verdict = EP_PAIR_BEFORE;
		return EP_OK;
	}
	if (one->flags & EP_IDENTITY_UNBOUND || (pairing->now->whole && pairing->segment == 0))
		return EP_OK;
	if (is_outside(pairing)) {
		out->verdict = EP_PAIR_OUTSIDE;
		out->index = pairing->now->floor;
	} else if (pairing->pass == EP_PASS_LOOK) {
		return add_doubt(&pairing->pending, &doubt);
	}
	return EP_OK;
}

static int judge(struct ep_pairing *pairing, const struct ep_identity_site *site,
		 struct ep_judgement *out)
{
	uint32_t open = identity(pairing, site->identity)->open;
	size_t index = pairing->now->height;

	out->function = site->function;
	out->ambiguous = false;
	if (open == 0 && !may_be_top(pairing, site))
		return judge_unseen(pairing, site, out);
	/* Each step down is paid for by the call that it ends. */
	do
		index--;
	while (open != 0 && pairing->now->stack[index] != site->identity);
	out->verdict = EP_PAIR_MATCH;
	out->index = index;
	out->ambiguous = open > 1 && index + 1 != pairing->now->height;
	return EP_OK;
}

/* Clean-up code that called the return hook; a fiber's function. */
static void note_match(struct ep_pairing *pairing, uint32_t identity, size_t index)
{
	if (pairing->landing_count && pairing->landings[pairing->landing_count - 1].index == index)
		pairing->landings[pairing->landing_count - 1].returned = true;
	if (index == 0 && identity == pairing->now->function)
		pairing->now->over = true;
}

int ep_pairing_return(struct ep_pairing *pairing, const struct ep_record *record,
		      struct ep_judgement *out)
{
	const struct ep_identity_site *site;
	int result = ep_identities_find(&pairing->identities, record->address, true, record->time,
					&site);

	if (result == EP_OK && pairing->now->height == 0 && pairing->now->link)
		result = ep_pairing_try_link(pairing, site->identity);
	if (result == EP_OK)
		result = judge(pairing, site, out);
	if (result == EP_OK && out->verdict == EP_PAIR_MATCH && pairing->pass == EP_PASS_LOOK)
		result = ep_pairing_settle(pairing, out->index);
	if (result != EP_OK)
		return result;
	pairing->ordinal++;
	if (out->verdict == EP_PAIR_MATCH) {
		note_match(pairing, site->identity, out->index);
		return EP_OK;
	}
	pairing->calls++;
	if (out->verdict == EP_PAIR_STRAY)
		return EP_OK;
	count_before(pairing, out->index);
	if (pairing->pass != EP_PASS_FINAL)
		keep_caller(pairing, record, site->function, out->index);
	return EP_OK;
}

/* ---- the stack ---- */

static int push(struct ep_pairing *pairing, uint32_t number)
{
	if (ep_fiber_push(pairing->now, number) != EP_OK)
		return EP_E_MEMORY;
	identity(pairing, number)->open++;
	identity(pairing, number)->flags |= EP_IDENTITY_CALLED;
	return EP_OK;
}

int ep_pairing_call(struct ep_pairing *pairing, const struct ep_record *record,
		    const struct ep_function **function)
{
	const struct ep_identity_site *site;

	if (ep_identities_find(&pairing->identities, record->address, false, record->time, &site) !=
		    EP_OK ||
	    push(pairing, site->identity) != EP_OK)
		return EP_E_MEMORY;
	*function = site->function;
	pairing->ordinal++;
	pairing->calls++;
	return EP_OK;
}

void ep_pairing_cut(struct ep_pairing *pairing, size_t height, bool left)
{
	struct ep_fiber *now = pairing->now;

	while (now->height > height) {
		struct ep_identity *one = identity(pairing, now->stack[--now->height]);

		one->open--;
		/* Of an older one, others may have been called since. */
		one->left += left && now->height >= now->floor;
	}
	if (now->floor > now->height)
		now->floor = now->height;
}

static void forget_left(struct ep_pairing *pairing)
{
	for (uint32_t i = 0; i < pairing->identities.count; i++)
		pairing->identities.list[i].left = 0;
}

int ep_pairing_gap(struct ep_pairing *pairing, const struct ep_record *record)
{
	pairing->ordinal++;
	if (!ep_gap_is_loss(record))
		return EP_OK;
	pairing->known_at = ep_gap_is_hole(record) ? record->time : record->high;
	for (uint32_t i = 0; i < pairing->fibers.count; i++)
		pairing->fibers.list[i]->floor = pairing->fibers.list[i]->height;
	pairing->segment++;
	forget_left(pairing);
	if (grow_inner(pairing) != EP_OK)
		return EP_E_MEMORY;
	pairing->inner_left = pairing->inner[pairing->segment];
	return EP_OK;
}

/* ---- passes ---- */

static void forget_counts(struct ep_pairing *pairing)
{
	pairing->callers.count = 0;
	pairing->callers.whole = true;
	for (uint32_t i = 0; i < pairing->fibers.made; i++)
		pairing->fibers.list[i]->outer_all = 0;
	memset(pairing->inner, 0, pairing->inner_capacity * sizeof(*pairing->inner));
}

static int rewind_pairing(struct ep_pairing *pairing, enum ep_pass pass, bool *news)
{
	pairing->pass = pass;
	pairing->ordinal = pairing->segment = pairing->calls = 0;
	pairing->known_at = pairing->start;
	pairing->next_outside = 0;
	pairing->landing_count = 0;
	pairing->leaving = false;
	pairing->returned = 0;
	forget_left(pairing);
	if (pass == EP_PASS_LOOK)
		forget_counts(pairing);
	ep_fibers_rewind(&pairing->fibers);
	pairing->now = ep_fibers_add(&pairing->fibers);
	pairing->now->whole = pairing->whole;
	pairing->inner_left = pairing->inner[0];
	return ep_identities_rewind(&pairing->identities, news);
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

static int take_return(struct ep_pairing *pairing, const struct ep_record *record)
{
	struct ep_judgement judgement;
	int result = ep_pairing_return(pairing, record, &judgement);

	if (result == EP_OK)
		cut_after_return(pairing, &judgement);
	return result;
}

static int take_jump(struct ep_pairing *pairing, const struct ep_record *record)
{
	struct ep_judgement judgement;
	int result = ep_pairing_jump(pairing, record, &judgement);

	if (result == EP_OK)
		ep_pairing_cut(pairing, judgement.index, false);
	return result;
}

static int take(struct ep_pairing *pairing, const struct ep_record *record)
{
	const struct ep_function *function;

	if (ep_pairing_over(pairing) && ep_pairing_go_on(pairing) != EP_OK)
		return EP_E_MEMORY;
	if (record->kind == EP_RECORD_CALL)
		return ep_pairing_call(pairing, record, &function);
	if (record->kind == EP_RECORD_RETURN)
		return take_return(pairing, record);
	if (record->kind == EP_RECORD_GAP)
		return ep_pairing_gap(pairing, record);
	return take_jump(pairing, record);
}

static int run_through(struct ep_pairing *pairing, struct ep_records *records)
{
	const struct ep_record *record;
	int result = EP_OK;

	ep_records_init(records, records->trace, records->thread);
	while (result == EP_OK && ep_records_next(records, &record) == EP_OK)
		result = take(pairing, record);
	return result;
}

/* One pass more when the first met functions without bounds: now all their entries are known. */
static int look(struct ep_pairing *pairing, struct ep_records *records)
{
	bool news;

	do {
		pairing->pending.count = pairing->outside.count = 0;
		if (run_through(pairing, records) != EP_OK ||
		    rewind_pairing(pairing, EP_PASS_COUNT, &news) != EP_OK)
			return EP_E_MEMORY;
		if (news && rewind_pairing(pairing, EP_PASS_LOOK, &news) != EP_OK)
			return EP_E_MEMORY;
	} while (pairing->pass == EP_PASS_LOOK);
	return settle_all(pairing);
}

/* ---- plans that are kept ---- */

/* What reading ahead has told of one thread. */
struct plan {
	const struct ep_names *names; /* by which functions were told apart */
	uint64_t outer_all;
	size_t inner_count, outside_count, caller_count;
	bool callers_whole;
	/* Behind the counts of callers from gaps lie the doubts that turned out to be OUTSIDE, then
	 * the callers. */
	uint64_t inner[];
};

static struct ep_doubt *plan_outside(struct plan *plan)
{
	return (struct ep_doubt *)&plan->inner[plan->inner_count];
}

static struct ep_caller *plan_callers(struct plan *plan)
{
	return (struct ep_caller *)&plan_outside(plan)[plan->outside_count];
}

static struct plan **plan_of(const struct ep_trace *trace, const struct ep_trace_thread *thread)
{
	return trace->plans ? (struct plan **)&trace->plans[thread - trace->threads] : NULL;
}

static struct plan *make_plan(const struct ep_pairing *pairing)
{
	size_t callers = pairing->callers.whole ? pairing->callers.count : 0;
	struct plan *plan =
		malloc(sizeof(*plan) + pairing->inner_capacity * sizeof(*pairing->inner) +
		       pairing->outside.count * sizeof(struct ep_doubt) +
		       callers * sizeof(struct ep_caller));

	if (plan)
		*plan = (struct plan){
			.names = pairing->identities.names,
			.outer_all = pairing->fibers.list[0]->outer_all,
			.inner_count = pairing->inner_capacity,
			.outside_count = pairing->outside.count,
			.caller_count = callers,
			.callers_whole = pairing->callers.whole,
		};
	return plan;
}

/* Not where entries without bounds were met, which a pass must have seen, nor of several stacks.
 * Without memory there is none. */
static void keep_plan(const struct ep_pairing *pairing, const struct ep_records *records)
{
	struct plan **kept = plan_of(records->trace, records->thread), *plan;
	struct ep_caller *callers;

	if (!kept || *kept || pairing->identities.entry_count || pairing->fibers.made != 1)
		return;
	plan = make_plan(pairing);
	if (!plan)
		return;
	memcpy(plan->inner, pairing->inner, plan->inner_count * sizeof(*plan->inner));
	if (plan->outside_count)
		memcpy(plan_outside(plan), pairing->outside.list,
		       plan->outside_count * sizeof(struct ep_doubt));
	callers = plan_callers(plan);
	for (size_t i = 0; i < plan->caller_count; i++) {
		callers[i] = pairing->callers.list[i];
		callers[i].depth += (uint32_t)(plan->outer_all + plan->inner[callers[i].segment]);
	}
	*kept = plan;
}

bool ep_pairing_callers(const struct ep_trace *trace, const struct ep_trace_thread *thread,
			const struct ep_names *names, const struct ep_caller **out, size_t *count)
{
	struct plan **kept = plan_of(trace, thread);

	if (!kept || !*kept || (*kept)->names != names || !(*kept)->callers_whole)
		return false;
	*out = plan_callers(*kept);
	*count = (*kept)->caller_count;
	return true;
}

/* True when there was a plan, and it is the pairing's now. */
static bool take_plan(struct ep_pairing *pairing, const struct ep_records *records)
{
	struct plan **kept = plan_of(records->trace, records->thread);
	struct plan *plan = kept ? *kept : NULL;
	struct ep_doubt *outside;
	uint64_t *inner;

	if (!plan || plan->names != pairing->identities.names)
		return false;
	inner = calloc(plan->inner_count, sizeof(*inner));
	outside = calloc(plan->outside_count + 1, sizeof(*outside));
	if (!inner || !outside) {
		free(inner);
		free(outside);
		return false;
	}
	memcpy(inner, plan->inner, plan->inner_count * sizeof(*inner));
	memcpy(outside, plan_outside(plan), plan->outside_count * sizeof(*outside));
	free(pairing->inner);
	free(pairing->outside.list);
	pairing->inner = inner;
	pairing->inner_capacity = plan->inner_count;
	pairing->outside =
		(struct ep_doubts){outside, plan->outside_count, plan->outside_count + 1};
	pairing->fibers.list[0]->outer_all = plan->outer_all;
	return true;
}

int ep_pairing_plan(struct ep_pairing *pairing, struct ep_records *records)
{
	bool news;

	if (take_plan(pairing, records))
		return rewind_pairing(pairing, EP_PASS_FINAL, &news);

	if (look(pairing, records) != EP_OK)
		return EP_E_MEMORY;
	/* Without any doubt the first pass has counted right. */
	if (pairing->outside.count) {
		forget_counts(pairing);
		if (run_through(pairing, records) != EP_OK)
			return EP_E_MEMORY;
	}
	keep_plan(pairing, records);
	return rewind_pairing(pairing, EP_PASS_FINAL, &news);
}

void ep_pairing_once(struct ep_pairing *pairing)
{
	pairing->once = true;
	pairing->now->outer_left = EP_ONCE_BASE;
}

/* True when no call of a gap was told by its return alone. */
static bool none_inner(const struct ep_pairing *pairing)
{
	for (uint64_t i = 0; i < pairing->inner_capacity; i++)
		if (pairing->inner[i])
			return false;
	return true;
}

bool ep_pairing_once_held(struct ep_pairing *pairing, const struct ep_records *records,
			  uint64_t *outer)
{
	struct ep_fiber *only = pairing->fibers.list[0];

	if (pairing->fibers.made != 1 || pairing->identities.entry_count ||
	    pairing->pending.count || pairing->outside.count || only->outer_all >= EP_ONCE_BASE ||
	    !none_inner(pairing))
		return false;
	*outer = only->outer_all;
	only->outer_left = 0;
	keep_plan(pairing, records);
	return true;
}

int ep_pairing_init(struct ep_pairing *pairing, const struct ep_trace *trace,
		    const struct ep_trace_thread *thread, struct ep_names *names)
{
	memset(pairing, 0, sizeof(*pairing));
	pairing->whole = thread->from_start && thread->block_count &&
			 !(thread->blocks[0].block->flags & EP_BLOCK_RESUMED);
	pairing->start = pairing->known_at = thread->first_tsc;
	pairing->callers.whole = true;
	pairing->pass = EP_PASS_LOOK;
	if (ep_identities_init(&pairing->identities, trace, names) != EP_OK ||
	    grow_inner(pairing) != EP_OK)
		return EP_E_MEMORY;
	pairing->now = ep_fibers_add(&pairing->fibers);
	if (!pairing->now)
		return EP_E_MEMORY;
	pairing->now->whole = pairing->whole;
	return EP_OK;
}

void ep_pairing_deinit(struct ep_pairing *pairing)
{
	ep_identities_deinit(&pairing->identities);
	ep_fibers_deinit(&pairing->fibers);
	free(pairing->pending.list);
	free(pairing->outside.list);
	free(pairing->inner);
	free(pairing->callers.list);
}
