/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c: what pairing.c decides, as events with times. One return may end
 * several calls: each gets an event of its own, innermost first.
 */
#include "decoder/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/pairing.h"
#include "decoder/utf8.h"

#define FIRST_CAPACITY 64u

/* One event for each call of a fiber's stack. */
struct open_calls {
	struct ep_event *list;
	size_t capacity;
};

struct ep_calls {
	const struct ep_trace_thread *thread;
	struct ep_records records;
	struct ep_pairing pairing;
	struct open_calls *stacks; /* of each fiber, by number */
	uint32_t stack_count;
	uint64_t calls;        /* numbers given so far */
	uint64_t known_at;     /* TSC: history since the last gap begins here */
	bool missing;          /* there was a gap, or a call from before */
	int failed;            /* EP_E_MEMORY, once it came */
	struct ep_event event; /* END or GAP that is handed out */
	/* a return that is being worked off */
	bool busy;
	struct ep_judgement judgement;
	struct ep_record back; /* its record */
	char *text;            /* of the last exception; NULL */
	bool told;             /* stacks that nothing tells of */
};

static struct ep_time time_of(const struct ep_record *record)
{
	return (struct ep_time){record->low, record->high, record->time,
				record->exact};
}

static uint32_t depth_at(const struct ep_calls *calls, size_t height)
{
	uint64_t depth = ep_pairing_base(&calls->pairing) + height;

	return depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
}

/* ---- calls ---- */

/* The calls of the fiber that runs; NULL: out of memory. */
static struct open_calls *here(struct ep_calls *calls)
{
	uint32_t number = calls->pairing.now->number;
	struct open_calls *grown;

	if (number < calls->stack_count)
		return &calls->stacks[number];
	grown = realloc(calls->stacks, (number + 1) * 2 * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + calls->stack_count, 0,
	       ((number + 1) * 2 - calls->stack_count) * sizeof(*grown));
	calls->stacks = grown;
	calls->stack_count = (number + 1) * 2;
	return &grown[number];
}

/* The open call at `index`, which is there. */
static struct ep_event *open_at(struct ep_calls *calls, size_t index)
{
	return &calls->stacks[calls->pairing.now->number].list[index];
}

static struct ep_event *slot_for(struct ep_calls *calls, size_t index)
{
	struct open_calls *open = here(calls);
	size_t capacity;
	struct ep_event *grown;

	if (!open)
		return NULL;
	if (index < open->capacity)
		return &open->list[index];
	capacity = open->capacity ? 2 * open->capacity : FIRST_CAPACITY;
	grown = realloc(open->list, capacity * sizeof(*grown));
	if (!grown)
		return NULL;
	open->list = grown;
	open->capacity = capacity;
	return &open->list[index];
}

static int begin(struct ep_calls *calls, const struct ep_record *record,
		 const struct ep_event **out)
{
	size_t index = calls->pairing.now->height;
	struct ep_event *event = slot_for(calls, index);
	const struct ep_function *function;

	if (!event ||
	    ep_pairing_call(&calls->pairing, record, &function) != EP_OK)
		return EP_E_MEMORY;
	*event = (struct ep_event){
		.kind = EP_EVENT_BEGIN,
		.thread = calls->thread,
		.function = function,
		.address = record->address,
		.depth = depth_at(calls, index),
		.call = calls->calls++,
		.begin = time_of(record),
	};
	*out = event;
	return EP_OK;
}

/* ---- returns ---- */

static uint32_t guess(const struct ep_calls *calls)
{
	return calls->told ? EP_CALL_AMBIGUOUS : 0;
}

/* The innermost open call was left without a return: some time after it began,
 * and before the return that showed it. That others were called or returned on
 * top of it says nothing: it may have been left before. */
static void end_abandoned(struct ep_calls *calls)
{
	const struct ep_record *back = &calls->back;
	size_t index = calls->pairing.now->height - 1;

	calls->event = *open_at(calls, index);
	calls->event.kind = EP_EVENT_END;
	calls->event.flags |= EP_CALL_ABANDONED | guess(calls);
	calls->event.end = (struct ep_time){calls->event.begin.low, back->high,
					    back->time, false};
	if (calls->judgement.verdict == EP_PAIR_LEFT) {
		calls->event.flags |= EP_CALL_UNWOUND;
		calls->event.end = time_of(back);
	}
	ep_pairing_cut(&calls->pairing, index,
		       calls->judgement.verdict != EP_PAIR_LEFT);
}

static void end_matched(struct ep_calls *calls)
{
	calls->event = *open_at(calls, calls->judgement.index);
	calls->event.kind = EP_EVENT_END;
	calls->event.address = calls->back.address;
	calls->event.end = time_of(&calls->back);
	if (calls->judgement.ambiguous)
		calls->event.flags |= EP_CALL_AMBIGUOUS;
	calls->event.flags |= guess(calls);
	ep_pairing_cut(&calls->pairing, calls->judgement.index, false);
}

static void end_unseen(struct ep_calls *calls)
{
	bool stray = calls->judgement.verdict == EP_PAIR_STRAY;
	size_t height = calls->pairing.now->height;

	calls->event = (struct ep_event){
		.kind = EP_EVENT_END,
		.thread = calls->thread,
		.function = calls->judgement.function,
		.address = calls->back.address,
		.depth = depth_at(calls, height),
		.flags =
			guess(calls) | (stray ? EP_CALL_STRAY : EP_CALL_BEFORE),
		.call = calls->calls++,
		.begin = {0, calls->known_at, calls->known_at, false},
		.end = time_of(&calls->back),
	};
	if (stray) {
		calls->event.begin = calls->event.end;
		calls->event.depth = height ? open_at(calls, height - 1)->depth
					    : calls->event.depth;
		return;
	}
	if (calls->pairing.segment > 0)
		calls->event.flags |= EP_CALL_ACROSS_GAP;
	calls->missing = true;
}

/* The next event of the return or jump in hand. */
static void end(struct ep_calls *calls, const struct ep_event **out)
{
	bool match = calls->judgement.verdict == EP_PAIR_MATCH;

	*out = &calls->event;
	if (calls->pairing.now->height > calls->judgement.index + match) {
		end_abandoned(calls);
		if (calls->judgement.verdict == EP_PAIR_LEFT)
			calls->busy = calls->pairing.now->height >
				      calls->judgement.index;
		return;
	}
	calls->busy = false;
	if (match)
		end_matched(calls);
	else
		end_unseen(calls);
}

/* ---- gaps ---- */

static int take_gap(struct ep_calls *calls, const struct ep_record *record,
		    const struct ep_event **out)
{
	size_t marked = calls->pairing.now->floor;
	/* A hole lies among the records; the rest is all of the time from the
	 * last one before it to the first one after it. */
	bool hole = !(record->gap & (EP_GAP_LOST_BLOCKS | EP_GAP_PAUSED));

	if (ep_pairing_gap(&calls->pairing, record) != EP_OK)
		return EP_E_MEMORY;
	if (ep_gap_is_loss(record)) {
		/* Those below were marked by earlier gaps. */
		for (size_t i = marked; i < calls->pairing.now->height; i++)
			open_at(calls, i)->flags |= EP_CALL_ACROSS_GAP;
		calls->known_at = hole ? record->time : record->high;
		calls->missing = true;
	}
	calls->event = (struct ep_event){
		.kind = EP_EVENT_GAP,
		.thread = calls->thread,
		.depth = depth_at(calls, calls->pairing.now->height),
		.begin = time_of(record),
		.end = time_of(record),
		.gap = record->gap,
		.lost = record->lost,
	};
	if (!hole && record->high != EP_TIME_UNKNOWN)
		calls->event.end.best = record->high;
	*out = &calls->event;
	return EP_OK;
}

/* ---- jumps ---- */

#define TYPE_PREFIX "typeinfo name for "

/* The type's name from typeid, demangled; "" unknown. By way of the symbol of
 * the name itself: demanglers know symbols. */
static int make_text(struct ep_calls *calls, const char *type)
{
	char *symbol = NULL, *name;

	free(calls->text);
	calls->text = NULL;
	if (asprintf(&symbol, "_ZTS%s", type) < 0)
		return EP_E_MEMORY;
	name = *type ? ep_demangle(symbol) : NULL;
	free(symbol);
	if (name && !strncmp(name, TYPE_PREFIX, strlen(TYPE_PREFIX)))
		calls->text =
			ep_utf8_escape(name + strlen(TYPE_PREFIX),
				       strlen(name) - strlen(TYPE_PREFIX));
	else
		calls->text = ep_utf8_escape(type, strlen(type));
	free(name);
	return calls->text ? EP_OK : EP_E_MEMORY;
}

static bool is_point(const struct ep_calls *calls, enum ep_point *point)
{
	bool switched = calls->judgement.switched;

	switch (calls->back.kind) {
	case EP_RECORD_THROW:
		*point = EP_POINT_THROW;
		return true;
	case EP_RECORD_RETHROW:
		*point = EP_POINT_RETHROW;
		return true;
	case EP_RECORD_CAUGHT:
		*point = EP_POINT_CATCH;
		return true;
	case EP_RECORD_RESUME:
	case EP_RECORD_SWAP:
		*point = switched ? EP_POINT_STACK : EP_POINT_LONGJMP;
		return true;
	default:
		return false;
	}
}

static void make_point(struct ep_calls *calls, enum ep_point point,
		       uint32_t depth)
{
	calls->event = (struct ep_event){
		.kind = EP_EVENT_POINT,
		.thread = calls->thread,
		.function = calls->judgement.function,
		.address = calls->back.address,
		.depth = depth,
		.begin = time_of(&calls->back),
		.end = time_of(&calls->back),
		.point = point,
		.text = point == EP_POINT_THROW ? calls->text : "",
	};
}

#define NO_EVENT 2

#define UNSEEN_TEXT                                                    \
	"the thread goes on upon other stacks (fibers) by means that " \
	"leave no mark: what is inside of what is not certain from here on"

/* The point comes first, then the calls that it ended. */
static int take_jump(struct ep_calls *calls, const struct ep_record *record,
		     const struct ep_event **out)
{
	uint32_t depth = depth_at(calls, calls->pairing.now->height);
	enum ep_point point;

	if (ep_pairing_jump(&calls->pairing, record, &calls->judgement) !=
	    EP_OK)
		return EP_E_MEMORY;
	calls->back = *record;
	calls->busy = calls->pairing.now->height > calls->judgement.index;
	if (record->kind == EP_RECORD_THROW &&
	    make_text(calls, record->text) != EP_OK)
		return EP_E_MEMORY;
	*out = &calls->event;
	if (is_point(calls, &point))
		make_point(calls, point, depth);
	else if (calls->busy)
		end(calls, out);
	else
		return NO_EVENT;
	return EP_OK;
}

/* A fiber's function has returned: what it was linked to goes on. */
static int take_link(struct ep_calls *calls, const struct ep_event **out)
{
	uint32_t depth = depth_at(calls, calls->pairing.now->height);

	if (ep_pairing_go_on(&calls->pairing) != EP_OK)
		return EP_E_MEMORY;
	calls->judgement.function = NULL;
	calls->back.address = 0;
	make_point(calls, EP_POINT_STACK, depth);
	*out = &calls->event;
	return EP_OK;
}

/* ---- stacks that nothing tells of ---- */

static void tell_unseen(struct ep_calls *calls, const struct ep_event **out)
{
	make_point(calls, EP_POINT_STACK,
		   depth_at(calls, calls->pairing.now->height));
	calls->event.text = UNSEEN_TEXT;
	*out = &calls->event;
}

static int take_return(struct ep_calls *calls, const struct ep_record *record,
		       const struct ep_event **out)
{
	const struct ep_fiber *before = calls->pairing.now;
	uint32_t depth = depth_at(calls, before->height);

	if (ep_pairing_return(&calls->pairing, record, &calls->judgement) !=
	    EP_OK)
		return EP_E_MEMORY;
	calls->back = *record;
	calls->busy = true;
	/* What it ran in has ended unseen, and the link goes on. */
	if (calls->pairing.now != before) {
		make_point(calls, EP_POINT_STACK, depth);
		*out = &calls->event;
		return EP_OK;
	}
	if (ep_pairing_unseen(&calls->pairing) && !calls->told) {
		calls->told = true;
		tell_unseen(calls, out);
		return EP_OK;
	}
	end(calls, out);
	return EP_OK;
}

/* ---- iterating ---- */

static int take_next(struct ep_calls *calls, const struct ep_event **out)
{
	const struct ep_record *record;

	if (ep_pairing_over(&calls->pairing))
		return take_link(calls, out);
	if (ep_records_next(&calls->records, &record) != EP_OK)
		return EP_END;
	if (record->kind == EP_RECORD_CALL)
		return begin(calls, record, out);
	if (record->kind == EP_RECORD_RETURN)
		return take_return(calls, record, out);
	if (record->kind == EP_RECORD_GAP)
		return take_gap(calls, record, out);
	return take_jump(calls, record, out);
}

int ep_calls_next(struct ep_calls *calls, const struct ep_event **out)
{
	int result;

	if (calls->failed)
		return calls->failed;
	if (calls->busy) {
		end(calls, out);
		return EP_OK;
	}
	do
		result = take_next(calls, out);
	while (result == NO_EVENT);
	if (result < 0)
		calls->failed = result;
	return result;
}

const struct ep_event *ep_calls_open(const struct ep_calls *calls,
				     size_t *count)
{
	uint32_t number = calls->pairing.now->number;

	*count = calls->pairing.now->height;
	return number < calls->stack_count ? calls->stacks[number].list : NULL;
}

const struct ep_event *ep_calls_suspended(const struct ep_calls *calls,
					  size_t index, size_t *count)
{
	const struct ep_fibers *fibers = &calls->pairing.fibers;

	static const struct ep_event none;

	if (index >= calls->pairing.now->number)
		index++;

	if (index >= fibers->count)
		return NULL;
	*count = fibers->list[index]->height;
	return *count ? calls->stacks[index].list : &none;
}

bool ep_calls_outermost_known(const struct ep_calls *calls)
{
	/* A pause before a thread's first event hides the calls around it, and
	 * leaves no trace but the count. */
	return calls->pairing.whole && !calls->missing &&
	       calls->thread->known && calls->thread->lost_records == 0 &&
	       calls->records.trace->arena.pauses == 0 &&
	       ep_pairing_base(&calls->pairing) == 0;
}

int ep_calls_create(struct ep_calls **out, const struct ep_trace *trace,
		    const struct ep_trace_thread *thread,
		    struct ep_names *names, struct ep_err *err)
{
	struct ep_calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	calls->thread = thread;
	calls->known_at = thread->first_tsc;
	ep_records_init(&calls->records, trace, thread);
	if (ep_pairing_init(&calls->pairing, trace, thread, names) != EP_OK ||
	    ep_pairing_plan(&calls->pairing, &calls->records) != EP_OK) {
		ep_calls_destroy(calls);
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	}
	ep_records_init(&calls->records, trace, thread);
	*out = calls;
	return EP_OK;
}

void ep_calls_destroy(struct ep_calls *calls)
{
	if (!calls)
		return;
	ep_pairing_deinit(&calls->pairing);
	for (uint32_t i = 0; i < calls->stack_count; i++)
		free(calls->stacks[i].list);
	free(calls->stacks);
	free(calls->text);
	free(calls);
}
