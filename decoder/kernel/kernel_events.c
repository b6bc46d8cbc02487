/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel_events.c: system calls, interrupts and page faults in words and as events. */
#include "decoder/kernel/kernel_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decoder/code/systemcall.h"

#define END_WITHIN 4096 /* events that are looked at for an end */
#define CPUS_MOST  1024u

bool ep_kernel_event_begins(const struct ep_kernel_event *one)
{
	return one->kind == EP_KERNEL_SYSCALL || one->kind == EP_KERNEL_IRQ ||
	       one->kind == EP_KERNEL_SOFTIRQ || one->kind == EP_KERNEL_FAULT;
}

/* Of the same place and kind, begin or end. */
static bool is_next(const struct ep_kernel_event *one, const struct ep_kernel_event *next)
{
	if (next->kind != one->kind && next->kind != one->kind + 1)
		return false;
	return one->kind == EP_KERNEL_SYSCALL ? next->tid == one->tid
					      : next->cpu == one->cpu && next->what == one->what;
}

const struct ep_kernel_event *ep_kernel_event_end(const struct ep_schedule *schedule,
						  const struct ep_kernel_event *one)
{
	const struct ep_kernel_event *end = schedule->kernel_events + schedule->kernel_event_count;

	if (one->kind == EP_KERNEL_FAULT)
		return NULL;
	for (const struct ep_kernel_event *h = one + 1; h < end && h < one + END_WITHIN; h++)
		if (is_next(one, h))
			return h->kind == one->kind ? NULL : h;
	return NULL;
}

const char *ep_softirq_name(uint64_t vector)
{
	/* kernel: include/linux/interrupt.h */
	static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	return vector < sizeof(names) / sizeof(*names) ? names[vector] : "?";
}

const char *ep_kernel_event_text(char out[EP_KERNEL_EVENT_TEXT], const struct ep_kernel_event *one)
{
	struct ep_systemcall call = {.number = one->what};

	switch (one->kind) {
	case EP_KERNEL_SYSCALL:
		memcpy(call.arguments, one->arguments, sizeof(call.arguments));
		return ep_systemcall_text(out, EP_KERNEL_EVENT_TEXT, &call);
	case EP_KERNEL_IRQ:
		snprintf(out, EP_KERNEL_EVENT_TEXT, "interrupt %" PRIu64, one->what);
		break;
	case EP_KERNEL_SOFTIRQ:
		snprintf(out, EP_KERNEL_EVENT_TEXT, "soft interrupt %s",
			 ep_softirq_name(one->what));
		break;
	case EP_KERNEL_FAULT:
		snprintf(out, EP_KERNEL_EVENT_TEXT, "page fault at 0x%" PRIx64, one->what);
		break;
	default:
		*out = '\0';
	}
	return out;
}

/* ---- for viewers --------------------------------------------------------- */

static bool is_interrupt(const struct ep_kernel_event *one)
{
	return one->kind == EP_KERNEL_IRQ || one->kind == EP_KERNEL_SOFTIRQ;
}

static void write_name(struct ep_json *json, const char *what, uint64_t tid, const char *name)
{
	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_text(json, "ph", "M");
	ep_json_member_uint(json, "pid", 0);
	ep_json_member_uint(json, "tid", tid);
	ep_json_member_text(json, "name", what);
	ep_json_member_object(json, "args");
	ep_json_member_text(json, "name", name);
	ep_json_object_end(json);
	ep_json_object_end(json);
}

static void write_cpus(struct ep_json *json, const struct ep_schedule *schedule)
{
	bool named[CPUS_MOST] = {false}, any = false;
	char name[16];

	for (size_t i = 0; i < schedule->kernel_event_count; i++) {
		const struct ep_kernel_event *one = &schedule->kernel_events[i];
		unsigned cpu = one->cpu % CPUS_MOST;

		if (!is_interrupt(one) || named[cpu])
			continue;
		if (!any)
			write_name(json, "process_name", 0, "CPUs");
		any = named[cpu] = true;
		snprintf(name, sizeof(name), "CPU %u", cpu);
		write_name(json, "thread_name", cpu, name);
	}
}

static void write_kernel_event(struct ep_json *json, const struct ep_trace *trace,
			       const struct ep_kernel_event *one, int64_t zero)
{
	const struct ep_kernel_event *end = ep_kernel_event_end(trace->schedule, one);
	int64_t took = end ? ep_trace_ns(trace, one->tsc, end->tsc) : 0;
	bool cpu = is_interrupt(one), slice = cpu && end;
	char text[EP_KERNEL_EVENT_TEXT];

	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_text(json, "ph", slice ? "X" : "i");
	ep_json_member_uint(json, "pid", cpu ? 0 : trace->process.pid);
	ep_json_member_uint(json, "tid", cpu ? one->cpu : one->tid);
	ep_json_member_thousandth(json, "ts",
				  ep_ns_add(zero, ep_trace_ns(trace, trace->first_tsc, one->tsc)));
	if (slice)
		ep_json_member_thousandth(json, "dur", took);
	else
		ep_json_member_text(json, "s", "t");
	ep_json_member_text(json, "name", ep_kernel_event_text(text, one));
	ep_json_member_text(json, "cat", "kernel");
	if (end && !cpu) {
		ep_json_member_object(json, "args");
		ep_json_member_int(json, "result", (int64_t)end->what);
		ep_json_member_thousandth(json, "took_us", took);
		ep_json_object_end(json);
	}
	ep_json_object_end(json);
}

/* Other processes' are in the system's events only. */
static bool is_own(const struct ep_trace *trace, uint32_t tid)
{
	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid && trace->threads[i].block_count)
			return true;
	return false;
}

void ep_kernel_events_write(struct ep_json *json, const struct ep_trace *trace, int64_t zero)
{
	const struct ep_schedule *schedule = trace->schedule;

	if (!schedule || !schedule->kernel_event_count)
		return;
	write_cpus(json, schedule);
	for (size_t i = 0; i < schedule->kernel_event_count; i++) {
		const struct ep_kernel_event *one = &schedule->kernel_events[i];

		if (one->tsc >= trace->first_tsc && ep_kernel_event_begins(one) &&
		    (is_interrupt(one) || is_own(trace, one->tid)))
			write_kernel_event(json, trace, one, zero);
	}
}
