/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * viztracer.c: an event's name is the key of its function in file_info, so both come from one text.
 * The events themselves are chrome.c's.
 */
#include "decoder/export/viztracer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/export/chrome.h"

struct label {
	char *text; /* "func (file:line)"; NULL: not asked yet */
	struct ep_line line;
};

struct writer {
	const struct ep_export *export;
	struct ep_json *json; /* of the members behind the events */
	struct label *labels; /* by function id */
	size_t label_count;
};

/* ---- names ---- */

static int labels_grow(struct writer *writer, uint32_t id)
{
	size_t count = writer->label_count ? writer->label_count : 256;
	struct label *grown;

	while (count <= id)
		count *= 2;
	grown = realloc(writer->labels, count * sizeof(*grown));
	if (!grown)
		return EP_E_MEMORY;
	memset(grown + writer->label_count, 0, (count - writer->label_count) * sizeof(*grown));
	writer->labels = grown;
	writer->label_count = count;
	return EP_OK;
}

static int label_make(struct writer *writer, struct label *label,
		      const struct ep_function *function)
{
	int length;

	label->line = ep_names_function_line(writer->export->names, function);
	if (label->line.file && label->line.line)
		length = asprintf(&label->text, "%s (%s:%" PRIu32 ")", function->name,
				  label->line.file, label->line.line);
	else if (function->known)
		length = asprintf(&label->text, "%s (%s)", function->name, function->module);
	else
		length = asprintf(&label->text, "%s", function->name);
	if (length < 0)
		label->text = NULL;
	return label->text ? EP_OK : EP_E_MEMORY;
}

/* ,"name":"func (file:line)","cat":"FEE","args":{"module":"m" */
static char *function_text(void *context, const struct ep_function *function)
{
	struct writer *writer = context;
	char *name, *module, *text = NULL;

	if (function->id >= writer->label_count && labels_grow(writer, function->id))
		return NULL;
	if (!writer->labels[function->id].text &&
	    label_make(writer, &writer->labels[function->id], function))
		return NULL;
	name = ep_export_quote(writer->labels[function->id].text);
	module = ep_export_quote(function->module);
	if (!name || !module ||
	    asprintf(&text, ",\"name\":%s,\"cat\":\"FEE\",\"args\":{\"module\":%s", name, module) <
		    0)
		text = NULL;
	free(name);
	free(module);
	return text;
}

/* ---- sources ---- */

static int write_file(struct writer *writer, const char *path)
{
	size_t size, lines = 0;
	char *text;
	int rc = ep_embedded_read(writer->export->embedded, path, &text, &size);

	if (rc != EP_OK)
		return rc == EP_END ? EP_OK : rc;
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	ep_json_newline(writer->json);
	ep_json_key(writer->json, path);
	ep_json_array(writer->json);
	ep_json_bytes(writer->json, text, size);
	ep_json_uint(writer->json, lines);
	ep_json_array_end(writer->json);
	free(text);
	return EP_OK;
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int write_files(struct writer *writer)
{
	const char **files = calloc(writer->label_count + 1, sizeof(*files));
	size_t count = 0;
	int rc = EP_OK;

	if (!files)
		return EP_E_MEMORY;
	for (size_t i = 0; i < writer->label_count; i++)
		if (writer->labels[i].text && writer->labels[i].line.file &&
		    writer->labels[i].line.line)
			files[count++] = writer->labels[i].line.file;
	qsort(files, count, sizeof(*files), compare_files);
	for (size_t i = 0; i < count && rc == EP_OK; i++)
		if (i == 0 || strcmp(files[i], files[i - 1]) != 0)
			rc = write_file(writer, files[i]);
	free(files);
	return rc;
}

static int compare_labels(const void *a, const void *b)
{
	const struct label *x = *(const struct label *const *)a;
	const struct label *y = *(const struct label *const *)b;

	return strcmp(x->text, y->text);
}

/* Two functions may have one label: JSON wants a key once. */
static int write_functions(struct writer *writer)
{
	const struct label **labels = calloc(writer->label_count + 1, sizeof(*labels));
	size_t count = 0;

	if (!labels)
		return EP_E_MEMORY;
	for (size_t i = 0; i < writer->label_count; i++)
		if (writer->labels[i].text && writer->labels[i].line.file &&
		    writer->labels[i].line.line)
			labels[count++] = &writer->labels[i];
	qsort(labels, count, sizeof(*labels), compare_labels);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && compare_labels(&labels[i - 1], &labels[i]) == 0)
			continue;
		ep_json_newline(writer->json);
		ep_json_key(writer->json, labels[i]->text);
		ep_json_array(writer->json);
		ep_json_string(writer->json, labels[i]->line.file);
		ep_json_uint(writer->json, labels[i]->line.line);
		ep_json_array_end(writer->json);
	}
	free(labels);
	return EP_OK;
}

static int write_sources(struct writer *writer)
{
	int rc = EP_OK;

	ep_json_key(writer->json, "file_info");
	ep_json_object(writer->json);
	ep_json_key(writer->json, "files");
	ep_json_object(writer->json);
	if (writer->export->embedded)
		rc = write_files(writer);
	ep_json_object_end(writer->json);
	ep_json_key(writer->json, "functions");
	ep_json_object(writer->json);
	if (!rc)
		rc = write_functions(writer);
	ep_json_object_end(writer->json);
	ep_json_object_end(writer->json);
	return rc;
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
	ep_json_key(json, "version");
	ep_json_string(json, "epitaph " EP_VERSION);
	ep_json_key(json, "overflow");
	ep_json_bool(json, !whole);
	ep_json_key(json, "first_record_realtime_ns");
	ep_json_uint(json, ep_trace_realtime(trace, trace->first_tsc));
	ep_json_object_end(json);
	ep_json_newline(json);
	ep_json_key(json, "displayTimeUnit");
	ep_json_string(json, "ns");
	ep_json_newline(json);
}

static int write_tail(void *context, struct ep_json *json)
{
	struct writer *writer = context;

	writer->json = json;
	write_metadata(writer);
	return write_sources(writer);
}

int ep_viztracer_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		       struct ep_err *err)
{
	struct writer writer = {.export = export};
	const struct ep_chrome_style style = {
		.context = &writer,
		.function = function_text,
		.tail = write_tail,
	};
	int rc = ep_chrome_stream(out, export, &style, shown, err);

	for (size_t i = 0; i < writer.label_count; i++)
		free(writer.labels[i].text);
	free(writer.labels);
	return rc;
}
