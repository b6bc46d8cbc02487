/* SPDX-License-Identifier: BSD-2-Clause */
/* nest.c: the stacks of each thread, as the stream's events change them. Each event says which
 * stack it happens on. */
#include "decoder/stream/nest.h"

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "decoder/calls/placing.h"
#include "decoder/stream/stream.h"

/* A call from before the history, known by its return. */
struct before {
	struct ep_nest_frame frame;
	uint64_t segment; /* gaps before it, but what a newer version wrote */
};

struct stack {
	/* Outermost first. While they are suspended one by one they stay, behind `count`. */
	EP_ARRAY(struct ep_nest_frame) frames;
	size_t next;                    /* where the next call is likely: find_next */
	EP_ARRAY(struct before) before; /* as they returned */
	size_t before_next;
	uint64_t segments; /* that it had events in, the present one's number + 1 */
};

struct thread {
	struct ep_nest_thread public;
	EP_ARRAY(struct stack) stacks; /* as in struct ep_event */
	uint32_t now;                  /* the one that runs */
	uint64_t segment;
	uint64_t ahead; /* the segment that is told ahead */
};

struct nest {
	const struct ep_trace *trace;
	struct ep_names *names;
	const struct ep_selection *selection;
	const struct ep_sink *sink;
	struct thread *threads; /* as the trace's threads */
	int64_t low, high;      /* times are clipped to these */
};

static struct thread *thread_of(struct nest *nest, const struct ep_event *event)
{
	return &nest->threads[event->thread - nest->trace->threads];
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

static void go_on(struct thread *thread, int64_t ns)
{
	if (ns > thread->public.now)
		thread->public.now = ns;
}

static bool is_loss(const struct ep_event *event)
{
	return event->kind == EP_EVENT_GAP && event->gap & ~EP_GAP_UNKNOWN_ESCAPE;
}

/* ---- frames ---- */

static struct stack *running(struct thread *thread)
{
	return &thread->stacks.list[thread->now];
}

static int emit(struct nest *nest, struct thread *thread, const struct ep_event *event)
{
	thread->public.frames = running(thread)->frames.list;
	thread->public.count = running(thread)->frames.count;
	return nest->sink->event(nest->sink->context, event, &thread->public);
}

/* An event of the frame at hand alone. */
static int emit_frame(struct nest *nest, struct thread *thread, enum ep_event_kind kind,
		      uint32_t flags)
{
	const struct ep_nest_frame *frame = thread->public.frame;
	const struct ep_event event = {
		.kind = kind,
		.thread = thread->public.thread,
		.function = frame->function,
		.flags = frame->flags | flags,
	};

	return emit(nest, thread, &event);
}

/* `event` NULL: it began before. */
static int frame_add(struct nest *nest, struct thread *thread, const struct ep_nest_frame *frame,
		     const struct ep_event *event)
{
	struct stack *stack = running(thread);
	struct ep_nest_frame *added = ep_array_slot(&stack->frames);

	*added = *frame;
	added->since = thread->public.now;
	thread->public.frame = added;
	return event ? emit(nest, thread, event)
		     : emit_frame(nest, thread, EP_EVENT_BEGIN, EP_CALL_BEFORE);
}

/* The innermost one ends, or is suspended. What it took counts for the one that called it. `event`
 * NULL: `kind`, of the frame alone. */
static int frame_end(struct nest *nest, struct thread *thread, enum ep_event_kind kind,
		     const struct ep_event *event)
{
	struct stack *stack = running(thread);
	struct ep_nest_frame *frame = &stack->frames.list[stack->frames.count - 1];
	int64_t ran = thread->public.now - frame->since - frame->left_out;
	int rc;

	/* Two clocks may differ by a little. */
	ran = ran > 0 ? ran : 0;
	frame->ran += ran;
	thread->public.frame = frame;
	rc = event ? emit(nest, thread, event) : emit_frame(nest, thread, kind, 0);
	frame->left_out = 0;
	if (--stack->frames.count > 0) {
		frame[-1].inner += ran;
		frame[-1].waited += kind == EP_EVENT_SUSPEND ? 0 : frame->waited;
	}
	return rc;
}

/* Suspends the frames down to `count`; they stay where they are. */
static int suspend(struct nest *nest, struct thread *thread, size_t count)
{
	int rc = EP_OK;

	while (!rc && running(thread)->frames.count > count)
		rc = frame_end(nest, thread, EP_EVENT_SUSPEND, NULL);
	return rc;
}

static int resume(struct nest *nest, struct thread *thread, size_t count)
{
	struct stack *stack = running(thread);
	int rc = EP_OK;

	while (!rc && stack->frames.count < count) {
		thread->public.frame = &stack->frames.list[stack->frames.count++];
		thread->public.frame->since = thread->public.now;
		rc = emit_frame(nest, thread, EP_EVENT_RESUME, 0);
	}
	return rc;
}

/* ---- stacks ---- */

/* Index of the call in the stack, or -1. */
static ssize_t find_in(const struct stack *stack, uint64_t call)
{
	for (size_t i = stack->frames.count; i > 0; i--)
		if (stack->frames.list[i - 1].call == call)
			return (ssize_t)i - 1;
	return -1;
}

/* The same of calls that come outermost first. */
static ssize_t find_next(struct stack *stack, uint64_t call)
{
	size_t next = stack->next;
	ssize_t index = next < stack->frames.count && stack->frames.list[next].call == call
				? (ssize_t)next
				: find_in(stack, call);

	if (index >= 0)
		stack->next = (size_t)index + 1;
	return index;
}

/* Borrowed until the next one. */
static struct stack *stack_at(struct thread *thread, uint32_t number)
{
	while (thread->stacks.count <= number)
		ep_array_add(&thread->stacks);
	return &thread->stacks.list[number];
}

/* The thread goes on upon the stack of `number`. */
static int enter_slow(struct nest *nest, struct thread *thread, uint32_t number)
{
	size_t count;
	int rc;

	stack_at(thread, number);
	count = running(thread)->frames.count;
	rc = suspend(nest, thread, 0);
	running(thread)->frames.count = count;
	if (rc)
		return rc;
	thread->now = number;
	count = running(thread)->frames.count;
	running(thread)->frames.count = 0;
	return resume(nest, thread, count);
}

static int enter(struct nest *nest, struct thread *thread, uint32_t number)
{
	return number == thread->now ? EP_OK : enter_slow(nest, thread, number);
}

/* ---- calls from before the history ---- */

static struct ep_nest_frame frame_of(const struct ep_event *event)
{
	return (struct ep_nest_frame){
		.function = event->function,
		.call = event->call,
		.address = event->address,
		.depth = event->depth,
		.flags = event->flags & ~EP_CALL_OPEN,
		.begin = event->begin,
	};
}

/* A sink's `ahead`. */
static int nest_ahead(void *context, const struct ep_event *event,
		      const struct ep_nest_thread *none)
{
	struct nest *nest = context;
	struct thread *thread = thread_of(nest, event);

	(void)none;
	thread->ahead += is_loss(event);
	if (event->kind == EP_EVENT_END)
		ep_array_push(&stack_at(thread, event->stack)->before,
			      ((struct before){frame_of(event), thread->ahead}));
	return EP_OK;
}

/* Those of the stack that were open where the history, or what is left of it after a gap, begins;
 * the last to return is the outermost. */
static int begin_before(struct nest *nest, struct thread *thread)
{
	struct stack *stack = running(thread);
	const struct before *all = stack->before.list;
	size_t first = stack->before_next, end = first, count = stack->before.count;
	uint64_t segment = thread->segment;
	int rc = EP_OK;

	while (first < count && all[first].segment < segment)
		end = ++first;
	while (end < count && all[end].segment == segment)
		end++;
	stack->before_next = end;
	if (first < end)
		go_on(thread, ns_of(nest, all[first].frame.begin.best));
	for (size_t i = end; !rc && i > first; i--)
		rc = frame_add(nest, thread, &all[i - 1].frame, NULL);
	return rc;
}

/* The stack's first event since the start, or since a gap: its depth counts the calls from before.
 */
static int prepare(struct nest *nest, struct thread *thread, const struct ep_event *event)
{
	bool fresh = running(thread)->segments <= thread->segment &&
		     (event->depth > 0 || event->kind == EP_EVENT_END);

	running(thread)->segments = thread->segment + 1;
	return fresh ? begin_before(nest, thread) : EP_OK;
}

/* ---- events ---- */

/* One whose begin nobody foresaw takes no time. */
static int end_unseen(struct nest *nest, struct thread *thread, const struct ep_event *event)
{
	struct ep_nest_frame frame = frame_of(event);
	int rc = frame_add(nest, thread, &frame, NULL);

	return rc ? rc : frame_end(nest, thread, EP_EVENT_END, event);
}

/* Not the innermost: those inside of it go on, on a stack of which there is no record. */
static int end_outer(struct nest *nest, struct thread *thread, size_t index,
		     const struct ep_event *event)
{
	struct stack *stack = running(thread);
	size_t count = stack->frames.count;
	int rc = suspend(nest, thread, index + 1);

	rc = rc ? rc : frame_end(nest, thread, EP_EVENT_END, event);
	memmove(&stack->frames.list[index], &stack->frames.list[index + 1],
		(count - index - 1) * sizeof(*stack->frames.list));
	return rc ? rc : resume(nest, thread, count - 1);
}

static int end_call(struct nest *nest, struct thread *thread, const struct ep_event *event)
{
	struct stack *stack = running(thread);
	ssize_t index = find_in(stack, event->call);

	if (index < 0)
		return end_unseen(nest, thread, event);
	stack->frames.list[index].flags |= event->flags;
	if ((size_t)index + 1 < stack->frames.count)
		return end_outer(nest, thread, (size_t)index, event);
	return frame_end(nest, thread, EP_EVENT_END, event);
}

static int nest_call(struct nest *nest, struct thread *thread, const struct ep_event *event)
{
	struct ep_nest_frame frame;
	int rc = prepare(nest, thread, event);

	if (rc)
		return rc;
	go_on(thread, ns_of(nest, time_of(event)));
	if (event->kind == EP_EVENT_END)
		return event->flags & EP_CALL_STRAY ? emit(nest, thread, event)
						    : end_call(nest, thread, event);
	frame = frame_of(event);
	return frame_add(nest, thread, &frame, event);
}

static int nest_gap(struct nest *nest, struct thread *thread, const struct ep_event *event)
{
	int64_t end = ns_of(nest, event->end.best);
	struct stack *stack = running(thread);
	int rc;

	thread->public.gap = end > thread->public.now ? end - thread->public.now : 0;
	rc = emit(nest, thread, event);
	if (stack->frames.count)
		stack->frames.list[stack->frames.count - 1].inner += thread->public.gap;
	go_on(thread, end);
	thread->public.gap = 0;
	thread->segment += is_loss(event);
	return rc;
}

/* ---- waits ---- */

/* Calls from before the history are outside of all others. */
static size_t own_frames(const struct stack *stack, const struct ep_wait_place *place)
{
	const struct ep_nest_frame *frames = stack->frames.list;
	size_t count = stack->frames.count;

	while (count > 0 && (place->lost ||
			     (!(frames[count - 1].flags & EP_CALL_BEFORE) &&
			      (place->call == EP_NO_CALL || frames[count - 1].call > place->call))))
		count--;
	return count;
}

/* Where it is not certain that it lies in frames that are open, it is left out of their time, and
 * nobody's own. */
static int nest_wait(struct nest *nest, struct thread *thread, const struct ep_event *event)
{
	int64_t begin = ns_of(nest, event->begin.best);
	int64_t ns = ns_of(nest, event->end.best) - begin;
	struct stack *stack = running(thread);
	struct ep_nest_frame *frames = stack->frames.list;
	size_t own = own_frames(stack, event->place);
	int rc;

	go_on(thread, begin);
	for (size_t i = own; i < stack->frames.count; i++) {
		frames[i].left_out += ns;
		frames[i].astray += ns;
	}
	if (own)
		frames[own - 1].waited += ns;
	if (own && !ep_place_is_certain(event->place))
		frames[own - 1].inner += ns;
	thread->public.gap = ns;
	thread->public.own = own;
	rc = emit(nest, thread, event);
	thread->public.gap = 0;
	go_on(thread, begin + ns);
	return rc;
}

/* What was learned of a call that did not return. */
static void learn(struct thread *thread, const struct ep_event *event)
{
	struct stack *stack = stack_at(thread, event->stack);
	ssize_t index = find_next(stack, event->call);

	if (index >= 0)
		stack->frames.list[index].flags |= event->flags;
}

/* A sink. A point happens on the stack that a switch leaves. */
static int nest_event(void *context, const struct ep_event *event,
		      const struct ep_nest_thread *none)
{
	struct nest *nest = context;
	struct thread *thread = thread_of(nest, event);
	int rc;

	(void)none;
	if (event->kind == EP_EVENT_OPEN) {
		learn(thread, event);
		return EP_OK;
	}
	if (event->kind == EP_EVENT_OPEN_SPAN)
		return emit(nest, thread, event);
	if (event->kind == EP_EVENT_POINT || event->kind == EP_EVENT_GAP)
		go_on(thread, ns_of(nest, time_of(event)));
	rc = event->kind == EP_EVENT_POINT ? emit(nest, thread, event) : EP_OK;
	rc = rc ? rc : enter(nest, thread, event->stack);
	if (rc || event->kind == EP_EVENT_POINT)
		return rc;
	if (event->kind == EP_EVENT_WAIT)
		return nest_wait(nest, thread, event);
	if (event->kind == EP_EVENT_GAP)
		return nest_gap(nest, thread, event);
	return nest_call(nest, thread, event);
}

/* ---- the whole ---- */

/* A thread that lives on has its calls open until the process's end. */
static int64_t end_of(const struct nest *nest, const struct ep_trace_thread *thread)
{
	uint64_t end = thread->state == EP_THREAD_DEAD ? thread->end_tsc : nest->trace->end.tsc;

	return ns_of(nest, end > thread->last_tsc ? end : thread->last_tsc);
}

static int finish(struct nest *nest, struct thread *thread)
{
	int rc = EP_OK;

	go_on(thread, end_of(nest, thread->public.thread));
	while (!rc && running(thread)->frames.count)
		rc = frame_end(nest, thread, EP_EVENT_OPEN, NULL);
	for (size_t i = 0; i < thread->stacks.count; i++) {
		const struct stack *stack = &thread->stacks.list[i];

		for (size_t j = stack->frames.count; !rc && j > 0; j--) {
			thread->public.frame = &stack->frames.list[j - 1];
			rc = emit_frame(nest, thread, EP_EVENT_LEFT, 0);
		}
	}
	return rc;
}

static void nest_init(struct nest *nest)
{
	const struct ep_trace *trace = nest->trace;
	struct ep_window window = {0, UINT64_MAX};

	if (nest->sink->clip)
		window = ep_selection_window(nest->selection, trace);
	nest->low = window.since > trace->first_tsc
			    ? ep_trace_ns(trace, trace->first_tsc, window.since)
			    : 0;
	nest->high = INT64_MAX;
	if (window.until != UINT64_MAX)
		nest->high = ep_trace_ns(trace, trace->first_tsc, window.until);
	if (nest->high < nest->low)
		nest->high = nest->low;
	nest->threads = ep_calloc(trace->thread_count, sizeof(*nest->threads));
	for (size_t i = 0; i < trace->thread_count; i++) {
		nest->threads[i].public.thread = &trace->threads[i];
		nest->threads[i].public.index = i;
		stack_at(&nest->threads[i], 0);
	}
}

static void nest_deinit(struct nest *nest)
{
	for (size_t i = 0; i < nest->trace->thread_count; i++) {
		struct thread *thread = &nest->threads[i];

		for (size_t j = 0; j < thread->stacks.count; j++) {
			ep_array_deinit(&thread->stacks.list[j].frames);
			ep_array_deinit(&thread->stacks.list[j].before);
		}
		ep_array_deinit(&thread->stacks);
	}
	free(nest->threads);
}

int ep_nest_stream(const struct ep_trace *trace, struct ep_names *names,
		   const struct ep_selection *selection, const struct ep_sink *sink,
		   uint64_t *shown)
{
	struct nest nest = {.trace = trace, .names = names, .selection = selection, .sink = sink};
	const struct ep_sink events = {.context = &nest,
				       .event = nest_event,
				       .ahead = nest_ahead,
				       .any_order = sink->any_order,
				       .waits = sink->waits};
	int rc;

	nest_init(&nest);
	rc = ep_stream(trace, names, selection, &events, shown);
	for (size_t i = 0; !rc && i < trace->thread_count; i++)
		rc = finish(&nest, &nest.threads[i]);
	nest_deinit(&nest);
	return rc;
}
