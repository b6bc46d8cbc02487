/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nest.c: the stacks of each thread, as the stream's events change them. Which
 * stack a thread went on upon is told by what happens there next: the call that
 * ends, or the depth of the one that begins.
 */
#include "decoder/nest.h"

#include <stdlib.h>
#include <string.h>

/* A call from before the history, known by its return. */
struct before {
	struct ep_frame frame;
	uint64_t segment; /* gaps before it */
};

struct stack {
	struct ep_frame *frames;
	size_t count, room;
};

struct strand {                       /* a thread */
	struct ep_nest_thread public; /* frames, count: as current */
	struct stack current;
	struct stack *left; /* other stacks, the one left last at the end */
	size_t left_count, left_room;
	bool undecided; /* it went on upon another stack; which? */
	bool fresh;     /* no event since the start, or since a gap */
	uint64_t segment;
	struct before *before; /* as they returned */
	size_t before_count, before_room, before_next;
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
	return event->kind == EP_EVENT_END ? event->end.best
					   : event->begin.best;
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

/* ---- frames ---- */

static void show(struct strand *strand)
{
	strand->public.frames = strand->current.frames;
	strand->public.count = strand->current.count;
}

static int frame_begin(struct nest *nest, struct strand *strand,
		       const struct ep_frame *frame, enum ep_nest_why why,
		       const struct ep_event *event, struct ep_err *err)
{
	struct stack *stack = &strand->current;
	struct ep_frame *slot;

	if (!make_room((void **)&stack->frames, stack->count, &stack->room,
		       sizeof(*stack->frames)))
		return out_of_memory(err);
	slot = &stack->frames[stack->count++];
	*slot = *frame;
	slot->since = strand->public.now;
	show(strand);
	return nest->sink->begin(nest->sink->context, &strand->public, slot,
				 why, event, err);
}

/* The innermost one ends, or is suspended. What it took counts for the one that
 * called it. */
static int frame_end(struct nest *nest, struct strand *strand,
		     enum ep_nest_why why, const struct ep_event *event,
		     struct ep_err *err)
{
	struct stack *stack = &strand->current;
	struct ep_frame *frame = &stack->frames[stack->count - 1];
	int64_t ran = strand->public.now - frame->since;
	int rc;

	frame->ran += ran;
	show(strand);
	rc = nest->sink->end(nest->sink->context, &strand->public, frame, why,
			     event, err);
	if (--stack->count > 0)
		frame[-1].inner += ran;
	show(strand);
	return rc;
}

/* Suspends the frames from `index` on, into *out. */
static int suspend(struct nest *nest, struct strand *strand, size_t index,
		   struct stack *out, struct ep_err *err)
{
	struct stack *stack = &strand->current;
	size_t count = stack->count;
	int rc = EP_OK;

	while (!rc && stack->count > index)
		rc = frame_end(nest, strand, EP_NEST_SWITCH, NULL, err);
	if (rc)
		return rc;
	*out = (struct stack){0};
	out->frames = malloc((count - index + 1) * sizeof(*out->frames));
	if (!out->frames)
		return out_of_memory(err);
	memcpy(out->frames, stack->frames + index,
	       (count - index) * sizeof(*out->frames));
	out->count = count - index;
	out->room = out->count + 1;
	return EP_OK;
}

/* Puts them back, and frees the stack that they were kept in. */
static int resume(struct nest *nest, struct strand *strand, struct stack *from,
		  struct ep_err *err)
{
	int rc = EP_OK;

	for (size_t i = 0; !rc && i < from->count; i++)
		rc = frame_begin(nest, strand, &from->frames[i], EP_NEST_SWITCH,
				 NULL, err);
	free(from->frames);
	*from = (struct stack){0};
	return rc;
}

/* ---- other stacks ---- */

/* Index of the call in the stack, or -1. */
static ssize_t find_in(const struct stack *stack, uint64_t call)
{
	for (size_t i = stack->count; i > 0; i--)
		if (stack->frames[i - 1].call == call)
			return (ssize_t)i - 1;
	return -1;
}

static int leave_stack(struct nest *nest, struct strand *strand,
		       struct ep_err *err)
{
	struct stack left;
	int rc;

	if (strand->current.count == 0)
		return EP_OK;
	rc = suspend(nest, strand, 0, &left, err);
	if (rc)
		return rc;
	if (make_room((void **)&strand->left, strand->left_count,
		      &strand->left_room, sizeof(*strand->left))) {
		strand->left[strand->left_count++] = left;
		return EP_OK;
	}
	free(left.frames);
	return out_of_memory(err);
}

static int enter_stack(struct nest *nest, struct strand *strand, size_t index,
		       struct ep_err *err)
{
	struct stack entered = strand->left[index];

	strand->left_count--;
	memmove(&strand->left[index], &strand->left[index + 1],
		(strand->left_count - index) * sizeof(*strand->left));
	return resume(nest, strand, &entered, err);
}

/* The stack in which `event` happens; left_count: a new one. The one that was
 * left last is the least likely. */
static size_t stack_of(const struct strand *strand,
		       const struct ep_event *event)
{
	size_t count = strand->left_count;
	bool ends = event->kind == EP_EVENT_END;

	for (size_t i = 0; i < count; i++) {
		size_t index = (count - 2 - i + count) % count;
		const struct stack *stack = &strand->left[index];

		if (ends ? find_in(stack, event->call) >= 0
			 : stack->frames[stack->count - 1].depth + 1 ==
				    event->depth)
			return index;
	}
	return count;
}

/* The thread is on the stack where `event` happens. */
static int decide(struct nest *nest, struct strand *strand,
		  const struct ep_event *event, struct ep_err *err)
{
	bool known = event->kind == EP_EVENT_BEGIN ||
		     (event->kind == EP_EVENT_END &&
		      !(event->flags & (EP_CALL_STRAY | EP_CALL_BEFORE)));
	size_t index;
	int rc;

	if (!known || strand->left_count == 0)
		return EP_OK;
	if (!strand->undecided && event->kind == EP_EVENT_BEGIN)
		return EP_OK;
	if (event->kind == EP_EVENT_END &&
	    find_in(&strand->current, event->call) >= 0)
		return EP_OK;
	strand->undecided = false;
	index = stack_of(strand, event);
	if (index == strand->left_count)
		return EP_OK;
	/* Leaving puts another stack behind those that are there. */
	rc = leave_stack(nest, strand, err);
	return rc ? rc : enter_stack(nest, strand, index, err);
}

/* ---- calls from before the history ---- */

static struct ep_frame frame_of(const struct ep_event *event)
{
	return (struct ep_frame){
		.function = event->function,
		.call = event->call,
		.address = event->address,
		.depth = event->depth,
		.flags = event->flags,
		.begin = event->begin,
	};
}

/* A sink, for the first run. */
static int look_at(void *context, const struct ep_event *event,
		   struct ep_err *err)
{
	struct nest *nest = context;
	struct strand *strand = strand_of(nest, event);

	if (event->kind == EP_EVENT_GAP)
		strand->segment++;
	if (event->kind != EP_EVENT_END || !(event->flags & EP_CALL_BEFORE))
		return EP_OK;
	if (!make_room((void **)&strand->before, strand->before_count,
		       &strand->before_room, sizeof(*strand->before)))
		return out_of_memory(err);
	strand->before[strand->before_count++] =
		(struct before){frame_of(event), strand->segment};
	return EP_OK;
}

static int look_before(struct nest *nest, struct ep_err *err)
{
	struct ep_sink sink = {.context = nest, .event = look_at};
	size_t count = nest->trace->thread_count;
	uint64_t *segments = calloc(count + 1, sizeof(*segments)), shown;
	int rc;

	if (!segments)
		return out_of_memory(err);
	nest->looked = true;
	for (size_t i = 0; i < count; i++) {
		segments[i] = nest->strands[i].segment;
		nest->strands[i].segment = 0;
	}
	rc = ep_stream(nest->trace, nest->names, nest->selection, &sink, &shown,
		       err);
	for (size_t i = 0; i < count; i++)
		nest->strands[i].segment = segments[i];
	free(segments);
	return rc;
}

/* Those that were open where the history, or what is left of it after a gap,
 * begins; the last to return is the outermost. */
static int begin_before(struct nest *nest, struct strand *strand,
			const struct ep_event *event, struct ep_err *err)
{
	const struct before *all = strand->before;
	size_t first = strand->before_next, end = first;
	int rc = EP_OK;

	if (all[first].segment > strand->segment ||
	    (all[first].segment == strand->segment &&
	     all[first].frame.begin.best > time_of(event)))
		return EP_OK;
	while (end < strand->before_count &&
	       all[end].segment == all[first].segment &&
	       all[end].frame.begin.best == all[first].frame.begin.best)
		end++;
	strand->before_next = end;
	go_on(strand, ns_of(nest, all[first].frame.begin.best));
	for (size_t i = end; !rc && i > first; i--)
		rc = frame_begin(nest, strand, &all[i - 1].frame,
				 EP_NEST_BEFORE, NULL, err);
	return rc;
}

static int prepare(struct nest *nest, struct strand *strand,
		   const struct ep_event *event, struct ep_err *err)
{
	int rc = EP_OK;

	if (event->kind == EP_EVENT_GAP)
		return EP_OK;
	/* Depths count them, unless their callees are not selected. */
	if (!nest->looked &&
	    ((strand->fresh && event->depth > 0) ||
	     (event->kind == EP_EVENT_END && event->flags & EP_CALL_BEFORE)))
		rc = look_before(nest, err);
	strand->fresh = false;
	while (!rc && strand->before_next < strand->before_count) {
		size_t next = strand->before_next;

		rc = begin_before(nest, strand, event, err);
		if (next == strand->before_next)
			break;
	}
	return rc;
}

/* ---- events ---- */

static int moment(struct nest *nest, struct strand *strand,
		  const struct ep_event *event, struct ep_err *err)
{
	show(strand);
	return nest->sink->moment
		       ? nest->sink->moment(nest->sink->context,
					    &strand->public, event, err)
		       : EP_OK;
}

/* One whose begin nobody foresaw takes no time. */
static int end_unseen(struct nest *nest, struct strand *strand,
		      const struct ep_event *event, struct ep_err *err)
{
	struct ep_frame frame = frame_of(event);
	int rc = frame_begin(nest, strand, &frame, EP_NEST_BEFORE, NULL, err);

	return rc ? rc : frame_end(nest, strand, EP_NEST_CALL, event, err);
}

static int end_call(struct nest *nest, struct strand *strand,
		    const struct ep_event *event, struct ep_err *err)
{
	ssize_t index = find_in(&strand->current, event->call);
	struct stack above = {0};
	int rc = EP_OK;

	if (index < 0)
		return end_unseen(nest, strand, event, err);
	/* Calls inside of it that go on: on another stack, unseen. */
	if ((size_t)index + 1 < strand->current.count)
		rc = suspend(nest, strand, (size_t)index + 1, &above, err);
	strand->current.frames[index].flags |= event->flags;
	if (!rc)
		rc = frame_end(nest, strand, EP_NEST_CALL, event, err);
	if (!rc)
		return resume(nest, strand, &above, err);
	free(above.frames);
	return rc;
}

static int take_gap(struct nest *nest, struct strand *strand,
		    const struct ep_event *event, struct ep_err *err)
{
	int64_t end = ns_of(nest, event->end.best);
	struct stack *stack = &strand->current;
	int rc;

	strand->public.gap =
		end > strand->public.now ? end - strand->public.now : 0;
	rc = moment(nest, strand, event, err);
	if (stack->count)
		stack->frames[stack->count - 1].inner += strand->public.gap;
	go_on(strand, end);
	strand->public.gap = 0;
	strand->segment++;
	strand->fresh = true;
	return rc;
}

static int take_point(struct nest *nest, struct strand *strand,
		      const struct ep_event *event, struct ep_err *err)
{
	int rc = moment(nest, strand, event, err);

	/* With words it is a suspicion, and nothing is known to be left. */
	if (rc || event->point != EP_POINT_STACK ||
	    (event->text && *event->text))
		return rc;
	strand->undecided = true;
	return leave_stack(nest, strand, err);
}

/* A sink, for the run that counts. */
static int take(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct nest *nest = context;
	struct strand *strand = strand_of(nest, event);
	struct ep_frame frame;
	int rc = prepare(nest, strand, event, err);

	go_on(strand, ns_of(nest, time_of(event)));
	rc = rc ? rc : decide(nest, strand, event, err);
	if (rc)
		return rc;
	switch (event->kind) {
	case EP_EVENT_BEGIN:
		frame = frame_of(event);
		return frame_begin(nest, strand, &frame, EP_NEST_CALL, event,
				   err);
	case EP_EVENT_END:
		return event->flags & EP_CALL_STRAY
			       ? moment(nest, strand, event, err)
			       : end_call(nest, strand, event, err);
	case EP_EVENT_GAP:
		return take_gap(nest, strand, event, err);
	default:
		return take_point(nest, strand, event, err);
	}
}

/* What was learned of a call that did not return. */
static int learn(void *context, const struct ep_event *event,
		 struct ep_err *err)
{
	struct strand *strand = strand_of(context, event);
	ssize_t index = find_in(&strand->current, event->call);

	(void)err;
	if (index >= 0)
		strand->current.frames[index].flags |= event->flags;
	for (size_t i = 0; index < 0 && i < strand->left_count; i++) {
		index = find_in(&strand->left[i], event->call);
		if (index >= 0)
			strand->left[i].frames[index].flags |= event->flags;
	}
	return EP_OK;
}

/* ---- the whole ---- */

/* A thread that lives on has its calls open until the last that is known of
 * any. */
static int64_t end_of(const struct nest *nest,
		      const struct ep_trace_thread *thread)
{
	uint64_t end = thread->state == EP_THREAD_DEAD ? thread->end_tsc
						       : nest->trace->last_tsc;

	return ns_of(nest, end > thread->last_tsc ? end : thread->last_tsc);
}

static int finish(struct nest *nest, struct strand *strand, struct ep_err *err)
{
	int rc = EP_OK;

	go_on(strand, end_of(nest, strand->public.thread));
	while (!rc && strand->current.count)
		rc = frame_end(nest, strand, EP_NEST_OPEN, NULL, err);
	for (size_t i = 0; i < strand->left_count; i++)
		for (size_t j = strand->left[i].count; !rc && j > 0; j--)
			rc = nest->sink->end(nest->sink->context,
					     &strand->public,
					     &strand->left[i].frames[j - 1],
					     EP_NEST_LEFT, NULL, err);
	return rc;
}

static int nest_init(struct nest *nest, bool clip, struct ep_err *err)
{
	const struct ep_trace *trace = nest->trace;
	struct ep_window window = {0, UINT64_MAX};

	if (clip && nest->selection)
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
		nest->strands[i].fresh = true;
	}
	return EP_OK;
}

static void nest_deinit(struct nest *nest)
{
	for (size_t i = 0; nest->strands && i < nest->trace->thread_count;
	     i++) {
		struct strand *strand = &nest->strands[i];

		for (size_t j = 0; j < strand->left_count; j++)
			free(strand->left[j].frames);
		free(strand->left);
		free(strand->current.frames);
		free(strand->before);
	}
	free(nest->strands);
}

int ep_nest_stream(const struct ep_trace *trace, struct ep_names *names,
		   const struct ep_selection *selection, bool clip,
		   const struct ep_nest_sink *sink, uint64_t *shown,
		   struct ep_err *err)
{
	struct nest nest = {.trace = trace,
			    .names = names,
			    .selection = selection,
			    .sink = sink};
	struct ep_sink events = {
		.context = &nest, .event = take, .open = learn};
	int rc = nest_init(&nest, clip, err);

	if (!rc)
		rc = ep_stream(trace, names, selection, &events, shown, err);
	for (size_t i = 0; !rc && i < trace->thread_count; i++)
		rc = finish(&nest, &nest.strands[i], err);
	nest_deinit(&nest);
	return rc;
}
