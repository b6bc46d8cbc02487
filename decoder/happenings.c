/* SPDX-License-Identifier: BSD-2-Clause */
/* happenings.c: see happenings.h. */
#include "decoder/happenings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decoder/systemcall.h"

#define END_WITHIN 4096 /* events that are looked at for an end */
#define CPUS_MOST  1024u

bool ep_happening_begins(const struct ep_happening *one)
{
	return one->kind == EP_HAPPENED_SYSCALL || one->kind == EP_HAPPENED_IRQ ||
	       one->kind == EP_HAPPENED_SOFTIRQ || one->kind == EP_HAPPENED_FAULT;
}

/* Of the same place and kind, begin or end. */
static bool is_next(const struct ep_happening *one, const struct ep_happening *next)
{
	if (next->kind != one->kind && next->kind != one->kind + 1)
		return false;
	return one->kind == EP_HAPPENED_SYSCALL ? next->tid == one->tid
						: next->cpu == one->cpu && next->what == one->what;
}

const struct ep_happening *ep_happening_end(const struct ep_schedule *schedule,
					    const struct ep_happening *one)
{
	const struct ep_happening *end = schedule->happenings + schedule->happening_count;

	if (one->kind == EP_HAPPENED_FAULT)
		return NULL;
	for (const struct ep_happening *h = one + 1; h < end && h < one + END_WITHIN; h++)
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

const char *ep_happening_text(char out[EP_HAPPENING_TEXT], const struct ep_happening *one)
{
	struct ep_systemcall call = {.number = one->what};

	switch (one->kind) {
	case EP_HAPPENED_SYSCALL:
		memcpy(call.arguments, one->arguments, sizeof(call.arguments));
		return ep_systemcall_text(out, EP_HAPPENING_TEXT, &call);
	case EP_HAPPENED_IRQ:
		snprintf(out, EP_HAPPENING_TEXT, "interrupt %" PRIu64, one->what);
		break;
	case EP_HAPPENED_SOFTIRQ:
		snprintf(out, EP_HAPPENING_TEXT, "soft interrupt %s", ep_softirq_name(one->what));
		break;
	case EP_HAPPENED_FAULT:
		snprintf(out, EP_HAPPENING_TEXT, "page fault at 0x%" PRIx64, one->what);
		break;
	default:
		*out = '\0';
	}
	return out;
}

/* ---- for viewers --------------------------------------------------------- */

static bool is_interrupt(const struct ep_happening *one)
{
	return one->kind == EP_HAPPENED_IRQ || one->kind == EP_HAPPENED_SOFTIRQ;
}

static void write_name(struct ep_json *json, const char *what, uint64_t tid, const char *name)
{
	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_text(json, "ph", "M");
	ep_json_member_uint(json, "pid", 0);
	ep_json_member_uint(json, "tid", tid);
	ep_json_member_text(json, "name", what);
	ep_json_key(json, "args");
	ep_json_object(json);
	ep_json_member_text(json, "name", name);
	ep_json_object_end(json);
	ep_json_object_end(json);
}

static void write_cpus(struct ep_json *json, const struct ep_schedule *schedule)
{
	bool named[CPUS_MOST] = {false}, any = false;
	char name[16];

	for (size_t i = 0; i < schedule->happening_count; i++) {
		const struct ep_happening *one = &schedule->happenings[i];
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

static void write_microseconds(struct ep_json *json, const char *key, int64_t ns)
{
	ep_json_key(json, key);
	ep_json_thousandth(json, ns);
}

static void write_happening(struct ep_json *json, const struct ep_trace *trace,
			    const struct ep_happening *one, int64_t zero)
{
	const struct ep_happening *end = ep_happening_end(trace->schedule, one);
	int64_t took = end ? ep_trace_ns(trace, one->tsc, end->tsc) : 0;
	bool cpu = is_interrupt(one), slice = cpu && end;
	char text[EP_HAPPENING_TEXT];

	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_text(json, "ph", slice ? "X" : "i");
	ep_json_member_uint(json, "pid", cpu ? 0 : trace->process.pid);
	ep_json_member_uint(json, "tid", cpu ? one->cpu : one->tid);
	write_microseconds(json, "ts",
			   ep_ns_add(zero, ep_trace_ns(trace, trace->first_tsc, one->tsc)));
	if (slice)
		write_microseconds(json, "dur", took);
	else
		ep_json_member_text(json, "s", "t");
	ep_json_member_text(json, "name", ep_happening_text(text, one));
	ep_json_member_text(json, "cat", "kernel");
	if (end && !cpu) {
		ep_json_key(json, "args");
		ep_json_object(json);
		ep_json_member_int(json, "result", (int64_t)end->what);
		write_microseconds(json, "took_us", took);
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

void ep_happenings_write(struct ep_json *json, const struct ep_trace *trace, int64_t zero)
{
	const struct ep_schedule *schedule = trace->schedule;

	if (!schedule || !schedule->happening_count)
		return;
	write_cpus(json, schedule);
	for (size_t i = 0; i < schedule->happening_count; i++) {
		const struct ep_happening *one = &schedule->happenings[i];

		if (one->tsc >= trace->first_tsc && ep_happening_begins(one) &&
		    (is_interrupt(one) || is_own(trace, one->tid)))
			write_happening(json, trace, one, zero);
	}
}
