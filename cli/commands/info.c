/* SPDX-License-Identifier: BSD-2-Clause */
/* info.c: epitaph info: what is in a source, and how whole it is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/commands/info_sched.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "coredump/snapshot/kept.h"
#include "coredump/funtrace/funtrace.h"
#include "coredump/snapshot/redacted.h"
#include "decoder/kernel/end.h"
#include "decoder/util/fit.h"
#include "decoder/util/json.h"
#include "decoder/trace/losses.h"
#include "decoder/trace/owner.h"
#include "decoder/report/life.h"
#include "decoder/util/timetext.h"
#include "coredump/util/utf8.h"
#include "coredump/util/hex.h"
#include "runtime/format_watchdogs.h"
#include "decoder/trace/switches.h"
#include "cli/commands/switching_text.h"

static const char *state_text(const struct ep_trace_thread *thread)
{
	if (!thread->known)
		return "unknown";
	if (thread->state == EP_THREAD_DEAD)
		return "ended";
	return thread->flags & EP_THREAD_IGNORED ? "ignored" : "live";
}

/* ---- hooks that come and go ---- */

static const char *how_text(const struct ep_switches *head)
{
	static const char *const words[] = {
		[EP_FLIP_UNKNOWN] = "not tried yet",
		[EP_FLIP_FILE] = "through /proc/self/mem",
		[EP_FLIP_MPROTECT] = "by mprotect",
		[EP_FLIP_NONE] = "not at all",
	};

	return words[head->how <= EP_FLIP_NONE ? head->how : EP_FLIP_UNKNOWN];
}

struct off_now {
	size_t count, budget, name, control;
	uint64_t rate;
};

static struct off_now count_off(const struct ep_trace_switches *switches)
{
	struct off_now now = {0};

	for (size_t i = 0; i < switches->count; i++) {
		const struct ep_trace_switched *one = &switches->list[i];

		if (!ep_switched_since(one))
			continue;
		now.count++;
		now.budget += (one->reasons & EP_SWITCH_BUDGET) != 0;
		now.name += (one->reasons & EP_SWITCH_NAME) != 0;
		now.control += (one->reasons & EP_SWITCH_CONTROL) != 0;
		now.rate += one->rate;
	}
	return now;
}

static void print_off(const struct ep_trace *trace)
{
	struct off_now now = count_off(trace->switches);
	uint64_t all = ep_all_off_since(trace);
	char since[EP_TIMETEXT_SIZE];

	if (all)
		printf("off        everything, since %s before the end%s\n",
		       ep_timetext(since, ep_trace_ago(trace, all)),
		       ep_all_off_for_budget(&trace->switches->head)
			       ? ": it cost more than EPITAPH_BUDGET"
			       : "");
	if (now.count)
		printf("off        %zu functions (%zu for the budget, %zu by epitaph_untrace, %zu "
		       "by "
		       "epitaph control), %" PRIu64 " calls a second\n",
		       now.count, now.budget, now.name, now.control, now.rate);
	if (trace->switches->head.untold)
		printf("off        %u more were switched and are not listed\n",
		       trace->switches->head.untold);
}

static void print_cost(const struct ep_switches *head)
{
	if (!head->cpu)
		return;
	printf("cost       estimated overhead %.1f %% of the CPU time without tracing, %.1f %% "
	       "of late (clock %.1f %%, own work %.1f %%)",
	       ep_switches_share(head->cost, head->cost, head->cpu),
	       ep_switches_share(head->cost_last, head->cost_last, head->cpu_last),
	       ep_switches_share(head->cost_clock, head->cost, head->cpu),
	       ep_switches_share(head->cost_own, head->cost, head->cpu));
	if (head->budget)
		printf(", budget %.4g %%", head->budget / 1e4);
	printf("\n");
}

/* Nothing where nothing was switched nor a budget set. */
static void print_switches(const struct ep_trace *trace)
{
	const struct ep_switches *head = trace->switches ? &trace->switches->head : NULL;

	if (!head)
		return;
	print_off(trace);
	if (head->how)
		printf("switching  %s%s%s, %" PRIu64 " times, of %" PRIu64 " places in %u pages\n",
		       how_text(head), head->how == EP_FLIP_NONE ? ": " : "",
		       head->how == EP_FLIP_NONE ? ep_switching_why_not_text(head) : "",
		       head->flips, head->site_count, head->pages);
	if (head->unflippable)
		printf("           %" PRIu64 " times a place was not as it should be (a "
		       "debugger's breakpoint?)\n",
		       head->unflippable);
	if (trace->arena.marks_left_out)
		printf("marks      %" PRIu64 " of exceptions and jumps were left out for "
		       "EPITAPH_BUDGET: none left a call that is in the history\n",
		       trace->arena.marks_left_out);
	print_cost(head);
}

static void json_off(struct ep_json *json, const struct ep_trace *trace)
{
	struct off_now now = count_off(trace->switches);
	uint64_t all = ep_all_off_since(trace);

	ep_json_member_bool(json, "all_off", all != 0);
	if (all)
		ep_json_member_int(json, "all_off_ago_ns", ep_trace_ago(trace, all));
	if (all)
		ep_json_member_bool(json, "all_off_for_budget",
				    ep_all_off_for_budget(&trace->switches->head));
	ep_json_member_uint(json, "all_off_count", trace->switches->head.all_count);
	ep_json_member_uint(json, "functions_off", now.count);
	ep_json_member_uint(json, "functions_off_budget", now.budget);
	ep_json_member_uint(json, "functions_off_name", now.name);
	ep_json_member_uint(json, "functions_off_control", now.control);
	ep_json_member_uint(json, "functions_untold", trace->switches->head.untold);
	ep_json_member_uint(json, "rate_off", now.rate);
}

static void json_cost(struct ep_json *json, const struct ep_switches *head)
{
	ep_json_member_uint(json, "budget_ppm", head->budget);
	ep_json_member_uint(json, "cost_cycles", head->cost);
	ep_json_member_uint(json, "cost_clock_cycles", head->cost_clock);
	ep_json_member_uint(json, "cost_own_cycles", head->cost_own);
	ep_json_member_uint(json, "cpu_cycles", head->cpu);
	ep_json_member_uint(json, "cost_last_cycles", head->cost_last);
	ep_json_member_uint(json, "cpu_last_cycles", head->cpu_last);
}

/* Absent where the runtime does not know of it. */
static void json_switches(struct ep_json *json, const struct ep_trace *trace)
{
	const struct ep_switches *head = trace->switches ? &trace->switches->head : NULL;

	if (!head)
		return;
	ep_json_member_object(json, "switching");
	ep_json_member_text(json, "how", ep_switching_how_name(head));
	if (head->how == EP_FLIP_NONE)
		ep_json_member_text(json, "why_not", ep_switching_why_not_name(head));
	ep_json_member_uint(json, "flips", head->flips);
	ep_json_member_uint(json, "sites", head->site_count);
	ep_json_member_uint(json, "pages", head->pages);
	ep_json_member_uint(json, "unflippable", head->unflippable);
	json_off(json, trace);
	json_cost(json, head);
	ep_json_member_uint(json, "marks_left_out", trace->arena.marks_left_out);
	ep_json_object_end(json);
}

/* ---- for people ---- */

static void print_life(const struct ep_session *session)
{
	const struct ep_arena_file *file = ep_source_arena_file(session->source);
	char text[512];

	if (!file)
		return;
	ep_life_state_text(text, sizeof(text), file, session->trace, 0);
	printf("state      %s\n", text);
	ep_life_cause_text(text, sizeof(text), file);
	if (text[0])
		printf("           %s\n", text);
}

static void print_process(const struct ep_session *session)
{
	const struct ep_trace *trace = session->trace;
	const struct ep_trace_process *process = &trace->process;
	char text[EP_TIMETEXT_SIZE + 16], words[EP_REDACTED_TEXT_MAX];
	char silence[256];
	uint32_t redacted = ep_source_redacted(session->source);
	char user[EP_OWNER_TEXT_SIZE];
	struct ep_owner owner;

	ep_owner_find(&owner, session->source, trace);
	if (*process->executable || !(redacted & EP_REDACTED_PATHS))
		printf("program    %s\n", process->executable);
	if (*process->command_line)
		printf("command    %s\n", process->command_line);
	if (redacted)
		printf("left out   %s, when the snapshot was made, as it was asked for\n",
		       ep_redacted_text(words, sizeof(words), redacted));
	if (ep_source_funtrace(session->source))
		printf("process    pid %u\n", process->pid);
	else
		printf("process    pid %u, parent %u%s%s, on %s (Linux %s)\n", process->pid,
		       process->parent_pid, owner.known ? ", " : "",
		       ep_owner_text(&owner, user, sizeof(user)), process->host, process->kernel);
	if (process->start_realtime)
		printf("started    %s\n", ep_timetext_clock(text, process->start_realtime));
	print_life(session);
	if (ep_trace_realtime(trace, trace->last_tsc))
		printf("last event %s\n",
		       ep_timetext_clock(text, ep_trace_realtime(trace, trace->last_tsc)));
	if (ep_end_text(&trace->end, silence, sizeof(silence)))
		printf("silence    %s\n", silence);
}

static void print_clock(const struct ep_trace *trace)
{
	if (!trace->clock.known)
		printf("clock      unknown: times are not to be had\n");
	else if (trace->clock.anchors)
		printf("clock      %.6f ns per tick, right to %.3f ppm, %u anchors\n",
		       trace->clock.ns_per_tick, (double)trace->clock.error_ppb / 1000,
		       trace->clock.anchors);
	else
		printf("clock      %.6f ns per tick, right to %.3f ppm\n", trace->clock.ns_per_tick,
		       (double)trace->clock.error_ppb / 1000);
}

/* There is no arena in it, nor settings of ours. */
static void print_funtrace(const struct ep_funtrace_facts *facts, const struct ep_trace *trace)
{
	printf("format     funtrace.raw, sample %zu of %zu (from 0 on): %" PRIu64 " entries\n",
	       facts->sample, facts->samples, facts->entries);
	if (facts->scheduling)
		printf("scheduling %" PRIu64 " events of the kernel as text, which only export -f "
		       "viztracer and chrome show\n",
		       facts->scheduling_events);
	print_clock(trace);
}

/* Of threads that have a history and not all records timed. */
static void print_asked(const struct ep_trace *trace)
{
	size_t count = 0, asked = 0;

	for (size_t i = 0; i < trace->thread_count; i++) {
		if (!trace->threads[i].block_count)
			continue;
		count++;
		asked += ep_thread_is_asked(&trace->threads[i]);
	}
	if (trace->arena.timestamp_every == 1 || trace->arena.min_duration || !count)
		return;
	if (asked && asked < count)
		printf(", and after each wait of %zu of %zu threads", asked, count);
	else
		printf("%s after each wait", asked ? ", and" : ", but not");
}

static void print_arena(const struct ep_session *session)
{
	const struct ep_trace *trace = session->trace;
	const struct ep_arena *arena = &trace->arena;

	if (ep_source_funtrace(session->source)) {
		print_funtrace(ep_source_funtrace(session->source), trace);
		return;
	}
	printf("arena      %zu bytes at 0x%" PRIx64 ", found by %s%s%s%s\n", session->image.size,
	       session->image.address, ep_found_text(session->found.how),
	       session->found.where[0] ? " (" : "", session->found.where,
	       session->found.where[0] ? ")" : "");
	printf("format     %u.%u, runtime %s\n", arena->root.major, arena->root.minor,
	       trace->process.runtime);
	printf("settings   memory %" PRIu64 " KiB, rings up to %" PRIu64 " KiB, time stamps ",
	       arena->memory_size / 1024, arena->ring_size / 1024);
	if (arena->timestamp_every)
		printf("one in %u", arena->timestamp_every);
	else
		printf("auto (clock budget %.1f %%)", arena->clock_budget / 1e4);
	print_asked(trace);
	if (arena->min_duration)
		printf(", calls below %" PRIu64 " cycles dropped", arena->min_duration);
	printf("%s\n", arena->gate & EP_GATE_COUNTING ? ", counting"
		       : arena->gate                  ? ", paused"
						      : "");
	if (arena->blind & EP_BLIND_EXCEPTIONS)
		printf("unseen     exceptions of shared libraries: the program has an unwinder of "
		       "its own (-static-libgcc)\n");
	if (arena->blind & EP_BLIND_SNAPSHOT)
		printf("unseen     its death, by EPITAPH_ON_CRASH: its filter of system calls does "
		       "not let a snapshot be written\n");
	print_clock(trace);
	if (trace->looks.count)
		printf("looks      %zu at how far threads were (EPITAPH_LOOKS)\n",
		       trace->looks.count);
}

static void print_losses(const struct ep_trace *trace)
{
	struct ep_loss list[EP_LOSSES_MAX];
	size_t count = ep_losses(trace, list);
	const char *head = "lost      ";

	for (size_t i = 0; i < count; i++) {
		if (!list[i].count)
			continue;
		printf("%s %" PRIu64 " %s\n", head, list[i].count, list[i].text);
		head = "          ";
	}
	if (*head == 'l')
		printf("lost       nothing\n");
	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].blocks_missed)
			printf("           %" PRIu64 " of them of thread %u %s\n",
			       trace->threads[i].blocks_missed, trace->threads[i].tid,
			       trace->threads[i].name);
}

/* ---- watchdogs ---- */

static void print_watchdogs(const struct ep_trace *trace)
{
	char deadline[EP_TIMETEXT_SIZE], ago[EP_TIMETEXT_SIZE];

	for (size_t i = 0; i < trace->watchdog_count; i++) {
		const struct ep_trace_watchdog *one = &trace->watchdogs[i];

		printf("watchdog   %s: deadline %s, %sfed last by thread %u, %s before the end; "
		       "%" PRIu64 " misses%s\n",
		       one->name, ep_timetext(deadline, one->deadline),
		       one->paused ? "paused, " : "", one->fed_by,
		       ep_timetext(ago, ep_trace_ago(trace, one->fed_tsc)), one->misses,
		       ep_trace_watchdog_late(trace, one) ? ", it is late" : "");
	}
	if (trace->stacks_tsc)
		printf("stacks     of %zu threads, taken at the last miss; %" PRIu64
		       " threads did not answer\n",
		       trace->stack_count, trace->stacks_missing);
}

static void json_watchdog(struct ep_json *json, const struct ep_trace *trace,
			  const struct ep_trace_watchdog *one)
{
	static const char *const actions[] = {"unknown", "abort", "snapshot", "call"};

	ep_json_object(json);
	ep_json_member_text(json, "name", one->name);
	ep_json_member_int(json, "deadline_ns", one->deadline);
	ep_json_member_text(json, "action",
			    actions[one->action <= EP_WATCHDOG_CALL ? one->action : 0]);
	ep_json_member_bool(json, "paused", one->paused);
	ep_json_member_uint(json, "created_by", one->created_by);
	ep_json_member_uint(json, "fed_by", one->fed_by);
	ep_json_member_int(json, "fed_ago_ns", ep_trace_ago(trace, one->fed_tsc));
	ep_json_member_int(json, "late_ns", ep_trace_watchdog_late(trace, one));
	ep_json_member_uint(json, "misses", one->misses);
	ep_json_member_uint(json, "missed_by", one->missed_by);
	ep_json_object_end(json);
}

static void json_watchdogs(struct ep_json *json, const struct ep_trace *trace)
{
	ep_json_member_array(json, "watchdogs");
	for (size_t i = 0; i < trace->watchdog_count; i++)
		json_watchdog(json, trace, &trace->watchdogs[i]);
	ep_json_array_end(json);
	ep_json_member_uint(json, "stacks_taken", trace->stack_count);
}

/* ---- kept snapshots ---- */

static const char *taker(const struct ep_trace *trace, uint32_t tid)
{
	const char *name = "";

	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid)
			name = trace->threads[i].name;
	return name;
}

static void print_kept_one(const struct ep_trace *trace, const struct ep_kept_found *found)
{
	const struct ep_kept *kept = &found->kept;
	char when[EP_TIMETEXT_SIZE + 16], span[EP_TIMETEXT_SIZE];

	printf("kept       %" PRIu64 ": %" PRIu64 " KiB, taken by %u %s", kept->number,
	       kept->size / 1024, kept->tid, taker(trace, kept->tid));
	if (ep_trace_realtime(trace, kept->tsc))
		printf(" at %s", ep_timetext_clock(when, ep_trace_realtime(trace, kept->tsc)));
	if (kept->since && kept->since < kept->tsc)
		printf(", going back %s",
		       ep_timetext(span, ep_trace_ns(trace, kept->since, kept->tsc)));
	if (found->present < kept->size)
		printf(", %" PRIu64 " KiB not saved", (kept->size - found->present) / 1024);
	printf("\n");
}

static void print_kept(const struct ep_session *session)
{
	const struct ep_arena *arena = &session->trace->arena;
	char when[EP_TIMETEXT_SIZE + 16];
	struct ep_kept_list kept;

	if (arena->kept_tsc)
		printf("kept       this is a snapshot that the program kept in memory, taken at "
		       "%s\n",
		       ep_timetext_clock(when, ep_trace_realtime(session->trace, arena->kept_tsc)));
	ep_kept_list(&kept, session->source, &session->found);
	for (size_t i = 0; i < kept.count; i++)
		print_kept_one(session->trace, &kept.list[i]);
	if (kept.corrupt)
		printf("kept       %zu entries make no sense\n", kept.corrupt);
	ep_kept_list_deinit(&kept);
}

static void print_threads(const struct ep_trace *trace)
{
	char back[EP_TIMETEXT_SIZE], span[EP_TIMETEXT_SIZE];

	printf("\n%-8s %-16s %-8s %8s %14s %14s\n", "tid", "thread", "state", "blocks", "history",
	       "last event");
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];
		int blanks = ep_fit_blanks(thread->name, 16);

		if (!thread->block_count) {
			printf("%-8u %s%*s %-8s %8s\n", thread->tid, thread->name, blanks, "",
			       state_text(thread), "-");
			continue;
		}
		printf("%-8u %s%*s %-8s %8zu %14s %14s%s\n", thread->tid, thread->name, blanks, "",
		       state_text(thread), thread->block_count,
		       ep_timetext(span, ep_trace_ns(trace, thread->first_tsc, thread->last_tsc)),
		       ep_timetext(back, ep_trace_ns(trace, trace->end.tsc, thread->last_tsc)),
		       thread->from_start ? "  whole" : "");
	}
}

static void print_modules(const struct ep_trace *trace)
{
	char id[2 * EP_BUILD_ID_MAX + 1], *shown;

	printf("\n%-34s %-40s %s\n", "addresses", "build-id", "module");
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct ep_trace_module *module = &trace->modules[i];

		ep_hex(id, module->build_id, module->build_id_size);
		shown = ep_utf8_escape(module->path, strlen(module->path));
		printf("0x%014" PRIx64 "-0x%014" PRIx64 " %-40s %s%s\n", module->start, module->end,
		       *id ? id : "none", shown, module->unload_tsc ? " (unloaded)" : "");
		free(shown);
	}
}

/* ---- for programs ---- */

static void json_thread(struct ep_json *json, const struct ep_trace *trace,
			const struct ep_trace_thread *thread)
{
	ep_json_object(json);
	ep_json_member_uint(json, "tid", thread->tid);
	ep_json_member_uint(json, "serial", thread->serial);
	ep_json_member_text(json, "name", thread->name);
	ep_json_member_text(json, "state", state_text(thread));
	ep_json_member_uint(json, "blocks", thread->block_count);
	ep_json_member_uint(json, "blocks_entered", thread->blocks_entered);
	ep_json_member_uint(json, "blocks_missed", thread->blocks_missed);
	ep_json_member_bool(json, "whole", thread->from_start);
	ep_json_member_bool(json, "timed_after_waits", ep_thread_is_asked(thread));
	ep_json_member_int(json, "history_ns",
			   ep_trace_ns(trace, thread->first_tsc, thread->last_tsc));
	ep_json_key(json, "last_event_ns");
	ep_json_int(json,
		    thread->block_count ? ep_trace_ns(trace, trace->end.tsc, thread->last_tsc) : 0);
	/* One record in how many was to be timed, block by block. */
	ep_json_member_array(json, "every");
	for (size_t i = 0; i < thread->block_count; i++)
		ep_json_uint(json, thread->blocks[i].block->every);
	ep_json_array_end(json);
	ep_json_object_end(json);
}

static void json_module(struct ep_json *json, const struct ep_trace_module *module)
{
	char id[2 * EP_BUILD_ID_MAX + 1];

	ep_hex(id, module->build_id, module->build_id_size);
	ep_json_object(json);
	ep_json_member_text(json, "path", module->path);
	ep_json_member_text(json, "build_id", id);
	ep_json_member_uint(json, "start", module->start);
	ep_json_member_uint(json, "end", module->end);
	ep_json_member_uint(json, "bias", module->bias);
	ep_json_member_bool(json, "unloaded", module->unload_tsc != 0);
	ep_json_object_end(json);
}

/* Only for a funtrace.raw. */
static void json_funtrace(struct ep_json *json, const struct ep_funtrace_facts *facts)
{
	if (!facts)
		return;
	ep_json_member_object(json, "funtrace");
	ep_json_member_uint(json, "samples", facts->samples);
	ep_json_member_uint(json, "sample", facts->sample);
	ep_json_member_uint(json, "entries", facts->entries);
	ep_json_member_uint(json, "entries_refused", facts->entries_refused);
	ep_json_member_uint(json, "returns_unknown", facts->returns_unknown);
	ep_json_member_uint(json, "scheduling_bytes", facts->scheduling);
	ep_json_member_uint(json, "scheduling_events", facts->scheduling_events);
	ep_json_member_uint(json, "scheduling_refused", facts->scheduling_refused);
	ep_json_object_end(json);
}

static void json_redacted(struct ep_json *json, uint32_t redacted)
{
	char words[EP_REDACTED_TEXT_MAX], *save = NULL, *word;

	ep_redacted_words(words, sizeof(words), redacted);
	ep_json_member_array(json, "left_out");
	for (word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save))
		ep_json_string(json, word);
	ep_json_array_end(json);
}

static void json_process(struct ep_json *json, const struct ep_session *session)
{
	const struct ep_trace *trace = session->trace;

	ep_json_member_uint(json, "version", 1);
	ep_json_member_text(json, "found", ep_found_text(session->found.how));
	ep_json_member_uint(json, "arena_address", session->image.address);
	ep_json_member_uint(json, "arena_bytes", session->image.size);
	ep_json_member_uint(json, "pid", trace->process.pid);
	ep_json_member_text(json, "executable", trace->process.executable);
	ep_json_member_text(json, "command_line", trace->process.command_line);
	json_redacted(json, ep_source_redacted(session->source));
	ep_json_member_text(json, "host", trace->process.host);
	ep_json_member_uint(json, "start_realtime_ns", trace->process.start_realtime);
	ep_json_member_uint(json, "last_realtime_ns", ep_trace_realtime(trace, trace->last_tsc));
	ep_end_json(&trace->end, json);
	ep_json_member_uint(json, "clock_error_ppb", trace->clock.error_ppb);
	ep_json_member_bool(json, "paused", (trace->arena.gate & ~EP_GATE_COUNTING) != 0);
	ep_json_member_bool(json, "counting", (trace->arena.gate & EP_GATE_COUNTING) != 0);
}

static void json_kept_one(struct ep_json *json, const struct ep_trace *trace,
			  const struct ep_kept_found *found)
{
	const struct ep_kept *kept = &found->kept;

	ep_json_object(json);
	ep_json_member_uint(json, "number", kept->number);
	ep_json_member_uint(json, "tid", kept->tid);
	ep_json_member_uint(json, "bytes", kept->size);
	ep_json_member_uint(json, "saved_bytes", found->present);
	ep_json_member_uint(json, "realtime_ns", ep_trace_realtime(trace, kept->tsc));
	if (kept->since) {
		ep_json_member_int(json, "span_ns", ep_trace_ns(trace, kept->since, kept->tsc));
	}
	ep_json_object_end(json);
}

/* Only for an arena file. */
static void json_life(struct ep_json *json, const struct ep_arena_file *file)
{
	static const char *const words[] = {
		[EP_LIFE_UNKNOWN] = "unknown",
		[EP_LIFE_RUNS] = "running",
		[EP_LIFE_ENDED] = "ended",
	};

	if (!file)
		return;
	ep_json_member_text(json, "state", words[file->life]);
	if (file->oom_known)
		ep_json_member_uint(json, "oom_kills", file->oom_kills);
}

static void json_kept(struct ep_json *json, const struct ep_session *session)
{
	struct ep_kept_list kept;

	ep_json_member_bool(json, "is_kept", session->trace->arena.kept_tsc != 0);
	ep_kept_list(&kept, session->source, &session->found);
	ep_json_member_array(json, "kept");
	for (size_t i = 0; i < kept.count; i++)
		json_kept_one(json, session->trace, &kept.list[i]);
	ep_json_array_end(json);
	ep_kept_list_deinit(&kept);
}

static int info_print_json(const struct ep_session *session)
{
	const struct ep_trace *trace = session->trace;
	struct ep_loss list[EP_LOSSES_MAX];
	size_t count = ep_losses(trace, list);
	struct ep_json json;

	ep_json_init(&json, stdout);
	ep_json_object(&json);
	json_process(&json, session);
	json_funtrace(&json, ep_source_funtrace(session->source));
	json_life(&json, ep_source_arena_file(session->source));
	ep_json_member_object(&json, "lost");
	for (size_t i = 0; i < count; i++)
		ep_json_member_uint(&json, list[i].name, list[i].count);
	ep_json_object_end(&json);
	json_watchdogs(&json, trace);
	json_kept(&json, session);
	ep_info_json_schedule(&json, session->trace);
	json_switches(&json, trace);
	ep_json_member_uint(&json, "looks", trace->looks.count);
	ep_json_member_array(&json, "threads");
	for (size_t i = 0; i < trace->thread_count; i++)
		json_thread(&json, trace, &trace->threads[i]);
	ep_json_array_end(&json);
	ep_json_member_array(&json, "modules");
	for (size_t i = 0; i < trace->module_count; i++)
		json_module(&json, &trace->modules[i]);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	return ep_json_finish(&json) ? EP_EXIT_UNREADABLE : EP_EXIT_COMPLETE;
}

static int info_run(const struct ep_arguments *arguments)
{
	struct ep_session session;
	int result = ep_session_open(&session, arguments, arguments->operands[0], true);
	int status = EP_EXIT_COMPLETE;

	if (result > EP_EXIT_PARTIAL)
		return result;
	if (ep_argument_given(arguments, "json")) {
		status = info_print_json(&session);
	} else {
		print_process(&session);
		print_arena(&session);
		if (!ep_source_funtrace(session.source))
			ep_info_print_schedule(session.trace);
		print_switches(session.trace);
		print_losses(session.trace);
		print_watchdogs(session.trace);
		print_kept(&session);
		print_threads(session.trace);
		if (ep_argument_given(arguments, "modules"))
			print_modules(session.trace);
	}
	result = ep_session_warn(&session);
	ep_session_close(&session);
	return status ? status : result;
}

static const struct ep_option options[] = {
	{"modules", 'm', NULL, "list the modules with their build-ids"},
	{"json", 'j', NULL, "for programs: one object; docs/info.schema.json says what is in it"},
	{"executable", 'e', "FILE", "the program's file, when it is not where the core says"},
	{"sysroot", 0, "DIR", "find the modules' files below DIR"},
	{"sample", 0, "N", "of a funtrace.raw the Nth sample, from 0 on; default the last"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_info = {
	.name = "info",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "what a trace holds, how complete it is, how far back it goes",
	.example = "info core.4711",
	.description = "Tells what a core, a snapshot or a running process holds: the program, the "
		       "settings of the trace, each thread with how far back its history goes, how "
		       "exact the clock is, and everything that was lost.\n\n"
		       "A thread whose history is \"whole\" is known from its first event on; of "
		       "the others the beginning was overwritten, or is in the trace of the "
		       "process that was forked.",
	.options = options,
	.pages = true,
	.run = info_run,
};
