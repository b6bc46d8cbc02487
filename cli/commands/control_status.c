/* SPDX-License-Identifier: BSD-2-Clause */
/* control_status.c: how a running process is traced, now. It goes on while it is looked at: what is
 * told of two threads may be of two moments. */
#include "cli/commands/control_status.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/commands/switching_text.h"
#include "cli/common/say.h"
#include "coredump/snapshot/kept.h"
#include "decoder/util/fit.h"
#include "decoder/util/json.h"
#include "decoder/util/timetext.h"
#include "decoder/trace/trace.h"

/* Who keeps the gate shut. */
static const struct {
	uint32_t bit;
	const char *name, *text;
} gates[] = {
	{EP_GATE_CONTROL, "control", "paused by epitaph control"},
	{EP_GATE_API, "program", "paused by the program (epitaph_pause)"},
	{EP_GATE_OFF, "start", "everything is off (EPITAPH=off, epitaph control off)"},
	{EP_GATE_OLD_OFF, "start", "started paused (EPITAPH=off)"},
	{EP_GATE_STOPPED, "stopped", "off for good"},
	{EP_GATE_COUNTING, "counting", "none: it counts calls"},
};
#define GATES (sizeof(gates) / sizeof(*gates))

static const char *state_text(const struct ep_trace *trace, const struct ep_trace_thread *thread)
{
	if (!thread->known)
		return "unknown";
	if (thread->state == EP_THREAD_DEAD)
		return "ended";
	if (thread->flags & EP_THREAD_IGNORED)
		return "ignored";
	if (thread->flags & EP_THREAD_WITHOUT_RING)
		return "no ring";
	if (thread->gate)
		return "paused itself";
	return trace->arena.gate ? "paused" : "recording";
}

/* ---- for people ---- */

static void print_process(const struct ep_session *session)
{
	const struct ep_trace *trace = session->trace;
	pid_t pid = ep_source_pid(session->source);

	printf("process    pid %d", (int)pid);
	if (trace->process.pid != (uint32_t)pid)
		printf(" (%u in its own namespace)", trace->process.pid);
	printf(", %s\n", trace->process.executable);
}

static void print_gate(const struct ep_arena *arena)
{
	const char *separator = "";

	printf("recording  ");
	for (size_t i = 0; i < GATES; i++) {
		if (!(arena->gate & gates[i].bit))
			continue;
		printf("%s%s", separator, gates[i].text);
		separator = "; ";
	}
	if (arena->off_reason)
		printf("%s: %s", arena->gate ? "" : "off for good", ep_off_text(arena->off_reason));
	else if (!arena->gate)
		printf("on");
	printf("\n");
	if (arena->pauses || arena->control_pauses)
		printf("pauses     %" PRIu64 " by the program or its start, %" PRIu64
		       " by epitaph control\n",
		       arena->pauses, arena->control_pauses);
}

static void print_settings(const struct ep_arena *arena)
{
	if (arena->timestamp_every)
		printf("timing     one time stamp in %u\n", arena->timestamp_every);
	else
		printf("timing     auto (clock budget %.1f %%)\n", arena->clock_budget / 1e4);
	if (arena->min_duration)
		printf("dropped    calls below %" PRIu64 " cycles\n", arena->min_duration);
	printf("memory     %" PRIu64 " of %" PRIu64 " KiB in use, rings up to %" PRIu64 " KiB\n",
	       arena->committed / 1024, arena->root.arena_size / 1024, arena->ring_size / 1024);
}

/* Not of a runtime that knows nothing of it. */
static bool read_switching(struct ep_switching_facts *facts, struct ep_switched_list *list,
			   const struct ep_session *session)
{
	*facts = (struct ep_switching_facts){list, session->trace, __builtin_ia32_rdtsc()};
	return ep_switched_read(list, session->source, &session->found, NULL) == EP_OK;
}

static void print_switching(const struct ep_session *session)
{
	struct ep_switching_facts facts;
	struct ep_switched_list list;

	if (!read_switching(&facts, &list, session))
		return;
	ep_switching_print(&facts);
	ep_switched_deinit(&list);
}

static void print_kept(const struct ep_session *session, const struct ep_kept_list *kept)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < kept->count; i++)
		bytes += kept->list[i].kept.size;
	printf("kept       %zu snapshots, %" PRIu64 " of %" PRIu64 " KiB", kept->count,
	       bytes / 1024, session->trace->arena.keep_size / 1024);
	if (session->trace->arena.kept_refused)
		printf("; %" PRIu64 " had no room", session->trace->arena.kept_refused);
	printf("\n");
}

static void print_thread(const struct ep_trace *trace, const struct ep_trace_thread *thread)
{
	char back[EP_TIMETEXT_SIZE] = "-", span[EP_TIMETEXT_SIZE] = "-";
	char timing[16] = "-";

	if (thread->timing)
		snprintf(timing, sizeof(timing), "%u", thread->timing);
	if (thread->block_count) {
		ep_timetext(span, ep_trace_ns(trace, thread->first_tsc, thread->last_tsc));
		ep_timetext(back, ep_trace_ns(trace, trace->last_tsc, thread->last_tsc));
	}
	printf("%-8u %s%*s %-14s %6s %8zu %14s %14s%s\n", thread->tid, thread->name,
	       ep_fit_blanks(thread->name, 16), "", state_text(trace, thread), timing,
	       thread->block_count, span, back, thread->from_start ? "  whole" : "");
}

static void print_all(const struct ep_session *session, const struct ep_kept_list *kept)
{
	const struct ep_trace *trace = session->trace;

	print_process(session);
	print_gate(&trace->arena);
	print_settings(&trace->arena);
	print_switching(session);
	print_kept(session, kept);
	printf("\n%-8s %-16s %-14s %6s %8s %14s %14s\n", "tid", "thread", "state", "timing",
	       "blocks", "history", "last event");
	for (size_t i = 0; i < trace->thread_count; i++)
		print_thread(trace, &trace->threads[i]);
}

/* ---- for programs ---- */

static void json_gate(struct ep_json *json, const struct ep_arena *arena)
{
	ep_json_member_bool(json, "recording", arena->gate == 0 && !arena->off_reason);
	ep_json_member_array(json, "paused_by");
	for (size_t i = 0; i < GATES; i++)
		if (arena->gate & gates[i].bit)
			ep_json_string(json, gates[i].name);
	ep_json_array_end(json);
	if (arena->off_reason)
		ep_json_member_text(json, "stopped", ep_off_text(arena->off_reason));
	ep_json_member_uint(json, "pauses", arena->pauses);
	ep_json_member_uint(json, "control_pauses", arena->control_pauses);
}

static void json_settings(struct ep_json *json, const struct ep_arena *arena)
{
	ep_json_member_uint(json, "timestamp_every", arena->timestamp_every);
	ep_json_member_uint(json, "clock_budget_ppm", arena->clock_budget);
	ep_json_member_uint(json, "min_duration_cycles", arena->min_duration);
	ep_json_member_uint(json, "memory_bytes", arena->root.arena_size);
	ep_json_member_uint(json, "memory_used_bytes", arena->committed);
	ep_json_member_uint(json, "ring_bytes", arena->ring_size);
	ep_json_member_uint(json, "keep_bytes", arena->keep_size);
	ep_json_member_uint(json, "kept_refused", arena->kept_refused);
}

static void json_switching(struct ep_json *json, const struct ep_session *session)
{
	struct ep_switching_facts facts;
	struct ep_switched_list list;

	if (!read_switching(&facts, &list, session))
		return;
	ep_json_member_object(json, "switching");
	ep_switching_json(json, &facts);
	ep_json_object_end(json);
	ep_switched_deinit(&list);
}

static void json_kept(struct ep_json *json, const struct ep_kept_list *kept)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < kept->count; i++)
		bytes += kept->list[i].kept.size;
	ep_json_member_uint(json, "kept", kept->count);
	ep_json_member_uint(json, "kept_bytes", bytes);
}

static void json_thread(struct ep_json *json, const struct ep_trace *trace,
			const struct ep_trace_thread *thread)
{
	bool any = thread->block_count != 0;

	ep_json_object(json);
	ep_json_member_uint(json, "tid", thread->tid);
	ep_json_member_text(json, "name", thread->name);
	ep_json_member_text(json, "state", state_text(trace, thread));
	ep_json_member_uint(json, "timing", thread->timing);
	ep_json_member_uint(json, "own_pauses", thread->gate);
	ep_json_member_uint(json, "blocks", thread->block_count);
	ep_json_member_uint(json, "blocks_entered", thread->blocks_entered);
	ep_json_member_bool(json, "whole", thread->from_start);
	ep_json_member_int(json, "history_ns",
			   any ? ep_trace_ns(trace, thread->first_tsc, thread->last_tsc) : 0);
	ep_json_member_int(json, "last_event_ns",
			   any ? ep_trace_ns(trace, trace->last_tsc, thread->last_tsc) : 0);
	ep_json_object_end(json);
}

static int json_all(const struct ep_session *session, const struct ep_kept_list *kept)
{
	const struct ep_trace *trace = session->trace;
	struct ep_json json;

	ep_json_init(&json, stdout);
	ep_json_object(&json);
	ep_json_member_uint(&json, "version", 1);
	ep_json_member_uint(&json, "pid", (uint64_t)ep_source_pid(session->source));
	ep_json_member_uint(&json, "own_pid", trace->process.pid);
	ep_json_member_text(&json, "executable", trace->process.executable);
	json_gate(&json, &trace->arena);
	json_settings(&json, &trace->arena);
	json_switching(&json, session);
	json_kept(&json, kept);
	ep_json_member_array(&json, "threads");
	for (size_t i = 0; i < trace->thread_count; i++)
		json_thread(&json, trace, &trace->threads[i]);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	return ep_json_finish(&json) ? EP_EXIT_UNREADABLE : EP_EXIT_COMPLETE;
}

/* Blocks that change while they are read are no damage here. */
int ep_control_status(struct ep_session *session, bool json)
{
	struct ep_err err = {0};
	struct ep_kept_list kept;
	int result = ep_image_read(&session->image, session->source, &session->found, &err);

	result = result ? result : ep_trace_create(&session->trace, &session->image, &err);
	if (result) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	ep_kept_list(&kept, session->source, &session->found);
	if (json)
		result = json_all(session, &kept);
	else
		print_all(session, &kept);
	ep_kept_list_deinit(&kept);
	return result;
}
