/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * facts.c: what the page has beside events, as one JSON object: names, threads, sources, what was
 * switched off, the death and the report. Times are ns since the trace's first record, null
 * unknown. Members that are lists of lists: functions [name, module, file or -1, line, short name
 * where it is another], tasks [tid, name], intervals of what was off [begin, end, on_begin, on_end]
 * as in struct ep_trace_off.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/kernel/end.h"
#include "decoder/export/html/html.h"
#include "decoder/names/short_name.h"

/* A source file that is longer is not one that a person wrote. */
#define SOURCE_MAX (4u << 20)

struct facts {
	struct ep_json json;
	const struct ep_export *export;
	const struct ep_trace *trace;
	EP_ARRAY(const char *) files; /* by number; borrowed */
};

static int64_t ns_of(const struct facts *facts, uint64_t tsc)
{
	return ep_trace_ns(facts->trace, facts->trace->first_tsc, tsc);
}

static void member_time(struct facts *facts, const char *key, uint64_t tsc, bool known)
{
	if (known)
		ep_json_member_int(&facts->json, key, ns_of(facts, tsc));
	else
		ep_json_member_null(&facts->json, key);
}

/* ---- functions and sources ---- */

static int compare_files(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_files(struct facts *facts, const struct ep_html_functions *functions)
{
	size_t kept = 0;

	for (size_t i = 0; i < functions->list.count; i++) {
		struct ep_line line =
			ep_names_function_line(facts->export->names, functions->list.list[i]);

		if (line.file)
			ep_array_push(&facts->files, line.file);
	}
	ep_array_sort(&facts->files, compare_files);
	for (size_t i = 0; i < facts->files.count; i++)
		if (!kept || strcmp(facts->files.list[kept - 1], facts->files.list[i]) != 0)
			facts->files.list[kept++] = facts->files.list[i];
	facts->files.count = kept;
}

static int64_t file_number(const struct facts *facts, const char *file)
{
	const char **found = file && facts->files.count
				     ? bsearch(&file, facts->files.list, facts->files.count,
					       sizeof(*facts->files.list), compare_files)
				     : NULL;

	return found ? found - facts->files.list : -1;
}

static void write_short_name(struct ep_json *json, const char *name)
{
	char *shortened = ep_short_name(name);

	if (strcmp(shortened, name) != 0)
		ep_json_string(json, shortened);
	free(shortened);
}

static void write_functions(struct facts *facts, const struct ep_html_functions *functions)
{
	struct ep_json *json = &facts->json;

	ep_json_member_array(json, "functions");
	for (size_t i = 0; i < functions->list.count; i++) {
		const struct ep_function *function = functions->list.list[i];
		struct ep_line line = ep_names_function_line(facts->export->names, function);

		ep_json_array(json);
		ep_json_string(json, function->name);
		ep_json_string(json, function->module);
		ep_json_int(json, file_number(facts, line.file));
		ep_json_uint(json, line.file ? line.line : 0);
		write_short_name(json, function->name);
		ep_json_array_end(json);
	}
	ep_json_array_end(json);
}

/* Path, and text where it may be taken along. */
static void write_file(struct facts *facts, const char *path)
{
	struct ep_embedded *embedded = facts->export->embedded;
	struct ep_json *json = &facts->json;
	size_t size;
	char *text;

	ep_json_object(json);
	ep_json_member_text(json, "path", path);
	if (embedded && ep_embedded_read(embedded, path, &text, &size) == EP_OK) {
		ep_json_key(json, "text");
		ep_json_bytes(json, text, size < SOURCE_MAX ? size : SOURCE_MAX);
		free(text);
	}
	ep_json_object_end(json);
}

static void write_files(struct facts *facts)
{
	ep_json_member_array(&facts->json, "files");
	for (size_t i = 0; i < facts->files.count; i++)
		write_file(facts, facts->files.list[i]);
	ep_json_array_end(&facts->json);
}

/* ---- threads ---- */

static void write_levels(struct ep_json *json, const struct ep_html_thread *written)
{
	ep_json_member_array(json, "levels");
	for (size_t i = 0; i < written->levels.count; i++)
		ep_json_uint(json, written->levels.list[i]);
	ep_json_array_end(json);
}

static void write_thread(struct facts *facts, const struct ep_trace_thread *thread,
			 const struct ep_html_thread *written)
{
	struct ep_json *json = &facts->json;

	ep_json_object(json);
	ep_json_member_uint(json, "tid", thread->tid);
	ep_json_member_uint(json, "serial", thread->serial);
	ep_json_member_text(json, "name", thread->name);
	ep_json_member_bool(json, "there", written->there);
	if (written->there) {
		member_time(facts, "start", thread->start_tsc, thread->start_tsc);
		member_time(facts, "end", thread->end_tsc, thread->end_tsc);
		member_time(facts, "first", thread->first_tsc, thread->block_count);
		ep_json_member_int(json, "last", written->last);
		ep_json_member_bool(json, "whole", thread->from_start);
		ep_json_member_bool(json, "forked", thread->forked);
		ep_json_member_uint(json, "lost", thread->lost_records);
		write_levels(json, written);
	}
	ep_json_object_end(json);
}

static void write_threads(struct facts *facts, const struct ep_html_thread *threads)
{
	ep_json_member_array(&facts->json, "threads");
	for (size_t i = 0; i < facts->trace->thread_count; i++)
		write_thread(facts, &facts->trace->threads[i], &threads[i]);
	ep_json_array_end(&facts->json);
}

/* ---- what was off ---- */

static void write_off(struct facts *facts, const struct ep_trace_off *off)
{
	const uint64_t times[] = {off->begin, off->end, off->on_begin, off->on_end};
	struct ep_json *json = &facts->json;

	ep_json_array(json);
	for (unsigned i = 0; i < 4; i++)
		if (times[i] == UINT64_MAX || (i == 0 && !times[i]))
			ep_json_null(json);
		else
			ep_json_int(json, ns_of(facts, times[i]));
	ep_json_array_end(json);
}

static void write_offs(struct facts *facts, const char *key, const struct ep_trace_off *list,
		       size_t count)
{
	ep_json_member_array(&facts->json, key);
	for (size_t i = 0; i < count; i++)
		write_off(facts, &list[i]);
	ep_json_array_end(&facts->json);
}

static void write_switched(struct facts *facts, const struct ep_trace_switched *one)
{
	struct ep_json *json = &facts->json;

	ep_json_object(json);
	ep_json_member_text(json, "name", ep_names_find(facts->export->names, one->start, 0)->name);
	ep_json_member_uint(json, "times", one->count);
	ep_json_member_uint(json, "reasons", one->reasons);
	ep_json_member_bool(json, "outside", one->outside);
	write_offs(facts, "off", one->off, one->off_count);
	ep_json_object_end(json);
}

static void write_switches(struct facts *facts)
{
	const struct ep_trace_switches *switches = facts->trace->switches;

	write_offs(facts, "all_off", switches ? switches->all : NULL,
		   switches ? switches->all_count : 0);
	ep_json_member_array(&facts->json, "switched");
	for (size_t i = 0; switches && i < switches->count; i++)
		if (switches->list[i].off_count)
			write_switched(facts, &switches->list[i]);
	ep_json_array_end(&facts->json);
}

/* ---- the rest ---- */

static void write_schedule(struct facts *facts)
{
	const struct ep_schedule *schedule = facts->trace->schedule;
	struct ep_json *json = &facts->json;

	ep_json_member_array(json, "tasks");
	for (size_t i = 0; schedule && i < schedule->task_count; i++) {
		ep_json_array(json);
		ep_json_uint(json, schedule->tasks[i].tid);
		ep_json_string(json, schedule->tasks[i].name);
		ep_json_array_end(json);
	}
	ep_json_array_end(json);
	if (!schedule || schedule->first >= schedule->last)
		return;
	ep_json_member_object(json, "schedule");
	ep_json_member_int(json, "first", ns_of(facts, schedule->first));
	ep_json_member_int(json, "last", ns_of(facts, schedule->last));
	ep_json_member_bool(json, "machine", schedule->head.machine);
	ep_json_object_end(json);
}

static void write_death(struct facts *facts)
{
	const struct ep_export *export = facts->export;
	struct ep_json *json = &facts->json;

	if (export->death) {
		ep_json_member_object(json, "death");
		ep_json_member_text(json, "text", export->death);
		ep_json_member_uint(json, "tid", export->death_tid);
		ep_json_object_end(json);
	}
	if (export->page)
		ep_json_member_text(json, "page", export->page);
	if (export->report)
		ep_json_member_text(json, "report", export->report);
}

static void write_process(struct facts *facts)
{
	const struct ep_trace *trace = facts->trace;
	struct ep_json *json = &facts->json;
	int64_t later = ep_end_uncertain(&trace->end);
	char zero[32];

	/* As text: a browser's numbers have 53 bits. */
	snprintf(zero, sizeof(zero), "%" PRIu64, ep_trace_realtime(trace, trace->first_tsc));
	ep_json_member_uint(json, "format", 1);
	ep_json_member_text(json, "producer", "epitaph " EP_VERSION);
	ep_json_member_text(json, "program", ep_export_program(trace));
	ep_json_member_text(json, "command_line", trace->process.command_line);
	ep_json_member_text(json, "host", trace->process.host);
	ep_json_member_uint(json, "pid", trace->process.pid);
	ep_json_member_text(json, "zero_realtime_ns", zero);
	ep_json_member_int(json, "last", ns_of(facts, trace->last_tsc));
	ep_json_member_int(json, "end", ns_of(facts, trace->end.tsc));
	if (later == EP_TRACE_END_UNKNOWN)
		ep_json_member_null(json, "end_latest");
	else if (later)
		ep_json_member_int(json, "end_latest",
				   ep_ns_add(ns_of(facts, trace->end.tsc), later));
	ep_json_member_array(json, "warnings");
	for (size_t i = 0; i < trace->warning_count; i++)
		ep_json_string(json, trace->warnings[i]);
	ep_json_array_end(json);
}

void ep_html_facts_write(struct ep_outbuf *out, const struct ep_export *export,
			 const struct ep_html_functions *functions,
			 const struct ep_html_thread *threads)
{
	struct facts facts = {.export = export, .trace = export->trace};
	struct ep_html_bytes bytes = {0};
	char *text;
	size_t size;
	FILE *file = ep_open_memstream(&text, &size);

	ep_json_init(&facts.json, file);
	ep_json_object(&facts.json);
	find_files(&facts, functions);
	write_process(&facts);
	write_functions(&facts, functions);
	write_files(&facts);
	write_threads(&facts, threads);
	write_switches(&facts);
	write_schedule(&facts);
	write_death(&facts);
	ep_json_object_end(&facts.json);
	ep_close_memstream(file);
	ep_html_put(&bytes, "F", 1);
	ep_html_put(&bytes, text, size);
	ep_html_chunk(out, &bytes);
	ep_array_deinit(&bytes);
	ep_array_deinit(&facts.files);
	free(text);
}
