/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: the page: head, the thread that died, the others, the doubts. */
#include "decoder/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "decoder/module_file.h"
#include "decoder/report_death.h"
#include "decoder/report_impl.h"
#include "decoder/selection.h"
#include "decoder/utf8.h"

/* Frames that are unwound: enough for any stack that ends by itself. */
#define FRAMES_MAX 100000
/* Calls in flight that a listing of last calls has at most. */

/* ---- the head ---- */

static void __attribute__((format(printf, 3, 4)))
field(struct ep_report *report, const char *name, const char *format, ...)
{
	va_list list;

	fprintf(report->out, "%s%-10s%s ", report->style.dim, name,
		report->style.plain);
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

static void field_bytes(struct ep_report *report, const char *name,
			const char *text)
{
	char *tame = ep_report_tamed(report, text);

	if (tame && *tame)
		field(report, name, "%s", tame);
	free(tame);
}

static void field_build_id(struct ep_report *report,
			   const struct ep_trace_module *modules, size_t count)
{
	char text[2 * EP_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < count; i++) {
		if (!(modules[i].flags & EP_MODULE_EXECUTABLE))
			continue;
		for (uint32_t b = 0; b < modules[i].build_id_size; b++)
			snprintf(text + 2 * b, 3, "%02x",
				 modules[i].build_id[b]);
		break;
	}
	field(report, "build-id", "%s", *text ? text : "none");
}

static void head_of_trace(struct ep_report *report)
{
	const struct ep_trace *trace = report->trace;
	const struct ep_trace_process *process = &trace->process;
	uint64_t end = ep_trace_realtime(trace, trace->last_tsc);
	char text[EP_TIMETEXT_SIZE + 16], span[EP_TIMETEXT_SIZE], *host;

	field_bytes(report, "program",
		    process->known ? process->executable : "");
	field_build_id(report, trace->modules, trace->module_count);
	if (!process->known)
		return;
	field_bytes(report, "command", process->command_line);
	host = ep_report_tamed(report, process->host);
	if (ep_source_kind(report->source) == EP_SOURCE_FUNTRACE)
		field(report, "process", "pid %" PRIu32, process->pid);
	else
		field(report, "process",
		      "pid %" PRIu32 ", uid %" PRIu32 ", on %s", process->pid,
		      process->uid, host && *host ? host : "?");
	free(host);
	if (end && trace->last_tsc)
		field(report, "last seen", "%s, %s after its start",
		      ep_timetext_clock(text, end),
		      ep_timetext(span, ep_trace_ns(trace, process->start_tsc,
						    trace->last_tsc)));
}

static const struct ep_note *note_find(const struct ep_source *source,
				       uint32_t type, size_t size)
{
	size_t count;
	const struct ep_note *notes = ep_source_notes(source, &count);

	for (size_t i = 0; i < count; i++)
		if (notes[i].type == type && notes[i].desc_size >= size &&
		    strcmp(notes[i].name, "CORE") == 0)
			return &notes[i];
	return NULL;
}

static void head_of_core(struct ep_report *report)
{
	const struct ep_note *note = note_find(report->source, NT_PRPSINFO,
					       sizeof(struct elf_prpsinfo));
	struct elf_prpsinfo info;
	char words[sizeof(info.pr_psargs) + 1] = "";

	for (size_t i = 0; i < report->module_count; i++)
		if (report->modules[i].flags & EP_MODULE_EXECUTABLE)
			field_bytes(report, "program", report->modules[i].path);
	field_build_id(report, report->modules, report->module_count);
	if (note) {
		memcpy(&info, note->desc, sizeof(info));
		memcpy(words, info.pr_psargs, sizeof(info.pr_psargs));
		field_bytes(report, "command", words);
	}
	if (ep_source_pid(report->source))
		field(report, "process", "pid %d",
		      (int)ep_source_pid(report->source));
}

static const struct ep_source_thread *core_thread(
	const struct ep_report *report, uint32_t tid)
{
	size_t count;
	const struct ep_source_thread *list =
		ep_source_threads(report->source, &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].tid == tid)
			return &list[i];
	return NULL;
}

static void head_of_death(struct ep_report *report,
			  const struct ep_death *death)
{
	char text[128], cause[1024], *tame;
	size_t threads;

	ep_source_threads(report->source, &threads);
	if (ep_source_kind(report->source) == EP_SOURCE_LIVE) {
		field(report, "state",
		      "is running; it was not stopped, so its "
		      "threads went on while it was read");
		return;
	}
	if (ep_source_kind(report->source) == EP_SOURCE_FUNTRACE) {
		field(report, "state",
		      "unknown: a funtrace.raw tells neither how it ended nor "
		      "its stacks, but calls only");
		return;
	}
	if (death->signal == 0 && threads == 0) {
		field(report, "state",
		      "unknown: the core's notes on its threads are lost");
		return;
	}
	if (death->signal == 0) {
		field(report, "state",
		      "did not die: a snapshot of a running process, or a "
		      "core without a signal");
		return;
	}
	ep_death_signal_text(text, sizeof(text), death->signal);
	fprintf(report->out, "%s%-10s %s%s in thread %" PRIu32 "\n",
		report->style.warn, "died of", text, report->style.plain,
		death->tid);
	ep_death_cause_text(cause, sizeof(cause), report->source, death,
			    core_thread(report, death->tid));
	tame = ep_report_tamed(report, cause);
	if (tame && *tame)
		field(report, "because", "%s", tame);
	free(tame);
}

/* ---- threads ---- */

/* The one of this tid that was alive last. */
static const struct ep_trace_thread *trace_thread(const struct ep_trace *trace,
						  uint32_t tid)
{
	const struct ep_trace_thread *best = NULL;

	for (size_t i = 0; trace && tid && i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid &&
		    (!best || trace->threads[i].state != EP_THREAD_DEAD ||
		     best->state == EP_THREAD_DEAD))
			best = &trace->threads[i];
	return best;
}

static void print_history(struct ep_report *report,
			  const struct ep_trace_thread *thread)
{
	char ago[EP_TIMETEXT_SIZE], span[EP_TIMETEXT_SIZE];
	const struct ep_trace *trace = report->trace;

	if (!thread || thread->block_count == 0) {
		fprintf(report->out, ": no trace of it%s",
			thread && thread->flags & EP_THREAD_IGNORED
				? " (it asked not to be traced)"
			: thread && thread->flags & EP_THREAD_WITHOUT_RING
				? " (EPITAPH_MEMORY was used up)"
			: thread && thread->state == EP_THREAD_DEAD
				? " is left (another thread got its ring)"
				: "");
		return;
	}
	fprintf(report->out, ": last record %s before the end, ",
		ep_timetext(ago, ep_trace_ns(trace, thread->last_tsc,
					     trace->last_tsc)));
	fprintf(report->out, "history of %s%s",
		ep_timetext(span, ep_trace_ns(trace, thread->first_tsc,
					      thread->last_tsc)),
		thread->from_start ? ", whole" : ", older is overwritten");
}

static void print_thread_head(struct ep_report *report,
			      const struct ep_report_thread *thread,
			      const char *words)
{
	uint32_t tid = thread->core ? thread->core->tid : thread->trace->tid;
	const char *name = thread->trace && thread->trace->name[0]
				   ? thread->trace->name
			   : thread->core ? thread->core->name
					  : "";
	char *tame = ep_report_tamed(report, name);

	fprintf(report->out, "\n%sthread %" PRIu32 "%s%s%s%s", report->bold,
		tid, tame && *tame ? " " : "", tame ? tame : "", words,
		report->style.plain);
	free(tame);
	if (report->trace)
		print_history(report, thread->trace);
	fputc('\n', report->out);
}

/* EP_END: there is nothing to unwind. */
static int unwind(struct ep_report *report,
		  const struct ep_report_thread *thread, size_t limit,
		  struct ep_stack *stack, struct ep_err *err)
{
	int rc;

	if (!report->unwinder || !thread->core || !thread->core->has_registers)
		return EP_END;
	rc = ep_unwind(report->unwinder, thread->core->tid, limit, stack, err);
	report->starved |= rc == EP_E_MEMORY;
	return rc;
}

static int print_crashed(struct ep_report *report,
			 const struct ep_report_thread *thread,
			 struct ep_err *err)
{
	struct ep_report_flight flight;
	struct ep_stack stack = {0};
	struct ep_err why = {0};
	char *tame;
	int rc = ep_report_flight_init(&flight, report, thread->trace, err);

	if (rc)
		return rc;
	print_thread_head(report, thread, " died");
	rc = unwind(report, thread, FRAMES_MAX, &stack, &why);
	if (rc == EP_OK) {
		ep_report_stack(report, &stack, &flight);
		report->partial |= !stack.complete;
		ep_stack_deinit(&stack);
	} else {
		report->partial = true;
		tame = ep_report_tamed(
			report, why.text[0]           ? why.text
				: report->no_unwinder ? report->no_unwinder
				: !thread->core ? "it does not hold the thread"
						: "no registers");
		fprintf(report->out, "  %sno stack from the core: %s%s\n",
			report->style.warn, tame ? tame : "",
			report->style.plain);
		free(tame);
		ep_report_flight(report, &flight, "  in flight  ");
	}
	ep_report_flight_deinit(&flight);
	return ep_report_last(report, thread->trace, report->crash_calls, err);
}

static int print_other(struct ep_report *report,
		       const struct ep_report_thread *thread,
		       struct ep_err *err)
{
	bool ended = thread->trace && !thread->core &&
		     thread->trace->state == EP_THREAD_DEAD;
	struct ep_report_flight flight;
	struct ep_stack stack = {0};
	int rc = ep_report_flight_init(&flight, report, thread->trace, err);

	if (rc)
		return rc;
	print_thread_head(report, thread, ended ? " (ended)" : "");
	if (unwind(report, thread, EP_REPORT_OTHER_FRAMES + 1, &stack, NULL) ==
	    EP_OK) {
		ep_report_stack_line(report, &stack);
		ep_stack_deinit(&stack);
	}
	if (!ended || flight.count)
		ep_report_flight(report, &flight,
				 ended ? "  ended in   " : "  in flight  ");
	ep_report_flight_deinit(&flight);
	return ep_report_last(report, thread->trace, report->other_calls, err);
}

/* ---- which threads, in which order ---- */

struct roll {
	struct ep_report_thread *threads;
	size_t count;
};

/* Those of the core first, as they come; then those of the trace only. */
static int roll_init(struct roll *roll, const struct ep_report *report)
{
	const struct ep_trace *trace = report->trace;
	size_t core_count, more = trace ? trace->thread_count : 0;
	const struct ep_source_thread *core =
		ep_source_threads(report->source, &core_count);

	roll->count = 0;
	roll->threads = calloc(core_count + more + 1, sizeof(*roll->threads));
	if (!roll->threads)
		return EP_E_MEMORY;
	for (size_t i = 0; i < core_count; i++)
		roll->threads[roll->count++] = (struct ep_report_thread){
			&core[i], trace_thread(trace, core[i].tid)};
	for (size_t i = 0; i < more; i++) {
		const struct ep_trace_thread *one = &trace->threads[i];

		if (core_thread(report, one->tid) &&
		    trace_thread(trace, one->tid) == one)
			continue;
		roll->threads[roll->count++] =
			(struct ep_report_thread){NULL, one};
	}
	return EP_OK;
}

/* Those that are in the core before those that are gone; then the latest
 * first. */
static int compare_threads(const void *a, const void *b)
{
	const struct ep_report_thread *x = a, *y = b;
	uint64_t s = x->trace ? x->trace->last_tsc : 0;
	uint64_t t = y->trace ? y->trace->last_tsc : 0;

	if (!x->core != !y->core)
		return !x->core - !y->core;
	if (s != t)
		return s > t ? -1 : 1;
	return 0;
}

static const struct ep_report_thread *roll_find(const struct roll *roll,
						uint32_t tid)
{
	for (size_t i = 0; tid && i < roll->count; i++)
		if (roll->threads[i].core && roll->threads[i].core->tid == tid)
			return &roll->threads[i];
	return NULL;
}

static int print_others(struct ep_report *report, const struct roll *roll,
			const struct ep_report_thread *crashed,
			struct ep_err *err)
{
	size_t told = 0, left = 0, gone = 0;
	int rc = EP_OK;

	for (size_t i = 0; i < roll->count && !rc; i++) {
		const struct ep_report_thread *one = &roll->threads[i];

		if (one == crashed)
			continue;
		if (told >= report->threads) {
			gone += !one->core;
			left += one->core != NULL;
			continue;
		}
		told++;
		rc = print_other(report, one, err);
	}
	if (left || gone)
		fprintf(report->out,
			"\n… and %zu more threads, and %zu that had ended: "
			"--all shows them\n",
			left, gone);
	return rc;
}

static int print_threads(struct ep_report *report, const struct ep_death *death,
			 struct ep_err *err)
{
	const struct ep_report_thread *crashed = NULL;
	struct roll roll;
	int rc = roll_init(&roll, report);

	if (rc)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	qsort(roll.threads, roll.count, sizeof(*roll.threads), compare_threads);
	if (death->signal && ep_source_kind(report->source) != EP_SOURCE_LIVE)
		crashed = roll_find(&roll, death->tid);
	if (crashed)
		rc = print_crashed(report, crashed, err);
	if (!rc)
		rc = print_others(report, &roll, crashed, err);
	free(roll.threads);
	return rc;
}

/* ---- what cannot be trusted ---- */

struct doubts {
	struct ep_report *report;
	bool any;
};

static void __attribute__((format(printf, 2, 3)))
doubt(struct doubts *doubts, const char *format, ...)
{
	char text[1400], *tame;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (!doubts->any)
		fprintf(doubts->report->out,
			"\n%swhat to know before you believe it%s\n",
			doubts->report->bold, doubts->report->style.plain);
	doubts->any = true;
	tame = ep_report_tamed(doubts->report, text);
	fprintf(doubts->report->out, "  - %s\n", tame ? tame : "");
	free(tame);
}

static void serious(struct doubts *doubts, uint64_t count, const char *text)
{
	if (!count)
		return;
	doubts->report->partial = true;
	doubt(doubts, "%" PRIu64 " %s", count, text);
}

static void doubt_trace(struct doubts *doubts, const struct ep_trace *trace)
{
	const struct ep_trace_damage *damage = &trace->damage;

	for (size_t i = 0; i < trace->warning_count; i++) {
		doubts->report->partial = true;
		doubt(doubts, "%s", trace->warnings[i]);
	}
	serious(doubts, damage->pages_missing,
		"pages of the trace were not saved in the core");
	serious(doubts, damage->blocks_torn, "blocks of records are damaged");
	serious(doubts, damage->blocks_text,
		"of these look as if text was written over them");
	serious(doubts, damage->blocks_duplicate, "blocks came twice");
	serious(doubts, damage->blocks_backward,
		"blocks run backwards in time");
	serious(doubts, damage->threads_corrupt,
		"entries of the thread table make no sense");
	serious(doubts, damage->modules_corrupt,
		"entries of the load map make no sense");
	serious(doubts, trace->arena.threads_without_ring,
		"threads had no room for a history (EPITAPH_MEMORY)");
	serious(doubts, trace->arena.threads_untold,
		"threads did not fit into the thread table");
	serious(doubts, trace->arena.modules_untold,
		"modules did not fit into the load map");
	if (damage->holes)
		doubt(doubts,
		      "%" PRIu64 " records are missing inside of blocks: a "
		      "signal handler interrupted a hook, or the process went "
		      "on while it was read",
		      damage->holes);
	if (trace->arena.gate)
		doubt(doubts, "tracing was paused at the end: calls since then "
			      "are not in it");
	if (trace->arena.min_duration)
		doubt(doubts, "EPITAPH_MIN_DURATION was set: short calls are "
			      "not in it");
}

static void doubt_names(struct doubts *doubts, const struct ep_names *names)
{
	const char *text;

	for (size_t i = 0; names && (text = ep_names_warning(names, i)); i++) {
		doubts->report->partial = true;
		doubt(doubts, "%s", text);
	}
}

static void print_doubts(struct ep_report *report)
{
	struct doubts doubts = {report, false};
	const char *text;

	for (size_t i = 0; (text = ep_source_warning(report->source, i)); i++) {
		report->partial = true;
		doubt(&doubts, "%s", text);
	}
	if (!report->trace) {
		report->partial = true;
		doubt(&doubts, "no trace: %s",
		      report->missing ? report->missing : "unknown why");
	}
	if (report->no_unwinder &&
	    ep_source_kind(report->source) != EP_SOURCE_LIVE &&
	    ep_source_kind(report->source) != EP_SOURCE_FUNTRACE) {
		report->partial = true;
		doubt(&doubts, "no stacks: %s", report->no_unwinder);
	}
	if (report->trace)
		doubt_trace(&doubts, report->trace);
	doubt_names(&doubts, report->names);
	if (report->others != report->names && !report->trace)
		doubt_names(&doubts, report->others);
	if (report->others && ep_names_starved(report->others))
		report->starved = true;
	if (report->ghosts)
		doubt(&doubts,
		      "~ marks a time that is known within an "
		      "interval only: no clock was read at that moment "
		      "(its place in the order is exact); > and ? one "
		      "of which only the earliest moment is known, "
		      "after the thread's last clock read");
}

/* ---- the page ---- */

int ep_report_write(struct ep_report *report, struct ep_err *err)
{
	struct ep_death death;
	int rc;

	ep_source_death(report->source, &death);
	if (report->trace)
		head_of_trace(report);
	else
		head_of_core(report);
	head_of_death(report, &death);
	rc = print_threads(report, &death, err);
	if (!rc)
		print_doubts(report);
	if (!rc && report->starved)
		rc = ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	return rc;
}
