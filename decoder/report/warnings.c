/* SPDX-License-Identifier: BSD-2-Clause */
/* warnings.c: what of a report cannot be trusted, and what is not in it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "decoder/code/disassembler.h"
#include "decoder/trace/losses.h"
#include "decoder/names/modules.h"
#include "decoder/report/model.h"
#include "coredump/util/utf8.h"

struct gather {
	struct ep_report *report;
	struct ep_report_doubts *out;
};

static void __attribute__((format(printf, 3, 4)))
doubt(struct gather *doubts, const char *code, const char *format, ...)
{
	struct ep_report_doubts *out = doubts->out;
	struct ep_report_doubt *grown;
	char text[1400], *tame;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (out->count == out->room) {
		size_t room = out->room ? 2 * out->room : 16;

		grown = realloc(out->list, room * sizeof(*grown));
		if (!grown) {
			out->starved = true;
			return;
		}
		out->list = grown;
		out->room = room;
	}
	tame = ep_report_tamed(doubts->report, text);
	out->starved |= !tame;
	if (tame)
		out->list[out->count++] = (struct ep_report_doubt){code, tame};
}

static void doubt_losses(struct gather *doubts, const struct ep_trace *trace)
{
	struct ep_loss list[EP_LOSSES_MAX];
	size_t count = ep_losses(trace, list);

	doubts->report->partial |= ep_losses_partial(trace);
	for (size_t i = 0; i < count; i++)
		if (list[i].count && list[i].code)
			doubt(doubts, list[i].code, "%" PRIu64 " %s", list[i].count, list[i].text);
	if (trace->damage.text[0])
		doubt(doubts, "text", "text that was written over the trace: \"%s\"",
		      trace->damage.text);
}

/* By thread: the last moments of the others are whole. */
static void doubt_missed(struct gather *doubts, const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];

		if (!thread->blocks_missed)
			continue;
		doubt(doubts, "missed-blocks",
		      "%" PRIu64 " of %" PRIu64 " blocks of thread %u %s were "
		      "overwritten before they were copied, as the process "
		      "went on meanwhile",
		      thread->blocks_missed, thread->blocks_missed + thread->block_count,
		      thread->tid, thread->name);
	}
}

static void doubt_trace(struct gather *doubts, const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->warning_count; i++)
		doubt(doubts, "trace", "%s", trace->warnings[i]);
	if (trace->arena.blind & EP_BLIND_EXCEPTIONS)
		doubt(doubts, "blind-exceptions",
		      "exceptions of shared libraries left no marks "
		      "(-static-libgcc?), but in those with "
		      "-epitaph-runtime=shared: calls that they left are "
		      "found by what happened next");
	doubt_losses(doubts, trace);
	doubt_missed(doubts, trace);
	if (trace->arena.gate)
		doubt(doubts, "paused",
		      "tracing was paused at the end: calls since then "
		      "are not in it");
	if (trace->arena.min_duration)
		doubt(doubts, "min-duration",
		      "EPITAPH_MIN_DURATION was set: short calls are "
		      "not in it");
}

static void doubt_names(struct gather *doubts, const struct ep_names *names)
{
	const char *text;

	for (size_t i = 0; names && (text = ep_names_warning(names, i)); i++) {
		doubts->report->partial = true;
		doubt(doubts, ep_names_warning_code(names, i), "%s", text);
	}
}

/* It may look for a file before the names do. */
static void doubt_unwinder(struct gather *doubts)
{
	const struct ep_unwinder *unwinder = doubts->report->unwinder;
	const char *module, *why = NULL;

	if (unwinder)
		why = ep_unwinder_unanswered(unwinder, &module);
	if (!why)
		return;
	doubts->report->partial = true;
	doubt(doubts, "names", "%s: %s", module, why);
}

/* Nothing is wrong with it, but a file is to be had that says more. */
static void doubt_stripped(struct gather *doubts, const struct ep_names *names)
{
	const struct ep_trace_module *module;
	size_t count;

	for (size_t i = 0; names && (module = ep_names_stripped(names, i, &count)); i++)
		doubt(doubts, "no-symbols",
		      "%s is stripped: %zu of its functions are told by "
		      "address; its debug file, by build-id below "
		      "--debug-path=DIR or from debuginfod, has their names",
		      module->path, count);
}

/* Who writes a snapshot while it dies knows its own registers only. */
static void doubt_others(struct gather *doubts)
{
	const struct ep_source *source = doubts->report->source;
	size_t threads;

	ep_source_threads(source, &threads);
	if (ep_source_snapshot_found(source) == EP_FOUND_CRASH && threads > 1)
		doubt(doubts, "no-other-stacks",
		      "the process wrote this while it died: the registers "
		      "and stacks of %zu other threads are not in it, but "
		      "their calls are",
		      threads - 1);
}

static void gather(struct gather *doubts)
{
	struct ep_report *report = doubts->report;
	const char *text;

	for (size_t i = 0; (text = ep_source_warning(report->source, i)); i++) {
		report->partial = true;
		doubt(doubts, "source", "%s", text);
	}
	if (report->module_count == EP_MODULES_MAX) {
		report->partial = true;
		doubt(doubts, "many-objects",
		      "%u objects or more are mapped: stacks through those "
		      "at low addresses are not followed",
		      EP_MODULES_MAX);
	}
	if (!report->trace) {
		report->partial = true;
		doubt(doubts, "no-trace", "no trace: %s",
		      report->missing ? report->missing : "unknown why");
	}
	if (report->no_unwinder && ep_source_kind(report->source) != EP_SOURCE_LIVE &&
	    ep_source_kind(report->source) != EP_SOURCE_ARENA &&
	    ep_source_kind(report->source) != EP_SOURCE_FUNTRACE) {
		report->partial = true;
		doubt(doubts, "no-stacks", "no stacks: %s", report->no_unwinder);
	}
	if (ep_disassembler_missing()) {
		report->partial = true;
		doubt(doubts, "no-disassembler", "%s", ep_disassembler_missing());
	}
	doubt_others(doubts);
	if (report->trace)
		doubt_trace(doubts, report->trace);
	doubt_names(doubts, report->names);
	doubt_unwinder(doubts);
	doubt_stripped(doubts, report->names);
	if (report->others != report->names && !report->trace) {
		doubt_names(doubts, report->others);
		doubt_stripped(doubts, report->others);
	}
	if (report->others && ep_names_incomplete(report->others))
		report->starved = true;
	if (report->ghosts && !report->as_json)
		doubt(doubts, "approximate",
		      "~ marks a time that is known within an "
		      "interval only: no clock was read at that moment "
		      "(its place in the order is exact); > and ? one "
		      "of which only the earliest moment is known, "
		      "after the thread's last clock read");
}

int ep_report_doubts_init(struct ep_report_doubts *doubts, struct ep_report *report,
			  struct ep_err *err)
{
	struct gather work = {report, doubts};

	*doubts = (struct ep_report_doubts){0};
	gather(&work);
	if (!doubts->starved)
		return EP_OK;
	ep_report_doubts_deinit(doubts);
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

void ep_report_doubts_deinit(struct ep_report_doubts *doubts)
{
	for (size_t i = 0; i < doubts->count; i++)
		free(doubts->list[i].text);
	free(doubts->list);
	*doubts = (struct ep_report_doubts){0};
}
