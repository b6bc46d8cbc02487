/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c: what pairing.c decides, as events with times. One return may end several calls: each
 * gets an event of its own, innermost first.
 */
#include "decoder/calls/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/calls/balanced.h"
#include "decoder/calls/note_text.h"
#include "decoder/calls/open_spans.h"
#include "decoder/calls/pairing.h"
#include "decoder/calls/placing.h"
#include "decoder/symbols/demangle.h"
#include "decoder/util/timetext.h"
#include "coredump/util/utf8.h"

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
	bool missing;          /* there was a gap, or a call from before */
	int failed;            /* EP_E_MEMORY, once it came */
	struct ep_event event; /* one that is handed out, of no open call */
	/* a return that is being worked off */
	bool busy;
	struct ep_judgement judgement;
	struct ep_record back; /* its record */
	char *text;            /* of the last point that has one; NULL */
	struct ep_open_spans spans;
	struct ep_names *names;
	bool told;   /* stacks that nothing tells of */
	bool passes; /* over calls that return, before the last `in_full` */
	size_t in_full;
	struct ep_balanced balanced;
	struct ep_placing placing;
	bool tells; /* waits */
};

static struct ep_time time_of(const struct ep_record *record)
{
	return (struct ep_time){record->low, record->high, record->time, record->exact,
				record->refined};
}

static uint32_t unsure(const struct ep_record *record)
{
	return record->unsure ? EP_CALL_UNSURE_WAIT : 0;
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

	if (!event || ep_pairing_call(&calls->pairing, record, &function) != EP_OK)
		return EP_E_MEMORY;
	*event = (struct ep_event){
		.kind = EP_EVENT_BEGIN,
		.thread = calls->thread,
		.function = function,
		.address = record->address,
		.depth = depth_at(calls, index),
		.flags = unsure(record),
		.stack = calls->pairing.now->number,
		.call = calls->pairing.calls - 1,
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

/* The innermost open call was left without a return: some time after it began, and before the
 * return that showed it. That others were called or returned on top of it says nothing: it may have
 * been left before. */
static struct ep_event *end_abandoned(struct ep_calls *calls)
{
	const struct ep_record *back = &calls->back;
	size_t index = calls->pairing.now->height - 1;
	struct ep_event *event = open_at(calls, index);

	event->kind = EP_EVENT_END;
	event->flags |= EP_CALL_ABANDONED | guess(calls);
	event->end =
		(struct ep_time){event->begin.low, back->high, back->time, false, back->refined};
	if (calls->judgement.verdict == EP_PAIR_LEFT) {
		event->flags |= back->kind == EP_RECORD_PARENT ? 0 : EP_CALL_UNWOUND;
		event->end = time_of(back);
	}
	ep_pairing_cut(&calls->pairing, index, calls->judgement.verdict != EP_PAIR_LEFT);
	return event;
}

static struct ep_event *end_matched(struct ep_calls *calls)
{
	struct ep_event *event = open_at(calls, calls->judgement.index);

	event->kind = EP_EVENT_END;
	event->address = calls->back.address;
	event->end = time_of(&calls->back);
	if (calls->judgement.ambiguous)
		event->flags |= EP_CALL_AMBIGUOUS;
	event->flags |= guess(calls) | unsure(&calls->back);
	ep_pairing_cut(&calls->pairing, calls->judgement.index, false);
	return event;
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
		.flags = guess(calls) | (stray ? EP_CALL_STRAY : EP_CALL_BEFORE),
		.stack = calls->pairing.now->number,
		.call = calls->pairing.calls - 1,
		.begin = {.high = calls->pairing.known_at, .best = calls->pairing.known_at},
		.end = time_of(&calls->back),
	};
	if (stray) {
		calls->event.begin = calls->event.end;
		calls->event.depth =
			height ? open_at(calls, height - 1)->depth : calls->event.depth;
		return;
	}
	if (calls->pairing.segment > 0)
		calls->event.flags |= EP_CALL_ACROSS_GAP;
	calls->missing = true;
}

/* The next event of the return or jump in hand: the call's own place serves, until another call
 * takes it. */
static void end(struct ep_calls *calls, const struct ep_event **out)
{
	bool match = calls->judgement.verdict == EP_PAIR_MATCH;

	if (calls->pairing.now->height > calls->judgement.index + match) {
		*out = end_abandoned(calls);
		if (calls->judgement.verdict == EP_PAIR_LEFT)
			calls->busy = calls->pairing.now->height > calls->judgement.index;
		return;
	}
	calls->busy = false;
	if (match) {
		*out = end_matched(calls);
	} else {
		end_unseen(calls);
		*out = &calls->event;
	}
}

/* ---- texts ---- */

#define TYPE_PREFIX "typeinfo name for "

/* The type's name from typeid, demangled; "" unknown. By way of the symbol of the name itself:
 * demanglers know symbols. */
static int make_type(struct ep_calls *calls, const char *type)
{
	char *symbol = NULL, *name;

	if (asprintf(&symbol, "_ZTS%s", type) < 0)
		return EP_E_MEMORY;
	name = *type ? ep_demangle(symbol) : NULL;
	free(symbol);
	if (name && !strncmp(name, TYPE_PREFIX, strlen(TYPE_PREFIX)))
		calls->text = ep_utf8_escape(name + strlen(TYPE_PREFIX),
					     strlen(name) - strlen(TYPE_PREFIX));
	else
		calls->text = ep_utf8_escape(type, strlen(type));
	free(name);
	return calls->text ? EP_OK : EP_E_MEMORY;
}

static int make_note(struct ep_calls *calls, const struct ep_record *record)
{
	const struct ep_function *in;
	const char *format = ep_names_constant_string(calls->names, record->buffer, record->time);
	char place[512] = "";

	if (!format) {
		in = ep_names_find(calls->names, record->buffer, record->time);
		snprintf(place, sizeof(place), "%s", in->name);
	}
	calls->text = ep_note_text(format, place, record->arguments + 1, record->arguments[0]);
	return calls->text ? EP_OK : EP_E_MEMORY;
}

static int make_miss(struct ep_calls *calls, const struct ep_record *record)
{
	char late[EP_TIMETEXT_SIZE];
	char *name = ep_utf8_escape(record->text, strlen(record->text));

	if (!name || asprintf(&calls->text, "%s: %s too late", name,
			      ep_timetext(late, (int64_t)record->buffer)) < 0)
		calls->text = NULL;
	free(name);
	return calls->text ? EP_OK : EP_E_MEMORY;
}

static int make_over(struct ep_calls *calls, const struct ep_record *gap)
{
	const char *text;
	size_t size;

	if (!gap->over)
		return EP_OK;
	text = ep_records_text(&calls->records, gap, &size);
	calls->text = ep_utf8_escape(text, size);
	return calls->text ? EP_OK : EP_E_MEMORY;
}

static void forget_text(struct ep_calls *calls)
{
	free(calls->text);
	calls->text = NULL;
}

/* Of a point, "" when it has none. */
static int make_text(struct ep_calls *calls, const struct ep_record *record)
{
	forget_text(calls);
	switch (record->kind) {
	case EP_RECORD_THROW:
		return make_type(calls, record->text);
	case EP_RECORD_NOTE:
		return make_note(calls, record);
	case EP_RECORD_SPAN_BEGIN:
	case EP_RECORD_SPAN_END:
		calls->text = ep_utf8_escape(record->text, strlen(record->text));
		return calls->text ? EP_OK : EP_E_MEMORY;
	case EP_RECORD_WATCHDOG:
		return make_miss(calls, record);
	case EP_RECORD_GAP:
		return make_over(calls, record);
	default:
		return EP_OK;
	}
}

/* ---- gaps ---- */

static int take_gap(struct ep_calls *calls, const struct ep_record *record,
		    const struct ep_event **out)
{
	size_t marked = calls->pairing.now->floor;
	bool hole = ep_gap_is_hole(record);

	if (make_text(calls, record) != EP_OK || ep_pairing_gap(&calls->pairing, record) != EP_OK)
		return EP_E_MEMORY;
	if (ep_gap_is_loss(record)) {
		/* Those below were marked by earlier gaps. */
		for (size_t i = marked; i < calls->pairing.now->height; i++)
			open_at(calls, i)->flags |= EP_CALL_ACROSS_GAP;
		calls->missing = true;
		ep_open_spans_gap(&calls->spans);
	}
	calls->event = (struct ep_event){
		.kind = EP_EVENT_GAP,
		.thread = calls->thread,
		.depth = depth_at(calls, calls->pairing.now->height),
		.stack = calls->pairing.now->number,
		.begin = time_of(record),
		.end = time_of(record),
		.gap = record->gap,
		.lost = record->lost,
		.text = calls->text,
	};
	if (!hole && record->high != EP_TIME_UNKNOWN)
		calls->event.end.best = record->high;
	*out = &calls->event;
	return EP_OK;
}

/* ---- jumps ---- */

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
	case EP_RECORD_NOTE:
		*point = EP_POINT_NOTE;
		return true;
	case EP_RECORD_SPAN_BEGIN:
		*point = EP_POINT_SPAN_BEGIN;
		return true;
	case EP_RECORD_SPAN_END:
		*point = EP_POINT_SPAN_END;
		return true;
	case EP_RECORD_WATCHDOG:
		*point = EP_POINT_WATCHDOG;
		return true;
	default:
		return false;
	}
}

static void make_point(struct ep_calls *calls, enum ep_point point, uint32_t depth)
{
	calls->event = (struct ep_event){
		.kind = EP_EVENT_POINT,
		.thread = calls->thread,
		.function = calls->judgement.function,
		.address = calls->back.address,
		.depth = depth,
		.stack = calls->pairing.now->number,
		.begin = time_of(&calls->back),
		.end = time_of(&calls->back),
		.point = point,
		.text = calls->text ? calls->text : "",
	};
}

/* A span's two ends are told which they are. */
static int match_span(struct ep_calls *calls, enum ep_point point)
{
	if (point == EP_POINT_SPAN_BEGIN)
		return ep_open_spans_begin(&calls->spans, &calls->event);
	if (point == EP_POINT_SPAN_END)
		ep_open_spans_end(&calls->spans, &calls->event);
	return EP_OK;
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

	if (ep_pairing_jump(&calls->pairing, record, &calls->judgement) != EP_OK)
		return EP_E_MEMORY;
	calls->back = *record;
	calls->busy = calls->pairing.now->height > calls->judgement.index;
	if (make_text(calls, record) != EP_OK)
		return EP_E_MEMORY;
	*out = &calls->event;
	if (is_point(calls, &point)) {
		make_point(calls, point, depth);
		return match_span(calls, point);
	}
	if (calls->busy)
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
	forget_text(calls);
	make_point(calls, EP_POINT_STACK, depth);
	*out = &calls->event;
	return EP_OK;
}

/* ---- stacks that nothing tells of ---- */

static void tell_unseen(struct ep_calls *calls, const struct ep_event **out)
{
	make_point(calls, EP_POINT_STACK, depth_at(calls, calls->pairing.now->height));
	calls->event.text = UNSEEN_TEXT;
	*out = &calls->event;
}

static int take_return(struct ep_calls *calls, const struct ep_record *record,
		       const struct ep_event **out)
{
	const struct ep_fiber *before = calls->pairing.now;
	uint32_t depth = depth_at(calls, before->height);

	if (ep_pairing_return(&calls->pairing, record, &calls->judgement) != EP_OK)
		return EP_E_MEMORY;
	calls->back = *record;
	calls->busy = true;
	/* What it ran in has ended unseen, and the link goes on. */
	if (calls->pairing.now != before) {
		forget_text(calls);
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

/* ---- passing over ---- */

/* The record at hand begins a call that returns, and is not the last of its block: on to what comes
 * then. */
static int pass_over(struct ep_calls *calls, const struct ep_record **record)
{
	struct ep_records *records = &calls->records;
	unsigned at = records->at - 1, end;

	if (calls->balanced.block != records->next_block &&
	    ep_balanced_look(&calls->balanced, &calls->pairing.identities, records) != EP_OK)
		return EP_E_MEMORY;
	while ((end = calls->balanced.end[at]) && end + 1 < records->count) {
		ep_pairing_pass(&calls->pairing, (end - at + 1) / 2);
		at = end + 1;
	}
	*record = &records->decoded[at];
	records->at = at + 1;
	return EP_OK;
}

static bool may_pass(const struct ep_calls *calls)
{
	return calls->passes && ep_calls_blocks_left(calls) >= calls->in_full &&
	       ep_pairing_may_pass(&calls->pairing);
}

void ep_calls_pass_over(struct ep_calls *calls, size_t in_full)
{
	calls->passes = true;
	calls->in_full = in_full;
}

const struct ep_function *ep_calls_called(const struct ep_calls *calls, size_t *next)
{
	const struct ep_identities *met = &calls->pairing.identities;

	while (*next < met->count)
		if (met->list[(*next)++].flags & EP_IDENTITY_CALLED)
			return met->list[*next - 1].function;
	return NULL;
}

/* ---- waits ---- */

static const struct ep_event *open_call(void *context, size_t index)
{
	return open_at(context, index);
}

/* The thread was off its CPU here: told in `event`. Of the calls that are open only those up to the
 * place's own were so for certain. */
static void take_wait(struct ep_calls *calls)
{
	size_t height = calls->pairing.now->height;
	const struct ep_wait_place *place = ep_placing_take(
		&calls->placing, height ? open_at(calls, height - 1)->call : EP_NO_CALL);
	const struct ep_slice *slice = place->slice;
	struct ep_event *owner = NULL;

	for (; height > 0; height--) {
		owner = open_at(calls, height - 1);
		if (place->call != EP_NO_CALL && owner->call <= place->call)
			break;
		owner->astray += slice->end - slice->begin;
		owner->flags |= EP_CALL_UNSURE_WAIT;
	}
	calls->event = (struct ep_event){
		.kind = EP_EVENT_WAIT,
		.thread = calls->thread,
		.function = height ? owner->function : NULL,
		.depth = depth_at(calls, height ? height - 1 : 0),
		.stack = calls->pairing.now->number,
		.call = place->call,
		.begin = {slice->begin, slice->begin, slice->begin, true, false},
		.end = {slice->end, slice->end, slice->end, true, false},
		.place = place,
	};
}

/* Those before the record at hand, which is put back behind one that is told. */
static int take_waits(struct ep_calls *calls, const struct ep_record *record,
		      const struct ep_event **out)
{
	for (;;) {
		if (ep_placing_look(&calls->placing, &calls->pairing, &calls->records,
				    calls->records.at - 1, calls->passes, open_call,
				    calls) != EP_OK)
			return EP_E_MEMORY;
		if (calls->placing.next >= record->time)
			return NO_EVENT;
		take_wait(calls);
		if (calls->tells)
			break;
	}
	calls->records.at--;
	*out = &calls->event;
	return EP_OK;
}

static int take_last_waits(struct ep_calls *calls, const struct ep_event **out)
{
	uint64_t end = calls->thread->end_tsc;

	if (calls->placing.next >= (end ? end : UINT64_MAX))
		return EP_END;
	take_wait(calls);
	*out = &calls->event;
	return calls->tells ? EP_OK : NO_EVENT;
}

void ep_calls_tell_waits(struct ep_calls *calls)
{
	calls->tells = true;
}

/* ---- iterating ---- */

static int take_next(struct ep_calls *calls, const struct ep_event **out)
{
	const struct ep_record *record;
	int rc;

	if (ep_pairing_over(&calls->pairing))
		return take_link(calls, out);
	if (ep_records_next(&calls->records, &record) != EP_OK)
		return take_last_waits(calls, out);
	if (record->high > calls->placing.next) {
		rc = take_waits(calls, record, out);
		if (rc != NO_EVENT)
			return rc;
	}
	if (record->kind == EP_RECORD_CALL && may_pass(calls) && pass_over(calls, &record) != EP_OK)
		return EP_E_MEMORY;
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

const struct ep_event *ep_calls_open(const struct ep_calls *calls, size_t *count)
{
	uint32_t number = calls->pairing.now->number;

	*count = calls->pairing.now->height;
	return number < calls->stack_count ? calls->stacks[number].list : NULL;
}

const struct ep_event *ep_calls_suspended(const struct ep_calls *calls, size_t index, size_t *count)
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

const struct ep_event *ep_calls_spans(const struct ep_calls *calls, size_t *count)
{
	*count = calls->spans.count;
	return calls->spans.list;
}

bool ep_calls_outermost_known(const struct ep_calls *calls)
{
	/* A pause before a thread's first event hides the calls around it, and leaves no trace but
	 * the count. */
	return calls->pairing.whole && !calls->missing && calls->thread->known &&
	       calls->thread->lost_records == 0 && calls->records.trace->arena.pauses == 0 &&
	       ep_pairing_base(&calls->pairing) == 0;
}

static int create(struct ep_calls **out, const struct ep_trace *trace,
		  const struct ep_trace_thread *thread, struct ep_names *names, bool once,
		  struct ep_err *err)
{
	struct ep_calls *calls = calloc(1, sizeof(*calls));
	int rc;

	if (!calls)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	calls->thread = thread;
	calls->names = names;
	ep_records_init(&calls->records, trace, thread);
	rc = ep_pairing_init(&calls->pairing, trace, thread, names);
	if (!rc && once)
		ep_pairing_once(&calls->pairing);
	else if (!rc)
		rc = ep_pairing_plan(&calls->pairing, &calls->records);
	if (rc) {
		ep_calls_destroy(calls);
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	}
	ep_records_init(&calls->records, trace, thread);
	ep_placing_init(&calls->placing, trace, thread, names);
	*out = calls;
	return EP_OK;
}

int ep_calls_create(struct ep_calls **out, const struct ep_trace *trace,
		    const struct ep_trace_thread *thread, struct ep_names *names,
		    struct ep_err *err)
{
	return create(out, trace, thread, names, false, err);
}

int ep_calls_create_once(struct ep_calls **out, const struct ep_trace *trace,
			 const struct ep_trace_thread *thread, struct ep_names *names,
			 struct ep_err *err)
{
	return create(out, trace, thread, names, true, err);
}

bool ep_calls_once_held(struct ep_calls *calls, uint32_t *too_deep)
{
	uint64_t outer;

	if (!ep_pairing_once_held(&calls->pairing, &calls->records, &outer))
		return false;
	*too_deep = (uint32_t)(EP_ONCE_BASE - outer);
	for (size_t i = 0; i < calls->pairing.now->height; i++)
		open_at(calls, i)->depth -= *too_deep;
	return true;
}

size_t ep_calls_blocks_left(const struct ep_calls *calls)
{
	return calls->thread->block_count - calls->records.next_block;
}

void ep_calls_destroy(struct ep_calls *calls)
{
	if (!calls)
		return;
	ep_pairing_deinit(&calls->pairing);
	for (uint32_t i = 0; i < calls->stack_count; i++)
		free(calls->stacks[i].list);
	free(calls->stacks);
	ep_open_spans_deinit(&calls->spans);
	ep_placing_deinit(&calls->placing);
	free(calls->text);
	free(calls);
}
