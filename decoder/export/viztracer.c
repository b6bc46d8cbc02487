/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * viztracer.c: an event's name is the key of its function in file_info, so both come from one text.
 * The events themselves are chrome.c's.
 */
#include "decoder/export/viztracer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/export/chrome.h"

struct label {
	char *text; /* "func (file:line)"; NULL: not asked yet */
	struct ep_line line;
};

struct writer {
	const struct ep_export *export;
	struct ep_json *json;          /* of the members behind the events */
	EP_ARRAY(struct label) labels; /* by function id */
};

/* ---- names ---- */

static struct label *label_make(struct writer *writer, const struct ep_function *function)
{
	struct label *label;

	while (writer->labels.count <= function->id)
		ep_array_add(&writer->labels);
	label = &writer->labels.list[function->id];
	label->line = ep_names_function_line(writer->export->names, function);
	if (label->line.file && label->line.line)
		label->text = ep_asprintf("%s (%s:%" PRIu32 ")", function->name, label->line.file,
					  label->line.line);
	else if (function->known)
		label->text = ep_asprintf("%s (%s)", function->name, function->module);
	else
		label->text = ep_strdup(function->name);
	return label;
}

/* ,"name":"func (file:line)","cat":"FEE","args":{"module":"m" */
static char *viztracer_function(void *context, const struct ep_function *function)
{
	char *name = ep_export_quote(label_make(context, function)->text);
	char *module = ep_export_quote(function->module);
	char *text =
		ep_asprintf(",\"name\":%s,\"cat\":\"FEE\",\"args\":{\"module\":%s", name, module);

	free(name);
	free(module);
	return text;
}

/* ---- sources ---- */

static void write_file(struct writer *writer, const char *path)
{
	size_t size, lines = 0;
	char *text;

	if (ep_embedded_read(writer->export->embedded, path, &text, &size) != EP_OK)
		return;
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	ep_json_newline(writer->json);
	ep_json_key(writer->json, path);
	ep_json_array(writer->json);
	ep_json_bytes(writer->json, text, size);
	ep_json_uint(writer->json, lines);
	ep_json_array_end(writer->json);
	free(text);
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_labels(const void *a, const void *b)
{
	const struct label *x = *(const struct label *const *)a;
	const struct label *y = *(const struct label *const *)b;

	return strcmp(x->text, y->text);
}

static bool has_line(const struct label *label)
{
	return label->text && label->line.file && label->line.line;
}

static void write_files(struct writer *writer)
{
	EP_ARRAY(const char *) files = {0};

	for (size_t i = 0; i < writer->labels.count; i++)
		if (has_line(&writer->labels.list[i]))
			ep_array_push(&files, writer->labels.list[i].line.file);
	ep_array_sort(&files, compare_files);
	for (size_t i = 0; i < files.count; i++)
		if (i == 0 || strcmp(files.list[i], files.list[i - 1]) != 0)
			write_file(writer, files.list[i]);
	ep_array_deinit(&files);
}

/* Two functions may have one label: JSON wants a key once. */
static void write_functions(struct writer *writer)
{
	EP_ARRAY(const struct label *) labels = {0};

	for (size_t i = 0; i < writer->labels.count; i++)
		if (has_line(&writer->labels.list[i]))
			ep_array_push(&labels, &writer->labels.list[i]);
	ep_array_sort(&labels, compare_labels);
	for (size_t i = 0; i < labels.count; i++) {
		const struct label *label = labels.list[i];

		if (i > 0 && compare_labels(&labels.list[i - 1], &labels.list[i]) == 0)
			continue;
		ep_json_newline(writer->json);
		ep_json_key(writer->json, label->text);
		ep_json_array(writer->json);
		ep_json_string(writer->json, label->line.file);
		ep_json_uint(writer->json, label->line.line);
		ep_json_array_end(writer->json);
	}
	ep_array_deinit(&labels);
}

static void write_sources(struct writer *writer)
{
	ep_json_key(writer->json, "file_info");
	ep_json_object(writer->json);
	ep_json_key(writer->json, "files");
	ep_json_object(writer->json);
	if (writer->export->embedded)
		write_files(writer);
	ep_json_object_end(writer->json);
	ep_json_key(writer->json, "functions");
	ep_json_object(writer->json);
	write_functions(writer);
	ep_json_object_end(writer->json);
	ep_json_object_end(writer->json);
}

/* ---- the whole ---- */

static void write_metadata(struct writer *writer)
{
	const struct ep_trace *trace = writer->export->trace;
	struct ep_json *json = writer->json;
	bool whole = true;

	for (size_t i = 0; i < trace->thread_count; i++)
		whole = whole && trace->threads[i].from_start;
	ep_json_newline(json);
	ep_json_key(json, "viztracer_metadata");
	ep_json_object(json);
	ep_json_member_text(json, "version", "epitaph " EP_VERSION);
	ep_json_member_bool(json, "overflow", !whole);
	ep_json_member_uint(json, "first_record_realtime_ns",
			    ep_trace_realtime(trace, trace->first_tsc));
	ep_json_object_end(json);
	ep_json_newline(json);
	ep_json_member_text(json, "displayTimeUnit", "ns");
	ep_json_newline(json);
}

static void viztracer_tail(void *context, struct ep_json *json)
{
	struct writer *writer = context;

	writer->json = json;
	write_metadata(writer);
	write_sources(writer);
}

int ep_viztracer_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		       struct ep_err *err)
{
	struct writer writer = {.export = export};
	const struct ep_chrome_style style = {
		.context = &writer,
		.function = viztracer_function,
		.tail = viztracer_tail,
	};
	int rc = ep_chrome_stream(out, export, &style, shown, err);

	for (size_t i = 0; i < writer.labels.count; i++)
		free(writer.labels.list[i].text);
	ep_array_deinit(&writer.labels);
	return rc;
}
