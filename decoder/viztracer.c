/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * viztracer.c: one event a call, in order of time and outermost first, because
 * viewers nest slices of the same time in the order of the file. An event's
 * name is the key of its function in file_info, so both come from one text.
 */
#include "decoder/viztracer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decoder/json.h"

#define SOURCE_MAX (8 << 20) /* bytes: more is no source that one reads */
/* Threads whose tid is unknown, or was another thread's before. */
#define STRANGE_TID 10000000u

struct label {
	char *text; /* "func (file:line)"; NULL: not asked yet */
	struct ep_line line;
};

struct writer {
	struct ep_json json;
	const struct ep_trace *trace;
	struct ep_names *names;
	const struct ep_call_list *list;
	const uint8_t *shown;
	struct label *labels; /* by function id */
	size_t label_count;
	uint32_t *order; /* indices of the shown calls, sorted */
	size_t count;
	uint32_t *tids; /* by index of the thread */
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
	memset(grown + writer->label_count, 0,
	       (count - writer->label_count) * sizeof(*grown));
	writer->labels = grown;
	writer->label_count = count;
	return EP_OK;
}

static int label_make(struct writer *writer, struct label *label,
		      const struct ep_function *function)
{
	int length;

	label->line = ep_names_function_line(writer->names, function);
	if (label->line.file && label->line.line)
		length = asprintf(&label->text, "%s (%s:%" PRIu32 ")",
				  function->name, label->line.file,
				  label->line.line);
	else if (function->known)
		length = asprintf(&label->text, "%s (%s)", function->name,
				  function->module);
	else
		length = asprintf(&label->text, "%s", function->name);
	if (length < 0)
		label->text = NULL;
	return label->text ? EP_OK : EP_E_MEMORY;
}

/* Every shown function has its label before anything is written. */
static int labels_make(struct writer *writer)
{
	for (size_t i = 0; i < writer->list->count; i++) {
		const struct ep_function *function =
			writer->list->calls[i].function;

		if (!writer->shown[i] || !function)
			continue;
		if (function->id >= writer->label_count &&
		    labels_grow(writer, function->id))
			return EP_E_MEMORY;
		if (!writer->labels[function->id].text &&
		    label_make(writer, &writer->labels[function->id], function))
			return EP_E_MEMORY;
	}
	return EP_OK;
}

/* ---- order ---- */

static int64_t start_ns(const struct ep_trace *trace, const struct ep_time *at)
{
	int64_t ns = ep_trace_ns(trace, trace->first_tsc, at->best);

	return ns > 0 ? ns : 0;
}

static int compare_calls(const void *a, const void *b, void *context)
{
	const struct ep_call *calls = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct ep_call *x = &calls[i], *y = &calls[j];

	if (x->thread->serial != y->thread->serial)
		return x->thread->serial < y->thread->serial ? -1 : 1;
	if (x->begin.best != y->begin.best)
		return x->begin.best < y->begin.best ? -1 : 1;
	/* Of two that begin together the outer one comes first; one that is
	 * over comes before one that begins at its end. */
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return i < j ? -1 : i > j;
}

static int order_make(struct writer *writer)
{
	const struct ep_call_list *list = writer->list;

	writer->order = calloc(list->count + 1, sizeof(*writer->order));
	if (!writer->order)
		return EP_E_MEMORY;
	for (size_t i = 0; i < list->count; i++)
		if (writer->shown[i])
			writer->order[writer->count++] = (uint32_t)i;
	qsort_r(writer->order, writer->count, sizeof(*writer->order),
		compare_calls, list->calls);
	return EP_OK;
}

/* A viewer takes equal tids for one thread. */
static int tids_make(struct writer *writer)
{
	const struct ep_trace *trace = writer->trace;

	writer->tids = calloc(trace->thread_count + 1, sizeof(*writer->tids));
	if (!writer->tids)
		return EP_E_MEMORY;
	for (size_t i = 0; i < trace->thread_count; i++) {
		uint32_t tid = trace->threads[i].tid;

		for (size_t j = i + 1; tid && j < trace->thread_count; j++)
			if (trace->threads[j].tid == tid)
				tid = 0;
		writer->tids[i] =
			tid ? tid : STRANGE_TID + trace->threads[i].serial;
	}
	return EP_OK;
}

/* ---- events ---- */

static void text_member(struct ep_json *json, const char *key, const char *text)
{
	ep_json_key(json, key);
	ep_json_string(json, text);
}

static void event_head(struct writer *writer, const char *phase,
		       const struct ep_trace_thread *thread)
{
	struct ep_json *json = &writer->json;
	size_t index = (size_t)(thread - writer->trace->threads);

	ep_json_newline(json);
	ep_json_object(json);
	text_member(json, "ph", phase);
	ep_json_key(json, "pid");
	ep_json_uint(json, writer->trace->process.pid);
	ep_json_key(json, "tid");
	ep_json_uint(json, writer->tids[index]);
}

static void time_member(struct writer *writer, const char *key, int64_t ns)
{
	ep_json_key(&writer->json, key);
	ep_json_thousandth(&writer->json, ns);
}

/* What the numbers don't tell. */
static void call_args(struct writer *writer, const struct ep_call *call)
{
	const struct {
		bool on;
		const char *key, *text;
	} words[] = {
		{!call->ended, "unfinished", "did not return"},
		{call->flags & EP_CALL_BEFORE, "began",
		 "before the history: begin unknown"},
		{call->ended && call->flags & EP_CALL_ABANDONED, "ended",
		 "left without a return"},
		{call->flags & EP_CALL_ACROSS_GAP, "gap",
		 "history is missing inside"},
		{call->ended && call->flags & EP_CALL_AMBIGUOUS, "ambiguous",
		 "the return may be of an outer call of it"},
		{!call->begin.exact || (call->ended && !call->end.exact),
		 "times", "approximate"},
	};
	bool any = false;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!words[i].on)
			continue;
		if (!any) {
			ep_json_key(&writer->json, "args");
			ep_json_object(&writer->json);
		}
		any = true;
		text_member(&writer->json, words[i].key, words[i].text);
	}
	if (any)
		ep_json_object_end(&writer->json);
}

static void call_event(struct writer *writer, const struct ep_call *call)
{
	int64_t begin = start_ns(writer->trace, &call->begin);

	event_head(writer, call->ended ? "X" : "B", call->thread);
	time_member(writer, "ts", begin);
	if (call->ended) {
		int64_t end = start_ns(writer->trace, &call->end);

		time_member(writer, "dur", end > begin ? end - begin : 0);
	}
	text_member(&writer->json, "name",
		    writer->labels[call->function->id].text);
	text_member(&writer->json, "cat", "FEE");
	call_args(writer, call);
	ep_json_object_end(&writer->json);
}

/* An instant, at the place where something is missing; and a return that
 * belongs to no call. */
static void instant_event(struct writer *writer, const struct ep_call *call)
{
	event_head(writer, "i", call->thread);
	time_member(writer, "ts",
		    start_ns(writer->trace,
			     call->function ? &call->end : &call->begin));
	text_member(&writer->json, "name",
		    call->function ? writer->labels[call->function->id].text
				   : "history is missing");
	text_member(&writer->json, "cat", call->function ? "stray" : "gap");
	text_member(&writer->json, "s", "t");
	ep_json_object_end(&writer->json);
}

static void name_event(struct writer *writer, const char *what,
		       const struct ep_trace_thread *thread, const char *name)
{
	event_head(writer, "M", thread);
	text_member(&writer->json, "name", what);
	ep_json_key(&writer->json, "args");
	ep_json_object(&writer->json);
	text_member(&writer->json, "name", name);
	ep_json_object_end(&writer->json);
	ep_json_object_end(&writer->json);
}

static void write_names(struct writer *writer)
{
	const struct ep_trace *trace = writer->trace;
	const char *program = trace->process.executable;

	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];

		if (i == 0)
			name_event(writer, "process_name", thread,
				   program && *program ? program : "unknown");
		name_event(writer, "thread_name", thread,
			   thread->name[0] ? thread->name : "thread");
	}
}

static void write_events(struct writer *writer)
{
	ep_json_key(&writer->json, "traceEvents");
	ep_json_array(&writer->json);
	write_names(writer);
	for (size_t i = 0; i < writer->count; i++) {
		const struct ep_call *call =
			&writer->list->calls[writer->order[i]];

		if (!call->function || call->flags & EP_CALL_STRAY)
			instant_event(writer, call);
		else
			call_event(writer, call);
	}
	ep_json_array_end(&writer->json);
	ep_json_newline(&writer->json);
}

/* ---- sources ---- */

/* The whole text of a regular file; NULL: cannot be had, or *starved. The
 * caller frees. */
static char *source_read(const char *path, size_t *size, bool *starved)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text = NULL;
	ssize_t got = -1;

	*size = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= SOURCE_MAX) {
		text = malloc((size_t)st.st_size + 1);
		*starved = !text;
	}
	while (text && *size < (size_t)st.st_size &&
	       (got = read(fd, text + *size, (size_t)st.st_size - *size)) > 0)
		*size += (size_t)got;
	if (text && st.st_size > 0 && got < 0) {
		free(text);
		text = NULL;
	}
	close(fd);
	return text;
}

static int write_file(struct writer *writer, const char *path)
{
	size_t size, lines = 0;
	bool starved = false;
	char *text = source_read(path, &size, &starved);

	if (!text)
		return starved ? EP_E_MEMORY : EP_OK;
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	ep_json_newline(&writer->json);
	ep_json_key(&writer->json, path);
	ep_json_array(&writer->json);
	ep_json_bytes(&writer->json, text, size);
	ep_json_uint(&writer->json, lines);
	ep_json_array_end(&writer->json);
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
	const struct label **labels =
		calloc(writer->label_count + 1, sizeof(*labels));
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
		ep_json_newline(&writer->json);
		ep_json_key(&writer->json, labels[i]->text);
		ep_json_array(&writer->json);
		ep_json_string(&writer->json, labels[i]->line.file);
		ep_json_uint(&writer->json, labels[i]->line.line);
		ep_json_array_end(&writer->json);
	}
	free(labels);
	return EP_OK;
}

static int write_sources(struct writer *writer, bool with_texts)
{
	int rc = EP_OK;

	ep_json_key(&writer->json, "file_info");
	ep_json_object(&writer->json);
	ep_json_key(&writer->json, "files");
	ep_json_object(&writer->json);
	if (with_texts)
		rc = write_files(writer);
	ep_json_object_end(&writer->json);
	ep_json_key(&writer->json, "functions");
	ep_json_object(&writer->json);
	if (!rc)
		rc = write_functions(writer);
	ep_json_object_end(&writer->json);
	ep_json_object_end(&writer->json);
	return rc;
}

/* ---- the whole ---- */

static void write_metadata(struct writer *writer)
{
	const struct ep_trace *trace = writer->trace;
	bool whole = true;

	for (size_t i = 0; i < trace->thread_count; i++)
		whole = whole && trace->threads[i].from_start;
	ep_json_key(&writer->json, "viztracer_metadata");
	ep_json_object(&writer->json);
	text_member(&writer->json, "version", "epitaph " EP_VERSION);
	ep_json_key(&writer->json, "overflow");
	ep_json_bool(&writer->json, !whole);
	ep_json_key(&writer->json, "first_record_realtime_ns");
	ep_json_uint(&writer->json, ep_trace_realtime(trace, trace->first_tsc));
	ep_json_object_end(&writer->json);
	ep_json_newline(&writer->json);
	text_member(&writer->json, "displayTimeUnit", "ns");
	ep_json_newline(&writer->json);
}

static int write_all(struct writer *writer, bool with_texts)
{
	int rc;

	ep_json_object(&writer->json);
	write_events(writer);
	write_metadata(writer);
	rc = write_sources(writer, with_texts);
	ep_json_object_end(&writer->json);
	ep_json_newline(&writer->json);
	return rc;
}

static void writer_deinit(struct writer *writer)
{
	for (size_t i = 0; i < writer->label_count; i++)
		free(writer->labels[i].text);
	free(writer->labels);
	free(writer->order);
	free(writer->tids);
}

int ep_viztracer_write(FILE *out, const struct ep_trace *trace,
		       struct ep_names *names, const struct ep_call_list *list,
		       const uint8_t *shown,
		       const struct ep_viztracer_options *options,
		       struct ep_err *err)
{
	struct writer writer = {
		.trace = trace, .names = names, .list = list, .shown = shown};
	int rc;

	ep_json_init(&writer.json, out);
	rc = labels_make(&writer);
	rc = rc ? rc : order_make(&writer);
	rc = rc ? rc : tids_make(&writer);
	rc = rc ? rc : write_all(&writer, !(options && options->no_sources));
	if (rc)
		rc = ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	else if (ep_json_finish(&writer.json))
		rc = ep_fail(err, EP_E_IO, 0, "%s", strerror(errno));
	writer_deinit(&writer);
	return rc;
}
