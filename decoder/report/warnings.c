/* SPDX-License-Identifier: BSD-2-Clause */
/* warnings.c: what of a report cannot be trusted, and what is not in it. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "decoder/code/disassembler.h"
#include "decoder/trace/losses.h"
#include "decoder/names/modules.h"
#include "decoder/report/parts.h"
#include "decoder/report/switched_text.h"
#include "coredump/util/utf8.h"

static void __attribute__((format(printf, 3, 4)))
warn(struct ep_report *report, const char *code, const char *format, ...)
{
	struct ep_report_warning *warning = ep_array_add(&report->warnings);
	char text[1400];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	warning->code = code;
	warning->text = ep_utf8_escape(text, strlen(text));
}

/* Something that should have been there is not. */
#define lacks(report, ...) ((report)->partial = true, warn(report, __VA_ARGS__))

static void warn_losses(struct ep_report *report, const struct ep_trace *trace)
{
	struct ep_loss list[EP_LOSSES_MAX];
	size_t count = ep_losses(trace, list);

	report->partial |= ep_losses_partial(trace);
	for (size_t i = 0; i < count; i++)
		if (list[i].count && list[i].code)
			warn(report, list[i].code, "%" PRIu64 " %s", list[i].count, list[i].text);
	if (trace->damage.text[0])
		warn(report, "text", "text that was written over the trace: \"%s\"",
		     trace->damage.text);
}

/* By thread: the last moments of the others are whole. */
static void warn_missed(struct ep_report *report, const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];

		if (!thread->blocks_missed)
			continue;
		warn(report, "missed-blocks",
		     "%" PRIu64 " of %" PRIu64 " blocks of thread %u %s were overwritten before "
		     "they were copied, as the process went on meanwhile",
		     thread->blocks_missed, thread->blocks_missed + thread->block_count,
		     thread->tid, thread->name);
	}
}

static void warn_switched(void *report, const char *code, const char *text)
{
	warn(report, code, "%s", text);
}

static void warn_trace(struct ep_report *report, const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->warning_count; i++)
		warn(report, "trace", "%s", trace->warnings[i]);
	if (trace->arena.blind & EP_BLIND_EXCEPTIONS)
		warn(report, "blind-exceptions",
		     "exceptions of shared libraries left no marks (-static-libgcc?), but in those "
		     "with -epitaph-runtime=shared: calls that they left are found by what "
		     "happened next");
	if (trace->arena.blind & EP_BLIND_SNAPSHOT)
		warn(report, "no-crash-snapshot",
		     "EPITAPH_ON_CRASH had no effect: the program set a filter of system calls "
		     "(seccomp) that does not let a snapshot be written, or gave up the "
		     "processor's time");
	if (trace->arena.marks_left_out)
		warn(report, "marks-left-out",
		     "%" PRIu64 " marks of exceptions and jumps are not in the history, as they "
		     "cost too much (EPITAPH_BUDGET): none of them left a call that is",
		     trace->arena.marks_left_out);
	if (trace->schedule && trace->schedule->head.state == EP_SCHED_COSTLY)
		warn(report, "no-scheduling",
		     "who waited is not recorded%s: the program's switches are too many for "
		     "EPITAPH_BUDGET and EPITAPH_IDLE_BUDGET; a larger one of these records it, "
		     "and EPITAPH_SCHED=auto does so whatever it costs",
		     trace->schedule->head.start_tsc ? " up to the end" : "");
	warn_losses(report, trace);
	warn_missed(report, trace);
	ep_switched_texts(trace, report->evidence->names, warn_switched, report);
	if (trace->arena.gate)
		warn(report, "paused",
		     "tracing was paused at the end: calls since then are not in it");
	if (trace->arena.min_duration)
		warn(report, "min-duration",
		     "EPITAPH_MIN_DURATION was set: short calls are not in it");
}

static void warn_names(struct ep_report *report, const struct ep_names *names)
{
	const char *text;

	for (size_t i = 0; names && (text = ep_names_warning(names, i)); i++)
		lacks(report, ep_names_warning_code(names, i), "%s", text);
}

/* It may look for a file before the names do. */
static void warn_unwinder(struct ep_report *report)
{
	const struct ep_unwinder *unwinder = report->evidence->unwinder;
	const char *module, *why = unwinder ? ep_unwinder_unanswered(unwinder, &module) : NULL;

	if (why)
		lacks(report, "names", "%s: %s", module, why);
}

/* Nothing is wrong with it, but a file is to be had that says more. */
static void warn_stripped(struct ep_report *report, const struct ep_names *names)
{
	const struct ep_trace_module *module;
	size_t count;

	for (size_t i = 0; names && (module = ep_names_stripped(names, i, &count)); i++)
		warn(report, "no-symbols",
		     "%s is stripped: %zu of its functions are known by address only; its debug "
		     "file, by "
		     "build-id below --debug-path=DIR or from debuginfod, has their names",
		     module->path, count);
}

static void warn_all_names(struct ep_report *report)
{
	const struct ep_evidence *evidence = report->evidence;

	warn_names(report, evidence->names);
	warn_unwinder(report);
	warn_stripped(report, evidence->names);
	if (evidence->others != evidence->names && !report->trace) {
		warn_names(report, evidence->others);
		warn_stripped(report, evidence->others);
	} else if (report->trace && ep_names_incomplete(evidence->others)) {
		lacks(report, "names", "some functions that the trace does not know have no names");
	}
}

static bool has_no_stacks(const struct ep_report *report)
{
	return report->evidence->no_unwinder && report->source_kind != EP_SOURCE_LIVE &&
	       report->source_kind != EP_SOURCE_ARENA && report->source_kind != EP_SOURCE_FUNTRACE;
}

static void warn_source(struct ep_report *report)
{
	const struct ep_evidence *evidence = report->evidence;
	const char *text;

	for (size_t i = 0; (text = ep_source_warning(evidence->source, i)); i++)
		lacks(report, "source", "%s", text);
	if (evidence->module_count == EP_MODULES_MAX)
		lacks(report, "many-objects",
		      "%u objects or more are mapped: stacks through those at low addresses are "
		      "not followed",
		      EP_MODULES_MAX);
	if (!report->trace)
		lacks(report, "no-trace", "no trace: %s",
		      evidence->missing ? evidence->missing : "unknown why");
	if (has_no_stacks(report))
		lacks(report, "no-stacks", "no stacks: %s", evidence->no_unwinder);
	if (ep_disassembler_missing())
		lacks(report, "no-disassembler", "%s", ep_disassembler_missing());
}

/* Who writes a snapshot while it dies knows its own registers only. */
static void warn_others(struct ep_report *report)
{
	const struct ep_source *source = report->evidence->source;
	size_t threads;

	ep_source_threads(source, &threads);
	if (ep_source_snapshot_found(source) == EP_FOUND_CRASH && threads > 1)
		warn(report, "no-other-stacks",
		     "the process wrote this while it died: the registers and stacks of %zu other "
		     "threads are not in it, but their calls are",
		     threads - 1);
}

void ep_report_add_warnings(struct ep_report *report)
{
	warn_source(report);
	warn_others(report);
	if (report->trace)
		warn_trace(report, report->trace);
	warn_all_names(report);
}
