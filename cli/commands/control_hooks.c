/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_hooks.c: a row a function, which may have several entries: parts of it, and one of the
 * process beside one from outside.
 */
#include "cli/commands/control_hooks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/switching_text.h"
#include "cli/common/say.h"
#include "coredump/live/switching.h"
#include "coredump/util/array.h"
#include "decoder/kernel/end.h"
#include "decoder/names/modules.h"
#include "decoder/util/timetext.h"

#define OFF (EP_SWITCH_NAME | EP_SWITCH_BUDGET | EP_SWITCH_CONTROL)

struct hook_row {
	const struct ep_function *function;
	unsigned reasons;
	uint64_t since; /* TSC; 0: it is on */
	uint64_t rate;
	uint32_t times;
};

struct hook_rows {
	struct hook_row *list;
	size_t count, capacity;
};

static void add_rows(struct hook_rows *rows, struct ep_names *names, const struct ep_switched *list,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].start)
			ep_array_push(rows,
				      ((struct hook_row){
					      .function = ep_names_find(names, list[i].start, 0),
					      .reasons = list[i].reasons,
					      .since = ep_switching_since(&list[i]),
					      .rate = list[i].rate,
					      .times = list[i].count,
				      }));
}

static int by_function(const void *a, const void *b)
{
	const struct hook_row *x = a, *y = b;

	return (x->function->id > y->function->id) - (x->function->id < y->function->id);
}

/* What costs most first; what is on comes last. */
static int by_rate(const void *a, const void *b)
{
	const struct hook_row *x = a, *y = b;

	if (!(x->reasons & OFF) != !(y->reasons & OFF))
		return x->reasons & OFF ? -1 : 1;
	if (x->rate != y->rate)
		return x->rate < y->rate ? 1 : -1;
	return strcmp(x->function->name, y->function->name);
}

static void join(struct hook_row *into, const struct hook_row *row)
{
	into->reasons |= row->reasons;
	if (row->since && (!into->since || row->since < into->since))
		into->since = row->since;
	into->rate = row->rate > into->rate ? row->rate : into->rate;
	into->times = row->times > into->times ? row->times : into->times;
}

static void rows_make(struct hook_rows *rows, struct ep_names *names,
		      const struct ep_switched_list *list)
{
	size_t kept = 0;

	add_rows(rows, names, list->own, list->own_count);
	add_rows(rows, names, list->control, list->control_count);
	ep_array_sort(rows, by_function);
	for (size_t i = 0; i < rows->count; i++)
		if (kept && rows->list[kept - 1].function == rows->list[i].function)
			join(&rows->list[kept - 1], &rows->list[i]);
		else
			rows->list[kept++] = rows->list[i];
	rows->count = kept;
	ep_array_sort(rows, by_rate);
}

/* ---- printing ---- */

static void print_row(const struct hook_row *row, const struct ep_switching_facts *facts)
{
	unsigned why = row->reasons & OFF ? row->reasons & OFF : row->reasons;
	char since[EP_TIMETEXT_SIZE] = "-", rate[EP_TIMETEXT_SIZE] = "-";

	if (row->since)
		ep_timetext(since, ep_trace_ns(facts->trace, row->since, facts->now));
	if (row->rate)
		ep_counttext(rate, row->rate);
	printf("%-4s %-16s %14s %14s %6u  %s (%s)\n", row->reasons & OFF ? "off" : "on",
	       row->reasons ? ep_switching_reasons_text(why) : "-", since, rate, row->times,
	       row->function->name, row->function->module);
}

#define NOT_COUNTED SIZE_MAX

static void print_stale(pid_t pid, size_t stale)
{
	if (stale && stale != NOT_COUNTED)
		printf("not right  %zu hook%s on that should be off, or off that should be on, as "
		       "after a debugger's breakpoint: epitaph control %d on sets %s right\n",
		       stale, stale == 1 ? " is" : "s are", (int)pid, stale == 1 ? "it" : "them");
}

static void print_all(const struct hook_rows *rows, const struct ep_switching_facts *facts,
		      const struct ep_session *session, size_t stale)
{
	ep_switching_print(facts);
	print_stale(ep_source_pid(session->source), stale);
	if (rows->count)
		printf("\n%-4s %-16s %14s %14s %6s  %s\n", "now", "why", "since", "calls/s",
		       "times", "function (module)");
	for (size_t i = 0; i < rows->count; i++)
		print_row(&rows->list[i], facts);
}

static void json_row(struct ep_json *json, const struct hook_row *row,
		     const struct ep_switching_facts *facts)
{
	ep_json_object(json);
	ep_json_member_text(json, "function", row->function->name);
	ep_json_member_text(json, "symbol", row->function->symbol);
	ep_json_member_text(json, "module", row->function->module);
	ep_json_member_bool(json, "off", row->reasons & OFF);
	ep_json_member_bool(json, "kept", row->reasons & EP_SWITCH_KEPT);
	ep_json_member_array(json, "why");
	for (unsigned bit = 1; bit <= EP_SWITCH_CONTROL; bit *= 2)
		if (row->reasons & bit)
			ep_json_string(json, ep_switching_reasons_text(bit));
	ep_json_array_end(json);
	if (row->since)
		ep_json_member_int(json, "off_ns",
				   ep_trace_ns(facts->trace, row->since, facts->now));
	if (row->rate)
		ep_json_member_uint(json, "calls_per_second", row->rate);
	ep_json_member_uint(json, "times", row->times);
	ep_json_object_end(json);
}

static int json_all(const struct hook_rows *rows, const struct ep_switching_facts *facts,
		    const struct ep_session *session, size_t stale)
{
	struct ep_json json;

	ep_json_init(&json, stdout);
	ep_json_object(&json);
	ep_json_member_uint(&json, "version", 1);
	ep_json_member_uint(&json, "pid", (uint64_t)ep_source_pid(session->source));
	ep_switching_json(&json, facts);
	if (stale != NOT_COUNTED)
		ep_json_member_uint(&json, "hooks_not_right", stale);
	ep_json_member_array(&json, "functions");
	for (size_t i = 0; i < rows->count; i++)
		json_row(&json, &rows->list[i], facts);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	return ep_json_finish(&json) ? EP_EXIT_UNREADABLE : EP_EXIT_COMPLETE;
}

/* ---- the whole ---- */

/* What the bytes say. Of a process that may not be written to nothing is known. */
static size_t count_stale(struct ep_session *session)
{
	struct ep_switching switching;
	struct ep_control control;
	struct ep_err err;
	size_t count = 0;
	int rc;

	if (ep_source_kind(session->source) != EP_SOURCE_LIVE ||
	    ep_control_open(&control, session->source, &session->found, NULL))
		return 0;
	rc = ep_switching_open(&switching, &control, session->source, &session->found, &err);
	if (rc == EP_OK) {
		rc = ep_switching_stale(&switching, &count, &err);
		ep_switching_close(&switching);
	}
	ep_control_close(&control);
	if (rc == EP_OK || rc == EP_END)
		return count;
	ep_say("%s; whether its hooks are as they should be is not known", err.text);
	return NOT_COUNTED;
}

static int print_list(struct ep_session *session, struct ep_names *names,
		      const struct ep_switched_list *list, bool json)
{
	bool live = ep_source_kind(session->source) == EP_SOURCE_LIVE;
	struct ep_switching_facts facts = {
		.list = list,
		.trace = session->trace,
		.now = live ? __builtin_ia32_rdtsc() : session->trace->end.tsc,
	};
	struct hook_rows rows = {0};
	size_t stale = count_stale(session);
	int result = EP_EXIT_COMPLETE;

	rows_make(&rows, names, list);
	if (json)
		result = json_all(&rows, &facts, session, stale);
	else
		print_all(&rows, &facts, session, stale);
	ep_array_deinit(&rows);
	return result == EP_EXIT_COMPLETE && stale == NOT_COUNTED ? EP_EXIT_PARTIAL : result;
}

/* The files that are loaded now, by the process's maps, where there are any. */
int ep_control_hooks(struct ep_session *session, bool json)
{
	struct ep_err err = {0};
	struct ep_switched_list list;
	struct ep_trace_module *modules;
	struct ep_names *names;
	size_t count;
	int result = ep_image_read_head(&session->image, session->source, &session->found, &err);

	result = result ? result : ep_trace_create(&session->trace, &session->image, &err);
	result = result ? result : ep_switched_read(&list, session->source, &session->found, &err);
	if (result) {
		ep_say("%s", err.text);
		return ep_session_status(result);
	}
	ep_end_find(session->trace, session->source, 0);
	modules = ep_modules_from_source(&count, session->source, session->trace);
	names = ep_names_create(count ? modules : session->trace->modules,
				count ? count : session->trace->module_count, &session->naming);
	result = print_list(session, names, &list, json);
	ep_names_destroy(names);
	free(modules);
	ep_switched_deinit(&list);
	return result;
}
