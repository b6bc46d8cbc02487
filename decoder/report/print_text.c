/* SPDX-License-Identifier: BSD-2-Clause */
/* print_text.c: a report as a page of text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/report/model.h"
#include "coredump/util/utf8.h"

#define WATCHDOGS_TOLD 4u

/* ---- fields ---- */

static void __attribute__((format(printf, 3, 4)))
field(struct ep_report *report, const char *name, const char *format, ...)
{
	va_list list;

	fprintf(report->out, "%s%-10s%s ", report->style.dim, name, report->style.plain);
	va_start(list, format);
	vfprintf(report->out, format, list);
	va_end(list);
	fputc('\n', report->out);
}

/* Bytes from the process, fit for a terminal. "" when memory is out. */
char *ep_report_tamed(struct ep_report *report, const char *text)
{
	char *copy = ep_utf8_escape(text, strlen(text));

	if (!copy)
		report->starved = true;
	return copy;
}

static void field_bytes(struct ep_report *report, const char *name, const char *text)
{
	char *tame = ep_report_tamed(report, text);

	if (tame && *tame)
		field(report, name, "%s", tame);
	free(tame);
}

/* ---- the process ---- */

static void print_command(struct ep_report *report, const struct ep_report_head *head)
{
	char *tame = ep_report_tamed(report, head->command);

	if (tame && *tame)
		field(report, "command", "%s%s", tame,
		      head->command_cut ? "… (the kernel keeps no more than 79 bytes)" : "");
	free(tame);
}

static void print_pid(struct ep_report *report, const struct ep_report_head *head)
{
	char *host = ep_report_tamed(report, head->host);

	if (!head->pid && !head->process_known)
		;
	else if (!head->uid_known)
		field(report, "process", "pid %" PRIu32, head->pid);
	else if (!host || !*host)
		field(report, "process", "pid %" PRIu32 ", uid %" PRIu32, head->pid, head->uid);
	else
		field(report, "process", "pid %" PRIu32 ", uid %" PRIu32 ", on %s", head->pid,
		      head->uid, host);
	free(host);
}

static void print_machine(struct ep_report *report, const struct ep_report_head *head)
{
	const struct ep_machine *machine = &head->machine;
	char *kernel = ep_report_tamed(report, head->kernel);
	char *platform = ep_report_tamed(report, machine->platform);
	char version[32] = "";

	if (kernel && *kernel)
		snprintf(version, sizeof(version), "%.31s", kernel);
	else if (machine->kernel)
		snprintf(version, sizeof(version), "%u.%u.%u", machine->kernel >> 16,
			 machine->kernel >> 8 & 0xff, machine->kernel & 0xff);
	if (platform && *platform)
		field(report, "machine", "%s%s%s, pages of %" PRIu64 " bytes", platform,
		      *version ? ", Linux " : "", version, machine->page_size);
	free(kernel);
	free(platform);
}

static void print_process(struct ep_report *report, const struct ep_report_head *head)
{
	char text[EP_TIMETEXT_SIZE + 16], span[EP_TIMETEXT_SIZE];

	field_bytes(report, "program", head->program);
	field(report, "build-id", "%s", *head->build_id ? head->build_id : "none");
	print_command(report, head);
	print_pid(report, head);
	print_machine(report, head);
	if (head->last_record)
		field(report, "last seen", "%s, %s after its start",
		      ep_timetext_clock(text, head->last_record), ep_timetext(span, head->lived));
}

static void print_redaction(struct ep_report *report, const struct ep_report_head *head)
{
	char text[EP_REDACTED_TEXT_MAX];

	if (head->redacted)
		field(report, "left out", "%s, when the snapshot was made, as it was asked for",
		      ep_redacted_text(text, sizeof(text), head->redacted));
}

/* ---- its end ---- */

static void print_watchdog(struct ep_report *report, const struct ep_trace_watchdog *one)
{
	const struct ep_trace *trace = report->trace;
	char deadline[EP_TIMETEXT_SIZE], ago[EP_TIMETEXT_SIZE];
	char late_text[EP_TIMETEXT_SIZE];
	int64_t late = ep_trace_watchdog_late(trace, one);

	fprintf(report->out, "%swatchdog  %s %s: %s", report->style.dim, report->style.plain,
		one->name, one->paused ? "paused; fed last by" : "fed last by");
	fprintf(report->out, " thread %" PRIu32 " %s, %s before the end, deadline %s", one->fed_by,
		ep_report_thread_name(report, one->fed_by),
		ep_timetext(ago, ep_trace_ago(trace, one->fed_tsc)),
		ep_timetext(deadline, one->deadline));
	if (late)
		fprintf(report->out, "; %s%s too late%s", report->style.warn,
			ep_timetext(late_text, late), report->style.plain);
	if (one->misses && (!late || one->misses > 1))
		fprintf(report->out, "; %" PRIu64 " misses", one->misses);
	if (one->misses && one->missed_by != one->fed_by)
		fprintf(report->out, ", the last by thread %" PRIu32 " %s", one->missed_by,
			ep_report_thread_name(report, one->missed_by));
	fputc('\n', report->out);
}

static void print_watchdogs(struct ep_report *report)
{
	const struct ep_trace_watchdog *one;
	size_t told = 0;

	while ((one = ep_report_watchdog(report->trace, told)))
		if (told++ < WATCHDOGS_TOLD)
			print_watchdog(report, one);
	if (told > WATCHDOGS_TOLD)
		fprintf(report->out, "           … %zu more watchdogs\n", told - WATCHDOGS_TOLD);
}

/* What the handler made of it, in one line. */
static void print_then(struct ep_report *report, const struct ep_report_head *head)
{
	char name[128], where[48] = "its handler";

	ep_death_signal_text(name, sizeof(name), head->then.signal);
	if (head->then.tid != head->death.tid)
		snprintf(where, sizeof(where), "thread %" PRIu32, head->then.tid);
	field(report, "then", "%s in %s: %s", name, where, head->then_because);
}

static void print_death(struct ep_report *report, const struct ep_report_head *head)
{
	const struct ep_instruction *instruction = &head->instruction;
	const char *registers = instruction->registers;
	char text[128];

	ep_death_signal_text(text, sizeof(text), head->death.signal);
	fprintf(report->out, "%s%-10s %s%s in thread %" PRIu32 "\n", report->style.warn, "died of",
		text, report->style.plain, head->death.tid);
	field_bytes(report, "because", head->because);
	if (head->has_instruction)
		field(report, "at", "0x%" PRIx64 ": %s%s%s%s", head->thread->registers.pc,
		      instruction->text, *registers ? "  (" : "", registers, *registers ? ")" : "");
	if (head->has_then)
		print_then(report, head);
	if (head->has_said)
		field_bytes(report, "abort message", head->said.text);
}

static void print_head(struct ep_report *report, const struct ep_report_head *head)
{
	char silence[256];

	print_process(report, head);
	print_redaction(report, head);
	if (head->end == EP_REPORT_DIED) {
		print_death(report, head);
	} else {
		field(report, "state", "%s", head->state);
		if (head->because[0])
			field(report, "because", "%s", head->because);
	}
	if (report->trace && ep_end_text(&report->trace->end, silence, sizeof(silence)))
		field(report, "silence", "%s", silence);
	print_watchdogs(report);
}

/* ---- a process that hung ---- */

static void print_hung(struct ep_report *report, const struct ep_report_hung *hung)
{
	const struct ep_trace_thread *trace = hung->trace;
	char text[EP_TIMETEXT_SIZE + 2];

	fprintf(report->out, "%s%s%s thread %" PRIu32 " %s:", report->style.dim,
		hung->waits ? "waits     " : "runs      ", report->style.plain, hung->tid,
		hung->name);
	if (hung->has_call)
		fprintf(report->out, " in %s%s%s for %s", report->style.name,
			hung->call.function->name, report->style.plain,
			ep_report_ago(report, &hung->call.begin, text));
	/* One that runs and calls nothing spins. */
	if (!hung->waits && trace && trace->block_count)
		fprintf(report->out, "%s last record %s before the end", hung->has_call ? "," : "",
			ep_timetext(text, ep_trace_ago(report->trace, trace->last_tsc)));
	for (size_t i = 0; i < hung->function_count; i++)
		fprintf(report->out, "%s%s", i ? " < " : " (", hung->functions[i]->name);
	fputs(hung->function_count ? ")\n" : "\n", report->out);
}

static void print_hang(struct ep_report *report, const struct ep_report_hang *hang)
{
	for (size_t i = 0; i < hang->count; i++)
		print_hung(report, &hang->list[i]);
	if (hang->left)
		fprintf(report->out, "           … %zu more threads\n", hang->left);
}

/* ---- threads ---- */

static void print_history(struct ep_report *report, const struct ep_trace_thread *thread)
{
	char ago[EP_TIMETEXT_SIZE], span[EP_TIMETEXT_SIZE];
	const struct ep_trace *trace = report->trace;

	if (!thread || thread->block_count == 0) {
		fprintf(report->out, ": no trace of it%s",
			thread && thread->flags & EP_THREAD_IGNORED ? " (it asked not to be traced)"
			: thread && thread->flags & EP_THREAD_WITHOUT_RING
				? " (EPITAPH_MEMORY was used up)"
			: thread && thread->state == EP_THREAD_DEAD
				? " is left (another thread got its ring)"
				: "");
		return;
	}
	fprintf(report->out, ": last record %s before the end, ",
		ep_timetext(ago, ep_trace_ago(trace, thread->last_tsc)));
	fprintf(report->out, "history of %s%s",
		ep_timetext(span, ep_trace_ns(trace, thread->first_tsc, thread->last_tsc)),
		thread->from_start ? ", whole"
		: thread->forked   ? ", older is its parent's"
				   : ", older is overwritten");
}

static void print_thread_head(struct ep_report *report, const struct ep_report_story *story)
{
	char *tame = ep_report_tamed(report, story->name);

	fprintf(report->out, "\n%sthread %" PRIu32 "%s%s%s%s", report->bold, story->tid,
		tame && *tame ? " " : "", tame ? tame : "",
		story->died    ? " died"
		: story->ended ? " (ended)"
			       : "",
		report->style.plain);
	free(tame);
	if (report->trace)
		print_history(report, story->thread.trace);
	fputc('\n', report->out);
}

static void print_slice(struct ep_report *report, const struct ep_report_state *state)
{
	static const char *const words[] = {
		[EP_SLICE_RUNNING] = "ran",
		[EP_SLICE_READY] = "was ready to run, for want of a CPU,",
		[EP_SLICE_BLOCKED] = "blocked",
	};
	const struct ep_slice *slice = state->slice;
	char text[EP_TIMETEXT_SIZE];

	fprintf(report->out, "%s for %s", words[slice->state], ep_timetext(text, state->ns));
	if (slice->state != EP_SLICE_RUNNING && state->ran) {
		fprintf(report->out, ", after it ran for %s", ep_timetext(text, state->ran_ns));
		slice = state->ran;
	}
	if (slice->state == EP_SLICE_RUNNING && slice->cpu != EP_SLICE_CPU_UNKNOWN)
		fprintf(report->out, "%s on CPU %u", slice == state->ran ? "" : ",", slice->cpu);
}

static void print_state(struct ep_report *report, const struct ep_report_state *state)
{
	char text[256];

	if (!state->inside && !state->slice)
		return;
	fputs("  state      ", report->out);
	if (state->slice)
		print_slice(report, state);
	if (state->inside)
		fprintf(report->out, "%s%s", state->slice ? ", in " : "in ",
			ep_systemcall_text(text, sizeof(text), &state->call));
	fputc('\n', report->out);
}

static void print_uncaught(struct ep_report *report, const struct ep_exception *thrown)
{
	char ago[EP_TIMETEXT_SIZE + 2];

	fprintf(report->out, "  %suncaught   exception of %s%s%s", report->style.warn,
		thrown->type ? "type " : "unknown type", thrown->type ? thrown->type : "",
		report->style.plain);
	if (thrown->where)
		fprintf(report->out, ", thrown in %s", thrown->where->name);
	if (thrown->where && thrown->from && thrown->from != thrown->where)
		fprintf(report->out, ", called by %s,", thrown->from->name);
	fprintf(report->out, " %s before the end\n", ep_report_ago(report, &thrown->when, ago));
}

/* The thread that died, in full. */
static void print_died(struct ep_report *report, const struct ep_report_story *story)
{
	char *tame;

	if (story->uncaught)
		print_uncaught(report, &story->flight.thrown);
	if (!story->unwound) {
		tame = ep_report_tamed(report, story->stackless);
		fprintf(report->out, "  %sno stack from the core: %s%s%s\n", report->style.warn,
			tame ? tame : "",
			story->alignment.count ? "; these are the trace's open calls" : "",
			report->style.plain);
		free(tame);
	}
	ep_report_stack(report, story->unwound ? &story->stack : NULL, &story->alignment);
}

static int print_thread(struct ep_report *report, const struct ep_report_story *story,
			struct ep_err *err)
{
	print_thread_head(report, story);
	print_state(report, &story->state);
	if (story->died)
		print_died(report, story);
	else if (story->unwound)
		ep_report_stack_line(report, story);
	if (!story->died && (!story->ended || story->flight.count))
		ep_report_flight(report, &story->flight,
				 story->ended ? "  ended in   " : "  open calls ");
	ep_report_spans(report, &story->flight);
	return ep_report_last_print(report, &story->last, err);
}

static void print_left(struct ep_report *report, const struct ep_report_left *left)
{
	if (left->threads || left->ended)
		fprintf(report->out,
			"\n… and %zu more threads, and %zu that had ended: "
			"--all shows them\n",
			left->threads, left->ended);
}

/* ---- the end of the page ---- */

static int print_doubts(struct ep_report *report, const struct ep_report_doubts *doubts,
			struct ep_err *err)
{
	(void)err;
	if (doubts->count)
		fprintf(report->out, "\n%swarnings%s\n", report->bold, report->style.plain);
	for (size_t i = 0; i < doubts->count; i++)
		fprintf(report->out, "  - %s\n", doubts->list[i].text);
	if (report->kept)
		fprintf(report->out,
			"\nkept in memory by the program: %zu snapshot%s "
			"(epitaph info lists, epitaph extract --kept saves)\n",
			report->kept, report->kept == 1 ? "" : "s");
	return EP_OK;
}

const struct ep_report_printer ep_report_text = {
	.head = print_head,
	.hang = print_hang,
	.thread = print_thread,
	.left = print_left,
	.doubts = print_doubts,
};
