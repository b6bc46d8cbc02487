/* SPDX-License-Identifier: BSD-2-Clause */
/* nest.c: the stacks of each thread, as the stream's events change them. Each event says which
 * stack it happens on. */
#include "decoder/stream/nest.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/calls/placing.h"

/* A call from before the history, known by its return. */
struct before {
	struct ep_nest_frame frame;
	uint64_t segment; /* gaps before it, but what a newer version wrote */
};

struct stack {
	struct ep_nest_frame *frames; /* outermost first, open or suspended */
	size_t count, room;
	size_t next;           /* where the next call is likely: find_next */
	struct before *before; /* as they returned */
	size_t before_count, before_room, before_next;
	uint64_t segments; /* that it had events in, the present one's number +
			      1 */
};

struct strand { /* a thread */
	struct ep_nest_thread public;
	struct stack *stacks; /* as in struct ep_event */
	size_t stack_room;
	uint32_t now; /* the one that runs */
	uint64_t segment;
};

struct nest {
	const struct ep_trace *trace;
	struct ep_names *names;
	const struct ep_selection *selection;
	const struct ep_nest_sink *sink;
	struct strand *strands; /* as the trace's threads */
	int64_t low, high;      /* times are clipped to these */
	bool looked;            /* the calls from before were looked for */
};

/* Room for one more; false: out of memory. */
static bool make_room(void **array, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room ? *room * 2 : 16;
	void *more;

	if (count < *room)
		return true;
	more = realloc(*array, wanted * size);
	if (!more)
		return false;
	*array = more;
	*room = wanted;
	return true;
}

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

static struct strand *strand_of(struct nest *nest, const struct ep_event *event)
{
	return &nest->strands[event->thread - nest->trace->threads];
}

static uint64_t time_of(const struct ep_event *event)
{
	return event->kind == EP_EVENT_END ? event->end.best : event->begin.best;
}

static int64_t ns_of(const struct nest *nest, uint64_t tsc)
{
	int64_t ns = ep_trace_ns(nest->trace, nest->trace->first_tsc, tsc);

	if (ns < nest->low)
		return nest->low;
	return ns < nest->high ? ns : nest->high;
}

static void go_on(struct strand *strand, int64_t ns)
{
	if (ns > strand->public.now)
		strand->public.now = ns;
}

static bool is_loss(const struct ep_event *event)
{
	return event->kind == EP_EVENT_GAP && event->gap & ~EP_GAP_UNKNOWN_ESCAPE;
}

/* ---- frames ---- */

static struct stack *running(struct strand *strand)
{
	return &strand->stacks[strand->now];
}

static void show(struct strand *strand)
{
	strand->public.frames = running(strand)->frames;
	strand->public.count = running(strand)->count;
}

/* The first frame that does not run begins, or is resumed. */
static int frame_begin(struct nest *nest, struct strand *strand, enum ep_nest_why why,
		       const struct ep_event *event, struct ep_err *err)
{
	struct stack *stack = running(strand);
	struct ep_nest_frame *frame = &stack->frames[stack->count++];

	frame->since = strand->public.now;
	show(strand);
	return nest->sink->begin(nest->sink->context, &strand->public, frame, why, event, err);
}

static int frame_add(struct nest *nest, struct strand *strand, const struct ep_nest_frame *frame,
		     enum ep_nest_why why, const struct ep_event *event, struct ep_err *err)
{
	struct stack *stack = running(strand);

	if (!make_room((void **)&stack->frames, stack->count, &stack->room, sizeof(*stack->frames)))
		return out_of_memory(err);
	stack->frames[stack->count] = *frame;
	return frame_begin(nest, strand, why, event, err);
}

/* The innermost one ends, or is suspended. What it took counts for the one that called it. */
static int frame_end(struct nest *nest, struct strand *strand, enum ep_nest_why why,
		     const struct ep_event *event, struct ep_err *err)
{
	struct stack *stack = running(strand);
	struct ep_nest_frame *frame = &stack->frames[stack->count - 1];
	int64_t ran = strand->public.now - frame->since - frame->left_out;
	int rc;

	/* Two clocks may differ by a little. */
	ran = ran > 0 ? ran : 0;
	frame->ran += ran;
	show(strand);
	rc = nest->sink->end(nest->sink->context, &strand->public, frame, why, event, err);
	frame->left_out = 0;
	if (--stack->count > 0) {
		frame[-1].inner += ran;
		frame[-1].waited += why == EP_NEST_SWITCH ? 0 : frame->waited;
	}
	show(strand);
	return rc;
}

/* Suspends the frames down to `count`; they stay where they are. */
static int suspend(struct nest *nest, struct strand *strand, size_t count, struct ep_err *err)
{
	int rc = EP_OK;

	while (!rc && running(strand)->count > count)
		rc = frame_end(nest, strand, EP_NEST_SWITCH, NULL, err);
	return rc;
}

static int resume(struct nest *nest, struct strand *strand, size_t count, struct ep_err *err)
{
	int rc = EP_OK;

	while (!rc && running(strand)->count < count)
		rc = frame_begin(nest, strand, EP_NEST_SWITCH, NULL, err);
	return rc;
}

/* ---- stacks ---- */

/* Index of the call in the stack, or -1. */
static ssize_t find_in(const struct stack *stack, uint64_t call)
{
	for (size_t i = stack->count; i > 0; i--)
		if (stack->frames[i - 1].call == call)
			return (ssize_t)i - 1;
	return -1;
}

/* The same of calls that come outermost first. */
static ssize_t find_next(struct stack *stack, uint64_t call)
{
	size_t next = stack->next;
	ssize_t index = next < stack->count && stack->frames[next].call == call
				? (ssize_t)next
				: find_in(stack, call);

	if (index >= 0)
		stack->next = (size_t)index + 1;
	return index;
}

/* NULL: out of memory. Borrowed until the next one. */
static struct stack *stack_at(struct strand *strand, uint32_t number)
{
	size_t room = strand->stack_room, wanted = (size_t)number + 1;
	struct stack *grown;

	if (number < room)
		return &strand->stacks[number];
	wanted = wanted > 2 * room ? wanted : 2 * room;
	grown = realloc(strand->stacks, wanted * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + room, 0, (wanted - room) * sizeof(*grown));
	strand->stacks = grown;
	strand->stack_room = wanted;
	return &grown[number];
}

/* The thread goes on upon the stack of `number`. */
static int enter_slow(struct nest *nest, struct strand *strand, uint32_t number, struct ep_err *err)
{
	size_t count;
	int rc;

	if (!stack_at(strand, number))
		return out_of_memory(err);
	count = running(strand)->count;
	rc = suspend(nest, strand, 0, err);
	running(strand)->count = count;
	if (rc)
		return rc;
	strand->now = number;
	count = running(strand)->count;
	running(strand)->count = 0;
	return resume(nest, strand, count, err);
}

static int enter(struct nest *nest, struct strand *strand, uint32_t number, struct ep_err *err)
{
	if (number == strand->now)
		return EP_OK;
	return enter_slow(nest, strand, number, err);
}

/* ---- calls from before the history ---- */

static struct ep_nest_frame frame_of(const struct ep_event *event)
{
	return (struct ep_nest_frame){
		.function = event->function,
		.call = event->call,
		.address = event->address,
		.depth = event->depth,
		.flags = event->flags,
		.begin = event->begin,
	};
}

/* A sink, for the first run. */
static int look_at(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct nest *nest = context;
	struct strand *strand = strand_of(nest, event);
	struct stack *stack;

	strand->segment += is_loss(event);
	if (event->kind != EP_EVENT_END || !(event->flags & EP_CALL_BEFORE))
		return EP_OK;
	stack = stack_at(strand, event->stack);
	if (!stack || !make_room((void **)&stack->before, stack->before_count, &stack->before_room,
				 sizeof(*stack->before)))
		return out_of_memory(err);
	stack->before[stack->before_count++] = (struct before){frame_of(event), strand->segment};
	return EP_OK;
}

static struct ep_nest_frame frame_of_caller(const struct ep_caller *caller)
{
	uint32_t gap = caller->segment ? EP_CALL_ACROSS_GAP : 0;

	return (struct ep_nest_frame){
		.function = caller->function,
		.call = caller->call,
		.address = caller->address,
		.depth = caller->depth,
		.flags = EP_CALL_BEFORE | gap,
		.begin = {0, caller->since, caller->since, false, false},
	};
}

/* Of one thread, by what pairing keeps. EP_END: that is nothing. */
static int take_kept(struct nest *nest, struct strand *strand)
{
	struct stack *stack = &strand->stacks[0];
	const struct ep_caller *callers;
	size_t count;

	if (!ep_selection_wants_thread(nest->selection, strand->public.thread))
		return EP_OK;
	if (!ep_pairing_callers(nest->trace, strand->public.thread, nest->names, &callers, &count))
		return EP_END;
	stack->before = calloc(count + 1, sizeof(*stack->before));
	if (!stack->before)
		return EP_E_MEMORY;
	stack->before_room = count + 1;
	for (; stack->before_count < count; stack->before_count++)
		stack->before[stack->before_count] =
			(struct before){frame_of_caller(&callers[stack->before_count]),
					callers[stack->before_count].segment};
	return EP_OK;
}

/* All calls of the threads that are. */
static bool all_are_selected(const struct ep_selection *selection)
{
	return !selection->functions.count && !selection->depth && !selection->min_duration &&
	       !selection->last_calls && !selection->last_ns && !selection->since.given &&
	       !selection->until.given;
}

/* EP_END: they must be looked for. */
static int take_all_kept(struct nest *nest)
{
	int rc = all_are_selected(nest->selection) ? EP_OK : EP_END;

	for (size_t i = 0; !rc && i < nest->trace->thread_count; i++)
		rc = take_kept(nest, &nest->strands[i]);
	for (size_t i = 0; rc == EP_END && i < nest->trace->thread_count; i++)
		nest->strands[i].stacks[0].before_count = 0;
	return rc;
}

static int look_before(struct nest *nest, struct ep_err *err)
{
	struct ep_sink sink = {.context = nest, .event = look_at};
	size_t count = nest->trace->thread_count;
	uint64_t *segments, shown;
	int rc = take_all_kept(nest);

	nest->looked = true;
	if (rc == EP_OK)
		return EP_OK;
	segments = calloc(count + 1, sizeof(*segments));
	if (rc < 0 || !segments) {
		free(segments);
		return out_of_memory(err);
	}
	for (size_t i = 0; i < count; i++) {
		segments[i] = nest->strands[i].segment;
		nest->strands[i].segment = 0;
	}
	rc = ep_stream(nest->trace, nest->names, nest->selection, &sink, &shown, err);
	for (size_t i = 0; i < count; i++)
		nest->strands[i].segment = segments[i];
	free(segments);
	return rc;
}

/* Those of the stack that were open where the history, or what is left of it after a gap, begins;
 * the last to return is the outermost. */
static int begin_before(struct nest *nest, struct strand *strand, struct ep_err *err)
{
	const struct stack *stack = running(strand);
	const struct before *all = stack->before;
	size_t first = stack->before_next, end = first;
	uint64_t segment = strand->segment;
	int rc = EP_OK;

	while (first < stack->before_count && all[first].segment < segment)
		end = ++first;
	while (end < stack->before_count && all[end].segment == segment)
		end++;
	running(strand)->before_next = end;
	if (first < end)
		go_on(strand, ns_of(nest, all[first].frame.begin.best));
	for (size_t i = end; !rc && i > first; i--)
		rc = frame_add(nest, strand, &all[i - 1].frame, EP_NEST_BEFORE, NULL, err);
	return rc;
}

/* The stack's first event since the start, or since a gap. Depths count calls from before, unless
 * their callees are not selected. */
static int prepare(struct nest *nest, struct strand *strand, const struct ep_event *event,
		   struct ep_err *err)
{
	bool fresh = running(strand)->segments <= strand->segment;
	int rc = EP_OK;

	if (!nest->looked && ((fresh && event->depth > 0) ||
			      (event->kind == EP_EVENT_END && event->flags & EP_CALL_BEFORE))) {
		rc = look_before(nest, err);
		fresh = true;
	}
	running(strand)->segments = strand->segment + 1;
	return rc || !fresh ? rc : begin_before(nest, strand, err);
}

/* ---- events ---- */

static int moment(struct nest *nest, struct strand *strand, const struct ep_event *event,
		  struct ep_err *err)
{
	show(strand);
	return nest->sink->moment
		       ? nest->sink->moment(nest->sink->context, &strand->public, event, err)
		       : EP_OK;
}

/* One whose begin nobody foresaw takes no time. */
static int end_unseen(struct nest *nest, struct strand *strand, const struct ep_event *event,
		      struct ep_err *err)
{
	struct ep_nest_frame frame = frame_of(event);
	int rc = frame_add(nest, strand, &frame, EP_NEST_BEFORE, NULL, err);

	return rc ? rc : frame_end(nest, strand, EP_NEST_CALL, event, err);
}

/* Not the innermost: those inside of it go on, on a stack that nothing tells of. */
static int end_outer(struct nest *nest, struct strand *strand, size_t index,
		     const struct ep_event *event, struct ep_err *err)
{
	struct stack *stack = running(strand);
	size_t count = stack->count;
	int rc = suspend(nest, strand, index + 1, err);

	rc = rc ? rc : frame_end(nest, strand, EP_NEST_CALL, event, err);
	memmove(&stack->frames[index], &stack->frames[index + 1],
		(count - index - 1) * sizeof(*stack->frames));
	return rc ? rc : resume(nest, strand, count - 1, err);
}

static int end_call(struct nest *nest, struct strand *strand, const struct ep_event *event,
		    struct ep_err *err)
{
	struct stack *stack = running(strand);
	ssize_t index = find_in(stack, event->call);

	if (index < 0)
		return end_unseen(nest, strand, event, err);
	stack->frames[index].flags |= event->flags;
	if ((size_t)index + 1 < stack->count)
		return end_outer(nest, strand, (size_t)index, event, err);
	return frame_end(nest, strand, EP_NEST_CALL, event, err);
}

static int take_gap(struct nest *nest, struct strand *strand, const struct ep_event *event,
		    struct ep_err *err)
{
	int64_t end = ns_of(nest, event->end.best);
	struct stack *stack = running(strand);
	int rc;

	strand->public.gap = end > strand->public.now ? end - strand->public.now : 0;
	rc = moment(nest, strand, event, err);
	if (stack->count)
		stack->frames[stack->count - 1].inner += strand->public.gap;
	go_on(strand, end);
	strand->public.gap = 0;
	strand->segment += is_loss(event);
	return rc;
}

static int take_call(struct nest *nest, struct strand *strand, const struct ep_event *event,
		     struct ep_err *err)
{
	struct ep_nest_frame frame;
	int rc = prepare(nest, strand, event, err);

	if (rc)
		return rc;
	go_on(strand, ns_of(nest, time_of(event)));
	if (event->kind == EP_EVENT_END)
		return event->flags & EP_CALL_STRAY ? moment(nest, strand, event, err)
						    : end_call(nest, strand, event, err);
	frame = frame_of(event);
	return frame_add(nest, strand, &frame, EP_NEST_CALL, event, err);
}

/* ---- waits ---- */

/* Calls from before the history are outside of all others. */
static size_t own_frames(const struct stack *stack, const struct ep_wait_place *place)
{
	size_t count = stack->count;

	while (count > 0 && (place->lost || (!(stack->frames[count - 1].flags & EP_CALL_BEFORE) &&
					     (place->call == EP_NO_CALL ||
					      stack->frames[count - 1].call > place->call))))
		count--;
	return count;
}

/* A sink. Where it is not certain that it lies in frames that are open, it is left out of their
 * time, and nobody's own. */
static int take_wait(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct nest *nest = context;
	struct strand *strand = strand_of(nest, event);
	int64_t begin = ns_of(nest, event->begin.best);
	int64_t ns = ns_of(nest, event->end.best) - begin;
	struct stack *stack;
	size_t own;
	int rc = enter(nest, strand, event->stack, err);

	if (rc)
		return rc;
	go_on(strand, begin);
	stack = running(strand);
	own = own_frames(stack, event->place);
	for (size_t i = own; i < stack->count; i++) {
		stack->frames[i].left_out += ns;
		stack->frames[i].astray += ns;
	}
	if (own)
		stack->frames[own - 1].waited += ns;
	if (own && !ep_place_is_certain(event->place))
		stack->frames[own - 1].inner += ns;
	show(strand);
	strand->public.gap = ns;
	rc = nest->sink->wait(nest->sink->context, &strand->public, own, ns, event, err);
	strand->public.gap = 0;
	go_on(strand, begin + ns);
	return rc;
}

/* A sink, for the run that counts. */
static int take(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct nest *nest = context;
	struct strand *strand = strand_of(nest, event);
	bool call = event->kind == EP_EVENT_BEGIN || event->kind == EP_EVENT_END;
	int rc = EP_OK;

	if (!call)
		go_on(strand, ns_of(nest, time_of(event)));
	/* A switch is told by the stack that it leaves. */
	if (event->kind == EP_EVENT_POINT)
		rc = moment(nest, strand, event, err);
	rc = rc ? rc : enter(nest, strand, event->stack, err);
	if (rc || event->kind == EP_EVENT_POINT)
		return rc;
	return call ? take_call(nest, strand, event, err) : take_gap(nest, strand, event, err);
}

/* What was learned of a call that did not return. */
static int learn(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct nest *nest = context;
	struct strand *strand = strand_of(nest, event);
	struct stack *stack;
	ssize_t index;

	if (event->kind == EP_EVENT_POINT)
		return nest->sink->span
			       ? nest->sink->span(nest->sink->context, &strand->public, event, err)
			       : EP_OK;
	stack = stack_at(strand, event->stack);
	index = stack ? find_next(stack, event->call) : -1;
	if (index >= 0)
		stack->frames[index].flags |= event->flags;
	return stack ? EP_OK : out_of_memory(err);
}

/* ---- the whole ---- */

/* A thread that lives on has its calls open until the process's end. */
static int64_t end_of(const struct nest *nest, const struct ep_trace_thread *thread)
{
	uint64_t end = thread->state == EP_THREAD_DEAD ? thread->end_tsc : nest->trace->end.tsc;

	return ns_of(nest, end > thread->last_tsc ? end : thread->last_tsc);
}

static int finish(struct nest *nest, struct strand *strand, struct ep_err *err)
{
	const struct ep_nest_sink *sink = nest->sink;
	int rc = EP_OK;

	go_on(strand, end_of(nest, strand->public.thread));
	while (!rc && running(strand)->count)
		rc = frame_end(nest, strand, EP_NEST_OPEN, NULL, err);
	for (size_t i = 0; i < strand->stack_room; i++)
		for (size_t j = strand->stacks[i].count; !rc && j > 0; j--)
			rc = sink->end(sink->context, &strand->public,
				       &strand->stacks[i].frames[j - 1], EP_NEST_LEFT, NULL, err);
	return rc;
}

static int nest_init(struct nest *nest, bool clip, struct ep_err *err)
{
	const struct ep_trace *trace = nest->trace;
	struct ep_window window = {0, UINT64_MAX};

	if (clip)
		window = ep_selection_window(nest->selection, trace);
	nest->low = window.since > trace->first_tsc
			    ? ep_trace_ns(trace, trace->first_tsc, window.since)
			    : 0;
	nest->high = INT64_MAX;
	if (window.until != UINT64_MAX)
		nest->high = ep_trace_ns(trace, trace->first_tsc, window.until);
	if (nest->high < nest->low)
		nest->high = nest->low;
	nest->strands = calloc(trace->thread_count + 1, sizeof(*nest->strands));
	if (!nest->strands)
		return out_of_memory(err);
	for (size_t i = 0; i < trace->thread_count; i++) {
		nest->strands[i].public.thread = &trace->threads[i];
		nest->strands[i].public.index = i;
		if (!stack_at(&nest->strands[i], 0))
			return out_of_memory(err);
	}
	return EP_OK;
}

static void nest_deinit(struct nest *nest)
{
	for (size_t i = 0; nest->strands && i < nest->trace->thread_count; i++) {
		struct strand *strand = &nest->strands[i];

		for (size_t j = 0; j < strand->stack_room; j++) {
			free(strand->stacks[j].frames);
			free(strand->stacks[j].before);
		}
		free(strand->stacks);
	}
	free(nest->strands);
}

int ep_nest_stream(const struct ep_trace *trace, struct ep_names *names,
		   const struct ep_selection *selection, bool clip, const struct ep_nest_sink *sink,
		   uint64_t *shown, struct ep_err *err)
{
	const struct ep_selection all = {0};
	struct nest nest = {.trace = trace,
			    .names = names,
			    .selection = selection ? selection : &all,
			    .sink = sink};
	struct ep_sink events = {.context = &nest, .event = take, .open = learn};
	int rc = nest_init(&nest, clip, err);

	if (sink->wait)
		events.wait = take_wait;
	if (!rc)
		rc = ep_stream(trace, names, nest.selection, &events, shown, err);
	for (size_t i = 0; !rc && i < trace->thread_count; i++)
		rc = finish(&nest, &nest.strands[i], err);
	nest_deinit(&nest);
	return rc;
}
