/* SPDX-License-Identifier: BSD-2-Clause */
/* systrace.c: one line an event. perf knows one of the two threads of a switch: the other is
 * written as the idle one. Priorities are not kept: 120. */
#include "decoder/export/systrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/kernel/kernel_events.h"
#include "decoder/kernel/schedule.h"

#define CALL_WITHIN 4096 /* events that are looked at for a result's call */

struct lines {
	const struct ep_trace *trace;
	FILE *out;
	int64_t zero;           /* ns */
	uint64_t since;         /* TSC: events from then on */
	bool tsc;               /* times are the TSC's own, and names are said */
	char **names;           /* of the trace's threads, fit to be shown */
	uint32_t running[1024]; /* by CPU: who runs there */
};

static const char *name_of(const struct lines *lines, uint32_t tid)
{
	const struct ep_task *task = ep_schedule_task(lines->trace->schedule, tid);

	if (tid == 0)
		return "<idle>";
	if (task && task->name[0])
		return task->name;
	for (size_t i = 0; i < lines->trace->thread_count; i++)
		if (lines->trace->threads[i].tid == tid && lines->names[i][0])
			return lines->names[i];
	return "?";
}

static void lines_init(struct lines *lines)
{
	const struct ep_trace *trace = lines->trace;

	lines->names = ep_calloc(trace->thread_count, sizeof(*lines->names));
	for (size_t i = 0; i < trace->thread_count; i++)
		lines->names[i] =
			ep_utf8_escape(trace->threads[i].name, strlen(trace->threads[i].name));
}

static void lines_deinit(struct lines *lines)
{
	for (size_t i = 0; i < lines->trace->thread_count; i++)
		free(lines->names[i]);
	free(lines->names);
}

/* "worker-123   [001] d..3     0.001234567: sched_switch: ", or "… 1473223221396767: …". */
static void begin_line(const struct lines *lines, uint64_t tsc, unsigned cpu, uint32_t tid,
		       const char *what)
{
	char name[sizeof(((struct ep_task *)0)->name)];
	int64_t ns;

	/* Where the time ends readers know by the first colon before a blank. */
	snprintf(name, sizeof(name), "%s", name_of(lines, tid));
	for (char *at = name; *at; at++)
		if (*at == ':' && at[1] == ' ')
			*at = '.';
	fprintf(lines->out, "%16s-%-7" PRIu32 " [%03u] d..3 ", name, tid, cpu);
	if (lines->tsc) {
		fprintf(lines->out, "%" PRIu64 ": %s: ", tsc, what);
		return;
	}
	ns = ep_ns_add(lines->zero, ep_trace_ns(lines->trace, lines->trace->first_tsc, tsc));
	fprintf(lines->out, "%5" PRId64 ".%09" PRId64 ": %s: ", ns / 1000000000, ns % 1000000000,
		what);
}

static void write_switch(struct lines *lines, const struct ep_sched_event *event, uint32_t prev,
			 char state, uint32_t next)
{
	begin_line(lines, event->tsc, event->cpu, prev, "sched_switch");
	fprintf(lines->out,
		"prev_comm=%s prev_pid=%" PRIu32
		" prev_prio=120 prev_state=%c ==> next_comm=%s next_pid=%" PRIu32
		" next_prio=120\n",
		prev ? name_of(lines, prev) : "swapper", prev, state,
		next ? name_of(lines, next) : "swapper", next);
	lines->running[event->cpu % 1024] = next;
}

static void write_waking(struct lines *lines, const struct ep_sched_event *event)
{
	begin_line(lines, event->tsc, event->cpu, event->other, "sched_waking");
	fprintf(lines->out, "comm=%s pid=%" PRIu32 " prio=120 target_cpu=%03u\n",
		name_of(lines, event->tid), event->tid, event->cpu);
}

static void write_sched_event(struct lines *lines, const struct ep_sched_event *event)
{
	char state = event->value ? (char)event->value : 'R';

	switch (event->kind) {
	case EP_SCHED_SWITCH:
		write_switch(lines, event, event->tid, state, event->other);
		break;
	case EP_SCHED_IN:
		write_switch(lines, event, 0, 'R', event->tid);
		break;
	case EP_SCHED_OUT:
		write_switch(lines, event, event->tid, event->flags ? 'R' : 'S', 0);
		break;
	case EP_SCHED_WAKING:
		write_waking(lines, event);
		break;
	}
}

/* The call that the thread is in: a result is of its end only. */
static int64_t call_of(const struct lines *lines, const struct ep_kernel_event *result)
{
	const struct ep_kernel_event *first = lines->trace->schedule->kernel_events;

	for (const struct ep_kernel_event *h = result; h > first && h > result - CALL_WITHIN;) {
		h--;
		if (h->tid == result->tid && h->kind == EP_KERNEL_SYSCALL)
			return (int64_t)h->what;
	}
	return -1;
}

/* As the kernel prints them; what was not kept is a question mark. */
static void write_kernel_event(struct lines *lines, const struct ep_kernel_event *one)
{
	static const char *const names[] = {
		[EP_KERNEL_SYSCALL] = "sys_enter",     [EP_KERNEL_SYSCALL_END] = "sys_exit",
		[EP_KERNEL_IRQ] = "irq_handler_entry", [EP_KERNEL_IRQ_END] = "irq_handler_exit",
		[EP_KERNEL_SOFTIRQ] = "softirq_entry", [EP_KERNEL_SOFTIRQ_END] = "softirq_exit",
		[EP_KERNEL_FAULT] = "page_fault_user",
	};
	const uint64_t *a = one->arguments;

	begin_line(lines, one->tsc, one->cpu, one->tid, names[one->kind]);
	switch (one->kind) {
	case EP_KERNEL_SYSCALL:
		fprintf(lines->out,
			"NR %" PRIu64 " (%" PRIx64 ", %" PRIx64 ", %" PRIx64 ", %" PRIx64
			", %" PRIx64 ", %" PRIx64 ")\n",
			one->what, a[0], a[1], a[2], a[3], a[4], a[5]);
		break;
	case EP_KERNEL_SYSCALL_END:
		fprintf(lines->out, "NR %" PRId64 " = %" PRId64 "\n", call_of(lines, one),
			(int64_t)one->what);
		break;
	case EP_KERNEL_IRQ:
		fprintf(lines->out, "irq=%" PRIu64 " name=?\n", one->what);
		break;
	case EP_KERNEL_IRQ_END:
		fprintf(lines->out, "irq=%" PRIu64 " ret=?\n", one->what);
		break;
	case EP_KERNEL_FAULT:
		fprintf(lines->out, "address=0x%" PRIx64 " ip=? error_code=?\n", one->what);
		break;
	default:
		fprintf(lines->out, "vec=%" PRIu64 " [action=%s]\n", one->what,
			ep_softirq_name(one->what));
	}
}

static void write_name(const struct lines *lines, uint64_t tsc, uint32_t tid, const char *before,
		       const char *name)
{
	begin_line(lines, tsc, 0, tid, "task_rename");
	fprintf(lines->out, "pid=%" PRIu32 " oldcomm=%s newcomm=%s oom_score_adj=0\n", tid, before,
		name);
}

static bool is_named(const struct ep_schedule *schedule, uint32_t tid)
{
	for (size_t i = 0; i < schedule->naming_count; i++)
		if (schedule->namings[i].tid == tid)
			return true;
	return false;
}

/* Threads that nobody is seen to name: they were called so before. */
static void write_names(const struct lines *lines, uint64_t tsc)
{
	const struct ep_trace *trace = lines->trace;
	const struct ep_schedule *schedule = trace->schedule;

	for (size_t i = 0; i < schedule->task_count; i++) {
		const struct ep_task *task = &schedule->tasks[i];

		if (task->tid && task->name[0] && !is_named(schedule, task->tid))
			write_name(lines, tsc, task->tid, task->name, task->name);
	}
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];
		const struct ep_task *task = ep_schedule_task(schedule, thread->tid);
		const char *name = lines->names[i];

		if (thread->tid && *name && (!task || !task->name[0]) &&
		    !is_named(schedule, thread->tid))
			write_name(lines, tsc, thread->tid, name, name);
	}
}

/* All of the lists, by time; how many events. */
static size_t write_lines(struct lines *lines)
{
	const struct ep_schedule *schedule = lines->trace->schedule;
	const struct ep_kernel_event *other = schedule->kernel_events;
	const struct ep_kernel_event *end = other + schedule->kernel_event_count;
	const struct ep_naming *naming = schedule->namings;
	const struct ep_naming *named = naming + (lines->tsc ? schedule->naming_count : 0);
	uint64_t since = lines->since;
	size_t count = 0;

	if (lines->tsc)
		write_names(lines, since);
	for (size_t i = 0; i <= schedule->event_count; i++) {
		bool last = i == schedule->event_count;
		const struct ep_sched_event *event = last ? NULL : &schedule->events[i];

		for (; naming < named && (last || naming->tsc < event->tsc); naming++)
			write_name(lines, naming->tsc < since ? since : naming->tsc, naming->tid,
				   "?", naming->name);
		for (; other < end && (last || other->tsc < event->tsc); other++)
			if (other->tsc >= since) {
				write_kernel_event(lines, other);
				count++;
			}
		if (!last && event->tsc >= since) {
			write_sched_event(lines, event);
			count++;
		}
	}
	return count;
}

static void write_members(struct ep_json *json, const char *text, size_t size)
{
	/* Catapult's viewer takes such lines for times of this clock,
	 * and refuses a file whose other times are of no known one. */
	ep_json_newline(json);
	ep_json_key(json, "metadata");
	ep_json_object(json);
	ep_json_member_text(json, "clock-domain", "LINUX_FTRACE_GLOBAL");
	ep_json_object_end(json);
	ep_json_newline(json);
	ep_json_key(json, "systemTraceEvents");
	ep_json_bytes(json, text, size);
}

/* A funtrace.raw's own lines. Those of no time are left out, and bytes that are no UTF-8. */
static void copy_lines(FILE *out, const struct ep_funtrace_facts *facts)
{
	struct ep_funtrace_line line;
	uint64_t refused = 0;
	size_t at = 0;

	while (ep_funtrace_line_next(facts, &at, &line, &refused)) {
		/* Its last byte is a blank of either kind. */
		char *before = ep_utf8_escape(line.before, line.before_size - 1);
		char *after = ep_utf8_escape(line.after, line.after_size);

		fprintf(out, "%s %" PRIu64 "%s\n", before, line.tsc, after);
		free(before);
		free(after);
	}
}

char *ep_systrace_tsc(const struct ep_trace *trace, const struct ep_funtrace_facts *facts,
		      uint64_t since, size_t *size)
{
	const struct ep_schedule *schedule = trace->schedule;
	struct lines lines = {.trace = trace, .since = since, .tsc = true};
	size_t count = 0;
	char *text;

	lines_init(&lines);
	lines.out = ep_open_memstream(&text, size);
	if (facts)
		copy_lines(lines.out, facts);
	else if (schedule && schedule->event_count + schedule->kernel_event_count)
		count = write_lines(&lines);
	ep_close_memstream(lines.out);
	lines_deinit(&lines);
	if (!facts && !count)
		*size = 0;
	return text;
}

void ep_systrace_write(struct ep_json *json, const struct ep_trace *trace, int64_t zero)
{
	const struct ep_schedule *schedule = trace->schedule;
	struct lines lines = {.trace = trace, .zero = zero, .since = trace->first_tsc};
	size_t size, count;
	char *text;

	if (!schedule || schedule->event_count + schedule->kernel_event_count == 0)
		return;
	lines_init(&lines);
	lines.out = ep_open_memstream(&text, &size);
	fputs("# tracer: nop\n#\n", lines.out);
	count = write_lines(&lines);
	ep_close_memstream(lines.out);
	lines_deinit(&lines);
	if (count)
		write_members(json, text, size);
	free(text);
}

void ep_systrace_write_text(struct ep_json *json, const struct ep_trace *trace,
			    const struct ep_funtrace_facts *facts, int64_t zero)
{
	struct ep_funtrace_line line;
	size_t at = 0, size, count = 0;
	uint64_t refused = 0;
	char *text;
	FILE *out;

	if (!facts || !facts->scheduling_events)
		return;
	out = ep_open_memstream(&text, &size);
	fputs("# tracer: nop\n#\n", out);
	while (ep_funtrace_line_next(facts, &at, &line, &refused)) {
		int64_t ns = ep_ns_add(zero, ep_trace_ns(trace, trace->first_tsc, line.tsc));

		if (line.tsc < trace->first_tsc)
			continue;
		count++;
		fprintf(out, "%.*s%" PRId64 ".%09" PRId64 "%.*s\n", (int)line.before_size,
			line.before, ns / 1000000000, ns % 1000000000, (int)line.after_size,
			line.after);
	}
	ep_close_memstream(out);
	if (count)
		write_members(json, text, size);
	free(text);
}
