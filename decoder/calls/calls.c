/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c: what pairing.c decides, as events with times. One return may end several calls: each
 * gets an event of its own, innermost first.
 */
#include "decoder/calls/calls.h"

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "decoder/calls/balanced.h"
#include "decoder/calls/note_text.h"
#include "decoder/calls/open_spans.h"
#include "decoder/calls/pairing.h"
#include "decoder/calls/placing.h"
#include "coredump/util/utf8.h"

/* One event for each call of a fiber's stack. */
struct call_stack {
	struct ep_event *list;
	size_t capacity;
};

struct ep_calls {
	const struct ep_trace_thread *thread;
	struct ep_records records;
	struct ep_pairing pairing;
	EP_ARRAY(struct call_stack) stacks; /* of each fiber, by number */
	bool missing;                       /* there was a gap, or a call from before */
	struct ep_event event;              /* one that is handed out, of no open call */
	/* a return that is being worked off */
	bool busy;
	bool caught; /* what a catch left has ended; then comes the catch, of `back` */
	struct ep_judgement judgement;
	struct ep_record back; /* its record */
	char *text;            /* of the last point that has one; NULL */
	struct ep_open_spans spans;
	struct ep_names *names;
	bool unseen_stacks; /* it goes on upon such, and that was an event */
	bool passes;        /* over calls that return, before the last `in_full` */
	size_t in_full;
	struct ep_balanced balanced;
	struct ep_placing placing;
	bool with_waits;
	/* the last record that was of something in the innermost open call, or its own */
	uint64_t alive_low, alive;
};

static struct ep_time time_of(const struct ep_record *record)
{
	return (struct ep_time){record->low,     record->high,    record->time, record->exact,
				record->refined, record->sampled, record->open};
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

/* The open call at `index`, which is there. */
static struct ep_event *open_at(struct ep_calls *calls, size_t index)
{
	return &calls->stacks.list[calls->pairing.now->number].list[index];
}

static void make_room(struct ep_calls *calls, uint32_t number, size_t index)
{
	struct call_stack *stack;

	while (calls->stacks.count <= number)
		ep_array_add(&calls->stacks);
	stack = &calls->stacks.list[number];
	if (index >= stack->capacity)
		stack->list = ep_array_grown(stack->list, &stack->capacity, index + 1,
					     sizeof(*stack->list));
}

static const struct ep_event *read_call(struct ep_calls *calls, const struct ep_record *record)
{
	uint32_t number = calls->pairing.now->number;
	size_t index = calls->pairing.now->height;
	struct ep_event *event;

	if (number >= calls->stacks.count || index >= calls->stacks.list[number].capacity)
		make_room(calls, number, index);
	event = &calls->stacks.list[number].list[index];
	*event = (struct ep_event){
		.kind = EP_EVENT_BEGIN,
		.thread = calls->thread,
		.function = ep_pairing_call(&calls->pairing, record),
		.address = record->address,
		.depth = depth_at(calls, index),
		.flags = unsure(record),
		.stack = number,
		.call = calls->pairing.calls - 1,
		.begin = time_of(record),
	};
	return event;
}

/* ---- returns ---- */

static uint32_t guess(const struct ep_calls *calls)
{
	return calls->unseen_stacks ? EP_CALL_AMBIGUOUS : 0;
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
	event->end = (struct ep_time){event->begin.low, back->high, back->time, false,
				      back->refined,    false,      0};
	if (calls->judgement.verdict != EP_PAIR_LEFT &&
	    ep_pairing_may_be_over(&calls->pairing, index, back->high))
		event->flags ^= EP_CALL_ABANDONED | EP_CALL_SWITCHED;
	if (calls->judgement.verdict == EP_PAIR_LEFT) {
		event->flags |= back->kind == EP_RECORD_PARENT ? 0 : EP_CALL_UNWOUND;
		event->end = time_of(back);
	}
	ep_pairing_cut(&calls->pairing, index, calls->judgement.verdict != EP_PAIR_LEFT);
	return event;
}

/* Entries go off before returns: perhaps it is the return of another call of it, made inside of
 * this one. */
static void end_switched_off(const struct ep_calls *calls, struct ep_event *event)
{
	event->flags |= EP_CALL_SWITCHED;
	event->end.low = calls->alive_low;
	event->end.high = EP_TIME_UNKNOWN;
	event->end.exact = false;
}

static struct ep_event *end_matched(struct ep_calls *calls)
{
	struct ep_event *event = open_at(calls, calls->judgement.index);

	event->kind = EP_EVENT_END;
	event->address = calls->back.address;
	event->end = time_of(&calls->back);
	if (calls->judgement.ambiguous)
		event->flags |= EP_CALL_AMBIGUOUS;
	if (calls->judgement.switched_off)
		end_switched_off(calls, event);
	event->flags |= guess(calls) | unsure(&calls->back);
	/* When it returned is known, not which call it was: when that began is a guess. */
	if (calls->unseen_stacks)
		event->begin.exact = false;
	ep_pairing_cut(&calls->pairing, calls->judgement.index, false);
	return event;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The innermost open call's function went off, by the record at hand at the latest: until when it
 * was open for certain. A return of it would have been recorded before. */
static struct ep_time switched_time(const struct ep_calls *calls, const struct ep_record *record)
{
	uint64_t off = ep_pairing_switched(&calls->pairing)->begin;

	return (struct ep_time){
		.low = most(calls->alive_low, least(off, record->low)),
		.high = EP_TIME_UNKNOWN,
		.best = most(calls->alive, least(off, record->time)),
	};
}

static const struct ep_event *end_switched(struct ep_calls *calls, const struct ep_time *end)
{
	struct ep_event *event = open_at(calls, calls->pairing.now->height - 1);

	event->kind = EP_EVENT_END;
	event->flags |= EP_CALL_SWITCHED | guess(calls);
	event->end = *end;
	/* Its caller was open as long. */
	calls->alive_low = end->low;
	calls->alive = end->best;
	ep_pairing_end_switched(&calls->pairing);
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
static const struct ep_event *end_next(struct ep_calls *calls)
{
	bool match = calls->judgement.verdict == EP_PAIR_MATCH;
	const struct ep_event *event;

	if (calls->pairing.now->height > calls->judgement.index + match) {
		event = end_abandoned(calls);
		if (calls->judgement.verdict == EP_PAIR_LEFT)
			calls->busy = calls->pairing.now->height > calls->judgement.index;
		return event;
	}
	calls->busy = false;
	if (match)
		return end_matched(calls);
	end_unseen(calls);
	return &calls->event;
}

/* ---- texts ---- */

static char *note_text(const struct ep_calls *calls, const struct ep_record *record)
{
	const char *format = ep_names_constant_string(calls->names, record->buffer, record->time);
	char place[512] = "";

	if (!format)
		snprintf(place, sizeof(place), "%s",
			 ep_names_find(calls->names, record->buffer, record->time)->name);
	return ep_note_text(format, place, record->arguments + 1, record->arguments[0]);
}

static char *overwritten_text(const struct ep_calls *calls, const struct ep_record *gap)
{
	const char *text;
	size_t size;

	if (!gap->over)
		return NULL;
	text = ep_records_text(&calls->records, gap, &size);
	return ep_utf8_escape(text, size);
}

static void forget_text(struct ep_calls *calls)
{
	free(calls->text);
	calls->text = NULL;
}

/* Of a point, "" when it has none. */
static void make_text(struct ep_calls *calls, const struct ep_record *record)
{
	forget_text(calls);
	if (record->kind == EP_RECORD_THROW)
		calls->text = ep_type_text(record->text);
	else if (record->kind == EP_RECORD_NOTE)
		calls->text = note_text(calls, record);
	else if (record->kind == EP_RECORD_SPAN_BEGIN || record->kind == EP_RECORD_SPAN_END)
		calls->text = ep_utf8_escape(record->text, strlen(record->text));
	else if (record->kind == EP_RECORD_WATCHDOG)
		calls->text = ep_watchdog_text(record->text, record->buffer);
	else if (record->kind == EP_RECORD_GAP)
		calls->text = overwritten_text(calls, record);
}

/* ---- gaps ---- */

static const struct ep_event *read_gap(struct ep_calls *calls, const struct ep_record *record)
{
	size_t marked = calls->pairing.now->floor;
	bool hole = ep_gap_is_hole(record);

	make_text(calls, record);
	ep_pairing_gap(&calls->pairing, record);
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
	return &calls->event;
}

/* ---- jumps ---- */

static bool is_point(const struct ep_calls *calls, enum ep_point *point)
{
	/* + 1: 0 is none. */
	static const unsigned char points[] = {
		[EP_RECORD_THROW] = EP_POINT_THROW + 1,
		[EP_RECORD_RETHROW] = EP_POINT_RETHROW + 1,
		[EP_RECORD_CAUGHT] = EP_POINT_CATCH + 1,
		[EP_RECORD_RESUME] = EP_POINT_LONGJMP + 1,
		[EP_RECORD_SWAP] = EP_POINT_LONGJMP + 1,
		[EP_RECORD_NOTE] = EP_POINT_NOTE + 1,
		[EP_RECORD_SPAN_BEGIN] = EP_POINT_SPAN_BEGIN + 1,
		[EP_RECORD_SPAN_END] = EP_POINT_SPAN_END + 1,
		[EP_RECORD_WATCHDOG] = EP_POINT_WATCHDOG + 1,
	};
	unsigned found = points[calls->back.kind];

	*point = (enum ep_point)(found - (found > 0));
	if (*point == EP_POINT_LONGJMP && calls->judgement.switched)
		*point = EP_POINT_STACK;
	return found > 0;
}

static struct ep_event *make_point(struct ep_calls *calls, enum ep_point point, uint32_t depth)
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
	return &calls->event;
}

/* The point comes first, then the calls that it ended, but for a catch: that is in the call that
 * catches. NULL: it is no event. */
static const struct ep_event *read_jump(struct ep_calls *calls, const struct ep_record *record)
{
	uint32_t depth = depth_at(calls, calls->pairing.now->height);
	enum ep_point point;

	calls->judgement = ep_pairing_jump(&calls->pairing, record);
	calls->back = *record;
	calls->busy = calls->pairing.now->height > calls->judgement.index;
	if (calls->busy && record->kind == EP_RECORD_CAUGHT) {
		calls->caught = true;
		return end_next(calls);
	}
	make_text(calls, record);
	if (!is_point(calls, &point))
		return calls->busy ? end_next(calls) : NULL;
	make_point(calls, point, depth);
	/* A span's two ends get to know which they are. */
	if (point == EP_POINT_SPAN_BEGIN)
		ep_open_spans_begin(&calls->spans, &calls->event);
	else if (point == EP_POINT_SPAN_END)
		ep_open_spans_end(&calls->spans, &calls->event);
	return &calls->event;
}

static const struct ep_event *read_caught(struct ep_calls *calls)
{
	calls->caught = false;
	make_text(calls, &calls->back);
	return make_point(calls, EP_POINT_CATCH, depth_at(calls, calls->pairing.now->height));
}

/* A fiber's function has returned: what it was linked to goes on. */
static const struct ep_event *read_link(struct ep_calls *calls)
{
	uint32_t depth = depth_at(calls, calls->pairing.now->height);

	ep_pairing_go_on(&calls->pairing);
	calls->judgement.function = NULL;
	calls->back.address = 0;
	forget_text(calls);
	return make_point(calls, EP_POINT_STACK, depth);
}

#define UNSEEN_TEXT                                                    \
	"the thread goes on upon other stacks (fibers) by means that " \
	"leave no mark: what is inside of what is not certain from here on"

/* The thread does so from its beginning on: before its first record, which is put back. */
static const struct ep_event *say_unseen(struct ep_calls *calls, const struct ep_record *record)
{
	struct ep_event *event;

	calls->records.at--;
	calls->unseen_stacks = true;
	calls->judgement.function = NULL;
	calls->back = *record;
	calls->back.address = 0;
	forget_text(calls);
	event = make_point(calls, EP_POINT_STACK, depth_at(calls, calls->pairing.now->height));
	event->text = UNSEEN_TEXT;
	return event;
}

static const struct ep_event *read_return(struct ep_calls *calls, const struct ep_record *record)
{
	const struct ep_fiber *before = calls->pairing.now;
	uint32_t depth = depth_at(calls, before->height);
	struct ep_event *event;

	calls->judgement = ep_pairing_return(&calls->pairing, record);
	if (calls->judgement.verdict == EP_PAIR_DROPPED)
		return NULL;
	calls->back = *record;
	calls->busy = true;
	/* What it ran in has ended unseen, and the link goes on. */
	if (calls->pairing.now != before) {
		forget_text(calls);
		return make_point(calls, EP_POINT_STACK, depth);
	}
	if (!ep_pairing_unseen(&calls->pairing) || calls->unseen_stacks)
		return end_next(calls);
	calls->unseen_stacks = true;
	event = make_point(calls, EP_POINT_STACK, depth_at(calls, calls->pairing.now->height));
	event->text = UNSEEN_TEXT;
	return event;
}

/* What is innermost now was open then. */
static void was_alive(struct ep_calls *calls, const struct ep_record *record)
{
	if (!calls->pairing.identities.switches)
		return;
	calls->alive_low = record->low;
	calls->alive = record->time;
}

/* ---- passing over ---- */

/* The record at hand begins a call that returns, and is not the last of its block: on to what comes
 * then. */
static const struct ep_record *pass_over(struct ep_calls *calls)
{
	struct ep_records *records = &calls->records;
	unsigned at = records->at - 1, end;

	was_alive(calls, &records->decoded[at]);
	if (calls->balanced.block != records->next_block)
		ep_balanced_look(&calls->balanced, &calls->pairing.identities, records);
	while ((end = calls->balanced.end[at]) && end + 1 < records->count) {
		ep_pairing_pass(&calls->pairing, (end - at + 1) / 2);
		at = end + 1;
	}
	records->at = at + 1;
	return &records->decoded[at];
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

	while (*next < met->all.count)
		if (met->all.list[(*next)++].flags & EP_IDENTITY_CALLED)
			return met->all.list[*next - 1].function;
	return NULL;
}

/* ---- waits ---- */

static const struct ep_event *open_call(void *context, size_t index)
{
	return open_at(context, index);
}

/* The thread was off its CPU here: in `event`. Of the calls that are open only those up to the
 * place's own were so for certain. */
static void read_wait(struct ep_calls *calls)
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
		.begin = {slice->begin, slice->begin, slice->begin, .exact = true},
		.end = {slice->end, slice->end, slice->end, .exact = true},
		.place = place,
	};
}

/* Those before the record at hand and before `limit`; the record is put back behind one that is
 * wanted. NULL: none is. */
static const struct ep_event *read_waits(struct ep_calls *calls, const struct ep_record *record,
					 uint64_t limit)
{
	for (;;) {
		ep_placing_look(&calls->placing, &calls->pairing, &calls->records,
				calls->records.at - 1, calls->passes, open_call, calls);
		if (calls->placing.next >= least(record->time, limit))
			return NULL;
		read_wait(calls);
		if (calls->with_waits)
			break;
	}
	calls->records.at--;
	return &calls->event;
}

static int read_last_waits(struct ep_calls *calls, const struct ep_event **out)
{
	uint64_t end = calls->thread->end_tsc ? calls->thread->end_tsc : UINT64_MAX;

	*out = &calls->event;
	while (calls->placing.next < end) {
		read_wait(calls);
		if (calls->with_waits)
			return EP_OK;
	}
	return EP_END;
}

void ep_calls_with_waits(struct ep_calls *calls)
{
	calls->with_waits = true;
}

/* ---- iterating ---- */

/* Before the record at hand, which is put back, the innermost call ends: its function is off. */
static const struct ep_event *read_switched(struct ep_calls *calls, const struct ep_record *record)
{
	struct ep_time end = switched_time(calls, record);
	const struct ep_event *wait;

	if (end.best > calls->placing.next && (wait = read_waits(calls, record, end.best)))
		return wait;
	calls->records.at--;
	return end_switched(calls, &end);
}

/* Before the call at hand, which is put back, the innermost call is over: it was left by a jump
 * that no mark tells. */
static const struct ep_event *read_left(struct ep_calls *calls, const struct ep_record *record)
{
	calls->records.at--;
	calls->back = *record;
	calls->judgement = (struct ep_judgement){.verdict = EP_PAIR_OUTSIDE};
	return end_abandoned(calls);
}

static const struct ep_event *read_kind(struct ep_calls *calls, const struct ep_record *record)
{
	const struct ep_event *event;

	if (record->kind == EP_RECORD_RETURN) {
		event = read_return(calls, record);
		if (event)
			was_alive(calls, record);
		return event;
	}
	was_alive(calls, record);
	if (record->kind == EP_RECORD_CALL)
		return read_call(calls, record);
	if (record->kind == EP_RECORD_GAP)
		return read_gap(calls, record);
	return read_jump(calls, record);
}

/* NULL: the record is no event. */
static const struct ep_event *read_record(struct ep_calls *calls, const struct ep_record *record)
{
	const struct ep_event *wait;

	if (calls->pairing.left_stack && ep_pairing_unseen(&calls->pairing) &&
	    !calls->unseen_stacks)
		return say_unseen(calls, record);
	if (ep_pairing_is_off(&calls->pairing, record))
		return read_switched(calls, record);
	if (record->high > calls->placing.next && (wait = read_waits(calls, record, UINT64_MAX)))
		return wait;
	if (ep_pairing_has_left(&calls->pairing, record))
		return read_left(calls, record);
	if (record->kind == EP_RECORD_CALL && may_pass(calls)) {
		record = pass_over(calls);
		if (ep_pairing_is_off(&calls->pairing, record))
			return read_switched(calls, record);
	}
	return read_kind(calls, record);
}

/* Calls that are open at the end, innermost first, as long as their functions were off by then. */
static void mark_switched(struct ep_calls *calls)
{
	const struct ep_trace_thread *thread = calls->thread;
	/* A live one may have gone on after all records that are left. */
	uint64_t end = thread->state == EP_THREAD_DEAD && thread->end_tsc ? thread->end_tsc
									  : UINT64_MAX - 1;
	size_t height = calls->pairing.now->height;

	while (height > 0 && ep_pairing_may_be_over(&calls->pairing, height - 1, end))
		open_at(calls, --height)->flags |= EP_CALL_SWITCHED;
}

int ep_calls_next(struct ep_calls *calls, const struct ep_event **out)
{
	const struct ep_record *record;

	if (calls->busy) {
		*out = end_next(calls);
		return EP_OK;
	}
	if (calls->caught) {
		*out = read_caught(calls);
		return EP_OK;
	}
	do {
		if (ep_pairing_over(&calls->pairing)) {
			*out = read_link(calls);
			return EP_OK;
		}
		if (ep_records_next(&calls->records, &record) != EP_OK) {
			mark_switched(calls);
			return read_last_waits(calls, out);
		}
		*out = read_record(calls, record);
	} while (!*out);
	return EP_OK;
}

int ep_calls_read(struct ep_calls *calls, const struct ep_sink *sink)
{
	const struct ep_event *event;
	int rc = EP_OK;

	while (!rc && ep_calls_next(calls, &event) == EP_OK)
		rc = sink->event(sink->context, event, NULL);
	return rc;
}

const struct ep_event *ep_calls_open(const struct ep_calls *calls, size_t *count)
{
	uint32_t number = calls->pairing.now->number;

	*count = calls->pairing.now->height;
	return number < calls->stacks.count ? calls->stacks.list[number].list : NULL;
}

const struct ep_event *ep_calls_suspended(const struct ep_calls *calls, size_t index, size_t *count)
{
	const struct ep_fibers *fibers = &calls->pairing.fibers;
	static const struct ep_event none;

	if (index >= calls->pairing.now->number)
		index++;
	if (index >= fibers->met)
		return NULL;
	*count = fibers->all.list[index]->height;
	return *count ? calls->stacks.list[index].list : &none;
}

const struct ep_event *ep_calls_spans(const struct ep_calls *calls, size_t *count)
{
	*count = calls->spans.open.count;
	return calls->spans.open.list;
}

bool ep_calls_outermost_known(const struct ep_calls *calls)
{
	/* A pause before a thread's first event hides the calls around it, and leaves no trace but
	 * the count. */
	return calls->pairing.whole && !calls->missing && calls->thread->known &&
	       calls->thread->lost_records == 0 && calls->records.trace->arena.pauses == 0 &&
	       ep_pairing_base(&calls->pairing) == 0;
}

static struct ep_calls *create(const struct ep_trace *trace, const struct ep_trace_thread *thread,
			       struct ep_names *names, bool once)
{
	struct ep_calls *calls = ep_calloc(1, sizeof(*calls));

	calls->thread = thread;
	calls->names = names;
	ep_records_init(&calls->records, trace, thread);
	ep_pairing_init(&calls->pairing, trace, thread, names);
	if (once)
		ep_pairing_once(&calls->pairing);
	else
		ep_pairing_plan(&calls->pairing, &calls->records);
	ep_records_init(&calls->records, trace, thread);
	ep_placing_init(&calls->placing, trace, thread, names);
	return calls;
}

struct ep_calls *ep_calls_create(const struct ep_trace *trace, const struct ep_trace_thread *thread,
				 struct ep_names *names)
{
	return create(trace, thread, names, false);
}

struct ep_calls *ep_calls_create_once(const struct ep_trace *trace,
				      const struct ep_trace_thread *thread, struct ep_names *names)
{
	return create(trace, thread, names, true);
}

bool ep_calls_once_held(struct ep_calls *calls, uint32_t *too_deep)
{
	uint64_t outer;

	if (!ep_pairing_once_held(&calls->pairing, &outer))
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
	for (size_t i = 0; i < calls->stacks.count; i++)
		free(calls->stacks.list[i].list);
	ep_array_deinit(&calls->stacks);
	ep_open_spans_deinit(&calls->spans);
	ep_placing_deinit(&calls->placing);
	free(calls->text);
	free(calls);
}
