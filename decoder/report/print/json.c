/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.c: a report as one JSON object. docs/report.schema.json says what is in it and
 * docs/report.md what that means; fields are only ever added within a version.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/snapshot/redacted.h"
#include "decoder/kernel/end.h"
#include "decoder/report/death/death.h"
#include "decoder/report/print/json.h"
#include "decoder/report/print/print.h"
#include "runtime/format_watchdogs.h"

#define SCHEMA  "epitaph-report"
#define VERSION 1

/* ---- small ones ---- */

void ep_report_json_text(struct ep_json *json, const char *key, const char *text)
{
	if (text && *text) {
		ep_json_member_text(json, key, text);
		return;
	}
	ep_json_member_null(json, key);
}

void ep_report_json_address(struct ep_json *json, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	ep_json_member_text(json, key, text);
}

static void ago(struct ep_json *json, const struct ep_trace *trace, const char *key, uint64_t tsc)
{
	ep_json_key(json, key);
	if (tsc == EP_TIME_UNKNOWN)
		ep_json_null(json);
	else
		ep_json_int(json, ep_trace_ago(trace, tsc));
}

void ep_report_json_time(struct ep_json *json, const struct ep_trace *trace, const char *key,
			 const struct ep_time *time)
{
	ep_json_member_object(json, key);
	ago(json, trace, "ago_ns", time->high == EP_TIME_UNKNOWN ? EP_TIME_UNKNOWN : time->best);
	ep_json_member_bool(json, "exact", time->exact);
	if (!time->exact) {
		ago(json, trace, "at_most_ns", time->low);
		ago(json, trace, "at_least_ns", time->high);
	}
	ep_json_object_end(json);
}

void ep_report_json_function(struct ep_json *json, const struct ep_function *function)
{
	ep_json_member_text(json, "function", function->name);
	ep_report_json_text(json, "symbol", function->symbol);
	ep_report_json_text(json, "module", function->module);
}

/* ---- the process ---- */

static void uint_or_null(struct ep_json *json, const char *key, uint64_t value)
{
	ep_json_key(json, key);
	if (value)
		ep_json_uint(json, value);
	else
		ep_json_null(json);
}

static void write_redacted(struct ep_json *json, uint32_t bits)
{
	char word[EP_REDACTED_TEXT_MAX];

	ep_json_member_array(json, "redacted");
	for (unsigned i = 0; i < 32; i++)
		if (bits & 1u << i)
			ep_json_string(json, ep_redacted_words(word, sizeof(word), 1u << i));
	ep_json_array_end(json);
}

static void write_source(struct ep_json *json, const struct ep_report *report)
{
	static const char *const kinds[] = {
		[EP_SOURCE_CORE] = "core",   [EP_SOURCE_SNAPSHOT] = "snapshot",
		[EP_SOURCE_LIVE] = "live",   [EP_SOURCE_FUNTRACE] = "funtrace",
		[EP_SOURCE_ARENA] = "arena",
	};

	ep_json_member_object(json, "source");
	ep_json_member_text(json, "name", report->source_name);
	ep_json_member_text(json, "kind", kinds[report->source_kind]);
	ep_json_member_bool(json, "trace", report->trace != NULL);
	write_redacted(json, report->head.redacted);
	ep_json_object_end(json);
}

static void write_process(struct ep_json *json, const struct ep_report_head *head)
{
	ep_json_member_object(json, "process");
	ep_report_json_text(json, "program", head->program);
	ep_report_json_text(json, "build_id", head->build_id);
	ep_report_json_text(json, "command", head->command);
	ep_json_member_bool(json, "command_cut", head->command_cut);
	uint_or_null(json, "pid", head->pid);
	ep_json_key(json, "uid");
	if (head->owner.known)
		ep_json_uint(json, head->owner.uid);
	else
		ep_json_null(json);
	if (head->owner.start_known) {
		ep_json_member_uint(json, "uid_at_start", head->owner.uid_at_start);
		ep_json_member_uint(json, "effective_uid_at_start", head->owner.effective_at_start);
	}
	uint_or_null(json, "started_realtime_ns", head->started);
	uint_or_null(json, "last_record_realtime_ns", head->last_record);
	uint_or_null(json, "lived_ns", (uint64_t)head->lived);
	ep_json_object_end(json);
}

static void write_machine(struct ep_json *json, const struct ep_report_head *head)
{
	const struct ep_machine *machine = &head->machine;
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", machine->kernel >> 16,
		 machine->kernel >> 8 & 0xff, machine->kernel & 0xff);
	ep_json_member_object(json, "machine");
	ep_report_json_text(json, "host", head->host);
	ep_report_json_text(json, "kernel",
			    *head->kernel     ? head->kernel
			    : machine->kernel ? version
					      : "");
	ep_report_json_text(json, "platform", machine->platform);
	uint_or_null(json, "page_size", machine->page_size);
	if (machine->hwcap_known)
		ep_report_json_address(json, "hwcap", machine->hwcap);
	ep_json_object_end(json);
}

/* ---- its end ---- */

static void write_signal(struct ep_json *json, const struct ep_death *death)
{
	ep_json_member_int(json, "number", death->signal);
	ep_report_json_text(json, "name", ep_death_signal_name(death->signal));
	ep_json_member_uint(json, "thread", death->tid);
	if (death->has_siginfo) {
		ep_json_member_int(json, "code", death->code);
		ep_report_json_text(json, "code_name", ep_death_code_name(death));
	}
	if (death->has_siginfo && ep_death_has_address(death))
		ep_report_json_address(json, "address", death->address);
	if (death->has_siginfo && death->signal == SIGSYS && death->code > 0)
		ep_json_member_uint(json, "system_call", death->call);
	if (death->has_siginfo && death->code <= 0) {
		ep_json_member_uint(json, "sender_pid", death->sender_pid);
		ep_json_member_uint(json, "sender_uid", death->sender_uid);
	}
}

static void write_death(struct ep_json *json, const struct ep_report_head *head)
{
	ep_json_member_object(json, "signal");
	write_signal(json, &head->death);
	ep_json_object_end(json);
	if (!head->has_then)
		return;
	ep_json_member_object(json, "then");
	write_signal(json, &head->then);
	ep_report_json_text(json, "because", head->then_because);
	ep_json_object_end(json);
}

static void write_instruction(struct ep_json *json, const struct ep_report_head *head)
{
	ep_json_member_object(json, "instruction");
	ep_report_json_address(json, "pc", head->thread->registers.pc);
	ep_json_member_text(json, "text", head->instruction.text);
	ep_report_json_text(json, "registers", head->instruction.registers);
	ep_json_object_end(json);
}

static void write_fault(struct ep_json *json, const struct ep_fault *fault)
{
	ep_json_member_object(json, "fault");
	ep_json_member_text(json, "kind", fault->kind);
	ep_json_member_bool(json, "likely", fault->likely);
	if (fault->has_address)
		ep_report_json_address(json, "address", fault->address);
	if (fault->access)
		ep_json_member_text(json, "access", fault->access);
	ep_json_object_end(json);
}

static void write_moment(struct ep_json *json, const struct ep_report *report)
{
	const struct ep_trace_end *end = &report->trace->end;
	int64_t more = ep_end_uncertain(end);

	ep_json_member_object(json, "moment");
	ep_json_member_text(json, "known",
			    !end->later                    ? "exact"
			    : more != EP_TRACE_END_UNKNOWN ? "bounded"
							   : "unknown");
	uint_or_null(json, "earliest_realtime_ns", report->head.died);
	uint_or_null(json, "latest_realtime_ns",
		     more == EP_TRACE_END_UNKNOWN || !report->head.died
			     ? 0
			     : report->head.died + (uint64_t)more);
	ep_json_object_end(json);
}

static void write_end(struct ep_json *json, const struct ep_report *report)
{
	static const char *const lives[] = {
		[EP_LIFE_UNKNOWN] = "unknown",
		[EP_LIFE_RUNS] = "running",
		[EP_LIFE_ENDED] = "ended",
	};
	static const char *const ends[] = {
		[EP_REPORT_RUNS] = "running",     [EP_REPORT_FUNTRACE] = "unknown",
		[EP_REPORT_ARENA] = "",           [EP_REPORT_COPY] = "unknown",
		[EP_REPORT_NOTELESS] = "unknown", [EP_REPORT_ALIVE] = "alive",
		[EP_REPORT_DIED] = "signal",
	};
	const struct ep_report_head *head = &report->head;

	ep_json_member_object(json, "end");
	ep_json_member_text(json, "kind",
			    head->end == EP_REPORT_ARENA ? lives[head->life] : ends[head->end]);
	ep_report_json_text(json, "text", head->state);
	ep_report_json_text(json, "because", head->because);
	if (head->end == EP_REPORT_DIED)
		write_death(json, head);
	if (head->cause.code)
		ep_json_member_text(json, "cause", head->cause.code);
	if (head->cause.code && head->cause.function)
		ep_json_member_text(json, "cause_function", head->cause.function->name);
	if (head->end == EP_REPORT_DIED && head->fault.kind && !head->cause.code)
		write_fault(json, &head->fault);
	if (head->missed)
		ep_json_member_text(json, "missed_watchdog", head->missed->name);
	if (head->has_instruction)
		write_instruction(json, head);
	if (head->has_abort_message)
		ep_json_member_text(json, "said", head->abort_message.text);
	if (report->trace)
		ep_end_json(&report->trace->end, json);
	if (report->trace && head->last_record &&
	    (head->end == EP_REPORT_DIED ||
	     (head->end == EP_REPORT_ARENA && head->life == EP_LIFE_ENDED)))
		write_moment(json, report);
	ep_json_object_end(json);
}

/* ---- signature ---- */

static void write_signature(struct ep_json *json, const struct ep_signature *signature)
{
	char key[EP_SIGNATURE_KEY_MAX];

	ep_signature_key(signature, key);
	ep_json_member_object(json, "signature");
	ep_json_member_text(json, "key", key);
	ep_json_member_array(json, "functions");
	for (unsigned i = 0; i < signature->count; i++)
		ep_json_string(json, signature->functions[i]->name);
	ep_json_array_end(json);
	ep_json_object_end(json);
}

/* ---- watchdogs ---- */

static void write_watchdog(struct ep_json *json, const struct ep_trace *trace,
			   const struct ep_report_watchdog *watchdog)
{
	const struct ep_trace_watchdog *one = watchdog->watchdog;

	ep_json_object(json);
	ep_json_member_text(json, "name", one->name);
	ep_json_member_bool(json, "paused", one->paused);
	ep_json_member_bool(json, "aborts", one->action == EP_WATCHDOG_ABORT);
	ep_json_member_int(json, "deadline_ns", one->deadline);
	ep_json_member_uint(json, "fed_by", one->fed_by);
	ago(json, trace, "fed_ago_ns", one->fed_tsc);
	ep_json_member_int(json, "late_ns", watchdog->late);
	ep_json_member_uint(json, "misses", one->misses);
	if (one->misses)
		ep_json_member_uint(json, "missed_by", one->missed_by);
	ep_json_object_end(json);
}

static void write_watchdogs(struct ep_json *json, const struct ep_report *report)
{
	ep_json_member_array(json, "watchdogs");
	for (size_t i = 0; i < report->watchdogs.count; i++)
		write_watchdog(json, report->trace, &report->watchdogs.list[i]);
	ep_json_array_end(json);
}

/* ---- a process that hung ---- */

static void write_hung(struct ep_json *json, const struct ep_trace *trace,
		       const struct ep_report_hung *hung)
{
	ep_json_object(json);
	ep_json_member_uint(json, "tid", hung->tid);
	ep_report_json_text(json, "name", hung->name);
	ep_json_member_bool(json, "waits", hung->waits);
	if (hung->has_call) {
		ep_json_member_object(json, "call");
		ep_report_json_function(json, hung->call.function);
		ep_report_json_time(json, trace, "called", &hung->call.begin);
		ep_json_object_end(json);
	}
	ep_json_member_array(json, "inside");
	for (size_t i = 0; i < hung->function_count; i++)
		ep_json_string(json, hung->functions[i]->name);
	ep_json_array_end(json);
	ep_json_object_end(json);
}

static void write_hang(struct ep_json *json, const struct ep_report *report)
{
	const struct ep_report_hang *hang = &report->hang;

	if (!hang->there)
		return;
	ep_json_member_object(json, "hang");
	ep_json_member_array(json, "threads");
	for (size_t i = 0; i < hang->count; i++)
		write_hung(json, report->trace, &hang->list[i]);
	ep_json_array_end(json);
	ep_json_member_uint(json, "threads_left_out", hang->left);
	ep_json_object_end(json);
}

/* ---- threads, warnings ---- */

static void write_threads(struct ep_json *json, const struct ep_report *report)
{
	ep_json_member_array(json, "threads");
	for (size_t i = 0; i < report->threads.count; i++)
		ep_report_json_thread(json, report->trace, &report->threads.list[i]);
	ep_json_array_end(json);
	ep_json_member_object(json, "threads_left_out");
	ep_json_member_uint(json, "alive", report->threads_left);
	ep_json_member_uint(json, "ended", report->ended_left);
	ep_json_object_end(json);
}

static void write_warnings(struct ep_json *json, const struct ep_report *report)
{
	ep_json_member_array(json, "warnings");
	for (size_t i = 0; i < report->warnings.count; i++) {
		ep_json_object(json);
		ep_json_member_text(json, "code", report->warnings.list[i].code);
		ep_json_member_text(json, "text", report->warnings.list[i].text);
		ep_json_object_end(json);
	}
	ep_json_array_end(json);
}

void ep_report_print_json(const struct ep_report *report, FILE *out)
{
	struct ep_json json;

	ep_json_init(&json, out);
	ep_json_object(&json);
	ep_json_member_text(&json, "schema", SCHEMA);
	ep_json_member_uint(&json, "version", VERSION);
	write_source(&json, report);
	write_process(&json, &report->head);
	write_machine(&json, &report->head);
	write_end(&json, report);
	ep_report_json_place(&json, &report->place);
	if (report->has_signature)
		write_signature(&json, &report->signature);
	write_watchdogs(&json, report);
	write_hang(&json, report);
	write_threads(&json, report);
	ep_report_json_groups(&json, &report->groups);
	write_warnings(&json, report);
	ep_json_member_uint(&json, "kept_snapshots", report->kept);
	ep_json_member_bool(&json, "partial", report->partial);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	ep_json_finish(&json);
}
