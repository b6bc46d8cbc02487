/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.c: what the kernel recorded, as it would come from ftrace: Perfetto makes rows of
 * the CPUs and states of the threads of it. Only what is known is written: no priorities. perf
 * knows one of the two threads of a switch: the other is written as the idle one.
 *
 * System calls and page faults are instants in their threads: as slices, which Perfetto would make
 * of them, they would cut calls whose times are known less well.
 */
#include "decoder/export/perfetto/perfetto.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/kernel/kernel_events.h"
#include "decoder/kernel/schedule.h"

#define CPUS_MOST     1024u /* Perfetto refuses a file with more */
#define BUNDLE_EVENTS 1000u

/* Either of a schedule's lists, by CPU and time. */
struct ftrace_entry {
	uint64_t tsc;
	const struct ep_sched_event *sched; /* NULL: `kernel` */
	const struct ep_kernel_event *kernel;
	uint32_t cpu;
	uint32_t order; /* as they came */
};

struct ftrace_entries {
	EP_ARRAY(struct ftrace_entry) all;
};

/* ---- an event ---- */

/* ps' letter as the kernel's bits (include/linux/sched.h, since 4.14). */
static uint64_t state_bits(uint64_t letter)
{
	static const struct {
		char letter;
		uint8_t bits;
	} states[] = {{'S', 1},  {'D', 2},  {'T', 4},  {'t', 8},
		      {'X', 16}, {'Z', 32}, {'P', 64}, {'I', 128}};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if ((uint64_t)states[i].letter == letter)
			return states[i].bits;
	return 0; /* it could have run */
}

static const char *comm(const struct ep_perfetto *perfetto, uint32_t tid)
{
	const struct ep_trace *trace = perfetto->export->trace;
	const struct ep_task *task = ep_schedule_task(trace->schedule, tid);

	if (!tid)
		return "swapper";
	if (task && task->name[0])
		return task->name;
	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid && trace->threads[i].name[0])
			return trace->threads[i].name;
	return "?";
}

static void write_switch(struct ep_perfetto *perfetto, uint32_t prev, uint64_t state, uint32_t next)
{
	struct ep_protobuf *packet = &perfetto->packet;

	ep_protobuf_uint(packet, EP_PB_FTRACE_PID, prev);
	ep_protobuf_open(packet, EP_PB_FTRACE_SWITCH);
	ep_protobuf_text(packet, EP_PB_SWITCH_PREV_COMM, comm(perfetto, prev));
	ep_protobuf_uint(packet, EP_PB_SWITCH_PREV_PID, prev);
	ep_protobuf_uint(packet, EP_PB_SWITCH_PREV_STATE, state_bits(state));
	ep_protobuf_text(packet, EP_PB_SWITCH_NEXT_COMM, comm(perfetto, next));
	ep_protobuf_uint(packet, EP_PB_SWITCH_NEXT_PID, next);
	ep_protobuf_close(packet);
}

static void write_waking(struct ep_perfetto *perfetto, const struct ep_sched_event *event)
{
	struct ep_protobuf *packet = &perfetto->packet;

	ep_protobuf_uint(packet, EP_PB_FTRACE_PID, event->other);
	ep_protobuf_open(packet, EP_PB_FTRACE_WAKING);
	ep_protobuf_text(packet, EP_PB_WAKING_COMM, comm(perfetto, event->tid));
	ep_protobuf_uint(packet, EP_PB_WAKING_PID, event->tid);
	ep_protobuf_close(packet);
}

static void write_sched(struct ep_perfetto *perfetto, const struct ep_sched_event *event)
{
	switch (event->kind) {
	case EP_SCHED_SWITCH:
		write_switch(perfetto, event->tid, event->value, event->other);
		break;
	case EP_SCHED_IN:
		write_switch(perfetto, 0, 0, event->tid);
		break;
	case EP_SCHED_OUT:
		write_switch(perfetto, event->tid, event->flags ? 0 : 'S', 0);
		break;
	case EP_SCHED_WAKING:
		write_waking(perfetto, event);
		break;
	}
}

/* An interrupt's two ends. */
static void write_interrupt(struct ep_perfetto *perfetto, const struct ep_kernel_event *one)
{
	static const uint32_t fields[] = {
		[EP_KERNEL_IRQ] = EP_PB_FTRACE_IRQ_ENTRY,
		[EP_KERNEL_IRQ_END] = EP_PB_FTRACE_IRQ_EXIT,
		[EP_KERNEL_SOFTIRQ] = EP_PB_FTRACE_SOFTIRQ_ENTRY,
		[EP_KERNEL_SOFTIRQ_END] = EP_PB_FTRACE_SOFTIRQ_EXIT,
	};
	struct ep_protobuf *packet = &perfetto->packet;

	static_assert(EP_PB_IRQ_LINE == EP_PB_SOFTIRQ_VEC, "one number");
	ep_protobuf_uint(packet, EP_PB_FTRACE_PID, one->tid);
	ep_protobuf_open(packet, fields[one->kind]);
	ep_protobuf_uint(packet, EP_PB_IRQ_LINE, one->what);
	ep_protobuf_close(packet);
}

/* ---- bundles ---- */

static bool is_interrupt(const struct ep_kernel_event *one)
{
	return one->kind >= EP_KERNEL_IRQ && one->kind <= EP_KERNEL_SOFTIRQ_END;
}

static void collect(struct ftrace_entries *entries, const struct ep_trace *trace)
{
	const struct ep_schedule *schedule = trace->schedule;

	for (size_t i = 0; i < schedule->event_count; i++) {
		const struct ep_sched_event *one = &schedule->events[i];

		if (one->tsc >= trace->first_tsc && one->cpu < CPUS_MOST)
			ep_array_push(&entries->all,
				      ((struct ftrace_entry){one->tsc, one, NULL, one->cpu, 0}));
	}
	for (size_t i = 0; i < schedule->kernel_event_count; i++) {
		const struct ep_kernel_event *one = &schedule->kernel_events[i];

		if (one->tsc >= trace->first_tsc && one->cpu < CPUS_MOST && is_interrupt(one))
			ep_array_push(&entries->all,
				      ((struct ftrace_entry){one->tsc, NULL, one, one->cpu, 0}));
	}
	for (size_t i = 0; i < entries->all.count; i++)
		entries->all.list[i].order = (uint32_t)i;
}

static int compare_entries(const void *a, const void *b)
{
	const struct ftrace_entry *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void write_entry(struct ep_perfetto *perfetto, const struct ftrace_entry *entry)
{
	const struct ep_trace *trace = perfetto->export->trace;
	struct ep_protobuf *packet = &perfetto->packet;

	ep_protobuf_open(packet, EP_PB_BUNDLE_EVENT);
	ep_protobuf_uint(packet, EP_PB_FTRACE_TIMESTAMP,
			 (uint64_t)ep_trace_ns(trace, trace->first_tsc, entry->tsc));
	if (entry->sched)
		write_sched(perfetto, entry->sched);
	else
		write_interrupt(perfetto, entry->kernel);
	ep_protobuf_close(packet);
}

static bool is_loss(const struct ftrace_entry *entry)
{
	return entry->sched && entry->sched->kind == EP_SCHED_LOST;
}

/* Those of one CPU, from `first` on; what is lost is said of the bundle behind it. Returns the
 * first that is not in it. */
static size_t write_bundle(struct ep_perfetto *perfetto, const struct ftrace_entries *entries,
			   size_t first)
{
	const struct ftrace_entry *list = entries->all.list;
	size_t i = first;

	ep_perfetto_begin(perfetto);
	ep_protobuf_open(&perfetto->packet, EP_PB_PACKET_FTRACE_EVENTS);
	ep_protobuf_uint(&perfetto->packet, EP_PB_BUNDLE_CPU, list[first].cpu);
	if (is_loss(&list[first])) {
		ep_protobuf_uint(&perfetto->packet, EP_PB_BUNDLE_LOST, 1);
		i++;
	}
	for (; i < entries->all.count && i - first < BUNDLE_EVENTS &&
	       list[i].cpu == list[first].cpu && !is_loss(&list[i]);
	     i++)
		write_entry(perfetto, &list[i]);
	ep_perfetto_end(perfetto);
	return i;
}

/* ---- in the threads ---- */

/* NULL: it is none of the program's, or not selected. */
static const struct ep_perfetto_thread *thread_of(const struct ep_perfetto *perfetto, uint32_t tid)
{
	const struct ep_trace *trace = perfetto->export->trace;

	for (size_t i = 0; tid && i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid && perfetto->threads[i].track)
			return &perfetto->threads[i];
	return NULL;
}

static void write_instant(struct ep_perfetto *perfetto, const struct ep_kernel_event *one)
{
	const struct ep_trace *trace = perfetto->export->trace;
	const struct ep_perfetto_thread *thread = thread_of(perfetto, one->tid);
	const struct ep_kernel_event *end;
	char text[EP_KERNEL_EVENT_TEXT];

	if (!thread)
		return;
	ep_perfetto_event(perfetto, thread->track, ep_trace_ns(trace, trace->first_tsc, one->tsc),
			  EP_PB_TYPE_INSTANT);
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_CATEGORY_NAME, "kernel");
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_NAME,
			 ep_kernel_event_text(text, one));
	end = ep_kernel_event_end(trace->schedule, one);
	if (end) {
		ep_perfetto_number(perfetto, EP_PB_ANNOTATION_INT, "result", end->what);
		ep_perfetto_number(perfetto, EP_PB_ANNOTATION_INT, "took_ns",
				   (uint64_t)ep_trace_ns(trace, one->tsc, end->tsc));
	}
	ep_perfetto_end(perfetto);
}

void ep_perfetto_kernel(struct ep_perfetto *perfetto)
{
	const struct ep_trace *trace = perfetto->export->trace;
	const struct ep_schedule *schedule = trace->schedule;
	struct ftrace_entries entries = {0};

	if (!schedule)
		return;
	collect(&entries, trace);
	if (entries.all.count)
		qsort(entries.all.list, entries.all.count, sizeof(*entries.all.list),
		      compare_entries);
	for (size_t i = 0; i < entries.all.count;)
		i = write_bundle(perfetto, &entries, i);
	ep_array_deinit(&entries.all);
	for (size_t i = 0; i < schedule->kernel_event_count; i++) {
		const struct ep_kernel_event *one = &schedule->kernel_events[i];

		if (one->tsc >= trace->first_tsc && ep_kernel_event_begins(one) &&
		    !is_interrupt(one))
			write_instant(perfetto, one);
	}
}

/* ---- who woke whom ---- */

/* When it ran again after it was woken; until then it waited for a CPU. */
static uint64_t ran_again(const struct ep_task *task, const struct ep_slice *blocked)
{
	const struct ep_slice *next = blocked + 1;

	if (next < task->slices + task->count && next->state == EP_SLICE_READY)
		next++;
	return next < task->slices + task->count && next->state == EP_SLICE_RUNNING ? next->begin
										    : blocked->end;
}

/* One end of an arrow. */
static void write_waking_end(struct ep_perfetto *perfetto, uint64_t track, uint64_t tsc,
			     const char *name, uint32_t field, uint64_t flow)
{
	const struct ep_trace *trace = perfetto->export->trace;

	ep_perfetto_event(perfetto, track, ep_trace_ns(trace, trace->first_tsc, tsc),
			  EP_PB_TYPE_INSTANT);
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_CATEGORY_NAME, "waking");
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_NAME, name);
	ep_protobuf_fixed64(&perfetto->packet, field, flow);
	ep_perfetto_end(perfetto);
}

static void write_flow(struct ep_perfetto *perfetto, const struct ep_task *task,
		       const struct ep_perfetto_thread *thread, const struct ep_slice *slice)
{
	const struct ep_trace *trace = perfetto->export->trace;
	const struct ep_perfetto_thread *waker = thread_of(perfetto, slice->waker);
	uint64_t flow;
	char *text;

	if (!waker || slice->end < trace->first_tsc)
		return;
	flow = ep_perfetto_uuid(trace, EP_TRACK_OF_WAKING, task->tid, slice->end);
	text = ep_asprintf("wakes %u %s", task->tid, comm(perfetto, task->tid));
	write_waking_end(perfetto, waker->track, slice->end, text, EP_PB_TRACK_EVENT_FLOW, flow);
	free(text);
	text = ep_asprintf("woken by %u %s", slice->waker, comm(perfetto, slice->waker));
	write_waking_end(perfetto, thread->track, ran_again(task, slice), text,
			 EP_PB_TRACK_EVENT_FLOW_END, flow);
	free(text);
}

void ep_perfetto_wakings(struct ep_perfetto *perfetto)
{
	const struct ep_schedule *schedule = perfetto->export->trace->schedule;

	for (size_t i = 0; schedule && i < schedule->task_count; i++) {
		const struct ep_task *task = &schedule->tasks[i];
		const struct ep_perfetto_thread *thread = thread_of(perfetto, task->tid);

		for (size_t j = 0; thread && j < task->count; j++) {
			const struct ep_slice *slice = &task->slices[j];

			if (slice->state == EP_SLICE_BLOCKED && !slice->open &&
			    slice->waker_kind == EP_WAKER_THREAD)
				write_flow(perfetto, task, thread, slice);
		}
	}
}
